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
    named = KERNELS.get(kernel) if isinstance(kernel, str) else None
    if isinstance(kernel, Kernel):
        kernel._validate_params()
        made = clone(kernel)
    elif named is not None:
        made = named()
    elif callable(kernel) and not isinstance(kernel, type):
        made = FunctionKernel(kernel)
    else:
        raise ValueError(f"kernel must be one of {sorted(KERNELS)}, a kernel object or a function, got {kernel!r}.")
    if named is not None and "gamma" in made.get_params():
        return made.set_params(gamma=gamma)
    if gamma != "scale":
        raise ValueError(
            f"gamma={gamma!r} has no effect on kernel={kernel!r}: it is the width of a kernel given by name that has "
            f"one. Leave gamma out, or set the parameters of a kernel object (kernel__gamma)."
        )
    return made
