"""Gaussian process regression on a given covariance matrix of the targets (Rasmussen, Williams: algorithm 2.1)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cholesky, lapack, solve_triangular
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from gapkernel.compute.record import Record

VALUE_TOLERANCE = 1e7 * np.finfo(float).eps
"""Share of its value that a step of the search must gain to go on (the default of L-BFGS-B)."""

FLAT = float(np.sqrt(2.0 * VALUE_TOLERANCE))
"""Share of the value below which a slope promises no more than that: with a curvature, in the logarithms of the
hyperparameters, of about the size of the value, a slope s has s^2 / (2 value) to gain."""

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Posterior(Record):
    """What the targets say about the process.

    Attributes
    ----------
    factor : ndarray of shape (n, n)
        L, lower triangular, with L L' the covariance of the targets.
    coefficients : ndarray of shape (n,)
        The covariance's inverse times the targets.
    log_likelihood : float
        Logarithm of the density of the targets.
    """

    factor: np.ndarray
    coefficients: np.ndarray
    log_likelihood: float

    @cached_property
    def inverse(self) -> np.ndarray:
        """The inverse of L L', which every prediction for rows with gaps needs."""
        inverse, _ = lapack.dpotri(self.factor, lower=1)
        lower = np.tril(inverse)
        return lower + np.tril(lower, -1).T

    def likelihood_weights(self, covariance: np.ndarray) -> np.ndarray:
        """W with d log likelihood = 1/2 sum_ij W_ij dK_ij, which is aa' - C^-1 whatever the prior covariance K.

        This is equation 5.9 of Rasmussen and Williams.
        """
        weights = np.outer(self.coefficients, self.coefficients)
        weights -= self.inverse
        return weights

    def explained(self, cross: np.ndarray) -> np.ndarray:
        """L^-1 cross', whose columns' scalar products are what the targets explain of new covariances."""
        return solve_triangular(self.factor, cross.T, lower=True, check_finite=False)


def regress(covariance: np.ndarray, noise: np.ndarray | float, y: np.ndarray) -> Posterior:
    """The posterior of a process with this prior covariance of the rows, from targets with noise of this variance.

    LinAlgError if the covariance of the targets is not positive definite.
    """
    covariance = covariance.copy()
    covariance[np.diag_indices_from(covariance)] += noise
    factor = cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
    whitened = solve_triangular(factor, y, lower=True, check_finite=False)
    coefficients = solve_triangular(factor, whitened, lower=True, trans="T", check_finite=False)
    log_det = 2.0 * np.log(factor.diagonal()).sum()
    log_likelihood = -0.5 * (whitened @ whitened + log_det + len(y) * np.log(2.0 * np.pi))
    return Posterior(factor, coefficients, float(log_likelihood))


def lbfgs(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]], start: np.ndarray, bounds: np.ndarray
) -> tuple[np.ndarray, float]:
    """A minimum of ``objective``, which returns value and gradient, near ``start``: where, and how low.

    Warns if the search stopped elsewhere. Its line search also gives up at a minimum, once rounding hides any further
    descent: what counts is the slope that is left.
    """
    result = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds, options={"ftol": VALUE_TOLERANCE})
    low, high = np.transpose(bounds)
    slope = np.abs(np.clip(result.x - result.jac, low, high) - result.x).max()  # what the bounds leave of the gradient
    if not result.success and not slope <= FLAT * max(1.0, abs(result.fun)):
        warnings.warn(
            f"The search for hyperparameters did not converge: {result.message}, where the gradient is still "
            f"{slope:.2g}. Scale the columns and the target, or start elsewhere.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return result.x, result.fun


def maximise(
    objective: Objective,
    starts: list[np.ndarray],
    bounds: np.ndarray,
    minimise: Callable[..., tuple[np.ndarray, float]] = lbfgs,
) -> np.ndarray:
    """Where ``objective``, which returns value and gradient, is highest among the maxima found from ``starts``."""

    def descent(theta: np.ndarray, eval_gradient: bool = True) -> Any:
        value, gradient = objective(theta)
        return (-value, -gradient) if eval_gradient else -value

    found = [minimise(descent, start, bounds=bounds) for start in starts]
    return min(found, key=lambda result: result[1])[0]
