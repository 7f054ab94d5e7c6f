"""What every kernel on laws can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from gapkernel.compute.runtime.config import check_fits, get_config
from gapkernel.kernels.column_covariance import ColumnCovariance

SMALL_BLOCK = 16
"""Rows of the square blocks whose diagonals are computed for want of a formula."""

Rows = Any
"""A batch of laws; each kernel says which kind it compares."""


class Kernel(BaseEstimator, ABC):
    """A similarity between two laws.

    Two verbs, because a row is not independent of itself. `gram` pairs the rows of one batch: a row meets
    itself in the same draw, K_ii = E k(x_i, x_i). `cross` pairs two batches and always treats their rows as
    independent, even when both are the same object. Off the diagonal they agree.

    A subclass writes `_cross` and `diag`; `_gram` and `_dot` where work or memory can be saved; `_variance` and
    `_gram_variance` where they have a closed form.
    """

    laws = "gaussian"
    """The kind of laws that the kernel compares."""

    mixtures = False
    """Whether it also compares mixtures of such laws."""

    def compares(self, kind: str) -> bool:
        """Whether the kernel is defined for laws of this kind."""
        return kind == self.laws or (kind == "mixture" and self.mixtures)

    def _check_gaussian(self, rows: Rows) -> None:
        if rows.kind != "gaussian":
            raise NotImplementedError(f"This needs Gaussian laws, but {rows.kind} ones were given.")

    def resolve(self, density, rows: Rows) -> Kernel:
        """This kernel with numbers in place of words such as ``gamma="scale"``."""
        return clone(self)

    def gram(self, rows: Rows) -> np.ndarray:
        """Kernel matrix of one batch, (n, n)."""
        check_fits((len(rows), len(rows)), "The Gram matrix")
        matrix = self._gram(rows)
        uncertain = np.flatnonzero(~rows.complete)
        matrix[uncertain, uncertain] = self.diag(rows)[uncertain]  # the same draw on both sides
        return matrix

    def cross(self, left: Rows, right: Rows) -> np.ndarray:
        """Kernel matrix of two batches, (n_left, n_right), all rows independent."""
        _check_widths(left, right)
        check_fits((len(left), len(right)), "The kernel matrix")
        return self._cross(left, right)

    def dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        """``cross(left, right) @ coefficients`` without holding the whole matrix."""
        _check_widths(left, right)
        return self._dot(left, right, coefficients)

    def self_cross(self, rows: Rows) -> np.ndarray:
        """E k(x_i, x_i') for an independent copy of each row, the diagonal of ``cross(rows, rows)``."""
        blocks = (rows.take(slice(i, i + SMALL_BLOCK)) for i in range(0, len(rows), SMALL_BLOCK))
        return np.concatenate([np.diag(self._cross(block, block)) for block in blocks] or [np.empty(0)])

    def _dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        block = max(1, get_config().memory_budget // (8 * 4 * max(1, len(right))))
        out = np.empty((len(left), coefficients.shape[1]))
        for i in range(0, len(left), block):
            out[i : i + block] = self._cross(left.take(slice(i, i + block)), right) @ coefficients
        return out

    def over_widths(self, gammas, left: Rows, right: Rows | None = None) -> np.ndarray:
        """This kernel with each of several values of ``gamma``: ``gram(left)``, or ``cross(left, right)``.

        Returns
        -------
        matrices : ndarray of shape (n_gammas, n_left, n_right)
        """
        kernels = [clone(self).set_params(gamma=gamma) for gamma in gammas]
        return np.array([kernel.gram(left) if right is None else kernel.cross(left, right) for kernel in kernels])

    @abstractmethod
    def diag(self, rows: Rows) -> np.ndarray:
        """E k(x_i, x_i) for each row, the diagonal of `gram`."""

    @abstractmethod
    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        """`cross`, after the checks."""

    def _gram(self, rows: Rows) -> np.ndarray:
        return self._cross(rows, rows)

    def variance(self, left: Rows, right: Rows) -> np.ndarray:
        """Var k(x, y) over independent draws of the two rows, (n_left, n_right)."""
        _check_widths(left, right)
        check_fits((len(left), len(right)), "The variance matrix")
        return self._variance(left, right)

    def _variance(self, left: Rows, right: Rows) -> np.ndarray:
        raise NotImplementedError(f"The variance of {self!r} has no closed form here.")

    def gram_variance(self, rows: Rows) -> np.ndarray:
        """`variance` of one batch, a row meeting itself in the same draw on the diagonal, (n, n)."""
        check_fits((len(rows), len(rows)), "The variance matrix")
        return self._gram_variance(rows)

    def _gram_variance(self, rows: Rows) -> np.ndarray:
        raise NotImplementedError(f"The variance of {self!r} has no closed form here.")

    def column_covariances(self, rows: Rows) -> Iterator[ColumnCovariance]:
        """For each row j in turn: the covariance of the kernel values k(x_1, x_j), ..., k(x_n, x_j)."""
        raise NotImplementedError(f"The column covariances of {self!r} have no closed form here.")

    def on(self, columns) -> Kernel:
        """This kernel on some columns only."""
        from gapkernel.kernels.algebra import OnColumns

        return OnColumns(self, columns)

    def __add__(self, other) -> Kernel:
        from gapkernel.kernels.algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other) -> Kernel:
        from gapkernel.kernels.algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


def _check_widths(left: Rows, right: Rows) -> None:
    if left.n_features != right.n_features:
        raise ValueError(f"The rows have {left.n_features} and {right.n_features} columns; a kernel needs the same.")
