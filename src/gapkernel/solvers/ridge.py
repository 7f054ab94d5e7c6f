"""Kernel ridge regression on a given Gram matrix, by scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from sklearn import config_context, kernel_ridge

from gapkernel.compute.doors import as_floats
from gapkernel.solvers.base import Folds, LeftOut, Solution, Solver


class Ridge(Solver):
    """(K + alpha / weight) c = y, for one or several targets.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,)
    """

    def __init__(self, alpha: ArrayLike = 1.0) -> None:
        self._ridge: Any = kernel_ridge.KernelRidge(alpha=alpha, kernel="precomputed")
        self._ridge._validate_params()
        if not as_floats(alpha, "alpha").size:
            raise ValueError("alpha is empty: give one number, or one for each target.")

    def solve(self, gram: np.ndarray, y: Any, weight: np.ndarray | None = None) -> Solution:
        with config_context(skip_parameter_validation=True):
            weights = copy(self._ridge).fit(gram, y, weight).dual_coef_.reshape(len(y), -1)
        return Solution(np.arange(len(y)), weights, np.zeros(weights.shape[1]), None)

    def left_out(
        self, gram: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None, folds: Folds | None = None
    ) -> np.ndarray:
        """The value of each row from all others.

        Without ``folds`` there is a closed form: with M = K + alpha / weight and c = M^-1 y, what is left of the target
        is c_i / (M^-1)_ii (Rasmussen, Williams: 5.12). It does not depend on how a row meets itself in the Gram matrix,
        so the value is that of a new row.
        """
        if folds is not None:
            return super().left_out(gram, y, weight, folds)
        errors = np.empty((len(y), y[0].size))
        for own, inverse, coefficients in self._inverses(gram, y, weight):
            errors[:, own] = coefficients / inverse.diagonal()[:, None]
        return y - errors.reshape(y.shape)

    def without(
        self, gram: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None, folds: Folds | None = None
    ) -> LeftOut:
        """Without ``folds`` one solution for each row: c less its part along column i of M^-1, which is 0 at i."""
        if folds is not None:
            return super().without(gram, y, weight, folds)
        weights = np.empty((len(y), len(y), y[0].size))
        for own, inverse, coefficients in self._inverses(gram, y, weight):
            share = coefficients / inverse.diagonal()[:, None]
            weights[:, :, own] = coefficients[None] - inverse[:, :, None] * share[:, None, :]
        return LeftOut(np.arange(len(y)), weights, np.zeros((len(y), weights.shape[2])))

    def _inverses(
        self, gram: np.ndarray, y: np.ndarray, weight: np.ndarray | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each alpha the targets that have it, M^-1, and c for these targets."""
        root = np.ones(len(y)) if weight is None else np.sqrt(weight)
        targets = y.reshape(len(y), -1)
        alphas = np.broadcast_to(self._ridge.alpha, targets.shape[1:])
        for alpha in np.unique(alphas):
            system = root[:, None] * gram * root
            system[np.diag_indices_from(system)] += alpha
            try:
                inverse = cho_solve(cho_factor(system, lower=True, overwrite_a=True), np.eye(len(y)))
            except np.linalg.LinAlgError:
                raise ValueError(
                    f"conformal cannot leave rows out at alpha={alpha:.3g}: with it the Gram matrix is not "
                    f"positive definite. Raise alpha."
                ) from None
            inverse *= np.outer(root, root)  # M^-1 = W^1/2 (W^1/2 K W^1/2 + alpha)^-1 W^1/2
            own = alphas == alpha
            yield own, inverse, inverse @ targets[:, own]
