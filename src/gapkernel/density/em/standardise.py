"""Location and scale of columns with gaps, from three sums over rows that may come in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np


class Standard(NamedTuple):
    """Available-case mean and standard deviation of each column, and what else the rows say at a glance."""

    location: np.ndarray
    scale: np.ndarray
    live: np.ndarray
    """Columns that vary at all."""
    seen: np.ndarray
    """Weight of the observed values of each column."""
    n_rows: int
    weight: float


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


def standardise(total: Callable[[Callable], Any]) -> Standard:
    """Standardise the rows whose sums ``total`` gives: total(f) is the sum of f(X, weight) over their parts.

    Values are measured from the first one and in units of the largest deviation, so that a constant column is
    exactly constant and very large or small columns neither overflow nor vanish when squared.
    """
    start = total(_First.of)
    if np.isnan(start.value).all():
        raise ValueError("X has no observed value in any row of positive weight, so no density can be fitted.")
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
