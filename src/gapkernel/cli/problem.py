"""What is to be predicted from what."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from gapkernel.experiments import Choice, Method, choose, folds, table_grid
from gapkernel.tables import schema_of
from gapkernel.tables.files import AS_IT_IS, Reading, plain, read_frame
from gapkernel.tables.findings import findings
from gapkernel.tables.input_errors import InputError, unknown_column

FEWEST_ROWS_OF_A_CLASS = 5
MOST_CLASSES = 50
FOLDS, INNER_FOLDS = 5, 3
"""Of a comparison, and of the choice of settings."""
TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True)
class Problem:
    """A table to learn from.

    Attributes
    ----------
    name : str
        What the table is called.
    X : DataFrame
        Numbers and categories with gaps.
    y : ndarray
        Classes as text, or numbers.
    target : str
        The column that ``y`` was.
    task : {"classification", "regression"}
    notes : list of str
        What a person should know about how the table was read.
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray
    target: str
    task: str
    notes: list[str] = field(default_factory=list)

    @property
    def is_classification(self) -> bool:
        """Classes rather than numbers."""
        return self.task == "classification"

    @property
    def has_categories(self) -> bool:
        """Whether any column holds categories."""
        return bool(schema_of(self.X).categorical.any())

    @property
    def codes(self) -> np.ndarray:
        """The places of the classes among the sorted ones; numbers as they are."""
        return np.unique(self.y, return_inverse=True)[1] if self.is_classification else self.y

    def take(self, rows: np.ndarray, note: str) -> Problem:
        """Some of the rows."""
        X = self.X.iloc[rows].reset_index(drop=True)
        return replace(self, X=X, y=self.y[rows], notes=[*self.notes, note])

    def folds(self, number: int, seed: int):
        """Random folds, with the classes in their proportions."""
        return folds(number, seed, self.task)

    def choose(self, method: Method, seed: int, X=None, y=None) -> Choice:
        """The settings of a method that do best in folds of all rows, or of those given."""
        X, y = (self.X, self.y) if X is None else (X, y)
        return choose(method, X, y, self.folds(INNER_FOLDS, seed), table_grid(X.shape[1]), self.task)

    def build(self, method: Method, choice: Choice):
        """The estimator of a method, not fitted yet."""
        return method.build(choice.settings, self.task, self.has_categories)


def read_problem(path, target: str, reading: Reading = AS_IT_IS, *, task="auto") -> Problem:
    """The problem in a file; whatever cannot be learned from is an error."""
    frame, notes = read_frame(path, reading.keeping(target), target=target)
    return problem_of(frame, target, name=Path(path).name, task=task, notes=notes)


def problem_of(frame: pd.DataFrame, target: str, *, name: str, task="auto", notes=()) -> Problem:
    """The problem in a typed frame; ``notes`` say how it was read."""
    if task not in TASKS:
        raise InputError(f"--task must be one of {', '.join(TASKS)}, got '{task}'.")
    if target not in frame:
        raise unknown_column(target, frame.columns, name)
    notes = list(notes)
    known = frame[target].notna()
    if not known.any():
        raise InputError(f"The target '{target}' has no value in any row.")
    if not known.all():
        notes.append(f"{_rows((~known).sum())} without a value of '{target}' left out.")
    X, y = frame.loc[known].drop(columns=target).reset_index(drop=True), frame.loc[known, target]
    empty = [column for column in X if X[column].isna().all()]
    if empty:
        notes.append(f"No value at all in {_quoted(empty)}: left out.")
        X = X.drop(columns=empty)
    if not X.shape[1]:
        raise InputError(f"There is no column to predict '{target}' from.")
    notes += findings(X)
    if y.nunique() < 2:
        raise InputError(f"The target '{target}' has one value only, {y.iloc[0]}, so there is nothing to predict.")
    task = _task_of(y) if task == "auto" else task
    if task == "regression":
        return Problem(name, X, _as_numbers(y), target, task, notes)
    return Problem(name, X, _as_classes(y), target, task, notes)


def at_most(problem: Problem, rows: int) -> Problem:
    """The problem, or a sample of it with the classes in their proportions: kernel machines need time by the square.

    A rare class keeps the rows that it needs to be learned at all.
    """
    if rows < 50:
        raise InputError(f"--rows must be at least 50, got {rows}.")
    if len(problem.y) <= rows:
        return problem
    kept = np.random.default_rng(0).permutation(len(problem.y))
    if problem.task == "classification":
        _, classes, counts = np.unique(problem.y[kept], return_inverse=True, return_counts=True)
        kept = np.concatenate([kept[classes == k][:share] for k, share in enumerate(_shares(counts, rows))])
    kept = kept[:rows]
    return problem.take(
        np.sort(kept), f"{rows} of {len(problem.y)} rows are used, drawn at random; --rows changes the number."
    )


def _shares(counts: np.ndarray, rows: int) -> np.ndarray:
    """How many of ``rows`` each class gets: what it needs, then each further row to the class furthest behind."""
    shares = np.minimum(counts, FEWEST_ROWS_OF_A_CLASS)
    if shares.sum() > rows:
        raise InputError(
            f"{len(counts)} classes of at least {FEWEST_ROWS_OF_A_CLASS} rows each do not fit into {rows} rows: "
            f"--rows must be at least {shares.sum()}."
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


def _quoted(names) -> str:
    return ", ".join(f"'{name}'" for name in names)
