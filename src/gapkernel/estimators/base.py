"""What all kernel machines share: from a table to laws, and from names to objects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF, Kernel
from gapkernel.table import Table, labelled_table, read_table

KERNELS = {"linear": ExpectedLinear, "rbf": ExpectedRBF, "genrbf": GenRBF}


class Laws(NamedTuple):
    """What a fit begins with."""

    density: Gaussian
    kernel: Kernel
    rows: GaussianRows


class KernelMachine(BaseEstimator):
    """Base of the estimators: parameters ``kernel``, ``gamma`` and ``density``; gaps allowed everywhere."""

    def _fit_laws(self, X: np.ndarray, sample_weight=None) -> Laws:
        """Fit density and kernel to a checked table, and turn its rows into laws; nothing is kept yet."""
        kernel = resolve_kernel(self.kernel, self.gamma)
        density = resolve_density(self.density).fit(X, sample_weight=sample_weight)
        rows = density.condition(X)
        return Laws(density, kernel.resolve(density, rows), rows)

    def _weights_of(self, X: np.ndarray, sample_weight) -> np.ndarray | None:
        """``sample_weight`` as an array; None stays None, which solvers take as all ones."""
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def _laws(self, X) -> GaussianRows:
        """The laws of new rows."""
        check_is_fitted(self)
        return self.density_.condition(numeric_table(self, X, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def resolve_kernel(kernel, gamma) -> Kernel:
    """A kernel object from a name or an object."""
    if isinstance(kernel, Kernel):
        if gamma != "scale":
            raise ValueError(
                f"gamma={gamma!r} applies to kernels given by name. "
                f"Set it on the kernel object instead: kernel__gamma={gamma!r}."
            )
        return clone(kernel)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {sorted(KERNELS)} or a kernel object, got {kernel!r}.")
    return ExpectedLinear() if kernel == "linear" else KERNELS[kernel](gamma=gamma)


def resolve_density(density):
    """A density object from "auto" or an object."""
    if isinstance(density, str) and density == "auto":
        return Gaussian()
    if isinstance(density, type) or not (hasattr(density, "fit") and hasattr(density, "condition")):
        raise ValueError(f"density must be 'auto' or a density such as gapkernel.density.Gaussian(), got {density!r}.")
    return clone(density)
