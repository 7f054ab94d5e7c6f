"""A file of one's own as a table and its target."""

from __future__ import annotations

from collections.abc import Sequence

from gapkernel.datasets.loading import Dataset
from gapkernel.tables.user_tables import pandas_files


def read_xy(
    path,
    target: str,
    *,
    task: str = "auto",
    rows: int | None = None,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    gap_marks: Sequence[str] = (),
    decimal: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    """Read a table to learn from, and its target, as the command line reads them.

    An empty cell is a gap, and so are "?", "NA", "null" and the like. A column whose values are all numbers holds
    numbers; any other holds categories. Columns of dates, free text or numbers mixed with text are refused, all of them
    in one error.

    Parameters
    ----------
    path : str or Path
        A CSV, Parquet or Excel file.
    target : str
        The column to predict.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes text, and at most ten different whole numbers, for classes.
    rows : int, default=None
        Draw this many rows of a larger table, always the same; None takes all.
    drop : sequence of str, default=()
        Columns to leave out.
    categories : sequence of str, default=()
        Columns of numbers that are codes of categories.
    gap_marks : sequence of str, default=()
        Further text or numbers that mean a gap, in every column.
    decimal : {".", ","} or None, default=None
        The decimal sign of numbers in text; None finds it from each column.
    encoding : str, default=None
        Of a CSV file; None is UTF-8, or what the first bytes say.

    Returns
    -------
    dataset : Dataset
        Unpacks as ``X, y``: a frame of numbers and categories without rows that have no target and columns that have
        no value, and the classes as text, or numbers.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gapkernel.datasets import read_xy
    >>> lines = ["size,kind,class", *["1.5,a,yes", "?,b,no", "-9,a,yes", "2.5,,no", "3,b,yes"] * 4]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "table.csv"
    ...     _ = path.write_text("\\n".join(lines))
    ...     X, y = read_xy(path, "class", gap_marks=["-9"])
    >>> X.isna().sum().to_dict()
    {'size': 8, 'kind': 4}
    >>> y[:3].tolist()
    ['yes', 'no', 'yes']
    """
    files = pandas_files()
    reading = files.Reading(drop, categories, gap_marks, decimal, encoding)
    found = files.read_labelled_file(path, target, reading, task=task, rows=rows)
    return Dataset(found.X, found.y)
