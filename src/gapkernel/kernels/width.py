"""What the words for ``gamma`` mean: one formula for every kernel that has a width."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.rows import Moments, Rows

MEDIAN_ROWS = 1000
"""Rows that the median heuristic looks at; beyond, they are drawn with a fixed seed."""


class DoubleInterval(Interval):
    """An interval that compares all numbers as doubles, whatever their own precision."""

    def __contains__(self, value) -> bool:
        try:
            return super().__contains__(float(value))
        except OverflowError:  # an integer beyond all of them
            return False


POSITIVE = DoubleInterval(Real, 1e-100, 1e100, closed="both")
"""Numbers that can be squared and inverted."""

RBF_WIDTH: list[Any] = [POSITIVE, StrOptions({"scale", "median", "auto"})]
WIDTH: list[Any] = [POSITIVE, StrOptions({"scale"})]
"""What ``gamma`` may be, for `_parameter_constraints`."""


def scale_gamma(moments: Moments | None, metric: np.ndarray | None = None, *, about_means: bool = False) -> float:
    """gamma="scale": 1 / the expected squared distance from the centre, measured as the kernel measures distances.

    The centre has the mean of all cells in each column, so for plain columns this is 1 / (n_features * variance of all
    cells), as in scikit-learn. With a metric W in (x - y)'W(x - y) it is 1 / (tr W Sigma + m'Wm), m the means less
    their mean. With ``about_means`` the centre is the means themselves, and m is 0.
    """
    if moments is None:
        raise unresolved("gamma", "scale")
    if not np.isfinite(moments.mean).all():
        raise ValueError(
            "gamma='scale' needs columns of numbers, but some columns hold categories. Give gamma a number."
        )
    away = np.zeros_like(moments.mean) if about_means else moments.mean - moments.mean.mean()
    if metric is None:
        return gamma_of_spread(moments.variances.sum() + away @ away)
    covariance = moments.covariance - np.diag(moments.covariance.diagonal() - moments.variances)
    return gamma_of_spread(np.sum(np.asarray(metric) * covariance) + away @ metric @ away)


def gamma_of_word(word: str, rows: Rows, scale: Callable[[], float]) -> float:
    """The number that a word for the width of an RBF kernel means for these rows; ``scale`` finds that of "scale".

    "median" is 1 / the median squared distance between the rows' means, and "auto" 1 / n_features, as in scikit-learn.
    """
    if word == "auto":
        return 1.0 / rows.n_features
    return scale() if word == "scale" else median_gamma(rows.means)


def gamma_of_spread(spread: float) -> float:
    """1 / the expected squared distance from the centre, and 1 where all rows are alike."""
    return float(1.0 / spread) if spread > 0 else 1.0


def median_gamma(means: np.ndarray) -> float:
    """gamma="median": 1 / the median squared distance between the rows' means."""
    squared = pairwise_distances(means[median_rows(len(means))], metric="sqeuclidean")
    return gamma_of_spread(np.median(squared[squared > 0]) if np.any(squared > 0) else 0.0)


def median_rows(n_rows: int) -> np.ndarray:
    """Numbers of the rows that the median heuristic looks at, sorted."""
    if n_rows <= MEDIAN_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, MEDIAN_ROWS, replace=False))


def resolved(name: str, value) -> float:
    """The number that a parameter holds, or an error if it is still a word."""
    if isinstance(value, str):
        raise unresolved(name, value)
    return float(value)


def unresolved(name: str, word) -> ValueError:
    """The error for a parameter that is still a word where a number is needed."""
    return ValueError(
        f"{name}={word!r} is found from data: use kernel.resolve(density.moments(), rows) first, or give a number."
    )
