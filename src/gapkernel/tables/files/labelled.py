"""Rows to learn from: those with a target, what the target holds, and what the user should look at first."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gapkernel.tables.files.formats import AS_IT_IS, Reading
from gapkernel.tables.files.typed_columns import plain, read_frame
from gapkernel.tables.input_errors import InputError, Message, Setting, unknown_column

FEWEST_ROWS_OF_A_CLASS = 5
MOST_CLASSES = 50
TASKS = ("auto", "classification", "regression")
FEW_ROWS = 50
"""Below this a score moves by several points from one fold to the next."""

CODES = range(3, 11)
"""Whole numbers with this many different values, from 0 or 1 on, look like codes of categories.

The user is told of clear cases only; the Gap estimators, which try both, consider more."""

NAMED_AS_NUMBER = re.compile(r"(^|[^a-z])(id|key|nr|no|number|index|idx)$", re.IGNORECASE)


@dataclass(frozen=True)
class Labelled:
    """Rows with a target.

    Attributes
    ----------
    X : DataFrame
        Numbers and categories with gaps.
    y : ndarray
        Classes as text, or numbers.
    task : {"classification", "regression"}
    notes : list of Message
        What the user should know about how the table was read.
    """

    X: Any
    y: np.ndarray
    task: str
    notes: list[Message] = field(default_factory=list)


def read_labelled_file(path, target: str, reading: Reading = AS_IT_IS, *, task="auto", rows=None) -> Labelled:
    """The rows of a file that have a target; whatever cannot be learned from is an error."""
    reading = replace(reading, drop=[name for name in reading.drop if name != target])
    frame, notes = read_frame(path, reading, target=target)
    found = labelled(frame, target, task=task, name=Path(path).name, notes=notes)
    return found if rows is None else at_most(found, rows)


def labelled(frame: pd.DataFrame, target: str, *, task="auto", name="the table", notes=()) -> Labelled:
    """The rows of a typed frame that have a target; ``notes`` say how it was read."""
    if task not in TASKS:
        raise InputError(Setting("task"), f" must be one of {', '.join(TASKS)}, got '{task}'.")
    if target not in frame:
        raise unknown_column(target, frame.columns, name)
    notes = list(notes)
    known = frame[target].notna()
    if not known.any():
        raise InputError(f"The target '{target}' has no value in any row.")
    if not known.all():
        notes.append(Message(f"{_rows((~known).sum())} without a value of '{target}' left out."))
    X, y = frame.loc[known].drop(columns=target).reset_index(drop=True), frame.loc[known, target]
    empty = [column for column in X if X[column].isna().all()]
    if empty:
        notes.append(Message(f"No value at all in {', '.join(map(repr, empty))}: left out."))
        X = X.drop(columns=empty)
    if not X.shape[1]:
        raise InputError(f"There is no column to predict '{target}' from.")
    notes += findings(X)
    if y.nunique() < 2:
        raise InputError(f"The target '{target}' has one value only, {y.iloc[0]}, so there is nothing to predict.")
    task = _task_of(y) if task == "auto" else task
    return Labelled(X, _as_numbers(y) if task == "regression" else _as_classes(y), task, notes)


def at_most(found: Labelled, rows: int) -> Labelled:
    """The rows, or a sample of them with the classes in their proportions.

    A rare class keeps the rows that it needs to be learned at all.
    """
    if rows < 50:
        raise InputError(Setting("rows"), f" must be at least 50, got {rows}.")
    if len(found.y) <= rows:
        return found
    kept = np.random.default_rng(0).permutation(len(found.y))
    if found.task == "classification":
        kept = kept[_in_proportion(found.y[kept], rows)]
    note = Message(
        f"{rows} of {len(found.y)} rows are used, drawn at random; ",
        Setting("rows"),
        " changes the number. Every method would gain from more rows, boosted trees often the most.",
    )
    kept = np.sort(kept[:rows])
    return Labelled(found.X.iloc[kept].reset_index(drop=True), found.y[kept], found.task, [*found.notes, note])


def _in_proportion(y: np.ndarray, rows: int) -> np.ndarray:
    """An order of the labels whose first ``rows`` hold what each class needs, and else the classes' shares."""
    _, classes, counts = np.unique(y, return_inverse=True, return_counts=True)
    needed = np.minimum(counts, FEWEST_ROWS_OF_A_CLASS).sum()
    if needed > rows:
        raise InputError(
            f"{len(counts)} classes of at least {FEWEST_ROWS_OF_A_CLASS} rows each do not fit into {rows} rows: ",
            Setting("rows"),
            f" must be at least {needed}.",
        )
    place = pd.Series(classes).groupby(classes).cumcount().to_numpy()  # of each label among those of its class
    share = rows * counts / counts.sum()
    behind = np.where(place < FEWEST_ROWS_OF_A_CLASS, np.inf, share[classes] - place)
    return np.lexsort((classes, -behind))


def _task_of(y: pd.Series) -> str:
    """Text is classes; numbers are classes if they are whole and at most ten."""
    if isinstance(y.dtype, pd.CategoricalDtype):
        return "classification"
    few_and_whole = y.nunique() <= 10 and bool((y == y.round()).all())
    return "classification" if few_and_whole else "regression"


def _as_numbers(y: pd.Series) -> np.ndarray:
    if isinstance(y.dtype, pd.CategoricalDtype):
        raise InputError(f"The target '{y.name}' holds text such as '{y.iloc[0]}', so it cannot be a regression.")
    if len(y) < 10:
        raise InputError(f"{_rows(len(y))} with a value of '{y.name}' are too few to learn from: 10 are needed.")
    return y.to_numpy(dtype=np.float64)


def _as_classes(y: pd.Series) -> np.ndarray:
    labels = y.astype(str) if isinstance(y.dtype, pd.CategoricalDtype) else y.map(plain)
    counts = labels.value_counts()
    if len(counts) > MOST_CLASSES:
        raise InputError(
            f"The target '{y.name}' has {len(counts)} classes; at most {MOST_CLASSES} can be compared. Merge classes, "
            f"or choose another target."
        )
    if counts.min() < FEWEST_ROWS_OF_A_CLASS:
        raise InputError(
            f"The class '{counts.idxmin()}' of '{y.name}' has {_rows(counts.min())}; every class needs at least "
            f"{FEWEST_ROWS_OF_A_CLASS}. Merge it with another class, or leave its rows out."
        )
    return labels.to_numpy(dtype=object)


def _rows(count) -> str:
    return "1 row" if count == 1 else f"{count} rows"


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
        if _counts_rows(values)
    ]
    marks = {name: mark for name, values in numeric.items() if (mark := _gap_mark(values.dropna())) is not None}
    for mark in sorted(set(marks.values())):
        names = _quoted(name for name, marked in marks.items() if marked == mark)
        away = f"{mark} is far from all other values of {names}. If it marks a gap: "
        notes.append(Message(away, Setting("gap_marks", [str(mark)])))
    codes = [name for name, values in numeric.items() if _may_be_codes(values[values != marks.get(name)].dropna())]
    if codes:
        few = f"Few whole numbers in {_quoted(codes)}. If they are codes of categories: "
        notes.append(Message(few, Setting("categories", codes)))
    return notes


def _counts_rows(values: pd.Series) -> bool:
    """Whether a column counts its rows: at least ten, whole, no gap, each value once, in one range or named so."""
    if values.isna().any() or len(values) < 10 or not values.is_unique or (values != values.round()).any():
        return False
    return values.max() - values.min() < 2 * len(values) or bool(NAMED_AS_NUMBER.search(str(values.name)))


def _gap_mark(values: pd.Series) -> int | None:
    """A number of nines, such as -999, that occurs more than once and lies further out than all others span."""
    for mark in (values.min(), values.max()):
        rest = values[values != mark]
        nines = re.fullmatch(r"-?9+(\.0)?", str(mark)) and len(values) > len(rest) + 1
        if nines and len(rest) and np.abs(rest - mark).min() > rest.max() - rest.min():
            return int(mark)
    return None


def _may_be_codes(values: pd.Series) -> bool:
    distinct = np.sort(values.unique())
    return len(distinct) in CODES and bool((np.diff(distinct) == 1).all()) and distinct[0] in (0, 1)


def _quoted(names) -> str:
    return ", ".join(f"'{name}'" for name in names)
