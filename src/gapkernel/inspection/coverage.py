"""Do intervals cover as often as they promise, even for rows with many gaps?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, norm
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, column_or_1d

from gapkernel.estimators.calibration import checked_coverage
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.tables import read_table


@dataclass(frozen=True, eq=False)
class Coverage:
    """Coverage of intervals by number of missing cells.

    Attributes
    ----------
    coverage : float
        The probability that the intervals promise.
    missing : ndarray of shape (n_counts,)
        The numbers of missing cells that occur, in rising order.
    n_rows : ndarray of shape (n_counts,)
        How many rows miss that many cells.
    covered : ndarray of shape (n_counts,)
        Share of these rows whose target lies in its interval.
    width : ndarray of shape (n_counts,)
        Mean width of their intervals.
    """

    coverage: float
    missing: np.ndarray
    n_rows: np.ndarray
    covered: np.ndarray
    width: np.ndarray

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the shares, if the intervals covered as often as they promise."""
        return np.sqrt(self.coverage * (1.0 - self.coverage) / self.n_rows)

    def confidence(self, coverage: float = 0.95) -> np.ndarray:
        """Wilson's confidence intervals of the shares, (n_counts, 2)."""
        hits = np.rint(self.covered * self.n_rows).astype(int)
        tests = [binomtest(hit, int(n)) for hit, n in zip(hits, self.n_rows, strict=True)]
        return np.array([test.proportion_ci(coverage, method="wilson") for test in tests])

    @property
    def overall(self) -> float:
        """Share over all rows."""
        return float(np.average(self.covered, weights=self.n_rows))


def coverage(estimator, X, y, coverage=0.9) -> Coverage:
    """Coverage of a regressor's intervals by number of missing cells.

    Parameters
    ----------
    estimator : fitted regressor
        With ``predict_interval(X, coverage)``, or else ``predict(X, return_std=True)``, whose intervals are normal.
    X : array-like or frame of shape (n_samples, n_features)
        New rows, not those of the fit.
    y : array-like of shape (n_samples,)
    coverage : float, default=0.9
        The probability that the intervals promise.

    Returns
    -------
    result : Coverage

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import GaussianProcessRegressor
    >>> from gapkernel.inspection import coverage
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((200, 2))
    >>> y = X.sum(axis=1) + 0.1 * random.standard_normal(200)
    >>> X[random.random(X.shape) < 0.3] = np.nan
    >>> model = GaussianProcessRegressor(conformal=True).fit(X[:100], y[:100])
    >>> result = coverage(model, X[100:], y[100:])
    >>> result.missing, result.n_rows
    (array([0, 1, 2]), array([54, 36, 10]))
    >>> bool(np.all(np.diff(result.width) > 0))  # the less is known, the wider
    True
    """
    coverage = checked_coverage(coverage)
    y = column_or_1d(y, dtype=np.float64)
    if not np.isfinite(y).all():
        raise ValueError("y must be finite: leave out rows without a target.")
    counts = gap_counts(X, estimator)
    check_consistent_length(counts, y)
    low, high = intervals(estimator, X, coverage).T
    missing, group, n_rows = np.unique(counts, return_inverse=True, return_counts=True)
    covered = np.bincount(group, (low <= y) & (y <= high)) / n_rows
    return Coverage(coverage, missing, n_rows, covered, np.bincount(group, high - low) / n_rows)


def intervals(estimator, X, coverage: float) -> np.ndarray:
    """Lower and upper ends of a regressor's intervals, (n_samples, 2)."""
    if hasattr(estimator, "predict_interval"):
        return estimator.predict_interval(X, coverage=coverage)
    if not hasattr(estimator, "predict"):
        raise TypeError(f"estimator must be a fitted regressor, got {estimator!r}.")
    try:
        mean, std = estimator.predict(X, return_std=True)
    except TypeError as error:
        raise ValueError(f"{estimator!r} has neither predict_interval nor predict(X, return_std=True).") from error
    half = norm.ppf(0.5 + 0.5 * coverage) * std
    return np.column_stack([mean - half, mean + half])


def gap_counts(X, estimator=None) -> np.ndarray:
    """Number of gaps in each row, as ``estimator`` counts them if it does: a category unknown at fit is a gap to it."""
    if isinstance(estimator, Inspectable):
        return estimator.gaps(X).sum(axis=1)
    return read_table(BaseEstimator(), X, reset=True).missing.sum(axis=1)
