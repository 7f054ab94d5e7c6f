"""``gapkernel compare``: which method suits this table?

Every method meets the same folds, of the table as it is and with more and more cells hidden.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from rich.console import Console

from gapkernel.cli.describe import show_gaps
from gapkernel.cli.measures import measured
from gapkernel.cli.output import Stopped, as_text, counted, lines_table, may_write, note, say
from gapkernel.cli.page import page
from gapkernel.cli.problem import FOLDS, Problem, Request
from gapkernel.cli.verdict import Verdict
from gapkernel.compute.runtime.writing import written_whole
from gapkernel.missingness import ampute
from gapkernel.studies import (
    CANDIDATES,
    Choice,
    Protocol,
    Store,
    Study,
    Task,
    duration,
    fold_of,
    run,
    tasks_of,
    versions,
)
from gapkernel.studies.candidates import (
    COMPARED,
    COMPARED_ON_MANY_ROWS,
    COMPARED_QUICKLY,
    COMPARED_QUICKLY_ON_MANY_ROWS,
    EXACT_ROWS,
)
from gapkernel.tables import take_rows
from gapkernel.tables.files import Labelled, Reading, at_most, write_csv
from gapkernel.tables.input_errors import InputError

FULL: dict[str, Any] = {"fractions": (0.2, 0.4, 0.6), "repeats": 2}
QUICK: dict[str, Any] = {"fractions": (), "repeats": 1}
WARM_ROWS = 60
SECONDS = {"gap": 1.0, "gap-quick": 0.4, "baseline": 0.01}
"""Processor time of a task on 300 rows and 8 columns; `OTHER_SECONDS` for other methods."""
OTHER_SECONDS, EXACT_GAP_SECONDS = 0.2, 6.0
PENGUINS, SEX, HIDDEN = "penguins.csv", "sex", 0.4
"""The table that is compared on without another one, its target, and the share of its cells that is hidden."""

PENGUIN_COLUMNS = {
    "Species": "species",
    "Island": "island",
    "Culmen Length (mm)": "bill_length_mm",
    "Culmen Depth (mm)": "bill_depth_mm",
    "Flipper Length (mm)": "flipper_length_mm",
    "Body Mass (g)": "body_mass_g",
    "Delta 15 N (o/oo)": "delta_15_n",
    "Delta 13 C (o/oo)": "delta_13_c",
    "Sex": SEX,
}

_warm: set[tuple[str, str]] = set()
"""The methods that this process has run once on a table, by their names."""


def request_of(data: Path | None, target: str | None, out: Path, task: str, rows: int, reading: Reading) -> Request:
    """The file and target to compare methods on: without a file the penguins, which are written next to the page."""
    if data is None:
        if target is not None:
            raise InputError(
                "--target names a column of a table, but there is no table: gapkernel compare DATA --target COL"
            )
        may_write(out)
        return Request(write_penguins(out.with_name(PENGUINS)), SEX, task, rows, reading)
    if target is None:
        raise InputError(f"Which column of {data} is to be predicted? --target COL")
    return Request(data, target, task, rows, reading)


def write_penguins(path: Path) -> Path:
    """Write the Palmer penguins with their measures and the isotopes in their blood, of which a part is hidden.

    Some birds could not be sexed, and of some there was not enough blood for the isotopes, but those are few: with the
    gaps of nature alone all methods tie. The species would be too easy a target: every method finds it.
    """
    from palmerpenguins import load_penguins_raw

    frame = load_penguins_raw()[list(PENGUIN_COLUMNS)].rename(columns=PENGUIN_COLUMNS)
    frame["species"] = frame["species"].str.split().str[0]  # without the Latin name
    frame[SEX] = frame[SEX].str.lower()
    write_csv(ampute(frame.drop(columns=SEX), HIDDEN, random_state=0).assign(**{SEX: frame[SEX]}), path)
    return path


def compare(request: Request, out: Path, *, quick=False, n_jobs=None, methods=None, console=None) -> Verdict:
    """Compare methods on a table, show what came out, and write a page to ``out``."""
    console = console or Console()
    may_write(out, request.path)
    kept = out.with_suffix(".sqlite")
    may_write(kept, request.path, out)
    problem = _problem(request)
    methods = methods or methods_for(len(problem.y), quick)
    _introduce(problem, console)
    study = compare_study(problem, methods, **(QUICK if quick else FULL))
    jobs = n_jobs or (1 if quick else joblib.cpu_count())
    results = _results(study, kept, jobs, expected_seconds(study, problem.X.shape) / jobs, console)
    verdict = Verdict(problem, results)
    status = console.status(f"Choosing the settings of {verdict.label(verdict.winner)} on all rows ...")
    with status, warnings.catch_warnings(action="ignore"):  # of single estimators on the way
        choice = problem.choose(CANDIDATES[verdict.winner])
        members = _members(verdict, choice)
    show(verdict, console)
    with written_whole(out) as beside:
        beside.write_text(page(verdict, choice, request, members), encoding="utf-8")
    say(console, "\nThe whole story, with figures: ", (str(out), "bold"))
    say(console, "\nTo fit it to all rows and use it:")
    console.print(as_text(request.shell(verdict.winner)), soft_wrap=True)  # a line to paste must stay one
    return verdict


@dataclass(frozen=True, kw_only=True)
class CompareTask(Protocol):
    """Chooses settings and fits inside the training fold, measures on the test fold."""

    problem: Problem

    def result(self, task: Task) -> dict[str, Any]:
        problem, candidate = self.problem, CANDIDATES[task.method]
        X = problem.X
        if task.fraction:
            X = ampute(X, task.fraction, task.mechanism, random_state=task.data_seed)
        train, test = fold_of(task, problem.y, FOLDS, problem.task)
        self._warm_up(candidate, Labelled(take_rows(X, train), problem.y[train], problem.task))
        trial = problem.try_out(candidate, X, train, test)
        found, answers = measured(problem.y[test], trial.estimator, take_rows(X, test))
        seconds = {"tune_seconds": trial.tune_seconds, "fit_seconds": trial.fit_seconds}
        kept = {} if task.fraction else {"rows": test.tolist(), "answers": answers.tolist()}
        return {"settings": trial.choice.settings, **seconds, **found, **kept}

    def _warm_up(self, candidate, rows: Labelled) -> None:
        """Do it once on few rows, so that no time is taken for compiling and loading."""
        if (self.problem.name, candidate.name) in _warm:
            return
        n_classes = len(np.unique(rows.y)) if self.problem.is_classification else 0
        few = at_most(rows, max(WARM_ROWS, 5 * n_classes))
        choice = self.problem.choose(candidate, few.X, few.y)
        self.problem.build(candidate, choice).fit(few.X, few.y).predict(few.X)
        _warm.add((self.problem.name, candidate.name))

    @property
    def settings(self) -> dict[str, Any]:
        problem = self.problem
        return {"task": problem.task, "target": problem.target, "folds": FOLDS, "versions": versions()}


def compare_study(problem: Problem, methods=COMPARED, *, fractions=(), repeats=1) -> Study:
    """The tasks: ``repeats`` cross-validations of the table as it is, and one at each share of hidden cells."""
    natural = tasks_of(dataset=[problem.name], repeat=range(repeats), fold=range(FOLDS), method=methods)
    hidden = tasks_of(dataset=[problem.name], mechanism=["mcar"], fraction=fractions, fold=range(FOLDS), method=methods)
    protocol = CompareTask(problem=problem)
    return protocol.study(f"{problem.name} {fingerprint(problem, protocol.settings)}", natural + hidden)


def expected_seconds(study: Study, shape: tuple[int, int]) -> float:
    """About how long a study of a table takes on one core.

    Time grows with the rows, with their square where "gap" tries processes on all pairs of them, and slowly with the
    columns.
    """
    size, pairs = shape[0] / 300, shape[0] <= EXACT_ROWS
    known = SECONDS | ({"gap": EXACT_GAP_SECONDS * size} if pairs else {})
    return sum(known.get(task.method, OTHER_SECONDS) for task in study.tasks) * size * (shape[1] / 8) ** 0.25


def fingerprint(problem: Problem, settings) -> str:
    """A short name for a table and what is done to it: results of one never pass for those of another."""
    named = repr((sorted(settings.items()), problem.target, problem.y.tolist()))
    return hashlib.sha256((named + problem.X.to_csv(index=False)).encode()).hexdigest()[:8]


def show(verdict: Verdict, console: Console) -> None:
    """Show the scores and the verdict in the terminal."""
    measure = verdict.measure.name
    scores = f"{measure} over {counted(len(verdict.by_split), 'held-out fold')}"
    table = lines_table(scores, "method", *verdict.columns)
    for name in verdict.ranked:
        style = "bold green" if name == verdict.winner else ""
        table.add_row(verdict.label(name), *verdict.cells(name), style=style)
    console.print(table)
    if verdict.has_hidden:
        shares = [f"{fraction:.0%}" for fraction in verdict.curve.index]
        curve = lines_table(f"\n{measure} when cells are hidden, with 95% intervals", "cells hidden", *shares)
        for name in verdict.ranked:
            curve.add_row(verdict.label(name), *verdict.curve_cells(name))
        console.print(curve)
    for text in (verdict.headline, *verdict.sentences):
        say(console, f"\n{text}")


def methods_for(n_rows: int, quick: bool) -> tuple[str, ...]:
    """The methods that are compared on a table of some size."""
    if n_rows > EXACT_ROWS:
        return COMPARED_QUICKLY_ON_MANY_ROWS if quick else COMPARED_ON_MANY_ROWS
    return COMPARED_QUICKLY if quick else COMPARED


def _problem(request: Request) -> Problem:
    problem = request.problem()
    n_rows = len(problem.y)
    if n_rows < 4 * FOLDS:
        raise InputError(f"{counted(n_rows, 'row')} are too few to compare methods: {4 * FOLDS} are needed.")
    notes = []
    if request.path.name == PENGUINS and request.target == SEX:
        notes.append(f"{HIDDEN:.0%} of the cells were hidden at random for this example.")
    if n_rows > EXACT_ROWS:
        notes.append(
            f"More than {EXACT_ROWS} rows: kernels are approximated by Fourier features and landmarks, and methods "
            f"that need all pairs of rows are left out."
        )
    return replace(problem, notes=notes)


def _introduce(problem: Problem, console: Console) -> None:
    show_gaps(problem.X, problem.name, console)
    for text in problem.notes:
        note(console, text)
    kind = f"{len(np.unique(problem.y))} classes" if problem.is_classification else "regression"
    say(console, f"\nPredicting '{problem.target}' ({kind}) for {len(problem.y)} rows.\n")


def _results(study: Study, kept: Path, n_jobs: int, expected: float, console: Console):
    """The results of all tasks: first those of one fold, which say better how long the others will take."""
    first = replace(study, tasks=tuple(task for task in study.tasks if not (task.fraction or task.repeat or task.fold)))
    options: dict[str, Any] = {"n_jobs": n_jobs, "progress": True, "label": "Comparing"}
    with Store(kept) as store:
        done = len(store.finished(study.name))
        if done:
            say(console, f"{counted(done, 'result')} in {kept} already; remove it to measure again.\n")
        else:
            tasks = counted(len(study.tasks), "task")
            say(console, f"{tasks}, about {duration(expected)} going by the size of the table.\n")
        try:
            seconds = run(first, store, **options)["seconds"].mean()
            left = len({task.key for task in study.tasks} - store.finished(study.name))
            if left:
                time = f"about {duration(seconds * left / n_jobs)} going by the first fold"
                say(console, f"{counted(left, 'task')} to do, {time}; Ctrl-C stops, the same command goes on.\n")
            return run(study, store, **options)
        except KeyboardInterrupt:
            done = len(store.finished(study.name))
            raise Stopped(
                f"stopped; {done} of {len(study.tasks)} results are kept in {kept}: the same command goes on from there"
            ) from None


def _members(verdict: Verdict, choice: Choice):
    """The members of the Gap estimator fitted to all rows, if it won."""
    if not verdict.winner.startswith("gap"):
        return None
    problem = verdict.problem
    return problem.build(CANDIDATES[verdict.winner], choice).fit(problem.X, problem.y).members_
