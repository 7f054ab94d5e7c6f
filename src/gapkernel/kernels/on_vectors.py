"""Kernels on complete vectors: those of this library, of scikit-learn, or any function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel as ProcessKernel
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from gapkernel.kernels.base import Kernel
from gapkernel.kernels.kinds import ALL_KINDS
from gapkernel.kernels.width import POSITIVE, scale_gamma
from gapkernel.rows import GaussianRows, Moments, Rows


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

    source: object
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


def matrix_of(function, left: np.ndarray, right: np.ndarray, name: str) -> np.ndarray:
    """What a caller's kernel function gives for all pairs; ``name`` is the parameter that it came by."""
    values = np.asarray(function(left, right), dtype=np.float64)
    if values.shape != (len(left), len(right)):
        raise ValueError(
            f"{name} must give a matrix of shape {(len(left), len(right))} for as many rows on each side, "
            f"got shape {values.shape}."
        )
    return values


def complete_kernel(kernel, gamma, parameters: dict | None, X: np.ndarray, weight: np.ndarray) -> CompleteKernel:
    """A kernel on complete vectors from a name or an object, with numbers in place of words such as "scale".

    Parameters
    ----------
    kernel : str, Kernel, scikit-learn kernel or callable
    gamma : float or "scale"
        For names.
    parameters : dict or None
        More parameters for names, such as ``{"degree": 2}``.
    X : ndarray of shape (n_rows, n_columns)
        With gaps; "scale" looks at it.
    weight : ndarray of shape (n_rows,)
    """
    if isinstance(kernel, str):
        if kernel not in PAIRWISE_KERNEL_FUNCTIONS:
            raise ValueError(
                f"kernel must be a name of scikit-learn ({', '.join(sorted(PAIRWISE_KERNEL_FUNCTIONS))}), "
                f"a kernel object or a function of two arrays, got {kernel!r}."
            )
        own = sorted(set(KERNEL_PARAMS[kernel]) - {"gamma"})
        wrong = sorted(set(parameters or {}) - set(own))
        if wrong:
            raise ValueError(
                f"kernel_params of kernel={kernel!r} may have the keys {own}, got {wrong}; "
                f"gamma is a parameter of its own."
            )
        given = {**(parameters or {}), "gamma": _gamma(gamma, Moments.of(X, weight))}
        return CompleteKernel(kernel, {name: given[name] for name in given if name in KERNEL_PARAMS[kernel]})
    if not isinstance(gamma, str) or gamma != "scale" or parameters:
        raise ValueError(
            "gamma and kernel_params apply to kernels given by name. Set them on the kernel object instead."
        )
    if isinstance(kernel, Kernel):
        if not kernel.compares("gaussian"):
            raise ValueError(f"{kernel!r} does not compare Gaussian laws, so not complete vectors either. Use 'rbf'.")
        moments = Moments.of(X, weight)
        rows = GaussianRows.certain(np.where(np.isnan(X), moments.mean, X))
        return CompleteKernel(kernel.resolve(moments, rows))
    if isinstance(kernel, ProcessKernel):
        return CompleteKernel(clone(kernel))
    if callable(kernel):
        return CompleteKernel(kernel)
    raise ValueError(f"kernel must be a name, a kernel object or a function of two arrays, got {kernel!r}.")


def _rbf(left: np.ndarray, right: np.ndarray, gamma: float | None = None) -> np.ndarray:
    squared = left @ right.T  # ||x - y||^2 = ||x||^2 + ||y||^2 - 2 x'y
    squared *= -2.0
    squared += np.einsum("ij,ij->i", left, left)[:, None]
    squared += np.einsum("ij,ij->i", right, right)[None]
    np.maximum(squared, 0.0, out=squared)
    squared *= -1.0 / left.shape[1] if gamma is None else -gamma  # as in scikit-learn
    return np.exp(squared, out=squared)


def _gamma(gamma, moments: Moments) -> float:
    if isinstance(gamma, str) and gamma == "scale":
        return scale_gamma(moments)
    if not POSITIVE.is_satisfied_by(gamma):
        raise ValueError(f"gamma must be a positive number or 'scale', got {gamma!r}.")
    return float(gamma)
