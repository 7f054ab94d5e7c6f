"""``gapkernel fit``: from a table to a file with a tuned, calibrated model."""

from __future__ import annotations

import warnings
from pathlib import Path

from joblib import parallel_config
from rich.console import Console

from gapkernel.cli.output import counted, lines_table, may_write, note, say
from gapkernel.cli.problem import Request
from gapkernel.estimators.gap.base import GapEstimator
from gapkernel.estimators.gap.combined import Members
from gapkernel.estimators.table_model import TableModel
from gapkernel.persistence import save
from gapkernel.studies import CANDIDATES
from gapkernel.tables.input_errors import InputError

MISSING, PROBABILITY, LOW, HIGH = "share_missing", "probability_", "_low", "_high"
"""What ``gapkernel predict`` calls its further columns."""


def fit(request: Request, out: Path, *, method="gap") -> None:
    """Fit ``method`` to a file and write the model to ``out``."""
    console = Console()
    if method not in CANDIDATES:
        raise InputError(f"--method must be one of {', '.join(CANDIDATES)}, got '{method}'.")
    chosen = CANDIDATES[method]
    may_write(out, request.path)
    problem = request.problem()
    check_target(problem.target, set(problem.y) if problem.is_classification else ())
    for text in problem.notes:
        note(console, text)
    status = console.status(f"Choosing the settings of {chosen.label} ...")
    with status, warnings.catch_warnings(action="ignore"):  # of single estimators
        with parallel_config(n_jobs=-1):
            choice = problem.choose(chosen)
        estimator = problem.build(chosen, choice)
        if isinstance(estimator, GapEstimator):  # in others the number of processors would count in the last digits
            estimator.set_params(n_jobs=-1)
        marks, decimal = tuple(request.reading.gap_marks), request.reading.decimal
        model = TableModel(estimator, problem.target, marks, decimal).fit(problem.X, problem.y)
    save(model, out)
    fitted = model.estimator_
    if isinstance(fitted, GapEstimator):
        loss = "log loss" if problem.is_classification else "RMSE"
        show_members(fitted.members_, loss, console)
        say(
            console,
            f"Together: {loss} {-fitted.cv_score_:.4g} on rows they had not learned from, a little optimistic.",
        )
    if choice.score is not None:
        measure = ("balanced accuracy" if problem.is_uneven else "accuracy") if problem.is_classification else "R²"
        settings = ", ".join(f"{name} {value}" for name, value in choice.settings.items())
        say(
            console,
            f"{chosen.label}, {settings}: {measure} {choice.score:.3f} in the cross-validation that chose the "
            f"settings, which is a little optimistic; gapkernel compare measures without that.",
        )
    rows, columns = counted(len(problem.y), "row"), counted(problem.X.shape[1], "column")
    say(console, f"Fitted to {rows} and {columns}. ", (str(out), "bold"), " is written.")


def show_members(members: Members, loss: str, console: Console) -> None:
    """Show the members that a Gap estimator tried, and the weights of those it uses; its scores are minus a loss."""
    table = lines_table(f"Members, by their {loss} out of fold", "member", "weight", loss, "seconds")
    for row in members:
        weight = f"{row.weight:.0%}" if row.weight else "-"
        table.add_row(row.member, weight, f"{-row.score:.4g}", f"{row.seconds:.1f}", style="" if row.weight else "dim")
    console.print(table)


def check_target(target: str, classes) -> None:
    """Refuse a target whose predictions would share the name of another column of the answers."""
    if target in (MISSING, *(PROBABILITY + str(label) for label in classes)):
        raise InputError(f"gapkernel predict writes a column '{target}' of its own. Give the target another name.")
