"""``gapkernel fit``: from a table to a file with a tuned, calibrated model."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from gapkernel.cli.describe import LOOK
from gapkernel.cli.output import may_write, note, say
from gapkernel.cli.problem import INNER_FOLDS, Problem, at_most, read_problem
from gapkernel.estimators.gap.member_list import Members
from gapkernel.experiments import METHODS
from gapkernel.experiments.methods import FITTED, with_probabilities
from gapkernel.experiments.store import versions
from gapkernel.persistence import save
from gapkernel.tables.files import AS_IT_IS, Reading
from gapkernel.tables.input_errors import InputError

FORMAT = 1
MISSING, PROBABILITY = "share_missing", "probability_"
"""What ``gapkernel predict`` calls its further columns."""


def fit(
    data: Path,
    target: str,
    out: Path,
    reading: Reading = AS_IT_IS,
    *,
    method="gap",
    task="auto",
    rows=5000,
    console=None,
) -> None:
    """Fit ``method`` to a file and write the model to ``out``."""
    console = console or Console()
    if method not in FITTED:
        raise InputError(f"--method must be one of {', '.join(FITTED)}, got '{method}'.")
    chosen = METHODS[method]
    may_write(out, data)
    problem = at_most(read_problem(data, target, reading, task=task), rows)
    check_target(problem.target, set(problem.y) if problem.is_classification else ())
    for text in problem.notes:
        note(console, text)
    with console.status(f"Choosing the settings of {chosen.label} ..."):
        choice = problem.choose(chosen, seed=0)
        model = problem.build(chosen, choice)
        if problem.is_classification:
            model = with_probabilities(model, problem.folds(INNER_FOLDS, seed=0))
        model.fit(problem.X, problem.y)
    save(bundle(model, problem, method), out)
    settings = ", ".join(f"{name} {value}" for name, value in choice.settings.items())
    measure = "accuracy" if problem.is_classification else "R²"
    if hasattr(model, "members_"):
        show_members(model.members_, console)
        score = f"log loss {-model.cv_score_:.3f}" if problem.is_classification else f"RMSE {-model.cv_score_:.4g}"
        say(console, f"Together: {score} on rows they had not learned from, which is a little optimistic.")
    if choice.score is not None:
        say(
            console,
            f"{chosen.label}, {settings}: {measure} {choice.score:.3f} in the cross-validation that chose the "
            f"settings, which is a little optimistic; gapkernel compare measures without that.",
        )
    say(
        console,
        f"Fitted to {len(problem.X)} rows and {problem.X.shape[1]} columns. ",
        (str(out), "bold"),
        " is written.",
    )


def show_members(members: Members, console: Console) -> None:
    """Show what an estimator that chooses for itself has tried, and what it uses."""
    table = Table(title="Members, by their out-of-fold score", **LOOK)
    table.add_column("member")
    for name in ("weight", "score", "seconds"):
        table.add_column(name, justify="right")
    for row in members:
        weight = f"{row.weight:.0%}" if row.weight else "-"
        table.add_row(row.member, weight, f"{row.score:.4f}", f"{row.seconds:.1f}", style="" if row.weight else "dim")
    console.print(table)


def check_target(target: str, classes) -> None:
    """Refuse a target whose predictions would share the name of another column of the answers."""
    if target in (MISSING, *(PROBABILITY + str(label) for label in classes)):
        raise InputError(f"gapkernel predict writes a column '{target}' of its own. Give the target another name.")


def bundle(model, problem: Problem, method: str) -> dict:
    """The model with what is needed to read new tables as the first one was read."""
    levels = {name: list(column.cat.categories) for name, column in problem.X.items() if hasattr(column, "cat")}
    return {
        "format": FORMAT,
        "model": model,
        "method": method,
        "target": problem.target,
        "task": problem.task,
        "columns": list(problem.X),
        "levels": levels,
        "versions": versions(),
    }
