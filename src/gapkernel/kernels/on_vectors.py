"""Kernels on complete vectors: those of this library, of scikit-learn, any function, or values the caller computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import pairwise_kernels

from gapkernel.kernels.base import Kernel
from gapkernel.rows import ALL_KINDS, GaussianRows, Rows


@dataclass(frozen=True, eq=False)
class CompleteKernel:
    """A kernel as a function of two arrays of complete rows.

    Attributes
    ----------
    source : str, Kernel, scikit-learn kernel or callable
    parameters : dict
        For a kernel given by name.
    name : str
        The parameter that the kernel came by, for errors.
    """

    source: Any
    parameters: dict = field(default_factory=dict)
    name: str = "kernel"

    def __call__(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """k(x, y) for all pairs, in the precision of ``left`` where the kernel can."""
        if self.source == "rbf":
            return _rbf(left, right.astype(left.dtype), **self.parameters)
        if isinstance(self.source, str):
            return pairwise_kernels(left, right, metric=self.source, **self.parameters)
        if isinstance(self.source, Kernel):
            return self.source.cross(GaussianRows.certain(left), GaussianRows.certain(right))
        return matrix_of(self.source, left, right, self.name)

    def diag(self, rows: np.ndarray) -> np.ndarray:
        """k(x, x) for each row."""
        if self.source == "rbf":
            return np.ones(len(rows))
        if isinstance(self.source, Kernel):
            return self.source.diag(GaussianRows.certain(rows))
        return FunctionKernel(self).diag(GaussianRows.certain(rows))


@dataclass(eq=False, repr=False)
class FunctionKernel(Kernel):
    """A function of two arrays of complete rows as a kernel; rows with gaps are refused.

    Parameters
    ----------
    function : callable
        Called as k(X, Y) with arrays (n, d) and (m, d), it gives (n, m).
    """

    function: Any = None

    kinds = ALL_KINDS
    _parameter_constraints: ClassVar[dict] = {"function": [callable]}

    def _looked_at(self, rows: Rows) -> Rows:
        if not rows.complete.all():
            row = int(np.argmin(rows.complete))
            raise ValueError(
                f"A kernel that is a function compares complete rows, but row {row} has gaps. "
                f"Average it over draws from their laws: kernel=gapkernel.kernels.MonteCarlo(function)."
            )
        return super()._looked_at(rows)

    def _diag(self, rows: Rows) -> np.ndarray:
        return self._self_cross(rows)  # a complete row is its own independent copy

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        return matrix_of(self.function, left.means, right.means, "kernel")


def matrix_of(function: Callable[..., ArrayLike], left: np.ndarray, right: np.ndarray, name: str) -> np.ndarray:
    """What a caller's kernel function gives for all pairs; ``name`` is the parameter that it came by."""
    values = np.asarray(function(left, right), dtype=np.float64)
    if values.shape != (len(left), len(right)):
        raise ValueError(
            f"{name} must give a matrix of shape {(len(left), len(right))} for as many rows on each side, "
            f"got shape {values.shape}."
        )
    return values


def _rbf(left: np.ndarray, right: np.ndarray, gamma: float | None = None) -> np.ndarray:
    squared = left @ right.T  # ||x - y||^2 = ||x||^2 + ||y||^2 - 2 x'y
    squared *= -2.0
    squared += np.einsum("ij,ij->i", left, left)[:, None]
    squared += np.einsum("ij,ij->i", right, right)[None]
    np.maximum(squared, 0.0, out=squared)
    squared *= -1.0 / left.shape[1] if gamma is None else -gamma  # as in scikit-learn
    return np.exp(squared, out=squared)


class Precomputed(Kernel):
    """Rows that hold their own kernel values with all training rows, in place of columns of a table.

    Parameters
    ----------
    places : ndarray of int, default=None
        The training rows that are compared with, all of them if None; estimators set it.
    """

    kinds = frozenset({"atoms"})  # the density that gives them has nothing to learn

    def __init__(self, places: np.ndarray | None = None) -> None:
        self.places = places

    def _looked_at(self, rows: Rows) -> Rows:
        if not rows.complete.all():
            row = int(np.argmin(rows.complete))
            raise ValueError(f"kernel='precomputed' takes a kernel matrix without gaps, but row {row} has one.")
        return super()._looked_at(rows)

    def _diag(self, rows: Rows) -> np.ndarray:
        return self._gram(rows).diagonal()

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        matrix = np.array(left.means if self.places is None else left.means[:, self.places])
        if matrix.shape[1] != len(right):
            raise ValueError(
                f"kernel='precomputed' needs one value for each of the {len(right)} rows that are compared with, got "
                f"{matrix.shape[1]}. It is for SVC, SVR, OneClassSVM and KernelRidge; GridSearchCV chooses settings."
            )
        return matrix
