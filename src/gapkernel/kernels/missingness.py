"""What is missing can itself say something: a kernel on the gaps, multiplied or added to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils._param_validation import StrOptions

from gapkernel.kernels.base import Kernel
from gapkernel.kernels.column_covariance import ColumnCovariance
from gapkernel.kernels.width import WIDTH, scale_gamma
from gapkernel.rows import Moments, Rows


class Missingness(BaseEstimator):
    """A kernel on which values are missing: exp(-gamma * number of columns missing in one row only).

    It is the RBF kernel on indicator columns, for columns that had gaps at fit; gaps elsewhere are ignored. Give
    it to an estimator as ``indicator``.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Inverse width. "scale" is 1 / the expected squared distance from the centre of the indicator columns:
        1 / (number of columns with gaps at fit * variance of all their indicators).
    rule : {"product", "sum"}, default="product"
        Whether it multiplies the other kernel, as indicator columns in an RBF kernel would, or is added to it.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import SVC
    >>> from gapkernel.kernels import Missingness
    >>> X = np.array([[0.0, np.nan], [0.1, 1.0], [0.0, 1.1], [0.1, np.nan]])
    >>> SVC(indicator=Missingness(gamma=1.0), C=10).fit(X, [1, 0, 0, 1]).predict([[0.05, np.nan]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict] = {"gamma": WIDTH, "rule": [StrOptions({"product", "sum"})]}

    def __init__(self, gamma="scale", rule="product"):
        self.gamma = gamma
        self.rule = rule


class Masked(Kernel):
    """A kernel on laws together with one on their gaps. Estimators make it from ``indicator``.

    Parameters
    ----------
    kernel : Kernel
    indicator : Missingness
    columns : ndarray of bool, default=None
        The columns that had gaps at fit; set by `resolve`.
    """

    def __init__(self, kernel, indicator, columns=None):
        self.kernel = kernel
        self.indicator = indicator
        self.columns = columns

    @property
    def kinds(self) -> frozenset[str]:  # type: ignore[override]
        """Those of the kernel inside."""
        return self.kernel.kinds

    def _validate_params(self) -> None:
        self.kernel._validate_params()
        self.indicator._validate_params()

    def over_widths(self, gammas, left: Rows, right: Rows | None = None) -> np.ndarray:
        values = self.kernel.over_widths(gammas, left, right)
        return self._joined(values, self.alike(left, left if right is None else right))

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        self.kernel = self.kernel.resolve(moments, rows)
        self.columns = rows.mask().any(axis=0)
        self.indicator = clone(self.indicator)
        if isinstance(self.indicator.gamma, str):
            missing = rows.mask()[:, self.columns].astype(float)
            self.indicator.gamma = scale_gamma(Moments.of(missing)) if self.columns.any() else 1.0

    def _looked_at(self, rows: Rows) -> Rows:
        rows.mask()  # rows without one are refused
        return rows

    def _diag(self, rows: Rows) -> np.ndarray:
        return self._joined(self.kernel._diag(rows.unmasked), np.ones(len(rows)))

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        return self._joined(self.kernel._cross(left.unmasked, right.unmasked), self.alike(left, right))

    def _gram(self, rows: Rows) -> np.ndarray:
        return self._joined(self.kernel._gram(rows.unmasked), self.alike(rows, rows))

    def _self_cross(self, rows: Rows) -> np.ndarray:
        return self._joined(self.kernel._self_cross(rows.unmasked), np.ones(len(rows)))

    def _variance(self, left: Rows, right: Rows) -> np.ndarray:
        return self._slope(left, right) ** 2 * self.kernel._variance(left.unmasked, right.unmasked)

    def _gram_variance(self, rows: Rows) -> np.ndarray:
        return self._slope(rows, rows) ** 2 * self.kernel._gram_variance(rows.unmasked)

    def _column_covariances(self, rows: Rows) -> Iterator[ColumnCovariance]:
        slopes = self._slope(rows, rows).T
        for slope, (shared, own) in zip(slopes, self.kernel._column_covariances(rows.unmasked), strict=True):
            yield ColumnCovariance(np.outer(slope, slope) * shared, slope**2 * own)

    def _slope(self, left: Rows, right: Rows) -> np.ndarray:
        """What a draw of the other kernel is multiplied by: the gaps are known, so they do not vary themselves."""
        alike = self.alike(left, right)
        return alike if self.indicator.rule == "product" else np.ones_like(alike)

    def alike(self, left: Rows, right: Rows) -> np.ndarray:
        """The kernel on the gaps of two batches, (n_left, n_right)."""
        if not self.columns.any():
            return np.ones((len(left), len(right)))
        here, there = left.mask()[:, self.columns].astype(float), right.mask()[:, self.columns].astype(float)
        return rbf_kernel(here, there, gamma=self.indicator.gamma)

    def _joined(self, value: np.ndarray, alike: np.ndarray) -> np.ndarray:
        return value * alike if self.indicator.rule == "product" else value + alike
