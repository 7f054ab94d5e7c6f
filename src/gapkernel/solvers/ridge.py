"""Kernel ridge regression on a given Gram matrix, by scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn import kernel_ridge


def solve_ridge(gram, y, alpha, sample_weight) -> np.ndarray:
    """Coefficients c of (K + alpha I) c = y."""
    return kernel_ridge.KernelRidge(alpha=alpha, kernel="precomputed").fit(gram, y, sample_weight).dual_coef_
