"""``gapkernel compare``: which method suits this table?

Every method meets the same folds, of the table as it is and with more and more cells hidden.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import joblib
import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, r2_score, root_mean_squared_error

from gapkernel.cli.describe import LOOK, show_gaps
from gapkernel.cli.output import may_write, note, say
from gapkernel.cli.page import page
from gapkernel.cli.penguins import penguins
from gapkernel.cli.problem import FOLDS, INNER_FOLDS, Problem, at_most, read_problem
from gapkernel.cli.verdict import Verdict
from gapkernel.compute.runtime.writing import written_whole
from gapkernel.estimators.gap.member_list import Members
from gapkernel.experiments import METHODS, Choice, Protocol, Store, Study, Task, run, tasks_of
from gapkernel.experiments.methods import COMPARED, with_probabilities
from gapkernel.experiments.store import versions
from gapkernel.missingness import ampute
from gapkernel.tables.files import AS_IT_IS, Reading
from gapkernel.tables.input_errors import InputError

FULL: dict[str, Any] = {"fractions": (0.2, 0.4, 0.6), "draws": 1, "repeats": 2}
QUICK: dict[str, Any] = {"fractions": (0.4,), "draws": 1, "repeats": 1}


def compare(
    data: Path | None,
    target: str | None,
    out: Path,
    reading: Reading = AS_IT_IS,
    *,
    task="auto",
    rows=1000,
    quick=False,
    n_jobs=None,
    methods=COMPARED,
    console=None,
) -> Verdict:
    """Compare methods on a table (the penguins if there is none), show a table, and write a page to ``out``."""
    console = console or Console()
    may_write(out, data)
    kept = out.with_suffix(".sqlite")
    may_write(kept, data, out)
    problem = at_most(_problem(data, target, task, reading), rows)
    show_gaps(problem.X, problem.name, console)
    for text in problem.notes:
        note(console, text)
    kind = f"{len(np.unique(problem.y))} classes" if problem.is_classification else "regression"
    say(console, f"\nPredicting '{problem.target}' ({kind}) for {len(problem.y)} rows.\n")
    study = compare_study(problem, methods, **(QUICK if quick else FULL))
    with Store(kept) as store:
        known = len(store.finished(study.name))
        results = run(study, store, n_jobs=n_jobs or joblib.cpu_count(), progress=True)
    if known:
        say(console, f"{known} results were in {kept} already; remove it to measure again.\n")
    verdict = Verdict(problem, results)
    choice = final_choice(verdict)
    show(verdict, console)
    with written_whole(out) as path:
        path.write_text(page(verdict, choice, data, members_of(problem, methods)), encoding="utf-8")
    say(console, "\nThe whole story, with figures: ", (str(out), "bold"))
    return verdict


@dataclass(frozen=True, kw_only=True)
class CompareTask(Protocol):
    """Chooses settings and fits inside the training fold, scores on the test fold."""

    problem: Problem

    def result(self, task: Task) -> dict[str, Any]:
        problem, method = self.problem, METHODS[task.method]
        X = problem.X
        if task.fraction:
            X = ampute(X, task.fraction, task.mechanism, random_state=task.data_seed)
        train, test = list(problem.folds(FOLDS, task.split_seed).split(X, problem.y))[task.fold]
        y, here, there = problem.codes, X.iloc[train], X.iloc[test]
        begin = perf_counter()
        choice = problem.choose(method, task.split_seed, here, y[train])
        chosen = perf_counter()
        estimator = problem.build(method, choice)
        guess = estimator.fit(here, y[train]).predict(there)
        fitted = perf_counter()
        answer = {"settings": choice.settings, "rows": test.tolist()}
        answer |= {"tune_seconds": chosen - begin, "fit_seconds": fitted - chosen}
        if not problem.is_classification:
            errors = {"score": r2_score(y[test], guess), "rmse": root_mean_squared_error(y[test], guess)}
            return answer | errors | {"answers": guess.tolist()}
        answer["score"] = accuracy_score(y[test], guess)
        answer["balanced_accuracy"] = balanced_accuracy_score(y[test], guess)
        if not task.fraction:
            sure = with_probabilities(estimator, problem.folds(INNER_FOLDS, task.split_seed))
            sure = estimator if sure is estimator else sure.fit(here, y[train])
            chances = sure.predict_proba(there)
            answer |= {"log_loss": log_loss(y[test], chances, labels=sure.classes_), "answers": chances.tolist()}
        return answer

    @property
    def settings(self) -> dict[str, Any]:
        problem = self.problem
        return {"task": problem.task, "target": problem.target, "folds": FOLDS, "versions": versions()}


def compare_study(problem: Problem, methods=COMPARED, *, fractions=(), draws=1, repeats=1) -> Study:
    """The tasks: ``repeats`` cross-validations of the table as it is, and ``draws`` at each share of hidden cells."""
    natural = tasks_of(dataset=[problem.name], repeat=range(repeats), fold=range(FOLDS), method=methods)
    hidden = tasks_of(
        dataset=[problem.name],
        mechanism=["mcar"],
        fraction=fractions,
        draw=range(draws),
        fold=range(FOLDS),
        method=methods,
    )
    protocol = CompareTask(problem=problem)
    return protocol.study(f"{problem.name} {fingerprint(problem, protocol.settings)}", natural + hidden)


def fingerprint(problem: Problem, settings) -> str:
    """A short name for a table and what is done to it: results of one never pass for those of another."""
    digest = hashlib.sha256(repr((sorted(settings.items()), list(problem.X), problem.target)).encode())
    digest.update(pd.util.hash_pandas_object(problem.X, index=False).to_numpy().tobytes())
    digest.update(repr(problem.y.tolist()).encode())
    return digest.hexdigest()[:8]


def final_choice(verdict: Verdict) -> Choice:
    """The settings of the winner that do best in a cross-validation of all rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as in the tasks: of an imputer that did not converge, for example
        return verdict.problem.choose(METHODS[verdict.winner], seed=0)


def members_of(problem: Problem, methods) -> Members | None:
    """What the estimator that chooses makes of all rows, if it was compared."""
    if "gap" not in methods:
        return None
    return problem.build(METHODS["gap"], Choice({}, None)).fit(problem.X, problem.y).members_


def show(verdict: Verdict, console: Console) -> None:
    """Show the scores and the verdict in the terminal."""
    table = Table(title=f"{verdict.measure} over {len(verdict.by_split)} held-out folds", **LOOK)
    table.add_column("method")
    for name in verdict.columns:
        table.add_column(name, justify="right")
    for name in verdict.scores.index:
        style = "bold green" if name == verdict.winner else ""
        table.add_row(METHODS[name].label, *verdict.cells(name), style=style)
    console.print(table)
    console.print(_curve(verdict))
    for text in (verdict.summary, verdict.worth, verdict.to_beat, verdict.robustness):
        say(console, f"\n{text}" if text else "")


def _curve(verdict: Verdict) -> Table:
    table = Table(title=f"\n{verdict.measure} when cells are hidden", **LOOK)
    table.add_column("cells hidden")
    for fraction in verdict.curve.index:
        table.add_column(f"{fraction:.0%}", justify="right")
    for name in verdict.scores.index:
        values = verdict.curve[name]
        best = values >= verdict.curve.max(axis=1) - 1e-12
        cells = [Text(verdict.show(v), "bold green" if b else "") for v, b in zip(values, best, strict=True)]
        table.add_row(METHODS[name].label, *cells)
    return table


def _problem(data, target, task, reading) -> Problem:
    if data is None:
        if target is not None:
            raise InputError(
                "--target names a column of a table, but there is no table: gapkernel compare DATA --target COL"
            )
        return penguins()
    if target is None:
        raise InputError(f"Which column of {data} is to be predicted? --target COL")
    problem = read_problem(data, target, reading, task=task)
    if len(problem.y) < 4 * FOLDS:
        raise InputError(f"{len(problem.y)} rows are too few to compare methods: {4 * FOLDS} are needed.")
    return problem
