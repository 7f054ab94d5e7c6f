"""The experiments of five papers, each by one command."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, TypeVar

import joblib

from gapkernel.datasets import available
from gapkernel.papers.study.report import Report
from gapkernel.studies import Protocol, Store, Task, rounds_of, run

P = TypeVar("P", bound=Protocol)


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced.

    Attributes
    ----------
    title, authors : str
        Which paper it is.
    room : str
        The package of `gapkernel.papers` that holds it.
    what : str
        What is computed.
    standard_time, full_time : str
        How long these sizes are expected to take.

    Examples
    --------
    >>> from gapkernel.papers import PAPERS
    >>> PAPERS["genrbf"].authors
    'Smieja, Struski, Tabor'
    """

    room: str
    title: str
    authors: str
    what: str
    standard_time: str
    full_time: str


PAPERS = {
    "expected-kernel": Paper(
        "expected_kernel",
        "Expected kernel for missing features in support vector machines",
        "Anderson, Gupta",
        "Error against the share of removed features on Heart and Ionosphere, and training times of the SVM with "
        "expected kernels and of two cone SVMs.",
        "about 10 minutes on 2 cores",
        "about 5 hours on 2 cores",
    ),
    "ehk": Paper(
        "kernel_extension",
        "A kernel extension to handle missing data",
        "Nebot-Troyano, Belanche",
        "Error against the share of gaps on the synthetic problem (Fig. 1), and the errors of Table 2 by the "
        "paper's protocol and by nested cross-validation.",
        "about 20 minutes on 2 cores",
        "about 12 hours on 2 cores",
    ),
    "cccp": Paper(
        "missing_variables",
        "Kernel methods for missing variables",
        "Smola, Vishwanathan, Hofmann",
        "Error on USPS digits with up to a quarter of the pixels erased in training, SVMs and genRBF beside it.",
        "about 20 minutes on 2 cores, 3 GB of memory for each",
        "about an hour and a half on 2 cores, 3 GB of memory for each",
    ),
    "microbiology": Paper(
        "microbiology",
        "Handling missing values in kernel methods with application to microbiology data",
        "Kobayashi, Aluja, Belanche",
        "Table 1: two kernel extensions and two uses of multiple imputation, on stand-ins for the private data.",
        "about 20 minutes on 2 cores",
        "about 20 minutes on 2 cores",
    ),
    "genrbf": Paper(
        "genrbf",
        "Generalized RBF kernel for incomplete data",
        "Smieja, Struski, Tabor",
        "Accuracy of ten methods on eight data sets whose cells are removed by three mechanisms (Figs. 3 to 7); "
        "beyond the quick size also other readings of two of them, and GapClassifier.",
        "about 3 hours on 2 cores",
        "about a month on 2 cores; use n_jobs or a Dask client on a larger computer",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Size(Generic[P]):
    """How much of a paper's experiment to do.

    Attributes
    ----------
    protocol : Protocol
        What is done in one task.
    draws : int
        How often the rows are split, or cells removed.
    fractions : tuple of float
        Shares of removed cells.
    """

    protocol: P
    draws: int = 1
    fractions: tuple[float, ...] = ()


SIZES = {
    "quick": "A quick part of it, under five minutes on two cores.",
    "standard": "All rows and the paper's settings, fewer repetitions: {0.standard_time}.",
    "full": "All of it: {0.full_time}.",
}
"""How much of a paper to do, and what is said first."""


@dataclass(frozen=True)
class Context:
    """What a paper's module is given."""

    size: str
    data_dir: str | None
    store: Store
    options: dict[str, Any]
    """Of `gapkernel.studies.run`."""
    so_far: bool = False
    """Whether to do nothing, and to report the rounds that a run has finished before it was stopped."""
    left: dict[str, str] = field(default_factory=dict)
    """What is not finished of the studies that were reported so far."""

    def run(self, name: str, protocol: Protocol, tasks: Iterable[Task], optional: bool = False):
        """Do the unfinished tasks of a study, round by round; the frame of its results.

        An optional study that has no tasks, or so far no finished round, gives None.
        """
        rounds = rounds_of(tasks)
        if self.so_far:
            rounds = self._finished(name, rounds, optional)
        if optional and not rounds:
            return None
        study = replace(protocol, data_dir=self.data_dir).study(name, [task for one in rounds for task in one])
        return run(study, self.store, progress=True, **self.options)

    def _finished(self, name: str, rounds: list[list[Task]], optional: bool) -> list[list[Task]]:
        done = self.store.finished(name)
        whole = [one for one in rounds if done.issuperset(task.key for task in one)]
        if not whole and not optional:
            raise ValueError(f"No round of {name} is finished in {self.store.path}. Run it for longer, without so_far.")
        if len(whole) < len(rounds):
            self.left[name] = f"{name}: {len(whole)} of {len(rounds)} rounds"
        return whole


def reproduce(
    paper, *, size="quick", data_dir=None, out=None, n_jobs=None, client=None, console=None, so_far=False
) -> Report:
    """Repeat the experiments of a paper: print its tables with the paper's numbers beside ours, draw its figures.

    Parameters
    ----------
    paper : {"expected-kernel", "ehk", "cccp", "microbiology", "genrbf"}
        One of `PAPERS`.
    size : {"quick", "standard", "full"}, default="quick"
        "quick" is a part of it that takes less than five minutes on two cores, "standard" has all rows and the paper's
        settings with fewer repetitions, "full" is the whole. The time that the larger ones take is said first.
    data_dir : path, default=None
        Folder of data sets, as in `gapkernel.datasets.load`.
    out : path, default=None
        Folder for the page, the tables and figures, the results of all tasks (CSV) and the store, by default
        "reproduced/PAPER-SIZE". A run that was stopped goes on from there.
    n_jobs : int, default=None
        Tasks at the same time; None is one for each core.
    client : dask.distributed.Client, default=None
        Run the tasks on its cluster.
    console : rich Console, default=None
        Where progress is written; None is the terminal.
    so_far : bool, default=False
        Run nothing, and report what a run that was stopped has left in ``out``: the rounds (removals of cells,
        repetitions and folds) in which every task is finished.

    Returns
    -------
    report : Report

    Examples
    --------
    >>> from gapkernel.papers import reproduce
    >>> report = reproduce("microbiology", out="reproduced")  # doctest: +SKIP
    """
    if paper not in PAPERS:
        raise ValueError(f"There is no paper {paper!r}. Known are {', '.join(PAPERS)}.")
    if size not in SIZES:
        raise ValueError(f"size must be one of {', '.join(SIZES)}, got {size!r}.")
    available(data_dir)  # refuses a folder that does not exist before anything is written
    from rich.console import Console

    entry, console = PAPERS[paper], console or Console()
    folder = Path(out) if out is not None else Path("reproduced") / f"{paper}-{size}"
    console.print(f"[bold]{entry.authors}: {entry.title}[/bold]\n{entry.what}")
    if not so_far:
        console.print(SIZES[size].format(entry))
    begin = perf_counter()
    with Store(folder / "results.sqlite") as store:
        jobs = joblib.cpu_count() if n_jobs is None else n_jobs
        data_dir = None if data_dir is None else str(data_dir)
        context = Context(size, data_dir, store, {"n_jobs": jobs, "client": client}, so_far)
        report: Report = import_module(f"gapkernel.papers.{entry.room}.experiment").reproduce(context)
        for study in store.studies():
            store.export_csv(study, folder / f"results_{study.replace('-', '_')}.csv")
    if context.left:
        report.note = f"Not finished; what is counted here: {', '.join(context.left.values())}."
    report.title = f"{entry.authors}: {entry.title}"
    report.show(console)
    page = report.write(folder, f"gapkernel reproduce {paper} --{size}{' --so-far' * so_far}")
    console.print(f"{page} ({perf_counter() - begin:.0f} s)", highlight=False, markup=False)
    return report
