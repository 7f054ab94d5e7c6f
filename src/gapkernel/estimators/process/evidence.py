"""A Gaussian process over laws: its evidence, the marginal likelihood of the hyperparameters, and the gradient.

The process f has covariance c k. Row i of the training table is a law p_i, and its target is taken as

    y_i = integral of f over p_i + e_i,    Var e_i = noise + alpha_i + c (1 - E k(x_i, x_i')),

x_i and x_i' independent draws of p_i. So the targets have exactly the covariance of f(x_i) + noise over both f and x_i,
which is c `gram` + noise, and the posterior of f is a Gaussian process with

    mean h(x) = sum_i b_i q_i(x),    covariance c k(x, z) - sum_ij A_ij q_i(x) q_j(z),    q_i(x) = c E k(x_i, x),

A the inverse of the targets' covariance and b = A y. `FittedProcess` predicts by it.

With classes the e_i has no noise, the class of row i depends on the right-hand side through a link, and Laplace's
approximation gives A and b of the same form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gapkernel.estimators.process.hyperparameters import Hyperparameters
from gapkernel.rows import Rows
from gapkernel.solvers.process import LaplacePosterior, Posterior, laplace, regress


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence(ABC):
    """The training rows and their targets, for any hyperparameters.

    Attributes
    ----------
    rows : Rows
    targets : ndarray of shape (n,)
    weight : ndarray of shape (n,) or None
        How many rows each row counts for.
    prior_mean : float
        The prior mean of the process.
    units : (float, float)
        The zero and the unit of the targets, in those that were given.
    """

    rows: Rows
    targets: np.ndarray
    weight: np.ndarray | None
    prior_mean: float = 0.0
    units: tuple[float, float] = (0.0, 1.0)

    @property
    def searched(self) -> Self:
        """What the hyperparameters are found by."""
        return self

    @abstractmethod
    def posterior(self, parameters: Hyperparameters, covariance: np.ndarray) -> Posterior:
        """What the targets say, from the prior covariance of the rows; LinAlgError if that of the targets is singular.

        Factor, coefficients and log likelihood are lines 2, 3 and 7 of algorithm 2.1 of Rasmussen and Williams.
        """

    @property
    def noise_shares(self) -> np.ndarray:
        """The noise of each target, in units of that of a row of weight 1."""
        return np.ones(len(self.targets)) if self.weight is None else 1.0 / self.weight

    def value(self, parameters: Hyperparameters) -> float:
        """Log marginal likelihood."""
        covariance = parameters.constant * parameters.kernel.gram(self.rows)
        try:
            return self.posterior(parameters, covariance).log_likelihood
        except np.linalg.LinAlgError:
            return -np.inf

    def value_and_gradient(self, parameters: Hyperparameters) -> tuple[float, np.ndarray]:
        """Log marginal likelihood and its gradient in the logarithms of the free hyperparameters."""
        gram, length_scale_sums = parameters.kernel.gram_and_sums(self.rows)
        covariance = parameters.constant * gram
        try:
            posterior = self.posterior(parameters, covariance)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros(len(parameters.theta))
        weights = posterior.likelihood_weights(covariance)
        gradient = np.empty(len(parameters.logarithms))
        gradient[0] = np.vdot(weights, covariance)
        if parameters.free[1:-1].any():
            gradient[1:-1] = parameters.constant * parameters.by_length_scale(length_scale_sums(weights))
        gradient[-1] = parameters.noise * np.sum(self.noise_shares * weights.diagonal())
        return posterior.log_likelihood, 0.5 * gradient[parameters.free]


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberEvidence(Evidence):
    """Targets that are numbers, seen with noise; one of weight w has the noise of the mean of w targets.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        Known extra noise of each target.
    """

    alpha: np.ndarray

    def posterior(self, parameters: Hyperparameters, covariance: np.ndarray) -> Posterior:
        try:
            return regress(covariance, parameters.noise * self.noise_shares + self.alpha, self.targets)
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(
                f"The covariance of the targets is singular: rows are repeated or nearly so. Raise alpha (now "
                f"{self.alpha.min():.3g}) or noise_level (now {parameters.noise:.3g})."
            ) from error


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassEvidence(Evidence):
    """Targets that are classes 0 and 1, by Laplace's approximation."""

    @property
    def searched(self) -> Self:
        """Weights of mean 1 at most: large ones make labels certain, and every row a class of its own."""
        if self.weight is None or self.weight.mean() <= 1.0:
            return self
        return replace(self, weight=self.weight / self.weight.mean())

    def posterior(self, parameters: Hyperparameters, covariance: np.ndarray) -> LaplacePosterior:
        return laplace(covariance, self.targets, self.weight, self.prior_mean)
