"""What a study is made of: small tasks, each with a name that never changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, fields
from itertools import product
from typing import Any


@dataclass(frozen=True, order=True)
class Task:
    """One cell of a study: this method, on this fold of this damaged data set.

    Attributes
    ----------
    dataset, method : str
        Their names.
    mechanism : str
        How cells were removed; "natural" if the gaps are the data's own.
    fraction : float
        Share of the cells removed.
    draw, repeat, fold : int
        Which removal of cells, which repetition of the cross-validation, which of its folds.

    Examples
    --------
    >>> from gapkernel.studies import Task
    >>> Task("pima", "genrbf", "mcar", 0.3).key
    'dataset=pima|method=genrbf|mechanism=mcar|fraction=0.3|draw=0|repeat=0|fold=0'
    """

    dataset: str
    method: str
    mechanism: str = "natural"
    fraction: float = 0.0
    draw: int = 0
    repeat: int = 0
    fold: int = 0

    @property
    def key(self) -> str:
        """The task's name, the same in every run."""
        return "|".join(f"{f.name}={value}" for f, value in zip(fields(self), astuple(self), strict=True))

    @property
    def data_seed(self) -> int:
        """Seed of the removal of cells: the same for every method and fold."""
        return _seed("cells", self.dataset, self.mechanism, self.fraction, self.draw)

    @property
    def split_seed(self) -> int:
        """Seed of the folds: the same for every method, mechanism and fraction."""
        return _seed("folds", self.dataset, self.draw, self.repeat)


def tasks_of(**axes: Iterable) -> list[Task]:
    """A task for every combination of values of the attributes that are named, the last one changing fastest.

    Parameters
    ----------
    **axes : iterables
        The values of attributes of `Task`.

    Returns
    -------
    tasks : list of Task

    Examples
    --------
    >>> from gapkernel.studies import tasks_of
    >>> len(tasks_of(dataset=["pima", "servo"], method=["mean", "genrbf"], draw=range(3)))
    12
    """
    return [Task(**dict(zip(axes, values, strict=True))) for values in product(*axes.values())]


def rounds_of(tasks: Iterable[Task]) -> list[list[Task]]:
    """Tasks by what is repeated (removal of cells, repetition, fold): a round has one for everything that is compared.

    Parameters
    ----------
    tasks : iterable of Task
        The tasks of a study.

    Returns
    -------
    rounds : list of list of Task

    Examples
    --------
    >>> from gapkernel.studies import rounds_of, tasks_of
    >>> [len(one) for one in rounds_of(tasks_of(dataset=["pima"], method=["mean", "genrbf"], fold=range(3)))]
    [2, 2, 2]
    """
    rounds: dict[tuple, list[Task]] = {}
    for task in tasks:
        rounds.setdefault((task.draw, task.repeat, task.fold), []).append(task)
    return list(rounds.values())


@dataclass(frozen=True)
class Study:
    """Tasks, and how to do one of them.

    Attributes
    ----------
    name : str
        The name in the store.
    tasks : tuple of Task
        What is to be run.
    run_task : callable
        ``run_task(task)`` returns a dictionary of scores, seconds and settings that JSON can hold. It must be picklable
        and depend on the task alone.
    settings : dict
        Whatever changes the results, for the record: grids, sizes, number of folds. A store refuses a study of the same
        name with other settings.

    Examples
    --------
    >>> from gapkernel.studies import Study, tasks_of
    >>> tasks = tasks_of(dataset=["pima"], method=["mean", "genrbf"])
    >>> len(Study("lengths", tuple(tasks), lambda task: {"length": len(task.method)}).tasks)
    2
    """

    name: str
    tasks: tuple[Task, ...]
    run_task: Callable[[Task], Mapping[str, Any]]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"The study {self.name!r} holds a task twice.")


def _seed(*parts) -> int:
    """A number from 0 to 2^32 - 1 that depends on the parts only, in every process."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:4], "big")
