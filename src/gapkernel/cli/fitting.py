"""``gapkernel fit``: from a table to a file with a tuned, calibrated machine."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from rich.console import Console

from gapkernel.cli.complaints import Complaint
from gapkernel.cli.machines import INNER_FOLDS, OURS, folds, with_probabilities
from gapkernel.cli.problem import Problem, at_most, read_problem
from gapkernel.cli.saying import note, say
from gapkernel.cli.writing import may_write
from gapkernel.persistence import save

FORMAT = 1
MISSING, PROBABILITY = "share_missing", "probability_"
"""What ``gapkernel predict`` calls its further columns."""


def fit(
    data: Path, target: str, out: Path, *, machine="genrbf", task="auto", rows=5000, console=None, **reading
) -> None:
    """Fit ``machine`` to a file and write the model to ``out``."""
    console = console or Console()
    if machine not in OURS:
        raise Complaint(f"--machine must be one of {', '.join(OURS)}, got '{machine}'.")
    may_write(out, data)
    problem = at_most(read_problem(data, target, task=task, **reading), rows)
    check_target(problem.target, set(problem.y) if problem.task == "classification" else ())
    for text in problem.notes:
        note(console, text)
    with console.status(f"Choosing the settings of {OURS[machine].label} ..."):
        choice = OURS[machine].choose(problem, problem.X, problem.y, folds(problem, INNER_FOLDS, seed=0))
        model = with_probabilities(choice.estimator, problem, seed=0).fit(problem.X, problem.y)
    save(bundle(model, problem, machine), out)
    settings = ", ".join(f"{name} {value}" for name, value in choice.settings.items())
    measure = "accuracy" if problem.task == "classification" else "R²"
    say(
        console,
        f"{OURS[machine].label}, {settings}: {measure} {choice.score:.3f} in the cross-validation that chose the "
        f"settings, which is a little optimistic; gapkernel compare measures without that.\n"
        f"Fitted to {len(problem.X)} rows and {problem.X.shape[1]} columns. ",
        (str(out), "bold"),
        " is written.",
    )


def check_target(target: str, classes) -> None:
    """Complain if predictions of the target would share the name of another column of the answers."""
    if target in (MISSING, *(PROBABILITY + str(label) for label in classes)):
        raise Complaint(f"gapkernel predict writes a column '{target}' of its own. Give the target another name.")


def bundle(model, problem: Problem, machine: str) -> dict:
    """The model with what is needed to read new tables as the first one was read."""
    levels = {name: list(column.cat.categories) for name, column in problem.X.items() if hasattr(column, "cat")}
    packages = ("gapkernel", "scikit-learn", "numpy", "skops")
    return {
        "format": FORMAT,
        "model": model,
        "machine": machine,
        "target": problem.target,
        "task": problem.task,
        "columns": list(problem.X),
        "levels": levels,
        "versions": {package: _version(package) for package in packages},
    }


def _version(package: str) -> str:
    if package == "gapkernel":  # also where it runs without being installed
        from gapkernel import __version__

        return __version__
    return version(package)
