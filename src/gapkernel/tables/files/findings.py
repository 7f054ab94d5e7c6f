"""What a person should look at before learning from a table, each with the setting that mends it."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from gapkernel.tables.input_errors import Message, Setting

FEW_ROWS = 50
"""Below this a score moves by several points from one fold to the next."""

CODES = range(3, 11)
"""Whole numbers with this many different values, from 0 or 1 on, look like codes of categories.

A person is told of clear cases only; the Gap estimators, which try both, consider more."""

NAMED_AS_NUMBER = re.compile(r"(^|[^a-z])(id|key|nr|no|number|index|idx)$", re.IGNORECASE)


def findings(frame: pd.DataFrame) -> list[Message]:
    """Notes on few rows, columns of one value, row numbers, numbers that mark a gap, and codes of categories.

    Parameters
    ----------
    frame : DataFrame
        The columns to learn from, as `gapkernel.tables.files.read_frame` gives them.
    """
    numeric = {str(name): values for name, values in frame.items() if pd.api.types.is_numeric_dtype(values)}
    notes = [Message(f"Only {len(frame)} rows: any result is a rough guess.")] if len(frame) < FEW_ROWS else []
    constant = [str(name) for name, values in frame.items() if values.nunique() == 1]
    if constant:
        notes.append(
            Message(f"One value only in {_quoted(constant)}, so nothing to learn: ", Setting("drop", constant))
        )
    notes += [
        Message(f"'{name}' looks like a row number. If it is one, leave it out: ", Setting("drop", [name]))
        for name, values in numeric.items()
        if looks_like_a_row_number(values)
    ]
    marks = {name: mark for name, values in numeric.items() if (mark := gap_mark(values.dropna())) is not None}
    for mark in sorted(set(marks.values())):
        names = [name for name, found in marks.items() if found == mark]
        away = f"{mark} is far from all other values of {_quoted(names)}. If it marks a gap: "
        notes.append(Message(away, Setting("gap_marks", [str(mark)])))
    codes = [name for name, values in numeric.items() if _may_be_codes(values[values != marks.get(name)].dropna())]
    if codes:
        few = f"Few whole numbers in {_quoted(codes)}. If they are codes of categories: "
        notes.append(Message(few, Setting("categories", codes)))
    return notes


def looks_like_a_row_number(values: pd.Series) -> bool:
    """Whether a column of numbers counts its rows: whole, no gap, each value once, in one range or named so."""
    if not pd.api.types.is_numeric_dtype(values) or values.isna().any() or len(values) < 10:
        return False
    whole = bool((values == values.round()).all())
    in_one_range = float(values.max() - values.min()) < 2 * len(values)
    return whole and values.is_unique and (in_one_range or bool(NAMED_AS_NUMBER.search(str(values.name))))


def gap_mark(values: pd.Series) -> int | None:
    """A number of nines, such as -999, that occurs more than once and lies further out than all others span."""
    for mark, others in ((values.min(), values > values.min()), (values.max(), values < values.max())):
        rest = values[others]
        if not len(rest) or not re.fullmatch(r"-?9+(\.0)?", str(mark)) or (~others).sum() < 2:
            continue
        if np.abs(rest - mark).min() > rest.max() - rest.min():
            return int(mark)
    return None


def _may_be_codes(values: pd.Series) -> bool:
    distinct = np.sort(values.unique())
    return len(distinct) in CODES and bool((np.diff(distinct) == 1).all()) and distinct[0] in (0, 1)


def _quoted(names) -> str:
    return ", ".join(f"'{name}'" for name in names)
