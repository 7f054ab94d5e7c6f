"""The commands and their options; the work is done in the modules that each one names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from gapkernel.cli.output import Stopped
from gapkernel.tables.input_errors import InputError

__all__ = ["Stopped", "UsageError", "app"]
UsageError: Any = typer.BadParameter.__bases__[0]  # click's, wherever typer keeps it

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Data = Annotated[Path, Argument(help="A CSV, Parquet or Excel file; an empty cell, NA or ? is a gap.")]
Target = Annotated[str, Option("--target", "-t", help="The column to predict.")]
Task = Annotated[str, Option("--task", help="auto, classification or regression.")]
Drop = Annotated[list[str], Option("--drop", metavar="COLUMN", help="Leave a column out; may be repeated.")]
Category = Annotated[list[str], Option("--category", metavar="COLUMN", help="Its numbers are codes; may be repeated.")]
GapMarks = Annotated[list[str], Option("--na", metavar="MARK", help="Text or number that is a gap; may be repeated.")]
Decimal = Annotated[
    str | None, Option("--decimal", help="The decimal sign, . or ,; found from the columns by default.")
]
Rows = Annotated[int, Option(help="The most rows to learn from; of a larger table that many are drawn.")]
MOST_ROWS = 20_000
METHOD_NAMES = (
    "gap, genrbf, genrbf-indicator, rbf, ehk, mean_indicator, boosting-one-hot, linear; gap-quick; for many rows "
    "fourier, fourier-quick, mean_landmarks; and baseline, which learns nothing"
)
Encoding = Annotated[str | None, Option("--encoding", help="Of a CSV file; UTF-8 by default.")]


def _version(asked: bool) -> None:
    if asked:
        from gapkernel import __version__

        typer.echo(f"gapkernel {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Kernel machines that learn from tables with gaps, at fit and at predict, without an imputation step."""


@app.command()
def describe(
    data: Data,
    drop: Drop = [],  # noqa: B006
    category: Category = [],  # noqa: B006
    na: GapMarks = [],  # noqa: B006
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Show where a table has gaps: by column, and by pattern."""
    from gapkernel.cli.describe import describe
    from gapkernel.tables.files import Reading

    describe(data, Reading(drop, category, na, decimal, encoding))


@app.command()
def compare(
    data: Annotated[Path | None, Argument(help="As for describe; without a file, the Palmer penguins.")] = None,
    target: Annotated[str | None, Option("--target", "-t", help="The column to predict.")] = None,
    out: Annotated[Path, Option("--out", "-o", help="The page to write; the results are kept next to it.")] = Path(
        "comparison.html"
    ),
    task: Task = "auto",
    rows: Rows = MOST_ROWS,
    quick: Annotated[bool, Option("--quick", help="One cross-validation, fewer methods, no hidden cells.")] = False,
    jobs: Annotated[int | None, Option(help="Tasks at the same time; all cores by default, one with --quick.")] = None,
    drop: Drop = [],  # noqa: B006
    category: Category = [],  # noqa: B006
    na: GapMarks = [],  # noqa: B006
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Compare methods on a table and write a page about it."""
    from gapkernel.cli.compare import compare, request_of
    from gapkernel.tables.files import Reading

    reading = Reading(drop, category, na, decimal, encoding)
    compare(request_of(data, target, out, task, rows, reading), out, quick=quick, n_jobs=jobs)


@app.command()
def fit(
    data: Data,
    target: Target,
    out: Annotated[Path, Option("--out", "-o", help="The file to write, usually NAME.skops.")],
    method: Annotated[str, Option("--method", "-m", help=f"One of {METHOD_NAMES}.")] = "gap",
    task: Task = "auto",
    rows: Rows = MOST_ROWS,
    drop: Drop = [],  # noqa: B006
    category: Category = [],  # noqa: B006
    na: GapMarks = [],  # noqa: B006
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Fit a method to a table and save the model.

    By default it tries many members and combines the good ones. Settings are chosen by cross-validation; a classifier
    also learns probabilities.
    """
    from gapkernel.cli.fit import fit
    from gapkernel.cli.problem import Request
    from gapkernel.tables.files import Reading

    reading = Reading(drop, category, na, decimal, encoding)
    fit(Request(data, target, task, rows, reading), out, method=method)


@app.command()
def predict(
    model: Annotated[Path, Argument(help="A file that fit, or gapkernel.persistence.save, wrote.")],
    data: Data,
    out: Annotated[Path, Option("--out", "-o", help="The CSV file to write.")],
    coverage: Annotated[
        float | None, Option(help="How often an interval should hold the value; 0.9 by default, for numbers.")
    ] = None,
    id_column: Annotated[str | None, Option("--id", metavar="COLUMN", help="A column to copy to the answers.")] = None,
    absent_as_gaps: Annotated[bool, Option(help="Treat columns that the table does not have as gaps.")] = False,
    na: GapMarks = [],  # noqa: B006
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Predict the rows of a table by a saved model.

    Writes a class with probabilities, or a value with an interval, and the share of the row that was missing.
    """
    from gapkernel.cli.predict import predict
    from gapkernel.tables.files import Reading

    reading = Reading(gap_marks=na, decimal=decimal, encoding=encoding)
    predict(model, data, out, reading, absent_as_gaps=absent_as_gaps, coverage=coverage, id_column=id_column)


@app.command()
def explain(
    model: Annotated[Path, Argument(help="A file that fit wrote.")],
    data: Data,
    row: Annotated[int, Option("--row", "-r", help="Which row of the table; the first is 0.")] = 0,
    cost: Annotated[list[str], Option("--cost", metavar="COLUMN=COST", help="Of measuring it; 1 by default.")] = [],  # noqa: B006
    absent_as_gaps: Annotated[bool, Option(help="Treat columns that the table does not have as gaps.")] = False,
    na: GapMarks = [],  # noqa: B006
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Explain the prediction for a row: what pushed it, what is missing, and what would be worth measuring."""
    from gapkernel.cli.explain import explain
    from gapkernel.tables.files import Reading

    reading = Reading(gap_marks=na, decimal=decimal, encoding=encoding)
    explain(model, data, row, reading, costs=cost, absent_as_gaps=absent_as_gaps)


@app.command()
def reproduce(
    paper: Annotated[str, Argument(help="expected-kernel, ehk, cccp, microbiology or genrbf.")],
    quick: Annotated[bool, Option("--quick", help="A part that takes a few minutes; the default.")] = False,
    standard: Annotated[bool, Option("--standard", help="All rows and settings, fewer repetitions.")] = False,
    full: Annotated[bool, Option("--full", help="All of it.")] = False,
    data_dir: Annotated[Path | None, Option(help="Folder of data sets; else GAPKERNEL_DATA, or fetched.")] = None,
    out: Annotated[Path | None, Option("--out", "-o", help="Folder for tables, figures and results.")] = None,
    jobs: Annotated[int | None, Option(help="Tasks at the same time; all cores by default.")] = None,
    so_far: Annotated[bool, Option("--so-far", help="Run nothing; report what a stopped run has finished.")] = False,
) -> None:
    """Repeat the experiments of a paper."""
    from gapkernel.papers import reproduce

    chosen = [name for name, given in (("quick", quick), ("standard", standard), ("full", full)) if given]
    if len(chosen) > 1:
        raise ValueError(f"Give one of --{', --'.join(chosen)}, not several.")
    reproduce(paper, size=(chosen or ["quick"])[0], data_dir=data_dir, out=out, n_jobs=jobs, so_far=so_far)


@app.command()
def bench(
    names: Annotated[list[str] | None, Argument(help="Benchmarks to run; all of them by default.")] = None,
) -> None:
    """Run the benchmarks, in a copy of the repository; they write their tables to benchmarks/results."""
    script = Path(__file__).parents[3] / "benchmarks" / "run.py"
    if not script.is_file():
        raise InputError("The benchmarks are not part of the installed package: run this in a copy of the repository.")
    known = {path.stem for path in script.parent.glob("*.py") if "\ndef run(" in path.read_text(encoding="utf-8")}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise InputError(f"There is no benchmark '{unknown[0]}'. There are: {', '.join(sorted(known))}.")
    if subprocess.run([sys.executable, str(script), *(names or ())], check=False).returncode:
        raise InputError("The benchmarks stopped; what they printed says why.")


@app.command()
def warmup() -> None:
    """Compile the loops now, for example while an image is built, so that no fit has to wait."""
    from gapkernel.cli.warmup import warm_up

    warm_up()
