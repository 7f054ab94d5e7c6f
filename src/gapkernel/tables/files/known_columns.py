"""New rows in the columns that a model was fitted with: found by name, categories by their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from gapkernel.tables.columns import Columns
from gapkernel.tables.files.typed_frame import Reading, deciphered, numbers, plain, typed_frame, with_marks_as_gaps
from gapkernel.tables.input_errors import InputError, Message, Setting


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
    frame = _as_frame(X, names)
    names = list(map(str, frame.columns)) if names is None else list(names)
    absent = [name for name in names if name not in frame]
    if absent and not absent_as_gaps:
        raise InputError(
            f"{what} does not have {', '.join(map(repr, absent))}, which the model was fitted with. Add the column "
            f"(its cells may be empty), or let it be a gap in every row: ",
            Setting("absent_as_gaps", True),
        )
    notes = [Message(f"No column '{name}': a gap in every row.") for name in absent]
    known = {name: with_marks_as_gaps(frame[name], reading.gap_marks) for name in names if name in frame}
    raw = pd.DataFrame({name: known.get(name, pd.Series(np.nan, frame.index)) for name in names}, frame.index)
    if levels is None:
        typed, told, unusable = typed_frame(raw, reading)
        if unusable:
            raise unusable[0]
        return typed, [*notes, *told]
    columns = {}
    for name in names:
        columns[name], told = _as_at_fit(raw[name], levels.get(name), reading.decimal, what)
        notes += told
    return pd.DataFrame(columns), notes


def _as_frame(X, names) -> pd.DataFrame:
    columns = Columns(X)
    if columns.frame is not None:
        return columns.frame.to_pandas().reset_index(drop=True).rename(columns=str)
    return pd.DataFrame(columns.array, columns=None if names is None else list(names))


def _as_at_fit(values: pd.Series, levels: tuple | None, decimal, what: str) -> tuple[pd.Series, list[Message]]:
    """One column with the type it had at fit."""
    seen = values.notna()
    if levels is None:
        known, written = numbers(values, decimal)
        wrong = values[seen & known.isna()]
        if len(wrong):
            raise InputError(
                f"Column '{values.name}' of {what} holds '{wrong.iloc[0]}' in row {wrong.index[0]} (the first is 0), "
                f"but it held numbers when the model was fitted. If that marks a gap, say so: ",
                Setting("gap_marks", [str(wrong.iloc[0])]),
            )
        return known, deciphered(values, known, written)
    text = values.astype(object).map(plain, na_action="ignore")
    place = _spelled_as_numbers(levels) if pd.api.types.is_numeric_dtype(values) else {}
    place |= {plain(level): level for level in levels}
    unknown = sorted(set(text[seen]) - set(place))
    told = f"'{values.name}' has values unknown at fit, which are gaps: {', '.join(unknown[:5])}."
    known = text.map(place.get, na_action="ignore").astype(pd.CategoricalDtype(list(levels)))
    return known, [Message(told)] if unknown else []


def _spelled_as_numbers(levels: tuple) -> dict:
    """The levels by the numbers they spell: "01" by "1", which is what a file reader may have made of it."""
    spelled = pd.to_numeric(pd.Series(levels, dtype=object), errors="coerce").astype(float)
    return {} if spelled.duplicated().any() else dict(zip(map(plain, spelled), levels, strict=True))
