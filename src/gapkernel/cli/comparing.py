"""``gapkernel compare``: which machine suits this table?"""

from __future__ import annotations

import warnings
from pathlib import Path

import joblib
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gapkernel.cli.comparison import Comparison
from gapkernel.cli.complaints import Complaint
from gapkernel.cli.describing import show_gaps
from gapkernel.cli.embedded import penguins
from gapkernel.cli.machines import COMPARED, INNER_FOLDS, MACHINES, Choice, folds
from gapkernel.cli.page import page
from gapkernel.cli.problem import Problem, at_most, read_problem
from gapkernel.cli.saying import note, say
from gapkernel.cli.study import FOLDS, compare_study
from gapkernel.cli.writing import may_write
from gapkernel.experiments import Store, run

QUICK = {"fractions": (0.4,), "draws": 1, "repeats": 1}


def compare(
    data: Path | None,
    target: str | None,
    out: Path,
    *,
    task="auto",
    rows=1000,
    quick=False,
    n_jobs=None,
    machines=COMPARED,
    console=None,
    **reading,
) -> Comparison:
    """Compare the machines on a table (the penguins if there is none), show a table, and write a page to ``out``."""
    console = console or Console()
    may_write(out, data)
    kept = out.with_suffix(".sqlite")
    may_write(kept, data, out)
    problem = at_most(_problem(data, target, task, reading), rows)
    show_gaps(problem.X, problem.name, console)
    for text in problem.notes:
        note(console, text)
    kind = f"{len(np.unique(problem.y))} classes" if problem.task == "classification" else "regression"
    say(console, f"\nPredicting '{problem.target}' ({kind}) for {len(problem.y)} rows.\n")
    study = compare_study(problem, machines, **(QUICK if quick else {}))
    with Store(kept) as store:
        known = len(store.finished(study.name))
        results = run(study, store, n_jobs=n_jobs or joblib.cpu_count(), progress=True)
    if known:
        say(console, f"{known} results were in {kept} already; remove it to measure again.\n")
    comparison = Comparison(problem, results)
    choice = final_choice(comparison)
    show(comparison, console)
    out.write_text(page(comparison, choice, data), encoding="utf-8")
    say(console, "\nThe whole story, with figures: ", (str(out), "bold"))
    return comparison


def final_choice(comparison: Comparison) -> Choice:
    """The winner, with the settings that do best in a cross-validation of all rows."""
    problem = comparison.problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an imputer that did not converge said so in nobody's ear before, too
        return MACHINES[comparison.winner].choose(problem, problem.X, problem.y, folds(problem, INNER_FOLDS, seed=0))


def show(comparison: Comparison, console: Console) -> None:
    """Show the scores and the verdict in the terminal."""
    second = "log loss" if comparison.is_classification else "RMSE"
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.title = f"{comparison.measure} over {len(comparison.by_split)} held-out folds"
    table.add_column("machine")
    for name in (comparison.measure, "± 95%", "spread", second, "tune", "fit"):
        table.add_column(name, justify="right")
    for name, line in comparison.scores.iterrows():
        style = "bold green" if name == comparison.winner else ""
        table.add_row(
            MACHINES[str(name)].label,
            comparison.show(line["mean"]),
            comparison.show(line["margin"]),
            comparison.show(line["spread"]),
            f"{line['second']:{'.3f' if comparison.is_classification else '.4g'}}",
            f"{line['tune_seconds']:.2f} s",
            f"{line['fit_seconds']:.2f} s",
            style=style,
        )
    console.print(table)
    console.print(_curve(comparison))
    for text in (comparison.verdict, comparison.to_beat, comparison.robustness):
        say(console, f"\n{text}" if text else "")


def _curve(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.title = f"\n{comparison.measure} when cells are hidden"
    table.add_column("cells hidden")
    for fraction in comparison.curve.index:
        table.add_column(f"{fraction:.0%}", justify="right")
    for name in comparison.scores.index:
        values = comparison.curve[name]
        best = values >= comparison.curve.max(axis=1) - 1e-12
        cells = [Text(comparison.show(v), "bold green" if b else "") for v, b in zip(values, best, strict=True)]
        table.add_row(MACHINES[name].label, *cells)
    return table


def _problem(data, target, task, reading) -> Problem:
    if data is None:
        if target is not None:
            raise Complaint(
                "--target names a column of a table, but there is no table: gapkernel compare DATA --target COL"
            )
        return penguins()
    if target is None:
        raise Complaint(f"Which column of {data} is to be predicted? --target COL")
    problem = read_problem(data, target, task=task, **reading)
    if len(problem.y) < 4 * FOLDS:
        raise Complaint(f"{len(problem.y)} rows are too few to compare machines: {4 * FOLDS} are needed.")
    return problem
