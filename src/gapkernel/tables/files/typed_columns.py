"""From raw columns to typed ones: numbers as float64, everything else as categories of text, NaN in the gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from gapkernel.tables.files.formats import AS_IT_IS, Reading, read_raw, with_marks_as_gaps
from gapkernel.tables.input_errors import InputError, Message, Setting, UnusableColumn, to_leave_out
from gapkernel.tables.user_columns import Columns

MOST_LEVELS = 100
DATES = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?",
    r"\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})([T ].*)?",
    r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?",
    r"\d{1,2}[- ][A-Za-z]{3,9}\.?,?[- ]\d{2,4}",
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}",
)
SIGNS = {"with decimal commas": (",", "."), "with commas between thousands": (".", ",")}
"""The decimal sign and the sign between thousands."""


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
        What the user should know about how the numbers were read.
    """
    frame, notes, unusable = typed_frame(read_raw(path, reading), reading, target=target)
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
            columns[name], told = _typed(values, reading, is_target=name == target)
            notes += told
        except UnusableColumn as error:
            columns[name] = values
            unusable.append(error)
    return pd.DataFrame(columns), notes, unusable


def known_columns(
    X,
    names: Sequence[str] | None,
    levels: Mapping[str, tuple] | None,
    reading: Reading,
    *,
    absent_as_gaps=False,
    what="X",
) -> tuple[pd.DataFrame, list[Message]]:
    """The columns of a table that a model knows, with the types they had at fit; other columns are left out.

    Parameters
    ----------
    X : array-like or frame
        A frame as a file reader gives it; an array has its columns in the order of the names.
    names : sequence of str or None
        The columns, in their order. None takes them as they are.
    levels : mapping of str to tuple, or None
        The levels of the columns of categories; all others hold numbers. None finds the types from the columns.
    reading : Reading
        Its marks of gaps and its decimal sign.
    absent_as_gaps : bool, default=False
        Whether a column that the table does not have is a gap in every row; an error otherwise.
    what : str, default="X"
        What error messages call the table.

    Returns
    -------
    frame : DataFrame
    notes : list of Message
        What was taken for a gap, and how numbers were read.
    """
    columns = Columns(X)
    if columns.frame is None:
        frame = pd.DataFrame(columns.array, columns=None if names is None else list(names))
    else:
        frame = columns.frame.to_pandas().reset_index(drop=True)
    frame = frame.rename(columns=str)
    names = list(map(str, frame.columns)) if names is None else list(names)
    absent = [name for name in names if name not in frame]
    if absent and not absent_as_gaps:
        raise InputError(
            f"{what} does not have {', '.join(map(repr, absent))}, which the model was fitted with. Add the column "
            f"(its cells may be empty), or let it be a gap in every row: ",
            Setting("absent_as_gaps", True),
        )
    notes = [Message(f"No column '{name}': a gap in every row.") for name in absent]
    raw = with_marks_as_gaps(frame.reindex(columns=names), reading)
    if levels is None:
        typed, told, unusable = typed_frame(raw, reading)
        if unusable:
            raise unusable[0]
        return typed, notes + told
    for name in names:
        if name in levels:
            raw[name], told = _levels_at_fit(raw[name], levels[name])
        else:
            raw[name], told = _numbers_at_fit(raw[name], reading, what)
        notes += told
    return raw, notes


def _numbers_at_fit(values: pd.Series, reading: Reading, what: str) -> tuple[pd.Series, list[Message]]:
    known, told = _numbers(values, reading.decimal)
    wrong = values[values.notna() & known.isna()]
    if len(wrong):
        raise InputError(
            f"Column '{values.name}' of {what} holds '{wrong.iloc[0]}' in row {wrong.index[0]} (the first is 0), "
            f"but it held numbers when the model was fitted. If that marks a gap, say so: ",
            Setting("gap_marks", [str(wrong.iloc[0])]),
        )
    return known, told


def _levels_at_fit(values: pd.Series, levels: tuple) -> tuple[pd.Series, list[Message]]:
    text = values.astype(object).map(plain, na_action="ignore")
    place = {plain(level): level for level in levels}
    if pd.api.types.is_numeric_dtype(values):  # a file reader may have made 1 of "01"
        spelled = pd.to_numeric(pd.Series(levels, dtype=object), errors="coerce").astype(float)
        if not spelled.duplicated().any():
            place = dict(zip(map(plain, spelled), levels, strict=True)) | place
    unknown = sorted(set(text.dropna()) - set(place))
    told = f"'{values.name}' has values unknown at fit, which are gaps: {', '.join(unknown[:5])}."
    known = text.map(place.get, na_action="ignore").astype(pd.CategoricalDtype(list(levels)))
    return known, [Message(told)] if unknown else []


def _typed(values: pd.Series, reading: Reading, *, is_target: bool) -> tuple[pd.Series, list[Message]]:
    """A column as numbers where all its values are, else as categories, and notes on how it was read."""
    seen, name = values.dropna(), values.name
    if name in reading.categories:
        return as_levels(values.map(plain, na_action="ignore")), []
    parsed, told = _numbers(values, reading.decimal, " If it is text: ", Setting("categories", [name]))
    text = seen[parsed[seen.index].isna()]
    if not len(text):
        return parsed, told
    if not is_target:
        _refuse_other_than_levels(seen, text)
    return as_levels(values), []


def _refuse_other_than_levels(seen: pd.Series, text: pd.Series) -> None:
    """An error for dates, free text and numbers mixed with text; ``text`` are the values that are not numbers."""
    name, levels, example = seen.name, seen.nunique(), text.iloc[0]
    mostly_numbers = len(text) < 0.5 * len(seen)
    if not mostly_numbers and text.str.fullmatch("|".join(f"(?:{date})" for date in DATES)).mean() > 0.9:
        instead = "Turn them into numbers, for example days since a fixed day."
        raise UnusableColumn(name, f"dates or times such as '{example}'", instead)
    if mostly_numbers and levels > 20:
        mark = Setting("gap_marks", [example])
        told = f"numbers mixed with text such as '{example}'"
        raise UnusableColumn(name, told, "If that marks a gap, say so: ", mark, ".")
    if levels > MOST_LEVELS or (levels > 10 and levels > len(seen) / 2):
        raise UnusableColumn(name, f"free text or identifiers, {levels} different ones in {len(seen)} rows")


def _numbers(values: pd.Series, decimal: str | None, *advice: str | Setting) -> tuple[pd.Series, list[Message]]:
    """The values as float64, NaN where one is missing or not a number; a note with advice if they had to be read."""
    if pd.api.types.is_numeric_dtype(values):
        parsed, written = values.astype("float64"), ""
    else:
        parsed, written = _read(values.dropna().map(str), decimal)
        parsed = parsed.reindex(values.index)
    if np.isinf(parsed).any():
        raise UnusableColumn(str(values.name), "infinity", "Leave the cell empty to make it a gap.")
    first = parsed.first_valid_index()
    if not written or first is None:
        return parsed, []
    example = f"'{values[first]}' is read as {parsed[first]:.10g}"
    return parsed, [Message(f"'{values.name}' is written {written}: {example}.", *advice)]


def _read(text: pd.Series, decimal: str | None) -> tuple[pd.Series, str]:
    """The numbers in a column of text, NaN for other text, and how they are written; "" is as a computer does it."""
    written = "in percent" if text.str.endswith("%").all() else ""
    bare = text.str.removesuffix("%").str.rstrip() if written else text
    commas = bare.str.contains(",", regex=False)
    wanted = {way: signs for way, signs in SIGNS.items() if commas.any() and decimal in (None, signs[0])}
    ways = {way: numbers for way, signs in wanted.items() if (numbers := _to_numbers(bare, *signs)).notna().all()}
    if len(ways) > 1:
        comma, point = Setting("decimal", ","), Setting("decimal", ".")
        advice = "Say which: ", comma, " for decimal commas, ", point, " for commas between thousands."
        told = f"numbers with commas such as '{text[commas].iloc[0]}', which may mean two things"
        raise UnusableColumn(str(text.name), told, *advice)
    for way, numbers in ways.items():
        return numbers, f"{written} {way}".strip()
    return _to_numbers(bare), written


def _to_numbers(text: pd.Series, decimal: str = ".", thousands: str | None = None) -> pd.Series:
    """The numbers that texts spell with these signs, NaN for other texts; to the last digit, which pandas 2 rounds."""
    if thousands is not None:
        # a sign that does not stand before exactly three digits, or stands after more than three
        misplaced = text.str.contains(rf"[{thousands}](?!\d{{3}}(?!\d))|\d{{4,}}[{thousands}]")
        text = text.mask(misplaced, "").str.replace(thousands, "", regex=False).str.replace(decimal, ".", regex=False)
    numbers = pd.to_numeric(text, errors="coerce").astype("float64")
    spelled = numbers.notna()
    numbers[spelled] = text[spelled].to_numpy(dtype=object).astype("float64")
    return numbers


def read_known(path, target: str, categorical, **layout) -> tuple[pd.DataFrame, np.ndarray]:
    """A CSV file whose categories are known, and its target; rows without a target are left out.

    ``layout`` are further options of `pandas.read_csv`.
    """
    frame = pd.read_csv(path, dtype=dict.fromkeys(categorical, str), **layout)
    return known_types(frame.drop(columns=target), frame[target], categorical)


def known_types(X: pd.DataFrame, y: pd.Series, categorical) -> tuple[pd.DataFrame, np.ndarray]:
    """The rows with a target: these columns as categories of text, all others as float64."""
    rows = y.notna()
    columns = {c: as_levels(X[c]) if c in categorical else X[c].astype(np.float64) for c in X}
    y = y.astype(str) if isinstance(y.dtype, pd.CategoricalDtype) else y
    return pd.DataFrame(columns)[rows].reset_index(drop=True), y[rows].to_numpy()


def as_levels(values: pd.Series) -> pd.Series:
    """A column of categories with sorted levels of text."""
    levels = sorted({str(value) for value in values.dropna()})
    return values.map(str, na_action="ignore").astype(pd.CategoricalDtype(levels))


def plain(value) -> str:
    """A value as text, whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
