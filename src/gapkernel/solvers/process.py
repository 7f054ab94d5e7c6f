"""Gaussian processes on a given covariance: regression (Rasmussen, Williams: 2.1) and Laplace's approximation (3.1)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, lapack, solve_triangular
from scipy.optimize import minimize
from scipy.special import expit
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


def lbfgs(objective: Objective, start: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, float]:
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


TOLERANCE = 1e-10
"""Gain of a Newton step below which the mode is found."""

MOST_STEPS = 100
"""Most Newton steps to the mode; a handful is usual."""

HALVINGS = 30
"""Most halvings of a Newton step that lowers the posterior; steps of the logistic likelihood hardly ever need one."""


@dataclass(frozen=True, eq=False)
class LaplacePosterior(Posterior):
    """The normal approximation at the mode of the latent values g of the training rows.

    It is that of a regression on g + gradient / curvature with noise 1 / curvature, so predictions have the form of
    `Posterior`: the coefficients are the gradient of the log likelihood, K^-1 times the mode, and A = (K + W^-1)^-1
    takes the place of the inverse covariance.

    Attributes
    ----------
    latent : ndarray of shape (n,)
        The mode, less the prior mean.
    curvature : ndarray of shape (n,)
        W, minus the second derivative of the log likelihood there.
    skew : ndarray of shape (n,)
        Its third derivative.
    factor : ndarray of shape (n, n)
        L, lower triangular, with L L' = I + W^1/2 K W^1/2.
    log_likelihood : float
        The approximate log probability of the classes.
    """

    latent: np.ndarray
    curvature: np.ndarray
    skew: np.ndarray

    @cached_property
    def inverse(self) -> np.ndarray:
        """A = (K + W^-1)^-1 = W^1/2 (L L')^-1 W^1/2."""
        root = np.sqrt(self.curvature)
        return super().inverse * np.outer(root, root)

    def explained(self, cross: np.ndarray) -> np.ndarray:
        """L^-1 W^1/2 cross', whose columns' scalar products are what the classes explain of new covariances."""
        return super().explained(cross * np.sqrt(self.curvature))

    def likelihood_weights(self, covariance: np.ndarray) -> np.ndarray:
        """V with d log likelihood = 1/2 sum_ij V_ij dK_ij: aa' - A + ua' + au', where u is what the mode's change adds.

        This is equation 5.23 of Rasmussen and Williams.
        """
        explained = self.explained(covariance)
        left = covariance.diagonal() - np.einsum("ij,ij->j", explained, explained)  # variances at the mode
        slope = 0.5 * left * self.skew  # of the likelihood in the mode
        u = slope - self.inverse @ (covariance @ slope)  # (I - AK) s
        by_mode = np.outer(self.coefficients, u)
        return super().likelihood_weights(covariance) + by_mode + by_mode.T


def laplace(covariance: np.ndarray, y: np.ndarray, weight: np.ndarray | None, offset: float) -> LaplacePosterior:
    """The normal law around the mode of the latent values of classes 0 and 1, which Newton's method finds.

    ``covariance`` is the prior one of the rows and ``offset`` the prior mean. A row of weight w counts as w rows with
    one latent value.
    """
    weight = np.ones(len(y)) if weight is None else weight

    def log_posterior(coefficients: np.ndarray, latent: np.ndarray) -> float:
        """log p(y | g) - 1/2 g'K^-1 g."""
        misses = np.logaddexp(0.0, (1.0 - 2.0 * y) * (offset + latent))
        return float(-weight @ misses - 0.5 * coefficients @ latent)

    coefficients, latent = np.zeros(len(y)), np.zeros(len(y))
    value, n_steps = log_posterior(coefficients, latent), 0
    while True:
        probability = expit(offset + latent)
        curvature = weight * probability * (1.0 - probability)
        factor, root = _factor(covariance, curvature)
        if n_steps == MOST_STEPS:
            break
        n_steps += 1
        target = curvature * latent + weight * (y - probability)
        step = target - root * cho_solve((factor, True), root * (covariance @ target)) - coefficients
        moved, gain = covariance @ step, -np.inf
        for halving in range(HALVINGS):
            share = 0.5**halving
            new = coefficients + share * step, latent + share * moved
            gain = log_posterior(*new) - value
            if gain > -TOLERANCE:
                break
        if not gain > TOLERANCE:
            break
        (coefficients, latent), value = new, value + gain
    return LaplacePosterior(
        factor=factor,
        coefficients=weight * (y - probability),
        log_likelihood=float(value - np.log(factor.diagonal()).sum()),
        latent=latent,
        curvature=curvature,
        skew=-curvature * (1.0 - 2.0 * probability),
    )


def _factor(covariance: np.ndarray, curvature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L with L L' = I + W^1/2 K W^1/2, and W^1/2."""
    root = np.sqrt(curvature)
    matrix = covariance * root
    matrix *= root[:, None]
    matrix[np.diag_indices_from(matrix)] += 1.0
    return cholesky(matrix, lower=True, overwrite_a=True, check_finite=False), root
