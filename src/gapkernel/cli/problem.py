"""What is to be predicted from what, and the lines that ask for it again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score

from gapkernel.cli.output import in_options, words_of
from gapkernel.estimators.candidate import has_categories
from gapkernel.studies import CANDIDATES, Candidate, Choice, choose, folds, table_grid, try_out
from gapkernel.studies.protocol import Tuned
from gapkernel.tables.files import AS_IT_IS, Labelled, Reading, read_labelled_file

FOLDS, INNER_FOLDS = 5, 3
"""Of a comparison, and of the choice of settings."""
UNEVEN = 2
"""Classes are uneven when one has more than this many times the rows of another."""


@dataclass(frozen=True)
class Request:
    """A file, and how it is to be read.

    Attributes
    ----------
    path : Path
    target : str
    task : str
    rows : int
        The most rows to use.
    reading : Reading
    """

    path: Path
    target: str
    task: str = "auto"
    rows: int = 20_000
    reading: Reading = AS_IT_IS

    def problem(self) -> Problem:
        """The problem in the file; data that no model can learn from are an error."""
        found = read_labelled_file(self.path, self.target, self.reading, task=self.task, rows=self.rows)
        return Problem(self.path.name, self.target, found)

    def shell(self, method: str) -> str:
        """The commands that fit a method to the same rows, read the same way, and use it."""
        model = "model.skops"
        words = ["gapkernel", "fit", str(self.path), "--target", self.target, "--method", method]
        words += [word for name, value in self._given.items() for word in words_of(name, value)] + ["--out", model]
        encoding = words_of("encoding", self.reading.encoding)
        use = ["gapkernel", "predict", model, "NEW.csv", *encoding, "--out", "predictions.csv"]
        return f"{shlex.join(words)}\n{shlex.join(use)}"

    def python(self, problem: Problem, method: str, choice: Choice) -> str:
        """The lines of Python that do the same."""
        given = {name: f", {name}={value!r}" for name, value in self._given.items()}
        options, model = "".join(given.values()), given.get("gap_marks", "") + given.get("decimal", "")
        return "\n".join(
            [
                "import pandas as pd",
                "from gapkernel import TableModel",
                "from gapkernel.datasets import read_xy",
                CANDIDATES[method].code(choice.settings, problem.task, problem.has_categories, problem.inner_folds),
                "",
                f"X, y = read_xy({str(self.path)!r}, {self.target!r}{options})",
                f"model = TableModel(model, {self.target!r}{model}).fit(X, y)",
                'model.predict(pd.read_csv("NEW.csv"))  # rows with gaps as they are',
            ]
        )

    @property
    def _given(self) -> dict[str, Any]:
        """What was asked for, by the names of `gapkernel.datasets.read_xy`."""
        reading = {part.name: getattr(self.reading, part.name) for part in fields(Reading)}
        given = {name: list(v) if isinstance(v, list | tuple) else v for name, v in reading.items() if v}
        return ({"task": self.task} if self.task != "auto" else {}) | {"rows": self.rows} | given


@dataclass(frozen=True)
class Problem:
    """A table to learn from.

    Attributes
    ----------
    name : str
        What the table is called.
    target : str
        The column to predict.
    rows : Labelled
        The table without that column, and its values.
    notes : list of str
        What a person should know; those on how the table was read come first.
    """

    name: str
    target: str
    rows: Labelled
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", [*map(in_options, self.rows.notes), *self.notes])

    @property
    def X(self) -> Any:
        """Numbers and categories with gaps."""
        return self.rows.X

    @property
    def y(self) -> np.ndarray:
        """Classes as text, or numbers."""
        return self.rows.y

    @property
    def task(self) -> str:
        """Classification or regression."""
        return self.rows.task

    @property
    def is_classification(self) -> bool:
        """Classes rather than numbers."""
        return self.task == "classification"

    @cached_property
    def is_uneven(self) -> bool:
        """Whether some classes have many more rows than others, so that accuracy says little."""
        if not self.is_classification:
            return False
        counts = np.unique(self.y, return_counts=True)[1]
        return bool(counts.max() > UNEVEN * counts.min())

    @cached_property
    def has_categories(self) -> bool:
        """Whether any column holds categories."""
        return has_categories(self.X)

    @cached_property
    def codes(self) -> np.ndarray:
        """The places of the classes among the sorted ones; numbers as they are."""
        return np.unique(self.y, return_inverse=True)[1] if self.is_classification else self.y

    @property
    def inner_folds(self):
        """The folds by which the settings and probabilities of a final model are found."""
        return folds(INNER_FOLDS, 0, self.task)

    def choose(self, candidate: Candidate, X=None, y=None) -> Choice:
        """The settings of a candidate that do best in folds of all rows, or of those given."""
        X, y = (self.X, self.y) if X is None else (X, y)
        return choose(candidate, X, y, self.inner_folds, table_grid(X.shape[1]), self.task, self.metric)

    @property
    def metric(self):
        """The score that settings are chosen by; None stands for accuracy or R squared.

        Uneven classes count the same each: a method that always says the most frequent one is worth nothing.
        """
        return balanced_accuracy_score if self.is_uneven else None

    def try_out(self, candidate: Candidate, X, train: np.ndarray, test: np.ndarray) -> Tuned:
        """Choose the settings of a candidate among the training rows of a table, fit it, and answer the test rows."""
        grid, cv = table_grid(X.shape[1]), self.inner_folds
        return try_out(candidate, X, self.y, train, test, cv, grid, self.task, self.metric, probabilities=True)

    def build(self, candidate: Candidate, choice: Choice):
        """The estimator of a candidate, not fitted yet; a classifier has probabilities."""
        return candidate.build(choice.settings, self.task, self.has_categories, self.inner_folds)
