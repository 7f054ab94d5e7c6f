"""A Gaussian process over laws: its likelihood, and the exact moments of what it predicts.

The process f has covariance c k. Row i of the training table is a law p_i, and its target is taken as

    y_i = integral of f over p_i + e_i,    Var e_i = noise + alpha_i + c (1 - E k(x_i, x_i')),

x_i and x_i' independent draws of p_i. So the targets have exactly the covariance of f(x_i) + noise over both f and x_i,
which is c `gram` + noise, and the posterior of f is a Gaussian process with

    mean h(x) = sum_i b_i q_i(x),    covariance c k(x, z) - sum_ij A_ij q_i(x) q_j(z),    q_i(x) = c E k(x_i, x),

A the inverse of the targets' covariance and b = A y. For a new row x with gaps the law of total variance gives

    mean E h(x),    variance c - sum_ij A_ij E q_i(x) q_j(x) + Var h(x) + noise,

and with q_i = E q_i + (q_i - E q_i) the variance is that of a row whose kernel values are E q_i, plus
sum_ij (b_i b_j - A_ij) Cov(q_i(x), q_j(x)), every covariance in closed form.

With classes the e_i has no noise, the class of row i depends on the right-hand side through a link, and Laplace's
approximation gives A and b of the same form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gapkernel.compute.doors import check_finite
from gapkernel.compute.record import Record
from gapkernel.compute.runtime.config import get_config
from gapkernel.estimators.process.hyperparameters import Hyperparameters
from gapkernel.estimators.process.landmarks import MANY, Landmarks, landmarks_of
from gapkernel.kernels import AnisotropicRBF
from gapkernel.rows import Rows
from gapkernel.solvers.laplace import Laplace, LaplacePosterior
from gapkernel.solvers.process import Posterior, ProcessSolver

ProcessPosterior = Posterior | LaplacePosterior

Vectors = Callable[[int], np.ndarray]
"""From the place of a row to vectors over the training rows, (n_vectors, n)."""


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """The training rows and their targets, for any hyperparameters.

    Attributes
    ----------
    rows : Rows
    targets : ndarray of shape (n,)
    columns : ndarray of shape (rows.n_features,)
        Which length scale, if there are several, each column of the rows has; -1 for the 0/1 columns of gaps.
    gap_scale : float or None
        The length scale of the columns of gaps, which stays as it is.
    """

    rows: Rows
    targets: np.ndarray
    columns: np.ndarray
    gap_scale: float | None

    @property
    def prior_mean(self) -> float:
        """The prior mean of the process."""
        return 0.0

    @property
    def noise_shares(self) -> np.ndarray | float:
        """The noise of each target, in units of that of a row of weight 1."""
        return 1.0

    def kernel(self, parameters: Hyperparameters) -> AnisotropicRBF:
        """The correlation of the process."""
        scales = parameters.length_scale
        if len(scales) == 1 and self.gap_scale is None:
            return AnisotropicRBF(float(scales[0]))
        return AnisotropicRBF(np.where(self.columns < 0, self.gap_scale, scales[self._owner(scales)]))

    def _owner(self, scales: np.ndarray) -> np.ndarray:
        """The length scale of each column of the rows; that of a column of gaps means nothing."""
        return self.columns if len(scales) > 1 else np.zeros(len(self.columns), np.int64)

    def posterior(self, parameters: Hyperparameters) -> ProcessPosterior:
        """What the targets say; LinAlgError if their covariance is singular."""
        return self._condition(parameters, self.kernel(parameters).gram(self.rows))

    def value_and_gradient(self, parameters: Hyperparameters) -> tuple[float, np.ndarray]:
        """Log marginal likelihood and its gradient in the logarithms of the free hyperparameters."""
        gram, length_scale_sums = self.kernel(parameters).gram_and_sums(self.rows)
        try:
            posterior = self._condition(parameters, gram)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros(len(parameters.theta))
        covariance = parameters.constant * gram
        weights = posterior.likelihood_weights(covariance)
        n_scales = len(parameters.length_scale)
        gradient = np.empty(n_scales + 2)
        gradient[0] = np.vdot(weights, covariance)
        if parameters.free[1:-1].any():
            searched = self.columns >= 0
            owner = self._owner(parameters.length_scale)[searched]
            sums = np.bincount(owner, length_scale_sums(weights)[searched], minlength=n_scales)
            gradient[1:-1] = parameters.constant * sums
        gradient[-1] = parameters.noise * np.sum(self.noise_shares * weights.diagonal())
        return posterior.log_likelihood, 0.5 * gradient[parameters.free]  # (5.9)

    @abstractmethod
    def _condition(self, parameters: Hyperparameters, gram: np.ndarray) -> ProcessPosterior:
        """The posterior by the solver of this kind of targets."""


@dataclass(frozen=True, eq=False)
class NumberEvidence(Evidence):
    """Targets that are numbers, seen with noise.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        Known extra noise of each target.
    weight : ndarray of shape (n,) or None
        How many rows each row counts for: its target is their mean, with so much less noise.
    """

    alpha: np.ndarray
    weight: np.ndarray | None = None

    @property
    def noise_shares(self) -> np.ndarray | float:
        return 1.0 if self.weight is None else 1.0 / self.weight

    def _condition(self, parameters: Hyperparameters, gram: np.ndarray) -> Posterior:
        noise = parameters.noise * self.noise_shares + self.alpha
        return ProcessSolver(parameters.constant, noise).solve(gram, self.targets)


@dataclass(frozen=True, eq=False)
class ClassEvidence(Evidence):
    """Targets that are classes 0 and 1, by Laplace's approximation.

    Attributes
    ----------
    weight : ndarray of shape (n,) or None
        How many rows each row counts for.
    max_iter : int
        Most Newton steps to the mode.
    offset : float
        The prior mean of the process.
    """

    weight: np.ndarray | None
    max_iter: int
    offset: float

    @property
    def prior_mean(self) -> float:
        return self.offset

    def _condition(self, parameters: Hyperparameters, gram: np.ndarray) -> LaplacePosterior:
        return Laplace(parameters.constant, self.max_iter, self.offset).solve(gram, self.targets, self.weight)


@dataclass(frozen=True, eq=False)
class FittedProcess(Record):
    """The posterior process at chosen hyperparameters, in units of the targets it was given.

    Attributes
    ----------
    evidence : Evidence
    parameters : Hyperparameters
    posterior : Posterior or LaplacePosterior
    n_landmarks : int, "auto" or None
        How many points stand for the training rows in the variances of rows with gaps; None is an exact sum.
    """

    evidence: Evidence
    parameters: Hyperparameters
    posterior: ProcessPosterior
    n_landmarks: int | str | None = "auto"

    @property
    def kernel(self) -> AnisotropicRBF:
        """The correlation of the process."""
        return self.evidence.kernel(self.parameters)

    def mean(self, rows: Rows) -> np.ndarray:
        """Mean of each row's target."""
        coefficients = self.parameters.constant * self.posterior.coefficients[:, None]
        return self.evidence.prior_mean + self.kernel.dot(rows, self.evidence.rows, coefficients)[:, 0]

    def variance(self, rows: Rows) -> np.ndarray:
        """Variance of each row's target, without alpha."""
        variance = self.variance_without_spread(rows) + self._spread(rows)
        return check_finite(np.maximum(variance, 0.0) + self.parameters.noise, "The variance of a process")

    def variance_without_spread(self, rows: Rows) -> np.ndarray:
        """c - sum_ij A_ij E q_i(x) E q_j(x), as if the kernel values of each row were certain."""
        out = np.empty(len(rows))
        for some in self._blocks(len(rows)):
            explained = self._explained(rows.take(some))
            out[some] = self.parameters.constant - np.einsum("ij,ij->j", explained, explained)
        return out

    def covariance(self, rows: Rows) -> np.ndarray:
        """Covariance of the targets, the gaps of different rows independent."""
        explained = self._explained(rows)
        out = self.parameters.constant * self.kernel.gram(rows) - explained.T @ explained
        out[np.diag_indices_from(out)] += self._spread(rows) + self.parameters.noise
        return out

    def left_out(self, rows: Rows | None = None, places: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of rows, as `mean` and `variance` would give them without the training row at each place.

        By default of all training rows; ``rows`` may know less of them. The posterior without row i has b and A less
        their parts along column i of A (Rasmussen, Williams: 5.12), whatever the kernel of row i with itself. A row
        whose A_ii is zero, of a class that is sure to the last digit, has no part in them.
        """
        if rows is None or places is None:
            rows, places = self.evidence.rows, np.arange(len(self.evidence.rows))
        inverse, beta = self.posterior.inverse, self.posterior.coefficients
        diagonal = np.where(inverse.diagonal() > 0, inverse.diagonal(), np.inf)
        own, mean, variance = diagonal[places], np.empty(len(rows)), np.empty(len(rows))
        for some in self._blocks(len(rows)):
            cross = self.parameters.constant * self.kernel.cross(rows.take(some), self.evidence.rows)
            along, explained = np.einsum("ij,ij->i", cross, inverse[places[some]]), self.posterior.explained(cross)
            mean[some] = cross @ beta - along * beta[places[some]] / own[some]
            unknown = self.parameters.constant - np.einsum("ij,ij->j", explained, explained)
            variance[some] = unknown + along**2 / own[some]

        def without(t):  # bb' - A without row i is vv' - A with these v
            i = places[t]
            column = inverse[i]
            return np.stack([beta - column * (beta[i] / diagonal[i]), column / np.sqrt(diagonal[i])])

        variance = np.maximum(variance + self._spread(rows, without), 0.0) + self.parameters.noise
        return self.evidence.prior_mean + mean, variance

    def _explained(self, rows) -> np.ndarray:
        return self.posterior.explained(self.parameters.constant * self.kernel.cross(rows, self.evidence.rows))

    def _blocks(self, n_rows: int) -> list[slice]:
        """Rows whose kernel values with the training rows fit in memory."""
        step = max(1, get_config().memory_budget // (8 * 4 * len(self.evidence.rows)))
        return [slice(k, k + step) for k in range(0, n_rows, step)]

    def exact_spread(self, rows: Rows, vectors: Vectors | None = None) -> np.ndarray:
        """sum_ij (b_i b_j - A_ij) Cov(q_i(x), q_j(x)) over the gaps of each row x, from all training rows.

        ``vectors`` returns, for the place of a row, other v in place of b: the weights are v'v - A.
        """
        sums = self.kernel.covariance_sums(rows, self.evidence.rows, vectors or self._beta, self.posterior.inverse)
        return self.parameters.constant**2 * sums

    @cached_property
    def landmarks(self) -> Landmarks | None:
        """Points that stand for the training rows in `variance`; None where the sum is over all training rows."""
        few = self.n_landmarks == "auto" and len(self.evidence.rows) <= MANY
        return None if self.n_landmarks is None or few else landmarks_of(self, self.n_landmarks)

    def _spread(self, rows: Rows, vectors: Vectors | None = None) -> np.ndarray:
        """What the gaps of each row add to its variance."""
        if rows.complete.all():
            return np.zeros(len(rows))
        if self.landmarks is None:
            return self.exact_spread(rows, vectors)
        return self.landmarks.spread(self, rows, vectors or self._beta)

    def _beta(self, row: int) -> np.ndarray:
        return self.posterior.coefficients[None]
