"""What members learn from, and what they give back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gapkernel.compute.runtime.tasks import run_tasks
from gapkernel.estimators.gap.combination import ToProbabilities
from gapkernel.estimators.gap.views import View
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.tables import Table


@dataclass(frozen=True, eq=False)
class Problem:
    """A prepared table with its targets, and the folds that all members share.

    Attributes
    ----------
    views : dict
        Ways to look at the table by name; "plain" is the table as it is.
    table : Table
    y : ndarray
        The places of the classes, or numbers with mean 0 and deviation 1.
    weight : ndarray or None
    n_classes : int
        0 for numbers.
    splits : list
        Pairs of training and test rows.
    seed : int
    labels : ndarray or None
        The classes; None for numbers.
    units : tuple of two floats
        Mean and deviation of the numbers.
    found : dict
        What one member has found out that others use.
    """

    views: dict[str, View]
    table: Table
    y: np.ndarray
    weight: np.ndarray | None
    n_classes: int
    splits: list[tuple[np.ndarray, np.ndarray]]
    seed: int
    labels: np.ndarray | None = None
    units: tuple[float, float] = (0.0, 1.0)
    found: dict[str, Any] = field(default_factory=dict)

    def seen(self, view: str) -> Table:
        """The table in a view."""
        return self.views[view](self.table)

    def some_rows(self, most: int) -> np.ndarray:
        """The places of at most so many rows, drawn at random but for classes with a single row, in their order."""
        if len(self.y) <= most:
            return np.arange(len(self.y))
        order = np.random.RandomState(self.seed).permutation(len(self.y))
        if self.n_classes:  # the first row of each class, then the others
            first = order[np.unique(self.y[order], return_index=True)[1]]
            order = np.concatenate([first, order[~np.isin(order, first)]])
        return np.sort(order[:most])

    def sample(self, most: int) -> Problem:
        """The problem on at most so many rows, with as many folds."""
        rows = self.some_rows(most)
        if len(rows) == len(self.y):
            return self
        folds = np.arange(len(rows)) % len(self.splits)
        splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(len(self.splits))]
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, table=self.table[rows], y=self.y[rows], weight=weight, splits=splits, found={})

    def out_of_fold(self, table: Table, answers: Callable[[Table, np.ndarray, np.ndarray | None, Table], np.ndarray]):
        """The answers to each row by a model of the other folds: ``answers(table, y, weight, new)``."""

        def of_split(split):
            train, test = split
            learned = table.as_learned_from(train)
            weight = None if self.weight is None else self.weight[train]
            return answers(learned[train], self.y[train], weight, learned[test])

        found = run_tasks(of_split, self.splits)
        out = np.empty((len(self.y), *found[0].shape[1:]))
        for (_, test), values in zip(self.splits, found, strict=True):
            out[test] = values
        return out


@dataclass(frozen=True, eq=False)
class FittedMember:
    """A model that has learned from all rows.

    Attributes
    ----------
    view : View
    estimator : estimator
    method : str
        What answers: "predict", "decision_function" or "predict_proba".
    to_probabilities : ToProbabilities or None
        For classes.
    """

    view: View
    estimator: Any
    method: str
    to_probabilities: ToProbabilities | None

    @property
    def has_gaussian_laws(self) -> bool:
        """Whether it has Gaussian laws for gaps; what is assumed about gaps does not reach other members."""
        return isinstance(self.estimator, Inspectable) and self.estimator.gaussian_share == 1.0

    def answers(self, table: Table) -> np.ndarray:
        """Probabilities (n, n_classes), or values (n,)."""
        if not self.has_gaussian_laws:
            table = replace(table, tilt=None)
        raw = getattr(self.estimator, self.method)(self.view(table))
        return raw if self.to_probabilities is None else self.to_probabilities(as_scores(raw, self.method))


@dataclass(frozen=True, eq=False)
class Tried:
    """A member with its best settings.

    Attributes
    ----------
    name : str
    settings : dict
    raw : ndarray
        Out-of-fold answers: decision values, probabilities or values.
    view : str
    method : str
    fit : callable
        The estimator with these settings, fitted to all rows.
    """

    name: str
    settings: dict[str, Any]
    raw: np.ndarray
    view: str
    method: str
    fit: Callable[[], Any]


class Member(ABC):
    """A way to learn from a table, with settings of its own to choose."""

    name: str

    def suits(self, problem: Problem) -> bool:
        """Whether there is any point in trying it."""
        return True

    @abstractmethod
    def tried(self, problem: Problem, score: Callable[[np.ndarray, str, Problem], float]) -> Tried:
        """The member with the settings that have the highest ``score(raw, method, problem)`` out of fold."""


def as_scores(raw: np.ndarray, method: str) -> np.ndarray:
    """Decision values or log probabilities as columns."""
    if method == "predict_proba":
        return np.log(np.maximum(raw, 1e-9))
    return raw.reshape(len(raw), -1)
