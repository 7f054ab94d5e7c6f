"""Which columns may predict which: the quick selection of mice, by correlation and by usable cases."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.stats import kendalltau
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar

from gapkernel.compute.standardise import standard_of
from gapkernel.missingness import pairs
from gapkernel.tables import read_table

CORRELATIONS = ("kendall", "pearson")
LEAST_CORRELATION = 0.1


def usable_cases(X) -> np.ndarray:
    """Proportion of usable cases: of the rows that miss column j, how many have column k.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        NaN, None and pd.NA mark a gap.

    Returns
    -------
    puc : ndarray of shape (n_features, n_features)
        Entry (j, k) is for target j and predictor k. NaN where the target has no gap.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.imputation import usable_cases
    >>> usable_cases([[1.0, np.nan], [2.0, 5.0], [np.nan, np.nan]])
    array([[0. , 0. ],
           [0.5, 0. ]])
    """
    counts = pairs(X)
    gaps = counts.mr + counts.mm
    return np.divide(counts.mr, gaps, out=np.full(gaps.shape, np.nan), where=gaps > 0)


def select_predictors(X, mincor=LEAST_CORRELATION, minpuc=0.0, correlation="kendall") -> np.ndarray:
    """Choose the predictors of each incomplete column.

    Column k may predict column j if the larger of two absolute correlations, over the rows that have both, is
    above ``mincor``: of the values of j and k, and of the response indicator of j (is it observed?) and the
    values of k; and if its proportion of usable cases is not below ``minpuc``. A correlation that is not
    defined, for instance with a constant, counts as 0. With ``correlation="pearson"`` this is ``quickpred`` of the R
    package mice.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        NaN, None and pd.NA mark a gap. A category counts by the places of its levels.
    mincor : float, default=0.1
        Least absolute correlation, from 0 to 1.
    minpuc : float, default=0.0
        Least proportion of usable cases, from 0 to 1.
    correlation : {"kendall", "pearson"}, default="kendall"
        The correlation; Kendall's is tau-b.

    Returns
    -------
    predictors : ndarray of bool of shape (n_features, n_features)
        Row j marks the predictors of column j. The row of a column without gaps is False throughout.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.imputation import select_predictors
    >>> X = np.array([[1.0, 2.0, 1.0], [2.0, 4.1, 0.0], [3.0, np.nan, 1.0], [4.0, 8.2, 0.0], [5.0, 9.9, 1.0]])
    >>> select_predictors(X, mincor=0.5)
    array([[False, False, False],
           [ True, False, False],
           [False, False, False]])
    """
    for name, threshold in (("mincor", mincor), ("minpuc", minpuc)):
        check_scalar(threshold, name, Real, min_val=0, max_val=1)
    X = read_table(BaseEstimator(), X, reset=True).values
    missing = np.isnan(X)
    strength = association(X, correlation)
    chosen = strength > mincor
    with np.errstate(invalid="ignore"):
        chosen &= ~(usable_cases(X) < minpuc)
    np.fill_diagonal(chosen, False)
    chosen[~missing.any(axis=0)] = False
    return chosen


def association(X: np.ndarray, correlation: str) -> np.ndarray:
    """How strongly targets (rows), or their being observed, go with predictors (columns): 0 where undefined."""
    if correlation not in CORRELATIONS:
        raise ValueError(f"correlation must be one of {CORRELATIONS}, got {correlation!r}.")
    of_values = pairwise_correlation(X, X, correlation)
    of_response = pairwise_correlation(1.0 - np.isnan(X), X, correlation)
    return np.nan_to_num(np.fmax(np.abs(of_values), np.abs(of_response)))


def pairwise_correlation(left: np.ndarray, right: np.ndarray, correlation: str) -> np.ndarray:
    """Correlation of each column of one table with each of another, over the rows that have both."""
    if correlation == "pearson":
        return _pearson(left, right)
    out = np.full((left.shape[1], right.shape[1]), np.nan)
    two_left, two_right = _two_valued(left), _two_valued(right)
    quick = np.outer(two_left, two_right)  # in a 2x2 table tau-b and Pearson's correlation are the same
    out[quick] = _pearson(left[:, two_left], right[:, two_right]).ravel()
    for j, k in np.argwhere(~quick):
        if left is right and k < j:
            out[j, k] = out[k, j]
            continue
        both = ~(np.isnan(left[:, j]) | np.isnan(right[:, k]))
        x, y = left[both, j], right[both, k]
        if len(x) > 1 and np.ptp(x) > 0 and np.ptp(y) > 0:
            out[j, k] = kendalltau(x, y).statistic
    return out


def _pearson(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Pearson's correlation of pairwise complete rows, by sums over all pairs at once."""
    seen_left, seen_right = ~np.isnan(left) * 1.0, ~np.isnan(right) * 1.0
    x, y = _standardised(left), _standardised(right)
    n = seen_left.T @ seen_right
    with np.errstate(invalid="ignore", divide="ignore"):
        sum_x, sum_y = x.T @ seen_right, seen_left.T @ y
        cov = x.T @ y - sum_x * sum_y / n
        var_x = (x**2).T @ seen_right - sum_x**2 / n
        var_y = seen_left.T @ y**2 - sum_y**2 / n
        rounding = 1e-12 * n
        varies = (var_x > rounding) & (var_y > rounding)
        return np.where(varies, np.clip(cov / np.sqrt(var_x * var_y), -1.0, 1.0), np.nan)


def _standardised(X: np.ndarray) -> np.ndarray:
    """Standardised columns with 0 in the gaps; keeps the sums of `_pearson` free of cancellation."""
    standard = standard_of(X)
    return np.nan_to_num((X - standard.location) / standard.scale)


def _two_valued(X: np.ndarray) -> np.ndarray:
    return np.array([len(np.unique(column[~np.isnan(column)])) <= 2 for column in X.T], dtype=bool)
