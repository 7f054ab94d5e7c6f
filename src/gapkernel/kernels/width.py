"""What the words for ``gamma`` mean: one formula for every kernel that has a width."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils._param_validation import Interval

from gapkernel.rows import Moments, Rows

MEDIAN_ROWS = 1000
"""Rows that the median heuristic looks at; beyond, they are drawn with a fixed seed."""


class DoubleInterval(Interval):
    """An interval that compares numbers of any precision as doubles."""

    def __contains__(self, value: Any) -> bool:
        try:
            return super().__contains__(float(value))
        except OverflowError:  # an integer beyond all of them
            return False


POSITIVE = DoubleInterval(Real, 1e-100, 1e100, closed="both")
"""Numbers that can be squared and inverted."""


def gamma_of(
    gamma: Any, rows: Rows, moments: Moments | None, metric: np.ndarray | None = None, *, about_means: bool = False
) -> float:
    """The number that ``gamma`` means for these rows: itself, or what a word stands for.

    "scale" is that of `scale_gamma`, "median" 1 / the median squared distance between the rows' means, and "auto"
    1 / n_features, as in scikit-learn.
    """
    if not isinstance(gamma, str):
        return gamma
    if gamma == "auto":
        return 1.0 / rows.n_features
    if gamma == "scale":
        return scale_gamma(moments, metric, about_means=about_means)
    squared = pairwise_distances(rows.means[median_rows(len(rows))], metric="sqeuclidean")
    return scale_gamma(float(np.median(squared[squared > 0])) if np.any(squared > 0) else 0.0)


def scale_gamma(
    moments: Moments | float | None, metric: np.ndarray | None = None, *, about_means: bool = False
) -> float:
    """gamma="scale": 1 / the expected squared distance from the centre, and 1 where all rows are alike.

    The distance is measured as the kernel measures distances. The centre has the mean of all cells in each column, so
    for plain columns this is 1 / (n_features * variance of all cells), as in scikit-learn. With a metric W in
    (x - y)'W(x - y) it is 1 / (tr W Sigma + m'Wm), m the means less their mean. With ``about_means`` the centre is the
    means themselves, and m is 0. A float in place of the moments is the expected squared distance itself.
    """
    spread = moments if isinstance(moments, float) else _spread(moments, metric, about_means)
    return float(1.0 / spread) if spread > 0 else 1.0


def _spread(moments: Moments | None, metric: np.ndarray | None, about_means: bool) -> float:
    if moments is None:
        raise unresolved("gamma", "scale")
    if not np.isfinite(moments.mean).all():
        raise ValueError(
            "gamma='scale' needs columns of numbers, but some columns hold categories. Give gamma a number."
        )
    away = np.zeros_like(moments.mean) if about_means else moments.mean - moments.mean.mean()
    if metric is None:
        return moments.variances.sum() + away @ away
    covariance = moments.covariance - np.diag(moments.covariance.diagonal() - moments.variances)
    return np.sum(np.asarray(metric) * covariance) + away @ metric @ away


def median_rows(n_rows: int) -> np.ndarray:
    """Numbers of the rows that the median heuristic looks at, sorted."""
    if n_rows <= MEDIAN_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, MEDIAN_ROWS, replace=False))


def unresolved(name: str, word: str) -> ValueError:
    """The error for a parameter that is still a word where a number is needed."""
    return ValueError(
        f"{name}={word!r} is found from data: use kernel.resolve(density.moments(), rows) first, or give a number."
    )
