"""From a file to a typed frame: numbers as float64, everything else as categories of text, NaN in the gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from gapkernel.compute.runtime.writing import written_whole
from gapkernel.tables.files.formats import read_file
from gapkernel.tables.files.spelled_numbers import plain_numbers
from gapkernel.tables.input_errors import InputError, Message, Setting, UnusableColumn, to_leave_out, unknown_column

GAP_MARKS = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "<NA>", "NULL", "null", "None")
"""Text that means a gap, as in R, pandas, SQL and the older data archives."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that a spreadsheet would run."""

MOST_LEVELS = 100
DATES = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?",
    r"\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})([T ].*)?",
    r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?",
    r"\d{1,2}[- ][A-Za-z]{3,9}\.?,?[- ]\d{2,4}",
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}",
)


@dataclass(frozen=True)
class Reading:
    """How a file is to be read.

    Attributes
    ----------
    drop : sequence of str
        Columns to leave out.
    categories : sequence of str
        Columns of numbers that are codes of categories.
    gap_marks : sequence of str
        Further text or numbers that mean a gap, in every column.
    decimal : {".", ","} or None
        The decimal sign of numbers in text; None finds it from each column.
    encoding : str or None
        Of a CSV file; None is UTF-8, or what the first bytes say.
    """

    drop: Sequence[str] = ()
    categories: Sequence[str] = ()
    gap_marks: Sequence[str] = ()
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise InputError(Setting("decimal"), f" must be . or , but is '{self.decimal}'.")

    def keeping(self, name: str) -> Reading:
        """The same, but this column is kept."""
        return replace(self, drop=[dropped for dropped in self.drop if dropped != name])


AS_IT_IS = Reading()


def read_raw(path, reading: Reading = AS_IT_IS) -> pd.DataFrame:
    """The file without the columns to drop: text, or numbers where the file has types, with None or NaN in the gaps."""
    frame = read_file(Path(path), reading.encoding)
    if frame.shape[1] == 0:
        raise InputError(f"{path} is empty.")
    if len(frame) == 0:
        raise InputError(f"{path} has a header line but no rows.")
    frame = frame.reset_index(drop=True)  # rows are numbered, whatever index a Parquet file has
    frame.columns = [str(name).strip() for name in frame.columns]
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise InputError(f"{path} has more than one column named '{repeated[0]}'. Give each column a name of its own.")
    for name in reading.drop:
        if name not in frame:
            raise unknown_column(name, frame.columns, path)
    frame = frame.drop(columns=list(reading.drop))
    if not frame.shape[1]:
        raise InputError("Every column was dropped, so nothing is left.")
    return pd.DataFrame({name: with_marks_as_gaps(frame[name], reading.gap_marks) for name in frame})


def read_frame(path, reading: Reading = AS_IT_IS, *, target=None) -> tuple[pd.DataFrame, list[Message]]:
    """The file as a frame of numbers and categories; a column of dates, free text or mixtures is an error.

    Parameters
    ----------
    path : str or Path
    reading : Reading
    target : str, default=None
        The column to predict: its text is classes, however many.

    Returns
    -------
    frame : DataFrame
    notes : list of Message
        What a person should know about how the numbers were read.
    """
    raw = read_raw(path, reading)
    for name in reading.categories:
        if name not in raw:
            raise unknown_column(name, raw.columns, path)
    frame, notes, unusable = typed_frame(raw, reading, target=target)
    if unusable:
        raise to_leave_out(unusable)
    return frame, notes


def typed_frame(
    raw: pd.DataFrame, reading: Reading = AS_IT_IS, *, target=None
) -> tuple[pd.DataFrame, list[Message], list[UnusableColumn]]:
    """The columns of `read_raw` as numbers or categories, notes on how they were read, and what cannot be used.

    A column that cannot be used stays as it is.
    """
    columns, notes, unusable = {}, [], []
    for name, values in raw.items():
        try:
            columns[name], told = typed(values, reading, is_target=name == target)
            notes += told
        except UnusableColumn as error:
            columns[name] = values
            unusable.append(error)
    return pd.DataFrame(columns), notes, unusable


def read_known(path, target: str, categorical, **layout) -> tuple[pd.DataFrame, np.ndarray]:
    """A CSV file whose categories are known, and its target; rows without a target are left out.

    ``layout`` are further options of `pandas.read_csv`.
    """
    frame = pd.read_csv(path, dtype=dict.fromkeys(categorical, str), **layout)
    return known_types(frame.drop(columns=target), frame[target], categorical)


def known_types(X: pd.DataFrame, y: pd.Series, categorical) -> tuple[pd.DataFrame, np.ndarray]:
    """The rows with a target: these columns as categories of text, all others as float64."""
    rows = y.notna()
    columns = {c: _as_levels(X[c]) if c in categorical else X[c].astype(np.float64) for c in X}
    y = y.astype(str) if isinstance(y.dtype, pd.CategoricalDtype) else y
    return pd.DataFrame(columns)[rows].reset_index(drop=True), y[rows].to_numpy()


def frame_of(columns: dict, levels: dict | None = None) -> pd.DataFrame:
    """A frame of columns by name; those in ``levels`` are categories with these levels."""
    frame = pd.DataFrame(columns)
    return frame.astype({name: pd.CategoricalDtype(list(known)) for name, known in (levels or {}).items()})


def write_csv(frame: pd.DataFrame, path) -> None:
    """Write a frame as CSV, whole or not at all.

    Text that a spreadsheet would run as a formula gets an apostrophe before it, which a spreadsheet does not show.
    """
    names = {name: _inert(name) for name in frame}
    safe = frame.map(_inert).rename(columns=names)
    with written_whole(path) as beside:
        safe.to_csv(beside, index=False)


def _inert(value):
    """A cell as it is, or text with an apostrophe before it if it could be a formula; a number is none."""
    if not isinstance(value, str) or not value.startswith(FORMULA_STARTS):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def numbers(values: pd.Series, decimal: str | None = None) -> tuple[pd.Series, str]:
    """The values as float64, NaN where a value is missing or not a number, and how they are written."""
    if pd.api.types.is_numeric_dtype(values):
        parsed, written = values.astype("float64"), ""
    else:
        parsed, written = plain_numbers(values.dropna().map(str), decimal)
        parsed = parsed.reindex(values.index)
    if np.isinf(parsed).any():
        raise UnusableColumn(str(values.name), "infinity", "Leave the cell empty to make it a gap.")
    return parsed, written


def deciphered(values: pd.Series, parsed: pd.Series, written: str, *advice: str | Setting) -> list[Message]:
    """A note on numbers that a computer would have written in another way, with advice; none on others."""
    first = parsed.first_valid_index()
    if not written or first is None:
        return []
    example = f"'{values[first]}' is read as {parsed[first]:.10g}"
    return [Message(f"'{values.name}' is written {written}: {example}.", *advice)]


def with_marks_as_gaps(values: pd.Series, gap_marks) -> pd.Series:
    """Numbers, or text without blanks around it, with None in the gaps: `GAP_MARKS` and these."""
    marks = set(GAP_MARKS).union(gap_marks)
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        numeric = pd.to_numeric(pd.Series(sorted(marks)), errors="coerce").dropna()
        return values.mask(values.isin(numeric))
    text = values.astype(object).where(values.notna(), None)
    return text.map(lambda value: _without_marks(str(value).strip(), marks), na_action="ignore").astype(object)


def _without_marks(text: str, marks: set[str]) -> str | None:
    whole = text.rstrip("0").removesuffix(".") if "." in text else text  # -999.0 is -999
    return None if text in marks or whole in marks else text


def typed(values: pd.Series, reading: Reading = AS_IT_IS, *, is_target=False) -> tuple[pd.Series, list[Message]]:
    """A column as numbers where all its values are, else as categories, and notes on how it was read."""
    seen = values.dropna()
    if values.name in reading.categories:
        return _as_levels(values.map(plain, na_action="ignore")), []
    if not len(seen):
        return pd.Series(np.nan, values.index, name=values.name), []
    parsed, written = numbers(values, reading.decimal)
    known = parsed[seen.index].notna()
    if known.all():
        text_after_all = " If it is text: ", Setting("categories", [values.name])
        return parsed, deciphered(values, parsed, written, *text_after_all)
    if is_target:
        return _as_levels(values), []
    name, levels, text = values.name, seen.nunique(), seen[~known]
    if written.endswith("with commas"):
        comma, point = Setting("decimal", ","), Setting("decimal", ".")
        advice = "Say which: ", comma, " for decimal commas, ", point, " for commas between thousands."
        raise UnusableColumn(name, f"numbers with commas such as '{text.iloc[0]}', which may mean two things", *advice)
    mostly_numbers = known.mean() > 0.5
    if not mostly_numbers and _are_dates(text):
        instead = "Turn them into numbers, for example days since a fixed day."
        raise UnusableColumn(name, f"dates or times such as '{text.iloc[0]}'", instead)
    if mostly_numbers and levels > 20:
        mark = Setting("gap_marks", [text.iloc[0]])
        told = f"numbers mixed with text such as '{text.iloc[0]}'"
        raise UnusableColumn(name, told, "If that marks a gap, say so: ", mark, ".")
    if levels > MOST_LEVELS or (levels > 10 and levels > len(seen) / 2):
        raise UnusableColumn(name, f"free text or identifiers, {levels} different ones in {len(seen)} rows")
    return _as_levels(values), []


def _as_levels(values: pd.Series) -> pd.Series:
    """A column of categories with sorted levels of text."""
    levels = sorted({str(value) for value in values.dropna()})
    return values.map(str, na_action="ignore").astype(pd.CategoricalDtype(levels))


def plain(value) -> str:
    """A value as text, whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _are_dates(text: pd.Series) -> bool:
    pattern = "|".join(f"(?:{date})" for date in DATES)
    return bool(len(text)) and text.str.fullmatch(pattern).mean() > 0.9
