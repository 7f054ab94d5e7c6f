"""Kernels built from kernels: sums, products, multiples, and kernels on some columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gapkernel.kernels.base import Kernel
from gapkernel.kernels.column_covariance import ColumnCovariance
from gapkernel.rows import GaussianRows


class Scaled(Kernel):
    """A kernel times a positive number.

    Parameters
    ----------
    kernel : Kernel
    factor : float
    """

    def __init__(self, kernel, factor=1.0):
        self.kernel = kernel
        self.factor = factor

    @property
    def laws(self) -> str:  # type: ignore[override]
        """Those of the kernel inside."""
        return self.kernel.laws

    @property
    def mixtures(self) -> bool:  # type: ignore[override]
        """As the kernel inside."""
        return self.kernel.mixtures

    def resolve(self, density, rows: GaussianRows) -> Scaled:
        return Scaled(self.kernel.resolve(density, rows), self._number())

    def diag(self, rows: GaussianRows) -> np.ndarray:
        return self._number() * self.kernel.diag(rows)

    def _cross(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        return self._number() * self.kernel._cross(left, right)

    def _gram(self, rows: GaussianRows) -> np.ndarray:
        return self._number() * self.kernel._gram(rows)

    def _dot(self, left: GaussianRows, right: GaussianRows, coefficients: np.ndarray) -> np.ndarray:
        return self._number() * self.kernel._dot(left, right, coefficients)

    def _number(self) -> float:
        if not 0 < self.factor < np.inf:
            raise ValueError(f"A kernel can only be multiplied by a positive number, got {self.factor}.")
        return self.factor

    def _variance(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        return self.factor**2 * self.kernel._variance(left, right)

    def _gram_variance(self, rows: GaussianRows) -> np.ndarray:
        return self.factor**2 * self.kernel._gram_variance(rows)

    def column_covariances(self, rows: GaussianRows) -> Iterator[ColumnCovariance]:
        square = self.factor**2
        for shared, own in self.kernel.column_covariances(rows):
            yield ColumnCovariance(square * shared, square * own)


class OnColumns(Kernel):
    """A kernel that looks at some columns only.

    Parameters
    ----------
    kernel : Kernel
    columns : sequence of int
    """

    def __init__(self, kernel, columns):
        self.kernel = kernel
        self.columns = columns

    @property
    def laws(self) -> str:  # type: ignore[override]
        """Those of the kernel inside."""
        return self.kernel.laws

    @property
    def mixtures(self) -> bool:  # type: ignore[override]
        """As the kernel inside."""
        return self.kernel.mixtures

    def resolve(self, density, rows: GaussianRows) -> OnColumns:
        columns = self._indices(rows)
        return OnColumns(self.kernel.resolve(density.marginal(columns), rows.columns(columns)), self.columns)

    def diag(self, rows: GaussianRows) -> np.ndarray:
        return self.kernel.diag(self._part(rows))

    def _cross(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        return self.kernel._cross(self._part(left), self._part(right))

    def _gram(self, rows: GaussianRows) -> np.ndarray:
        return self.kernel._gram(self._part(rows))

    def _dot(self, left: GaussianRows, right: GaussianRows, coefficients: np.ndarray) -> np.ndarray:
        return self.kernel._dot(self._part(left), self._part(right), coefficients)

    def _variance(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        return self.kernel._variance(self._part(left), self._part(right))

    def _gram_variance(self, rows: GaussianRows) -> np.ndarray:
        return self.kernel._gram_variance(self._part(rows))

    def column_covariances(self, rows: GaussianRows) -> Iterator[ColumnCovariance]:
        return self.kernel.column_covariances(self._part(rows))

    def _part(self, rows: GaussianRows) -> GaussianRows:
        return rows.columns(self._indices(rows))

    def _indices(self, rows: GaussianRows) -> np.ndarray:
        indices = np.asarray(self.columns)
        if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
            raise ValueError(f"columns must be a list of column numbers, got {self.columns!r}.")
        outside = indices[(indices < 0) | (indices >= rows.n_features)]
        if outside.size or len(np.unique(indices)) < len(indices) or not indices.size:
            raise ValueError(
                f"columns must be distinct numbers from 0 to {rows.n_features - 1}, got {indices.tolist()}."
            )
        return indices


class Sum(Kernel):
    """The sum of two kernels. Expectations add, so a sum is always exact.

    Parameters
    ----------
    left, right : Kernel
    """

    def __init__(self, left, right):
        self.left = left
        self.right = right

    @property
    def laws(self) -> str:  # type: ignore[override]
        """Those of both kernels."""
        return _common_laws(self.left, self.right)

    @property
    def mixtures(self) -> bool:  # type: ignore[override]
        """Whether both compare mixtures."""
        return self.left.mixtures and self.right.mixtures

    def resolve(self, density, rows: GaussianRows) -> Sum:
        return Sum(self.left.resolve(density, rows), self.right.resolve(density, rows))

    def diag(self, rows: GaussianRows) -> np.ndarray:
        return self.left.diag(rows) + self.right.diag(rows)

    def _cross(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        return self.left._cross(left, right) + self.right._cross(left, right)

    def _gram(self, rows: GaussianRows) -> np.ndarray:
        return self.left._gram(rows) + self.right._gram(rows)

    def _dot(self, left: GaussianRows, right: GaussianRows, coefficients: np.ndarray) -> np.ndarray:
        return self.left._dot(left, right, coefficients) + self.right._dot(left, right, coefficients)


class Product(Kernel):
    """The product of two kernels on separate columns whose gaps are independent.

    The expectation of a product is the product of the expectations only for independent factors. So both
    factors must name their columns (`Kernel.on`), share none, and no row may have gaps in one part that are
    correlated with its gaps in the other; anything else is refused.

    Parameters
    ----------
    left, right : Kernel
    """

    def __init__(self, left, right):
        self.left = left
        self.right = right

    @property
    def laws(self) -> str:  # type: ignore[override]
        """Those of both kernels."""
        return _common_laws(self.left, self.right)

    def resolve(self, density, rows: GaussianRows) -> Product:
        return Product(self.left.resolve(density, rows), self.right.resolve(density, rows))

    def diag(self, rows: GaussianRows) -> np.ndarray:
        self._check_independent(rows)
        return self.left.diag(rows) * self.right.diag(rows)

    def _cross(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        self._check_independent(left)
        self._check_independent(right)
        return self.left._cross(left, right) * self.right._cross(left, right)

    def _gram(self, rows: GaussianRows) -> np.ndarray:
        self._check_independent(rows)
        return self.left._gram(rows) * self.right._gram(rows)

    def _check_independent(self, rows: GaussianRows) -> None:
        first, second = _columns_of(self.left, rows.n_features), _columns_of(self.right, rows.n_features)
        shared = np.flatnonzero(first & second)
        if rows.complete.all():
            return  # points: any product is exact
        if shared.size:
            raise ValueError(
                f"Both factors of the product look at column {shared[0]}, so their expectations do not multiply. "
                f"Give each its own columns with kernel.on([...]), or add the kernels."
            )
        for members, columns, covariance in rows.by_pattern():
            if np.any(covariance[np.ix_(first[columns], second[columns])]):
                raise ValueError(
                    f"Row {members[0]} has correlated gaps in the columns of both factors, so their expectations "
                    f"do not multiply. Add the kernels, or use one kernel over all the columns."
                )


def _common_laws(left: Kernel, right: Kernel) -> str:
    if left.laws != right.laws:
        raise ValueError(
            f"{left!r} compares {left.laws} laws and {right!r} {right.laws} ones: they cannot be combined."
        )
    return left.laws


def _columns_of(kernel: Kernel, n_features: int) -> np.ndarray:
    """The columns that a kernel looks at, as a mask."""
    if isinstance(kernel, OnColumns):
        mask = np.zeros(n_features, bool)
        mask[np.asarray(kernel.columns)] = True
        return mask
    if isinstance(kernel, Scaled):
        return _columns_of(kernel.kernel, n_features)
    if isinstance(kernel, Sum | Product):
        return _columns_of(kernel.left, n_features) | _columns_of(kernel.right, n_features)
    return np.ones(n_features, bool)
