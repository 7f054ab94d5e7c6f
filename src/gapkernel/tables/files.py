"""From a file to a typed frame: numbers as float64, everything else as categories of text, NaN in the gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from gapkernel.compute.runtime.writing import written_whole
from gapkernel.tables.input_errors import InputError, UnusableColumn, all_of, unknown_column

GAP_MARKS = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "<NA>", "NULL", "null", "None")
"""Text that means a gap, as in R, pandas, SQL and the older data archives."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that a spreadsheet would run."""

SEPARATORS = ",;\t|"
MOST_LEVELS = 100
DATES = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?",
    r"\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})([T ].*)?",
    r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?",
    r"\d{1,2}[- ][A-Za-z]{3,9}\.?,?[- ]\d{2,4}",
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}",
)


def read_raw(path, gap_marks=()) -> pd.DataFrame:
    """The file as it is: a CSV file (any common separator, UTF-8) as text, a Parquet file with its own types."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a CSV or Parquet file.")
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    frame = _read_parquet(path) if path.suffix.lower() in (".parquet", ".pq") else _read_csv(path)
    if frame.shape[1] == 0:
        raise InputError(f"{path} is empty.")
    if len(frame) == 0:
        raise InputError(f"{path} has a header line but no rows.")
    frame = frame.reset_index(drop=True)  # rows are numbered, whatever index a Parquet file has
    frame.columns = [str(name).strip() for name in frame.columns]
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise InputError(f"{path} has more than one column named '{repeated[0]}'. Give each column a name of its own.")
    marks = set(GAP_MARKS).union(gap_marks)
    for name in frame:
        if not pd.api.types.is_numeric_dtype(frame[name]) or pd.api.types.is_bool_dtype(frame[name]):
            frame[name] = _as_text(frame[name], marks)
    return frame


def read_frame(path, *, drop=(), categories=(), gap_marks=(), target=None) -> pd.DataFrame:
    """The file as a frame of numbers and categories; a column of dates, free text or mixtures is an error.

    Parameters
    ----------
    path : str or Path
    drop : sequence of str
        Columns to leave out.
    categories : sequence of str
        Columns of numbers that are codes of categories.
    gap_marks : sequence of str
        Further text that means a gap.
    target : str, default=None
        The column to predict: its text is classes, however many.
    """
    frame = without(read_raw(path, gap_marks), drop, path)
    for name in categories:
        if name not in frame:
            raise unknown_column(name, frame.columns, path)
    columns, unusable = {}, []
    for name in frame:
        try:
            columns[name] = typed(frame[name], is_category=name in categories, is_target=name == target)
        except UnusableColumn as error:
            unusable.append(error)
    if unusable:
        raise all_of(unusable)
    return pd.DataFrame(columns)


def read_known(path, target: str, categorical) -> tuple[pd.DataFrame, np.ndarray]:
    """A CSV file whose categories are known, and its target; rows without a target are left out."""
    frame = pd.read_csv(path, dtype=dict.fromkeys(categorical, str))
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


def without(frame: pd.DataFrame, drop, path) -> pd.DataFrame:
    """The frame without some columns."""
    for name in drop:
        if name not in frame:
            raise unknown_column(name, frame.columns, path)
    frame = frame.drop(columns=list(drop))
    if not frame.shape[1]:
        raise InputError("Every column was dropped, so nothing is left.")
    return frame


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


def numbers(values: pd.Series) -> pd.Series:
    """The values as float64, NaN where a value is missing or not a number."""
    parsed = pd.to_numeric(values, errors="coerce").astype("float64")
    if np.isinf(parsed).any():
        raise UnusableColumn(str(values.name), "infinity", "Leave the cell empty to make it a gap.")
    return parsed


def looks_like_a_row_number(values: pd.Series) -> bool:
    """Whether the column counts its rows: whole numbers, no gap, each value once."""
    if not pd.api.types.is_numeric_dtype(values) or values.isna().any() or len(values) < 10:
        return False
    whole = bool((values == values.round()).all())
    return whole and values.is_unique and float(values.max() - values.min()) < 2 * len(values)


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = file.readline()
            while header and not header.strip():
                header = file.readline()
        if not header:
            raise InputError(f"{path} is empty.")
        separator = max(SEPARATORS, key=header.count)
        frame = pd.read_csv(
            path, sep=separator, dtype=str, keep_default_na=False, na_values=[], encoding="utf-8-sig", compression=None
        )
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte 0x{error.object[error.start]:02x} at position {error.start}). "
            f"Save it as UTF-8, for example: iconv -f latin1 -t utf-8 {path.name}"
        ) from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise InputError(f"{path} is not a table: {' '.join(str(error).split())}") from error
    if not isinstance(frame.index, pd.RangeIndex):  # pandas took the first column for an index
        raise InputError(
            f"{path} has lines with more cells than its header names. Is there a separator at the end of each line?"
        )
    return frame


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except (ValueError, OSError) as error:  # pyarrow's errors derive from these
        raise InputError(f"{path} is not a Parquet file: {' '.join(str(error).split())}") from error


def _as_text(values: pd.Series, marks: set[str]) -> pd.Series:
    """Text without blanks around it, None in the gaps."""
    text = values.astype(object).where(values.notna(), None)
    text = text.map(lambda value: None if value is None or str(value).strip() in marks else str(value).strip())
    return text.astype(object)


def typed(values: pd.Series, *, is_category=False, is_target=False) -> pd.Series:
    """A column as numbers where all its values are, else as categories."""
    seen = values.dropna()
    if pd.api.types.is_numeric_dtype(values):
        return _as_levels(values.map(_plain_number, na_action="ignore")) if is_category else numbers(values)
    if is_category or not len(seen):
        return _as_levels(values) if is_category else pd.Series(np.nan, values.index, name=values.name)
    parsed = pd.to_numeric(seen, errors="coerce")
    if parsed.notna().all():
        return numbers(values)
    if is_target:
        return _as_levels(values)
    name, levels = values.name, seen.nunique()
    text = seen[parsed.isna()]
    mostly_numbers = parsed.notna().mean() > 0.5
    if not mostly_numbers and _are_dates(text):
        advice = "Turn them into numbers, for example days since a fixed day."
        raise UnusableColumn(name, f"dates or times such as '{text.iloc[0]}'", advice)
    if mostly_numbers and levels > 20:
        advice = f'If that marks a gap, say so: --na "{text.iloc[0]}".'
        raise UnusableColumn(name, f"numbers mixed with text such as '{text.iloc[0]}'", advice)
    if levels > MOST_LEVELS or (levels > 10 and levels > len(seen) / 2):
        raise UnusableColumn(name, f"free text or identifiers, {levels} different ones in {len(seen)} rows")
    return _as_levels(values)


def _as_levels(values: pd.Series) -> pd.Series:
    """A column of categories with sorted levels of text."""
    levels = sorted({str(value) for value in values.dropna()})
    return values.map(str, na_action="ignore").astype(pd.CategoricalDtype(levels))


def _plain_number(value) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _are_dates(text: pd.Series) -> bool:
    pattern = "|".join(f"(?:{date})" for date in DATES)
    return bool(len(text)) and text.str.fullmatch(pattern).mean() > 0.9
