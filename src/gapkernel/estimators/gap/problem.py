"""What members learn from, and what they give back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from gapkernel.compute.runtime.threads import run_tasks
from gapkernel.estimators.class_weights import part_of
from gapkernel.estimators.gap.combination import ToProbabilities
from gapkernel.estimators.gap.views import View
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.tables import Schema, Table


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
    everything : tuple or None
        Prepared table, targets and weights of all rows, if those of the problem are a sample of them.
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
    found: dict[Any, Any] = field(default_factory=dict)
    everything: tuple[Any, Any, Any] | None = None

    @property
    def truth(self) -> np.ndarray:
        """The targets as the user gave them."""
        return self.units[0] + self.units[1] * self.y if self.labels is None else self.labels[self.y]

    def answering(self, answers: np.ndarray) -> Answering:
        """An estimator that gives these answers, in the user's units."""
        return Answering(self.units[0] + self.units[1] * answers if self.labels is None else answers, self.labels)

    def seen(self, view: str) -> Table:
        """The table in a view."""
        return self.views[view](self.table)

    def some_rows(self, most: int) -> np.ndarray:
        """The places of at most so many rows, in their order; see `drawn_rows`."""
        return drawn_rows(self.y, most, self.seed, 1 if self.n_classes else 0)

    def sample(self, most: int) -> Problem:
        """The problem on at most so many rows, with as many folds."""
        rows = self.some_rows(most)
        if len(rows) == len(self.y):
            return self
        folds = np.arange(len(rows)) % len(self.splits)
        splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(len(self.splits))]
        some = {"table": self.table[rows], "y": self.y[rows], "weight": part_of(self.weight, rows)}
        return replace(self, **some, splits=splits, found={})

    def part(self, table: Table, split: int | None) -> tuple[Table, np.ndarray, np.ndarray | None]:
        """The rows of a view's table that a split learns from, with their targets and weights; None is all of them."""
        if split is None:
            return table, self.y, self.weight
        train = self.splits[split][0]
        return table.as_learned_from(train)[train], self.y[train], part_of(self.weight, train)

    def fitted(self, estimator, view: str = "plain", split: int | None = None):
        """A clone of an estimator that has learned from all rows, or from those of a split."""
        everything = self.everything if split is None else None  # only members that see the plain table learn from it
        return fitted(estimator, *(everything or self.part(self.seen(view), split)))

    def out_of_fold(self, estimator, method: str, view: str = "plain") -> np.ndarray:
        """The answers to each row by a clone of an estimator that has learned from the other folds."""
        table = self.seen(view)

        def of_split(split):
            learned = self.part(table, split)
            new = table[self.splits[split][1]].recoded(learned[0].schema)
            return raw_answers(fitted(estimator, *learned), method, new, self.n_classes)

        found = run_tasks(of_split, range(len(self.splits)))
        out = np.empty((len(self.y), *found[0].shape[1:]))
        for (_, test), values in zip(self.splits, found, strict=True):
            out[test] = values
        return out


def drawn_rows(y: np.ndarray, most: int, seed: int, of_each: int) -> np.ndarray:
    """The places of at most ``most`` rows, drawn at random, in their order; ``of_each`` class if it has so many."""
    if len(y) <= most:
        return np.arange(len(y))
    order = np.random.RandomState(seed).permutation(len(y))
    if of_each:
        _, group = np.unique(y[order], return_inverse=True)
        by_group = np.argsort(group, kind="stable")
        rank = np.empty(len(y), np.int64)  # of each row among those of its class
        rank[by_group] = np.arange(len(y)) - np.searchsorted(group[by_group], group[by_group])
        order = order[np.argsort(rank >= of_each, kind="stable")]
    return np.sort(order[:most])


class Answering(BaseEstimator):
    """An estimator that was given its answers, for scorers.

    Parameters
    ----------
    answers : ndarray
        Values, or probabilities of ``classes``.
    classes : ndarray, default=None
        None for a regressor.
    """

    def __init__(self, answers=None, classes=None):
        self.answers, self.classes = answers, classes

    @property
    def classes_(self) -> np.ndarray:
        """The classes."""
        return self.classes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self.classes is None else "classifier"
        return tags

    def fit(self, X, y) -> Answering:
        """Do nothing."""
        return self

    def predict(self, X) -> np.ndarray:
        """The values, or the most probable classes."""
        return self.answers if self.classes is None else self.classes[self.answers.argmax(axis=1)]

    def predict_proba(self, X) -> np.ndarray:
        """The probabilities."""
        return self.answers


@dataclass(frozen=True, eq=False)
class FittedMember:
    """A model that has learned from all rows, or from those of a split.

    Attributes
    ----------
    view : View
    estimator : estimator
    method : str
        What answers: "predict", "decision_function" or "predict_proba".
    to_probabilities : ToProbabilities or None
        For classes.
    schema : Schema
        Of the table that it has learned from, which may lack levels.
    n_classes : int
        0 for numbers.
    """

    view: View
    estimator: Any
    method: str
    to_probabilities: ToProbabilities | None
    schema: Schema
    n_classes: int

    @property
    def has_laws(self) -> bool:
        """Whether it has laws for gaps at all: trees do not."""
        return isinstance(self.estimator, Inspectable)

    @property
    def has_gaussian_laws(self) -> bool:
        """Whether it has Gaussian laws for gaps; what is assumed about gaps does not reach other members."""
        return self.has_laws and self.estimator.gaussian_share == 1.0

    def answers(self, table: Table) -> np.ndarray:
        """Probabilities (n, n_classes), or values (n,)."""
        if not self.has_gaussian_laws:
            table = replace(table, tilt=None)
        raw = raw_answers(self.estimator, self.method, self.view(table).recoded(self.schema), self.n_classes)
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
        The estimator with these settings, fitted to all rows, or to those that ``split`` learns from.
    """

    name: str
    settings: dict[str, Any]
    raw: np.ndarray
    view: str
    method: str
    fit: Callable[..., Any]


Score = Callable[[np.ndarray, str, Problem], float]
"""From the raw answers to a problem, and the method that gave them, to a score; the higher the better."""


class Member(ABC):
    """A way to learn from a table, with settings of its own to choose."""

    name: str
    takes_many_rows: ClassVar[bool] = False
    """Whether its settings can be chosen on a sample of many rows, and the member then be fitted to all of them."""
    takes_parts: ClassVar[bool] = False
    """Whether it can be fitted to a table in parts."""

    @property
    @abstractmethod
    def family(self) -> str:
        """What it is, in a word; members of one family err alike, and have one share of the weights together."""

    def suits(self, problem: Problem) -> bool:
        """Whether there is any point in trying it."""
        return True

    @abstractmethod
    def tried(self, problem: Problem, score: Score) -> Tried:
        """The member with the settings that have the highest ``score(raw, method, problem)`` out of fold."""


def as_scores(raw: np.ndarray, method: str) -> np.ndarray:
    """Decision values or log probabilities as columns."""
    if method == "predict_proba":
        return np.log(np.maximum(raw, 1e-9))
    return raw.reshape(len(raw), -1)


def raw_answers(model, method: str, rows, n_classes: int) -> np.ndarray:
    """What a model answers to rows, with a column for each class, also for those that it has not seen.

    Their probability is 0, and their decision value the last; two classes may have one decision value.
    """
    raw = getattr(model, method)(rows)
    if raw.shape[1:] == (n_classes,) or (n_classes <= 2 and method != "predict_proba"):
        return raw
    seen = np.column_stack([-raw, raw]) if raw.ndim == 1 else raw
    unseen = np.zeros((len(raw), 1)) if method == "predict_proba" else seen.min(axis=1, keepdims=True) - 1.0
    out = np.repeat(unseen, n_classes, axis=1)
    out[:, model.classes_] = seen
    return out


def fitted(estimator, table, y, weight: np.ndarray | None):
    """A clone of an estimator, fitted with the weights if it takes them."""
    takes = weight is not None and has_fit_parameter(estimator, "sample_weight")
    return clone(estimator).fit(table, y, **({"sample_weight": weight} if takes else {}))
