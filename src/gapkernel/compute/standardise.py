"""Location and scale of columns with gaps: the one standardisation of the library.

`standard_of` serves an array, `standardise` rows that come in parts, from three sums over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Standard:
    """Mean and standard deviation of each column over its observed values, and what else the rows say at a glance.

    Attributes
    ----------
    location : ndarray of shape (n_columns,)
        0 for a column without any value.
    scale : ndarray of shape (n_columns,)
        1 for a column that does not vary.
    live : ndarray of shape (n_columns,), bool
        Columns that vary at all.
    seen : ndarray of shape (n_columns,)
        Weight of the observed values of each column.
    n_rows : int
    weight : float
        Sum of the weights of the rows.
    """

    location: np.ndarray
    scale: np.ndarray
    live: np.ndarray
    seen: np.ndarray
    n_rows: int
    weight: float

    @property
    def variances(self) -> np.ndarray:
        """Variance of the observed values of each column."""
        return np.where(self.live, self.scale**2, 0.0)

    @property
    def count(self) -> float:
        """How many rows a rule may count on: weights that sum to 1 are shares of the rows, not a single row."""
        return max(self.weight, self.n_rows)

    @property
    def log_units(self) -> float:
        """What the units of the live columns add to the log density of their standardised values."""
        return float(np.sum(self.seen[self.live] * np.log(self.scale[self.live])))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The live columns, standardised."""
        return (X[:, self.live] - self.location[self.live]) / self.scale[self.live]

    def mean(self, standardised: np.ndarray) -> np.ndarray:
        """A mean of the live columns, in the units of all columns."""
        mean = self.location.copy()
        mean[self.live] += self.scale[self.live] * standardised
        return mean

    def covariance(self, standardised: np.ndarray) -> np.ndarray:
        """A covariance of the live columns, in the units of all columns; 0 for the others."""
        covariance, scale = np.zeros((len(self.scale), len(self.scale))), self.scale[self.live]
        covariance[np.ix_(self.live, self.live)] = standardised * np.outer(scale, scale)
        return covariance


@dataclass(frozen=True)
class _First:
    """The first observed value of each column, NaN where there is none; rows and weight with any value."""

    value: np.ndarray
    n_rows: int
    weight: float

    @classmethod
    def of(cls, X, weight):
        observed = ~np.isnan(X)
        value = X[observed.argmax(axis=0), np.arange(X.shape[1])] if len(X) else np.full(X.shape[1], np.nan)
        return cls(value, len(X), float(weight.sum()))

    def __add__(self, other):
        value = np.where(np.isnan(self.value), other.value, self.value)
        return _First(value, self.n_rows + other.n_rows, self.weight + other.weight)


@dataclass(frozen=True)
class _Reach:
    """How far values go from the first one, and how far they are from it in sum."""

    weight: np.ndarray
    total: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, first, X, weight):
        observed = ~np.isnan(X)
        share = np.where(observed, weight[:, None], 0.0)
        away = np.where(observed, X - first, 0.0)  # 0 is where the first value is: it moves neither end
        ends = away.min(axis=0, initial=0.0), away.max(axis=0, initial=0.0)
        return cls(share.sum(axis=0), np.sum(share * away, axis=0), *ends)

    def __add__(self, other):
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return _Reach(self.weight + other.weight, self.total + other.total, low, high)


def _squares(first, shift, unit, X, weight) -> np.ndarray:
    observed = ~np.isnan(X)
    away = np.where(observed, X - first - shift, 0.0)
    return np.sum(np.where(observed, weight[:, None], 0.0) * (away / unit) ** 2, axis=0)


def standard_of(X: np.ndarray, weight: np.ndarray | None = None) -> Standard:
    """The standard of an array (n_rows, n_columns) with NaN in the gaps; ``weight`` counts rows more than once."""
    weight = np.ones(len(X)) if weight is None else weight
    return standardise(lambda sums: sums(X, weight))


def standardise(total: Callable[[Callable], Any]) -> Standard:
    """Standardise the rows whose sums ``total`` gives: total(f) is the sum of f(X, weight) over their parts.

    Values are measured from the first one and in units of the largest deviation, so that a constant column is
    exactly constant and very large or small columns neither overflow nor vanish when squared.
    """
    start = total(_First.of)
    first = np.where(np.isnan(start.value), 0.0, start.value)
    reach = total(partial(_Reach.of, first))
    weight = np.where(np.isnan(start.value), 1.0, reach.weight)
    varies = np.maximum(reach.high, -reach.low) > 1e-13 * np.abs(first)  # less is the rounding of a constant column
    shift = reach.total / weight
    unit = np.where(varies, np.maximum(np.abs(reach.high - shift), np.abs(reach.low - shift)), 1.0)
    scale = np.where(varies, unit * np.sqrt(total(partial(_squares, first, shift, unit)) / weight), 1.0)
    with np.errstate(over="ignore", under="ignore"):
        representable = np.isfinite(scale**2) & (scale**2 > np.finfo(float).tiny)
    if not representable.all():
        column = int(np.argmin(representable))
        raise ValueError(
            f"Column {column} of X has a spread of {scale[column]:.1e}, too extreme to square: rescale it."
        )
    location = first + np.where(varies, shift, 0.0)
    return Standard(location, scale, varies, reach.weight, start.n_rows, start.weight)
