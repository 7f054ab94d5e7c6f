"""Laplace's approximation of a latent Gaussian process with two classes (Rasmussen, Williams: algorithms 3.1, 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.special import expit

from gapkernel.solvers.base import Solver
from gapkernel.solvers.process import Posterior

TOLERANCE = 1e-10
"""Gain of a Newton step below which the mode is found."""

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
        """V with d log likelihood = 1/2 sum_ij V_ij dK_ij: aa' - A + ua' + au', u the way through the mode (5.23)."""
        explained = self.explained(covariance)
        left = covariance.diagonal() - np.einsum("ij,ij->j", explained, explained)  # variances at the mode
        through_mode = 0.5 * left * self.skew
        u = through_mode - self.inverse @ (covariance @ through_mode)  # (I - AK) s
        ways = np.outer(self.coefficients, u)
        return super().likelihood_weights(covariance) + ways + ways.T


class Laplace(Solver):
    """The mode of the latent values of two classes, by Newton's method, and the normal law around it.

    Parameters
    ----------
    constant : float
        The prior variance of the process.
    max_iter : int, default=100
    offset : float, default=0.0
        The prior mean of the process.
    """

    def __init__(self, constant: float, max_iter: int = 100, offset: float = 0.0) -> None:
        self.constant, self.max_iter, self.offset = constant, max_iter, offset

    def solve(self, gram: np.ndarray, y: Any, weight: np.ndarray | None = None) -> LaplacePosterior:
        """The posterior for classes 0 and 1; a row of weight w counts as w rows with one latent value."""
        covariance, weight = self.constant * gram, np.ones(len(y)) if weight is None else weight
        coefficients, latent = np.zeros(len(y)), np.zeros(len(y))
        value = self._log_posterior(coefficients, latent, y, weight)
        n_iter = 0
        while True:
            probability = expit(self.offset + latent)
            curvature = weight * probability * (1.0 - probability)
            factor, root = _factor(covariance, curvature)
            if n_iter == self.max_iter:
                break
            n_iter += 1
            target = curvature * latent + weight * (y - probability)
            step = target - root * cho_solve((factor, True), root * (covariance @ target)) - coefficients
            moved, gain = covariance @ step, -np.inf
            for halving in range(HALVINGS):
                share = 0.5**halving
                new = coefficients + share * step, latent + share * moved
                gain = self._log_posterior(*new, y, weight) - value
                if gain > -TOLERANCE:
                    break
            if not gain > TOLERANCE:
                break
            (coefficients, latent), value = new, value + gain
        return LaplacePosterior(
            kept=np.arange(len(y)),
            weights=(weight * (y - probability))[:, None],
            intercept=np.zeros(1),
            n_iter=n_iter,
            latent=latent,
            curvature=curvature,
            skew=-curvature * (1.0 - 2.0 * probability),
            factor=factor,
            log_likelihood=float(value - np.log(factor.diagonal()).sum()),
        )

    def _log_posterior(self, coefficients: np.ndarray, latent: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
        """log p(y | g) - 1/2 g'K^-1 g."""
        misses = np.logaddexp(0.0, (1.0 - 2.0 * y) * (self.offset + latent))
        return float(-weight @ misses - 0.5 * coefficients @ latent)


def _factor(covariance: np.ndarray, curvature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L with L L' = I + W^1/2 K W^1/2, and W^1/2."""
    root = np.sqrt(curvature)
    matrix = covariance * root
    matrix *= root[:, None]
    matrix[np.diag_indices_from(matrix)] += 1.0
    return cholesky(matrix, lower=True, overwrite_a=True, check_finite=False), root
