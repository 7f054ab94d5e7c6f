"""The kernel of a classifier that completes its rows, from a name or an object."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel as ProcessKernel
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS

from gapkernel.kernels import POSITIVE, CompleteKernel, Kernel, scale_gamma
from gapkernel.rows import GaussianRows, Moments


def complete_kernel(kernel, gamma, X: np.ndarray, weight: np.ndarray) -> CompleteKernel:
    """A kernel on complete vectors from a name or an object, with numbers in place of words such as "scale".

    Parameters
    ----------
    kernel : str, Kernel, scikit-learn kernel or callable
    gamma : float or "scale"
        For names.
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
        width = {"gamma": _gamma(gamma, Moments.of(X, weight))}
        return CompleteKernel(kernel, width if "gamma" in KERNEL_PARAMS[kernel] else {})
    if not isinstance(gamma, str) or gamma != "scale":
        raise ValueError("gamma applies to kernels given by name. Set it on the kernel object instead.")
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


def _gamma(gamma, moments: Moments) -> float:
    if isinstance(gamma, str) and gamma == "scale":
        return scale_gamma(moments)
    if not POSITIVE.is_satisfied_by(gamma):
        raise ValueError(f"gamma must be a positive number or 'scale', got {gamma!r}.")
    return float(gamma)
