"""The target of a table: the rows that have one, and whether it holds classes or numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gapkernel.tables.files.findings import findings
from gapkernel.tables.files.typed_frame import AS_IT_IS, Reading, plain, read_frame
from gapkernel.tables.input_errors import InputError, Message, Setting, unknown_column

FEWEST_ROWS_OF_A_CLASS = 5
MOST_CLASSES = 50
TASKS = ("auto", "classification", "regression")


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
        What a person should know about how the table was read.
    """

    X: Any
    y: np.ndarray
    task: str
    notes: list[Message] = field(default_factory=list)

    def take(self, rows: np.ndarray, note: Message) -> Labelled:
        """Some of the rows."""
        return replace(self, X=self.X.iloc[rows].reset_index(drop=True), y=self.y[rows], notes=[*self.notes, note])


def read_labelled_file(path, target: str, reading: Reading = AS_IT_IS, *, task="auto", rows=None) -> Labelled:
    """The rows of a file that have a target; whatever cannot be learned from is an error."""
    frame, notes = read_frame(path, reading.keeping(target), target=target)
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
        _, classes, counts = np.unique(found.y[kept], return_inverse=True, return_counts=True)
        kept = np.concatenate([kept[classes == k][:share] for k, share in enumerate(_shares(counts, rows))])
    note = Message(
        f"{rows} of {len(found.y)} rows are used, drawn at random; ",
        Setting("rows"),
        " changes the number. Every method would gain from more rows, boosted trees often the most.",
    )
    return found.take(np.sort(kept[:rows]), note)


def _shares(counts: np.ndarray, rows: int) -> np.ndarray:
    """How many of ``rows`` each class gets: what it needs, then each further row to the class furthest behind."""
    shares = np.minimum(counts, FEWEST_ROWS_OF_A_CLASS)
    if shares.sum() > rows:
        raise InputError(
            f"{len(counts)} classes of at least {FEWEST_ROWS_OF_A_CLASS} rows each do not fit into {rows} rows: ",
            Setting("rows"),
            f" must be at least {shares.sum()}.",
        )
    fair = rows * counts / counts.sum()
    for _ in range(rows - shares.sum()):
        shares[np.argmax(np.where(shares < counts, fair - shares, -np.inf))] += 1
    return shares


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
