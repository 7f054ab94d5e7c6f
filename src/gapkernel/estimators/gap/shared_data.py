"""What the members of a Gap estimator learn from and share: targets, folds, views, and the choice of a process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring

from gapkernel.estimators.base import class_weighted, part_of
from gapkernel.estimators.candidate import Grid, SplitTable, fitted, with_setting
from gapkernel.estimators.gap.combined import ToProbabilities, raw_answers
from gapkernel.estimators.gap.preparation import Preparation, View
from gapkernel.estimators.process import GaussianProcessClassifier, GaussianProcessRegressor
from gapkernel.estimators.search import Settings, weights_for
from gapkernel.kernels import Missingness
from gapkernel.tables import Schema, Table, read_table, read_target, read_weight
from gapkernel.tables.table_in_parts import Part

PENALTIES = (0.1, 1.0, 10.0, 100.0)
"""Cs of support vector machines."""

WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0)
"""gamma as a multiple of one over the number of columns, which are standardised."""

GAP_WIDTHS = (0.05, 0.2, 1.0)
"""gamma of the kernel on the gaps: two rows with k gaps in one of them only are alike by exp(-k gamma)."""

FEWEST_SEARCHED, MOST_SEARCHED = 100, 1000
"""Rows from which the hyperparameters of a process are found; more change them little and cost much."""

SEARCH_COST = 5e8
"""Rows squared times the missing codes of a row cubed, by which the time of one step of that search grows."""

LEAST_GAIN = 1.0
"""Log evidence that a change to the plain process has to gain."""


class Judged(NamedTuple):
    """Answers to all rows, what they are worth (the higher the better), and how raw answers become probabilities."""

    score: float
    answers: np.ndarray
    to_probabilities: ToProbabilities | None


Judge = Callable[[np.ndarray, str, "SharedData"], Judged]
"""Takes raw answers to all rows, and the method that gave them."""


class ChosenProcess(NamedTuple):
    """A process whose search for hyperparameters starts where an earlier one ended.

    Attributes
    ----------
    evidence : float
        Log evidence, less what a change to the plain process has to gain.
    view : str
    estimator : estimator
        Unfitted.
    """

    evidence: float
    view: str
    estimator: Any


@dataclass(frozen=True, eq=False)
class Targets:
    """The places of classes, or numbers of mean 0 and deviation 1.

    Attributes
    ----------
    labels : ndarray or None
        The classes; None for numbers.
    units : tuple of two floats
        Mean and deviation of the numbers.
    class_weight : dict or None
        How many rows each row of a class counts for.
    """

    labels: np.ndarray | None = None
    units: tuple[float, float] = (0.0, 1.0)
    class_weight: dict | None = None

    def __call__(self, y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """Targets as members take them, and the weights with those of the classes."""
        if self.labels is None:
            return (y - self.units[0]) / self.units[1], weight
        places = np.minimum(np.searchsorted(self.labels, y), len(self.labels) - 1)
        unknown = (self.labels[places] != y) & (True if weight is None else weight > 0)
        if unknown.any():
            raise ValueError(
                f"Class {y[unknown].tolist()[0]!r} is rare: the sample of rows that members are chosen by has none of "
                f"it. Leave its rows out, or merge it with another class."
            )
        if self.class_weight is None:
            return places, weight
        return places, class_weighted(self.class_weight, self.labels[places], weight)


def targets_of_classes(labels: np.ndarray, y: np.ndarray, class_weight) -> Targets:
    """Those of classes; "balanced" weights are found by the shares in ``y``."""
    if class_weight is None:
        return Targets(labels)
    by_row = class_weighted(class_weight, y, None)
    first = np.unique(y, return_index=True)[1]
    return Targets(labels, class_weight=dict(zip(labels.tolist(), by_row[first].tolist(), strict=True)))


def prepared_part(part: Part, reader, schema: Schema, preparation: Preparation, targets: Targets, unit: float) -> Part:
    """A part of a table as it comes, made what members learn from.

    Parameters
    ----------
    part : Part
    reader : estimator
        Knows the columns.
    schema : Schema
        Of the table as it was read.
    preparation : Preparation
    targets : Targets
    unit : float
        The weight that counts as 1.
    """
    table = read_table(reader, part.X, reset=False, schema=schema)
    y = read_target(part.y, y_numeric=targets.labels is None, of=" of a batch")
    y, weight = targets(y, read_weight(part.weight, table))
    return Part(preparation(table), y, None if weight is None else weight / unit)


@dataclass(frozen=True, eq=False)
class SharedData:
    """A prepared table with its targets and folds, and what several members need and one computes.

    Attributes
    ----------
    views : dict
        Ways to look at the table by name; "plain" is the table as it is.
    table : Table
    y : ndarray
        The places of the classes, or numbers with mean 0 and deviation 1.
    weight : ndarray or None
    splits : list
        Pairs of training and test rows.
    seed : int
    targets : Targets
    everything : tuple or None
        Prepared table, targets and weights of all rows, if those above are a sample of them.
    """

    views: dict[str, View]
    table: Table
    y: np.ndarray
    weight: np.ndarray | None
    splits: list[tuple[np.ndarray, np.ndarray]]
    seed: int
    targets: Targets
    everything: tuple[Any, Any, Any] | None = None

    @property
    def task(self) -> str:
        """Classification or regression."""
        return "regression" if self.targets.labels is None else "classification"

    @property
    def n_classes(self) -> int:
        """0 for numbers."""
        return 0 if self.targets.labels is None else len(self.targets.labels)

    @property
    def grid(self) -> Grid:
        """The penalties and widths that members try."""
        return Grid(C=PENALTIES, gamma=tuple(width / self.table.shape[1] for width in WIDTHS))

    @cached_property
    def has_gaps(self) -> bool:
        """Whether any cell is missing."""
        return bool(self.table.missing.any())

    @cached_property
    def seen(self) -> dict[str, SplitTable]:
        """The table in each view, with the densities and Gram matrices that members have in common there."""
        return {
            name: SplitTable(view(self.table), self.y, self.splits, self.weight) for name, view in self.views.items()
        }

    @cached_property
    def process(self) -> ChosenProcess:
        """The view and the process, one length scale for all columns, with the highest evidence.

        A change to the plain process has to gain more than `LEAST_GAIN`.
        """
        kind = GaussianProcessClassifier(prior="share") if self.n_classes else GaussianProcessRegressor()
        best = self._process("plain", kind)
        if "levels" in self.views:
            best = max(best, self._process("levels", best.estimator, LEAST_GAIN), key=lambda one: one.evidence)
        if self.has_gaps:
            for gamma in GAP_WIDTHS:
                other = clone(best.estimator).set_params(indicator=Missingness(gamma))
                best = max(best, self._process(best.view, other, LEAST_GAIN), key=lambda one: one.evidence)
        return best

    @cached_property
    def process_without_offsets(self) -> ChosenProcess:
        """The same for numbers without the offsets of gap patterns, which counts gaps as that process does."""
        return self._process("offsets", self.process.estimator)

    @cached_property
    def n_searched(self) -> int:
        """Most rows to find hyperparameters from: the more codes a row misses, the fewer."""
        gaps = max(1.0, np.isnan(self.table.one_hot()).sum(axis=1).mean())
        return int(np.clip(np.sqrt(SEARCH_COST / gaps**3), FEWEST_SEARCHED, MOST_SEARCHED))

    def settled(self, view: str, estimator):
        """A process with hyperparameters found from the rows of a sample, if there are more rows; else as it is."""
        if len(self.y) <= self.n_searched:
            return estimator
        model = self._fitted_to_sample(view, estimator, self.y)
        scale = _middle(model.length_scale_, axis=0) if is_classifier(model) else model.length_scale_
        start = _hyperparameters(model, length_scale=scale)
        return clone(estimator).set_params(**start, gamma="scale", optimizer=None)

    def out_of_fold(self, estimator, settings: list[Settings], method: str, view: str) -> list[np.ndarray]:
        """For each setting the answers to all rows, each by an estimator that has learned from the other folds."""
        return self.seen[view].out_of_fold(
            estimator, settings, partial(raw_answers, method=method, n_classes=self.n_classes)
        )

    def fit(self, estimator, setting: Settings, view: str, split: int | None = None):
        """The estimator with a setting, fitted to all rows, or to those that a split learns from."""
        if self.everything is not None and split is None:  # only members that see the plain table learn from it
            return fitted(with_setting(estimator, setting), *self.everything)
        return self.seen[view].fit(estimator, setting, split)

    def sample(self, most: int) -> SharedData:
        """At most so many rows, with as many folds."""
        rows = self._some_rows(most)
        if len(rows) == len(self.y):
            return self
        folds = np.arange(len(rows)) % len(self.splits)
        splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(len(self.splits))]
        return replace(self, table=self.table[rows], y=self.y[rows], weight=part_of(self.weight, rows), splits=splits)

    def scored(self, scoring, answers: np.ndarray) -> float:
        """The score of answers to all rows, in the user's units."""
        labels, (centre, unit) = self.targets.labels, self.targets.units
        model = Answering(centre + unit * answers if labels is None else answers, labels)
        truth = centre + unit * self.y if labels is None else labels[self.y]
        scorer = check_scoring(model, scoring)
        return float(scorer(model, self.table.values, truth, **weights_for(scorer, self.weight)))

    def _process(self, view: str, estimator, handicap: float = 0.0) -> ChosenProcess:
        """A process with its evidence in a view.

        Of several classes only the largest against the rest is looked at: a process for each would take as many times
        as long.
        """
        y = self.y == np.bincount(self.y).argmax() if self.n_classes > 2 else self.y
        model = self._fitted_to_sample(view, estimator, y)
        start = _hyperparameters(model, length_scale=_middle(model.length_scale_))
        return ChosenProcess(
            model.log_marginal_likelihood_value_ - handicap, view, clone(estimator).set_params(**start)
        )

    def _fitted_to_sample(self, view: str, estimator, y: np.ndarray):
        """The estimator fitted to as many rows as the search for hyperparameters takes, drawn once."""
        rows = self._some_rows(self.n_searched, y)
        return fitted(clone(estimator), self.seen[view].X[rows], y[rows], part_of(self.weight, rows))

    def _some_rows(self, most: int, y: np.ndarray | None = None) -> np.ndarray:
        """The places of at most so many rows, in their order; see `drawn_rows`."""
        return drawn_rows(self.y if y is None else y, most, self.seed, 1 if self.n_classes else 0)


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
        self.answers, self.classes, self.classes_ = answers, classes, classes

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


def _hyperparameters(model, length_scale) -> dict[str, Any]:
    """The hyperparameters of a fitted process, with these length scales."""
    known = {"constant_value": _middle(model.constant_value_), "length_scale": length_scale}
    return known if is_classifier(model) else known | {"noise_level": model.noise_level_}


def _middle(values, axis=None):
    """The geometric mean, over the processes of several classes."""
    return np.exp(np.mean(np.log(values), axis=axis))
