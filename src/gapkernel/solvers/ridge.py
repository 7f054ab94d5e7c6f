"""Kernel ridge regression on a given Gram matrix, by scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn import kernel_ridge


def machine(alpha):
    """A machine with a checked parameter."""
    ridge = kernel_ridge.KernelRidge(alpha=alpha, kernel="precomputed")
    ridge._validate_params()
    return ridge


def solve(machine, gram, y, sample_weight) -> np.ndarray:
    """Coefficients c of (K + alpha I) c = y."""
    return machine.fit(gram, y, sample_weight).dual_coef_
