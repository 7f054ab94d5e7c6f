"""Kernels by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from gapkernel.kernels.base import Kernel
from gapkernel.kernels.expected_linear import ExpectedLinear
from gapkernel.kernels.expected_rbf import ExpectedRBF
from gapkernel.kernels.genrbf import GenRBF
from gapkernel.kernels.heterogeneous_kernel import HeterogeneousKernel
from gapkernel.kernels.on_vectors import FunctionKernel, Precomputed

KERNELS: dict[str, type[Kernel]] = {
    "linear": ExpectedLinear,
    "rbf": ExpectedRBF,
    "genrbf": GenRBF,
    "ehk": HeterogeneousKernel,
    "precomputed": Precomputed,
}


def make_kernel(kernel: str | Kernel | Callable, gamma: Any = "scale") -> Kernel:
    """A kernel object from a name and a width, from an object, or from a function.

    Parameters
    ----------
    kernel : {"linear", "rbf", "genrbf", "ehk", "precomputed"}, Kernel or callable
        A name, an object, of which a clone is made, or a function of two arrays of complete rows.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name, if it has one.

    Returns
    -------
    kernel : Kernel

    Examples
    --------
    >>> from gapkernel.kernels import make_kernel
    >>> make_kernel("genrbf", 0.5)
    GenRBF(gamma=0.5)
    """
    if isinstance(kernel, Kernel):
        if gamma != "scale":
            raise ValueError(
                f"gamma={gamma!r} applies to kernels given by name. "
                f"Set it on the kernel object instead: kernel__gamma={gamma!r}."
            )
        kernel._validate_params()
        return clone(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {sorted(KERNELS)}, a kernel object or a function, got {kernel!r}.")
    named = KERNELS[kernel]()
    return named.set_params(gamma=gamma) if "gamma" in named.get_params() else named  # not every kernel has a width
