"""The extended heterogeneous kernel (Nebot-Troyano, Belanche: EHK)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from gapkernel.compute.linalg.covariance_blocks import flat
from gapkernel.compute.pairs.column_sums import ColumnBatch, summed
from gapkernel.kernels.base import Kernel
from gapkernel.kernels.univariate import Extension, OfDistance, OfTable, Univariate, univariate
from gapkernel.rows import Feature, MarginalRows, Moments


@dataclass(eq=False, repr=False)
class HeterogeneousKernel(Kernel):
    """One kernel for each column, averaged over what is missing, then put together over the columns.

    A Gower similarity that works with gaps and stays positive semi-definite: numbers by ``1 - |x - z| / range``,
    categories by overlap, ordered categories by the distance of their places. A missing value follows the law of its
    column (`density.Marginals`).

        K = mean of k_j(x_j, z_j)                            EHK
        K = ((1 - alpha) / (1 - alpha * mean))^(1/alpha)     EHK_alpha, 1 where the mean is 1

    Parameters
    ----------
    alpha : float, default=None
        In (0, 1): the activation of EHK_alpha, which tends to exp(mean - 1) for small alpha. None leaves the mean as it
        is.
    scaled : bool, default=True
        Whether EHK_alpha is 1 where the mean is 1, so that the penalty C of a kernel machine means the same for every
        alpha. False is the paper's (1 - alpha * mean)^(-1/alpha), whose diagonal is 23 at alpha = 0.95.
    numeric : str, callable or kernel object, default="gower"
        Kernel of the columns of numbers: "gower", "rbf", "laplacian", a function k(x, z) of arrays that broadcast, or
        an object of `gapkernel.kernels.univariate`.
    categorical : str, callable or kernel object, default="overlap"
        Kernel of the categories: "overlap", "ordinal", "dichotomous" (Gower's rule for presence and absence), or a
        function of their codes.
    ordinal : str, callable or kernel object, default="ordinal"
        Kernel of the categories whose type says that they are ordered.
    kernels : dict, default=None
        Kernels of some columns, by number; they take precedence over the three above.

    Notes
    -----
    A row against itself is the same draw: with the named kernels it gives 1 (except "dichotomous"). Values outside
    the range seen at fit are moved to at most half the range beyond it, without which ``1 - |x - z| / range`` would
    not be positive semi-definite. A column without a value, or with a single number, gives 1 everywhere.

    A function of numbers, and "laplacian" under a normal law, have no closed form: they need laws with finitely many
    values, ``Marginals(numeric="empirical")``. For a product over the columns multiply kernels of single columns:
    ``HeterogeneousKernel().on([0]) * HeterogeneousKernel().on([1])``.

    Examples
    --------
    >>> import pandas as pd
    >>> from gapkernel.density import Marginals
    >>> from gapkernel.kernels import HeterogeneousKernel
    >>> X = pd.DataFrame({"age": [20.0, 60.0, None], "colour": ["red", None, "red"]})
    >>> HeterogeneousKernel().gram(Marginals().fit(X).condition(X)).round(3)
    array([[1.   , 0.5  , 0.725],
           [0.5  , 1.   , 0.725],
           [0.725, 0.725, 1.   ]])
    """

    alpha: float | None = None
    _: KW_ONLY
    scaled: bool = True
    numeric: Any = "gower"
    categorical: Any = "overlap"
    ordinal: Any = "ordinal"
    kernels: dict | None = None

    kinds = frozenset({"marginal"})
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [None, Interval(Real, 0, 1, closed="neither")],
        "scaled": ["boolean"],
        "kernels": [None, dict],
    }

    def _resolve(self, moments: Moments | None, rows: MarginalRows) -> None:  # type: ignore[override]
        unknown = sorted(set(self.kernels or {}) - set(range(rows.n_features)), key=str)
        if unknown:
            raise ValueError(f"kernels names column {unknown[0]!r}, but the columns are 0 to {rows.n_features - 1}.")
        self._extensions(rows)  # a column that its kernel does not fit is refused here

    def _diag(self, rows: MarginalRows) -> np.ndarray:  # type: ignore[override]
        columns = [e.same(rows.values[:, j]) for j, e in enumerate(self._extensions(rows))]
        return self._activated(np.mean(columns, axis=0))

    def _gram(self, rows: MarginalRows) -> np.ndarray:  # type: ignore[override]
        return self._cross(rows, None)

    def _cross(self, left: MarginalRows, right: MarginalRows | None) -> np.ndarray:  # type: ignore[override]
        """As `cross`; ``right=None`` pairs a batch with itself, and only half of the pairs are computed."""
        extensions = self._extensions(left)
        other = left if right is None else right
        fast = [j for j, e in enumerate(extensions) if isinstance(e, OfDistance | OfTable)]
        share = 1.0 / left.n_features
        out = _sum_of(extensions, fast, share, left, right)
        for j in sorted(set(range(left.n_features)) - set(fast)):
            out += share * extensions[j].cross(left.values[:, j], other.values[:, j])
        return self._activated(out)

    def _activated(self, mean: np.ndarray) -> np.ndarray:
        if self.alpha is None:
            return mean
        if mean.size and self.alpha * mean.max() >= 1.0:
            raise ValueError(
                f"alpha={self.alpha} needs kernel values below 1/alpha, but one is {mean.max():.3g}. Use kernels "
                f"with values up to 1 on the columns, or a smaller alpha."
            )
        np.log1p(np.multiply(mean, -self.alpha, out=mean), out=mean)
        if self.scaled:
            mean -= np.log1p(-self.alpha)
        return np.exp(np.multiply(mean, -1.0 / self.alpha, out=mean), out=mean)  # (1 - alpha u)^(-1/alpha)

    def _extensions(self, rows: MarginalRows) -> list[Extension]:
        return [self._kernel_of(j, feature).extend(feature) for j, feature in enumerate(rows.features)]

    def _kernel_of(self, column: int, feature: Feature) -> Univariate:
        if self.kernels is not None and column in self.kernels:
            return univariate(self.kernels[column], f"kernels[{column}]")
        what = "numeric" if not feature.is_category else "ordinal" if feature.ordered else "categorical"
        return univariate(getattr(self, what), what)


def _sum_of(extensions, fast, share, left: MarginalRows, right: MarginalRows | None) -> np.ndarray:
    """The sum of distance and table kernels, each times its ``share``, by the compiled engine."""
    numeric = [j for j in fast if isinstance(extensions[j], OfDistance)]
    tabled = [j for j in fast if isinstance(extensions[j], OfTable)]

    def side(rows: MarginalRows) -> ColumnBatch:
        columns = [(extensions[j], rows.values[:, j]) for j in numeric]
        return ColumnBatch(
            _stack([e.clipped(x) * (share / e.range) for e, x in columns], len(rows), np.float64),
            _stack([share * e.profile(x) for e, x in columns], len(rows), np.float64),
            _stack([extensions[j].codes(rows.values[:, j]) for j in tabled], len(rows), np.int32),
        )

    tables = [share * extensions[j].table for j in tabled]
    starts = np.cumsum([0, *(table.size for table in tables)])
    return summed(
        side(left), None if right is None else side(right), np.full(len(numeric), share), flat(tables), starts
    )


def _stack(columns: list[np.ndarray], n_rows: int, dtype: type) -> np.ndarray:
    return np.array(columns, dtype=dtype).reshape(len(columns), n_rows)
