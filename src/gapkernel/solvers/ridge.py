"""Kernel ridge regression on a given Gram matrix, by scikit-learn."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn import kernel_ridge


def machine(alpha):
    """A machine with a checked parameter."""
    ridge = kernel_ridge.KernelRidge(alpha=alpha, kernel="precomputed")
    ridge._validate_params()
    return ridge


def solve(machine, gram, y, sample_weight) -> np.ndarray:
    """Coefficients c of (K + alpha I) c = y."""
    return machine.fit(gram, y, sample_weight).dual_coef_


def leave_one_out(machine, gram, y, sample_weight) -> np.ndarray:
    """What is left of each target by the prediction of all other rows; weights must be positive.

    With M = K + alpha / weight and c = M^-1 y it is c_i / (M^-1)_ii (Rasmussen, Williams: 5.12). It does not depend on
    how a row meets itself in the Gram matrix, so the prediction is that for a new row.
    """
    root = np.ones(len(y)) if sample_weight is None else np.sqrt(sample_weight)
    targets = root[:, None] * y.reshape(len(y), -1)
    alphas = np.broadcast_to(machine.alpha, targets.shape[1:])
    errors = np.empty(targets.shape)
    for alpha in np.unique(alphas):
        system = root[:, None] * gram * root
        system[np.diag_indices_from(system)] += alpha
        try:
            inverse = cho_solve(cho_factor(system, lower=True, overwrite_a=True), np.eye(len(y)))
        except np.linalg.LinAlgError:
            raise ValueError(
                f"conformal=True cannot leave rows out at alpha={alpha:.3g}: with it the Gram matrix is not positive "
                f"definite. Raise alpha."
            ) from None
        own = alphas == alpha
        errors[:, own] = inverse @ targets[:, own] / (root * inverse.diagonal())[:, None]
    return errors.reshape(y.shape)
