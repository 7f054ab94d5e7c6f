"""Do intervals and sets hold the truth as often as they promise, also for rows with many gaps?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, norm
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, column_or_1d

from gapkernel.estimators.calibration.base import checked_coverage
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.tables import read_table


@dataclass(frozen=True, eq=False)
class Coverage:
    """How often intervals or sets hold the truth, by number of missing cells or by mask; see `coverage`."""

    coverage: float
    missing: np.ndarray
    n_rows: np.ndarray
    covered: np.ndarray
    width: np.ndarray
    masks: np.ndarray | None = None

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the shares, if the intervals covered as often as they promise."""
        return np.sqrt(self.coverage * (1.0 - self.coverage) / self.n_rows)

    def confidence(self, coverage: float = 0.95) -> np.ndarray:
        """Wilson's confidence intervals of the shares, (n_groups, 2)."""
        hits = np.rint(self.covered * self.n_rows).astype(int)
        tests = [binomtest(hit, int(n)) for hit, n in zip(hits, self.n_rows, strict=True)]
        return np.array([test.proportion_ci(coverage, method="wilson") for test in tests])

    @property
    def overall(self) -> float:
        """Share over all rows."""
        return float(np.average(self.covered, weights=self.n_rows))


def coverage(estimator, X, y, coverage=0.9, *, by="count") -> Coverage:
    """Coverage of a regressor's intervals, or a classifier's sets, by number of missing cells or by mask.

    Parameters
    ----------
    estimator : fitted regressor or classifier
        With ``predict_interval(X, coverage)`` or ``predict_set(X, coverage)``, or else ``predict(X, return_std=True)``,
        whose intervals are normal.
    X : array-like or frame of shape (n_samples, n_features)
        New rows, not those of the fit.
    y : array-like of shape (n_samples,)
        Their true values or classes.
    coverage : float, default=0.9
        The probability that the intervals or sets promise.
    by : {"count", "mask"}, default="count"
        Which rows are taken together: those that miss as many cells, or those that miss the same ones. Masks are sorted
        by their number of gaps, those with the most rows first.

    Returns
    -------
    result : Coverage
        Its attributes:

        coverage : float
            The probability that the intervals or sets promise.
        missing : ndarray of shape (n_groups,)
            The number of missing cells of each group of rows, in rising order.
        n_rows : ndarray of shape (n_groups,)
            How many rows there are in it.
        covered : ndarray of shape (n_groups,)
            Share of these rows whose target lies in its interval or set.
        width : ndarray of shape (n_groups,)
            Mean width of their intervals, or mean number of classes in their sets.
        masks : ndarray of shape (n_groups, n_features), bool, or None
            With ``by="mask"``, the gaps that the rows of a group share.
        standard_error : ndarray of shape (n_groups,)
            Of the shares, if the intervals covered as often as they promise.
        overall : float
            Share over all rows.

        ``confidence(coverage=0.95)`` gives Wilson's confidence intervals of the shares, (n_groups, 2).

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import GaussianProcessRegressor
    >>> from gapkernel.inspection import coverage
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((200, 2))
    >>> y = X.sum(axis=1) + 0.1 * random.standard_normal(200)
    >>> X[random.random(X.shape) < 0.3] = np.nan
    >>> model = GaussianProcessRegressor(conformal="count").fit(X[:100], y[:100])
    >>> result = coverage(model, X[100:], y[100:])
    >>> result.missing, result.n_rows
    (array([0, 1, 2]), array([54, 36, 10]))
    >>> bool(np.all(np.diff(result.width) > 0))  # the less is known, the wider
    True
    >>> result.confidence().shape
    (3, 2)
    """
    coverage = checked_coverage(coverage)
    if by not in ("count", "mask"):
        raise ValueError(f"by must be 'count' or 'mask', got {by!r}.")
    masks = _gaps_seen(X, estimator)
    check_consistent_length(masks, y)
    inside, width = _answers(estimator, X, y, coverage)
    keys = masks if by == "mask" else masks.sum(axis=1, keepdims=True)
    groups, group, n_rows = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    covered, mean_width = (np.bincount(group, values) / n_rows for values in (inside, width))
    missing = groups.sum(axis=1)
    order = np.lexsort((-n_rows, missing))
    shown = groups[order] if by == "mask" else None
    return Coverage(coverage, missing[order], n_rows[order], covered[order], mean_width[order], shown)


def _answers(estimator, X, y, coverage: float) -> tuple[np.ndarray, np.ndarray]:
    """Whether the interval or set of each row holds its target, and how wide it is."""
    if hasattr(estimator, "predict_set"):
        y, sets = column_or_1d(y), estimator.predict_set(X, coverage=coverage)
        known = np.isin(y, estimator.classes_)
        if not known.all():
            raise ValueError(f"y holds {y[~known].tolist()[0]!r}, which is no class of the estimator.")
        return sets[np.arange(len(y)), np.searchsorted(estimator.classes_, y)], sets.sum(axis=1)
    y = column_or_1d(y, dtype=np.float64)
    if not np.isfinite(y).all():
        raise ValueError("y must be finite: leave out rows without a target.")
    low, high = intervals(estimator, X, coverage).T
    return (low <= y) & (y <= high), high - low


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


def _gaps_seen(X, estimator) -> np.ndarray:
    """Where rows have gaps, as ``estimator`` sees them if it says: a category unknown at fit is a gap to it."""
    if isinstance(estimator, Inspectable):
        return estimator.table_of(X).missing
    return read_table(BaseEstimator(), X, reset=True).missing
