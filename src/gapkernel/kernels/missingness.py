"""What is missing can itself say something: a kernel on the gaps, multiplied or added to another."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import rbf_kernel

from gapkernel.kernels.base import Kernel
from gapkernel.rows.masked import MaskedRows


class Missingness(BaseEstimator):
    """A kernel on which values are missing: exp(-gamma * number of columns missing in one row only).

    It is the RBF kernel on indicator columns, for columns that had gaps at fit; gaps elsewhere are passed over. Give
    it to an estimator as ``indicator``.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        "scale" is 1 / number of columns with gaps at fit.
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
    def laws(self) -> str:  # type: ignore[override]
        """The kind of laws that the kernel compares."""
        return self.kernel.laws

    @property
    def mixtures(self) -> bool:  # type: ignore[override]
        """As the kernel inside."""
        return self.kernel.mixtures

    def resolve(self, density, rows: MaskedRows) -> Masked:
        columns = rows.missing.any(axis=0)
        indicator = clone(self.indicator)
        if indicator.rule not in ("product", "sum"):
            raise ValueError(f"indicator: rule must be 'product' or 'sum', got {indicator.rule!r}.")
        if isinstance(indicator.gamma, str) and indicator.gamma == "scale":
            indicator.gamma = 1.0 / max(1, int(columns.sum()))
        if not (isinstance(indicator.gamma, float | int | np.number) and 0 < indicator.gamma < np.inf):
            raise ValueError(f"indicator: gamma must be a positive number or 'scale', got {indicator.gamma!r}.")
        return Masked(self.kernel.resolve(density, rows.rows), indicator, columns)

    def over_widths(self, gammas, left: MaskedRows, right: MaskedRows | None = None) -> np.ndarray:
        values = self.kernel.over_widths(gammas, left.rows, None if right is None else right.rows)
        return self._joined(values, self._alike(left, left if right is None else right))

    def diag(self, rows: MaskedRows) -> np.ndarray:
        return self._joined(self.kernel.diag(rows.rows), np.ones(len(rows)))

    def _cross(self, left: MaskedRows, right: MaskedRows) -> np.ndarray:
        return self._joined(self.kernel._cross(left.rows, right.rows), self._alike(left, right))

    def _gram(self, rows: MaskedRows) -> np.ndarray:
        return self._joined(self.kernel._gram(rows.rows), self._alike(rows, rows))

    def _alike(self, left: MaskedRows, right: MaskedRows) -> np.ndarray:
        if not self.columns.any():
            return np.ones((len(left), len(right)))
        here, there = left.missing[:, self.columns].astype(float), right.missing[:, self.columns].astype(float)
        return rbf_kernel(here, there, gamma=self.indicator.gamma)

    def _joined(self, value: np.ndarray, alike: np.ndarray) -> np.ndarray:
        return value * alike if self.indicator.rule == "product" else value + alike
