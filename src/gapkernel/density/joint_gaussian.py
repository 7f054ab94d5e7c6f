"""One Gaussian over numbers and categories together, so that each informs the other."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gapkernel.density.gaussian import Gaussian
from gapkernel.density.quadrature import normal_nodes
from gapkernel.rows import GaussianRows
from gapkernel.tables import Table, read_table


class JointGaussian(BaseEstimator):
    """A Gaussian density over standardised numbers and centred one-hot codes of categories.

    An observed category is certain; a missing one leaves its whole block of codes as a gap, whose law follows from
    the other columns, as that of a missing number follows from the categories. Ordered categories count as numbers,
    their places. The rows are Gaussian laws, so every Gaussian kernel works on them unchanged.

    Parameters
    ----------
    category_scale : float, default=1.0
        Length of a one-hot code when a number has deviation 1: how much categories count.
    gaussian : Gaussian, default=None
        The density of the codes; None is ``Gaussian(ridge=0.1, tol=1e-4)``: one-hot codes are many and dependent.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories, as in `SVC`.

    Attributes
    ----------
    gaussian_ : Gaussian
        The density fitted to the codes.
    mean_, covariance_, variances_ : ndarray
        Those of ``gaussian_``.
    columns_ : ndarray of shape (n_codes,)
        The column of the table that each code comes from.
    schema_ : Schema
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import pandas as pd
    >>> from gapkernel.density import JointGaussian
    >>> X = pd.DataFrame({"size": [1.0, 1.2, 3.0, 3.1, None], "kind": ["a", "a", "b", "b", "b"]})
    >>> rows = JointGaussian().fit(X).condition(X)
    >>> rows.means.shape, bool(rows.means[4, 0] > 0.5)
    ((5, 3), True)
    """

    def __init__(self, category_scale=1.0, *, gaussian=None, categorical_features="from_dtype"):
        self.category_scale = category_scale
        self.gaussian = gaussian
        self.categorical_features = categorical_features

    def fit(self, X, y=None, sample_weight=None) -> JointGaussian:
        """Estimate the density of the codes.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : JointGaussian
        """
        if not 0 < self.category_scale < np.inf:
            raise ValueError(f"category_scale must be a positive number, got {self.category_scale!r}.")
        table = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        weight = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
        plain, columns, one_hot = _codes(table)
        location, scale = _moments(plain, weight)
        scale[one_hot] = 1.0 / self.category_scale
        gaussian = clone(self.gaussian) if self.gaussian is not None else Gaussian(ridge=0.1, tol=1e-4)
        gaussian.fit((plain - location) / scale, sample_weight=weight)
        self.schema_, self.columns_, self.gaussian_ = table.schema, columns, gaussian
        self._location, self._scale = location, scale
        self.mean_, self.covariance_, self.variances_ = gaussian.mean_, gaussian.covariance_, gaussian.variances_
        return self

    def condition(self, X) -> GaussianRows:
        """The law of each row's codes given what was observed of it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        rows : GaussianRows
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False, schema=self.schema_)
        return self.gaussian_.condition((_codes(table)[0] - self._location) / self._scale)

    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values and weights of a quadrature over the law of a missing cell of the one row of ``X``.

        A category has its levels as values, weighted by the conditional means of their codes, where these are
        positive.
        """
        rows = self.condition(X)
        codes = np.flatnonzero(self.columns_ == column)
        means = self._location[codes] + self._scale[codes] * rows.means[0, codes]
        if self.schema_.levels[column] is None or self.schema_.ordered[column]:
            nodes, weights = normal_nodes(rows, codes[0], n_nodes)
            return self._location[codes[0]] + self._scale[codes[0]] * nodes, weights
        shares = np.maximum(means, 0.0)
        return np.arange(len(codes), dtype=np.float64), shares / shares.sum()

    def marginal(self, columns) -> Gaussian:
        """The density of some codes."""
        check_is_fitted(self)
        return self.gaussian_.marginal(columns)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _codes(table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers and one-hot codes side by side, the column of each, and which are one-hot codes."""
    parts, columns, one_hot = [], [], []
    for k, levels in enumerate(table.schema.levels):
        values = table.values[:, k]
        if levels is None or table.schema.ordered[k]:
            parts.append(values[:, None])
        else:
            code = (values[:, None] == np.arange(len(levels))).astype(np.float64)
            code[np.isnan(values)] = np.nan
            parts.append(code)
        columns += [k] * parts[-1].shape[1]
        one_hot += [levels is not None and not table.schema.ordered[k]] * parts[-1].shape[1]
    return np.hstack(parts), np.array(columns), np.array(one_hot, dtype=bool)


def _moments(X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of each column over the values seen; deviation 1 where there is none."""
    seen = ~np.isnan(X)
    share = weight[:, None] * seen
    total = np.maximum(share.sum(axis=0), np.finfo(float).tiny)
    mean = np.sum(share * np.where(seen, X, 0.0), axis=0) / total
    away = np.where(seen, X - mean, 0.0)
    largest = np.abs(away).max(axis=0)
    unit = np.where(largest > 1e-13 * np.abs(mean), largest, 1.0)  # so that squares neither overflow nor vanish
    deviation = unit * np.sqrt(np.sum(share * (away / unit) ** 2, axis=0) / total)
    return mean, np.where(largest > 1e-13 * np.abs(mean), deviation, 1.0)
