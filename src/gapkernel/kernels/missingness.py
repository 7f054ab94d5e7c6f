"""What is missing can itself say something: a kernel on the gaps, multiplied or added to another."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils._param_validation import StrOptions

from gapkernel.kernels.base import Kernel, OfKernel
from gapkernel.kernels.width import POSITIVE, scale_gamma
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

    _parameter_constraints: ClassVar[dict] = {
        "gamma": [POSITIVE, StrOptions({"scale"})],
        "rule": [StrOptions({"product", "sum"})],
    }

    def __init__(self, gamma: Any = "scale", rule: str = "product") -> None:
        self.gamma = gamma
        self.rule = rule


class Masked(OfKernel):
    """A kernel on laws together with one on their gaps. Estimators make it from ``indicator``.

    Parameters
    ----------
    kernel : Kernel
    indicator : Missingness
    columns : ndarray of bool, default=None
        The columns that had gaps at fit; set by `resolve`.
    """

    one_width = property(lambda self: self.kernel.one_width)
    is_expectation = False  # the gaps of a row are not averaged out

    def __init__(self, kernel: Kernel, indicator: Missingness, columns: Any = None) -> None:
        self.kernel = kernel
        self.indicator = indicator
        self.columns = columns

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        super()._resolve(moments, rows)
        self.columns = rows.mask().any(axis=0)
        self.indicator = clone(self.indicator)
        if isinstance(self.indicator.gamma, str):
            missing = rows.mask()[:, self.columns].astype(float)
            self.indicator.gamma = scale_gamma(Moments.of(missing)) if self.columns.any() else 1.0

    def _dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        return Kernel._dot(self, left, right, coefficients)  # block by block: each pair has a factor of its own

    def _looked_at(self, rows: Rows) -> Rows:
        rows.mask()  # rows without one are refused
        return rows

    def _part(self, rows: Rows) -> Rows:
        return rows.unmasked

    def alike(self, left: Rows, right: Rows) -> np.ndarray:
        """The kernel on the gaps of two batches, (n_left, n_right)."""
        if not self.columns.any():
            return np.ones((len(left), len(right)))
        here, there = left.mask()[:, self.columns].astype(float), right.mask()[:, self.columns].astype(float)
        return rbf_kernel(here, there, gamma=self.indicator.gamma)

    def _joined(self, values: np.ndarray, alike: np.ndarray | float = 1.0) -> np.ndarray:
        return values * alike if self.indicator.rule == "product" else values + alike
