"""Doing the unfinished tasks of a study, in this process, in others, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any

from joblib import Parallel, delayed, parallel_config

from gapkernel.compute.runtime.progress import tracked
from gapkernel.studies.store import Store
from gapkernel.studies.tasks import Study, Task


def run(study: Study, store: Store, *, n_jobs=None, client=None, progress=False, label=None):
    """Do every task of a study that the store does not hold yet.

    Parameters
    ----------
    study : Study
        What to run.
    store : Store
        Where results go, and where finished tasks are found.
    n_jobs : int, default=None
        Tasks at the same time, in processes of this computer (joblib's loky). None is 1 unless in a
        `joblib.parallel_config`, -1 is all processors.
    client : dask.distributed.Client, default=None
        Send the tasks to its cluster instead (joblib's dask backend); the store stays here.
    progress : bool, default=False
        Show a bar with the time left, as ``gapkernel.set_config(progress=True)`` does too.
    label : str, default=None
        What the bar is called; None is the name of the study.

    Returns
    -------
    frame : DataFrame
        One line for each task of the study.

    Raises
    ------
    RuntimeError
        If a task fails. It names the task; what was finished before is kept.

    Examples
    --------
    >>> import tempfile
    >>> from gapkernel.studies import Store, Study, run, tasks_of
    >>> tasks = tuple(tasks_of(dataset=["pima"], method=["ehk", "mean"]))
    >>> study = Study("lengths", tasks, lambda task: {"length": len(task.method)})
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     run(study, store)["length"].tolist()
    [3, 4]
    """
    number = store.begin(study)
    done = store.finished(study.name)
    left = [task for task in study.tasks if task.key not in done]
    results = _results(study, store, left, n_jobs, client)
    for task, result in tracked(results, len(left), label or study.name, verbose=progress):
        store.put(number, task, result)
    return store.frame(study.name, study.tasks)


def _results(study: Study, store: Store, tasks: list[Task], n_jobs, client) -> Iterator[tuple[Task, Any]]:
    """Tasks with their results as they come, without those that another run has finished meanwhile."""
    backend = nullcontext() if client is None else parallel_config(backend="dask", client=client)
    with backend:
        pool = Parallel(n_jobs=n_jobs if client is None else -1, return_as="generator_unordered", batch_size=1)
        pending = (task for task in tasks if not store.has(study.name, task))
        yield from pool(delayed(_attempt)(study.run_task, task) for task in pending)


def _attempt(run_task, task: Task) -> tuple[Task, Mapping[str, Any]]:
    try:
        return task, dict(run_task(task))
    except Exception as error:
        raise RuntimeError(f"The task {task.key} failed: {type(error).__name__}: {error}") from error


def duration(seconds: float) -> str:
    """Seconds as people say them.

    Parameters
    ----------
    seconds : float
        How long something took, or will take.

    Returns
    -------
    words : str

    Examples
    --------
    >>> from gapkernel.studies import duration
    >>> duration(600.0)
    '10 minutes'
    """
    return f"{seconds:.0f} s" if seconds < 180 else f"{seconds / 60:.0f} minutes"
