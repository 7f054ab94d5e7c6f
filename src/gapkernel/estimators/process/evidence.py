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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.compute.runtime.config import get_config
from gapkernel.estimators.process.hyperparameters import Hyperparameters
from gapkernel.kernels import AnisotropicRBF
from gapkernel.rows import GaussianRows
from gapkernel.solvers.process import Posterior, ProcessSolver


@dataclass(frozen=True, eq=False)
class Evidence:
    """The training rows and their targets, for any hyperparameters.

    Attributes
    ----------
    rows : GaussianRows
    targets : ndarray of shape (n,)
    alpha : ndarray of shape (n,)
        Known extra noise of each target.
    columns : ndarray of shape (rows.n_features,)
        Which length scale, if there are several, each column of the rows has; -1 for the 0/1 columns of gaps.
    gap_scale : float or None
        The length scale of the columns of gaps, which stays as it is.
    """

    rows: GaussianRows
    targets: np.ndarray
    alpha: np.ndarray
    columns: np.ndarray
    gap_scale: float | None = None

    def kernel(self, parameters: Hyperparameters) -> AnisotropicRBF:
        """The correlation of the process."""
        scales = parameters.length_scale
        if len(scales) == 1 and self.gap_scale is None:
            return AnisotropicRBF(float(scales[0]))
        return AnisotropicRBF(np.where(self.columns < 0, self.gap_scale, scales[self._owner(scales)]))

    def _owner(self, scales: np.ndarray) -> np.ndarray:
        """The length scale of each column of the rows; that of a column of gaps means nothing."""
        return self.columns if len(scales) > 1 else np.zeros(len(self.columns), np.int64)

    def posterior(self, parameters: Hyperparameters) -> Posterior:
        """What the targets say; LinAlgError if their covariance is singular."""
        return self._condition(parameters, self.kernel(parameters).gram(self.rows))

    def value_and_gradient(self, parameters: Hyperparameters) -> tuple[float, np.ndarray]:
        """Log marginal likelihood and its gradient in the logarithms of the free hyperparameters."""
        gram, length_scale_sums = self.kernel(parameters).gram_and_sums(self.rows)
        try:
            posterior = self._condition(parameters, gram)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros(len(parameters.theta))
        weights = posterior.likelihood_weights()
        n_scales = len(parameters.length_scale)
        gradient = np.empty(n_scales + 2)
        gradient[0] = parameters.constant * np.vdot(weights, gram)
        if parameters.free[1:-1].any():
            searched = self.columns >= 0
            owner = self._owner(parameters.length_scale)[searched]
            sums = np.bincount(owner, length_scale_sums(weights)[searched], minlength=n_scales)
            gradient[1:-1] = parameters.constant * sums
        gradient[-1] = parameters.noise * weights.trace()
        return posterior.log_likelihood, 0.5 * gradient[parameters.free]  # (5.9)

    def _condition(self, parameters, gram) -> Posterior:
        return ProcessSolver(parameters.constant, parameters.noise + self.alpha).solve(gram, self.targets)


@dataclass(frozen=True, eq=False)
class FittedProcess:
    """The posterior process at chosen hyperparameters, in units of the targets it was given.

    Attributes
    ----------
    evidence : Evidence
    parameters : Hyperparameters
    posterior : Posterior
    """

    evidence: Evidence
    parameters: Hyperparameters
    posterior: Posterior

    @property
    def kernel(self) -> AnisotropicRBF:
        """The correlation of the process."""
        return self.evidence.kernel(self.parameters)

    def mean(self, rows: GaussianRows) -> np.ndarray:
        """Mean of each row's target."""
        coefficients = self.parameters.constant * self.posterior.coefficients[:, None]
        return self.kernel.dot(rows, self.evidence.rows, coefficients)[:, 0]

    def variance(self, rows: GaussianRows) -> np.ndarray:
        """Variance of each row's target, without alpha."""
        block = max(1, get_config().memory_budget // (8 * 4 * max(1, len(self.evidence.rows))))
        out = np.empty(len(rows))
        for i in range(0, len(rows), block):
            explained = self._explained(rows.take(slice(i, i + block)))
            out[i : i + block] = self.parameters.constant - np.einsum("ij,ij->j", explained, explained)
        return np.maximum(out + self._spread(rows), 0.0) + self.parameters.noise

    def covariance(self, rows: GaussianRows) -> np.ndarray:
        """Covariance of the targets, the gaps of different rows independent."""
        explained = self._explained(rows)
        out = self.parameters.constant * self.kernel.gram(rows) - explained.T @ explained
        out[np.diag_indices_from(out)] += self._spread(rows) + self.parameters.noise
        return out

    def left_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each training target given all the others, as `mean` and `variance` would give them."""
        inverse, beta = self.posterior.inverse, self.posterior.coefficients

        def without(i):  # bb' - A without row i is vv' - A with these v: both lose their part along column i of A
            column = inverse[i]
            return np.stack([beta - column * (beta[i] / column[i]), column / np.sqrt(column[i])])

        precision = inverse.diagonal()
        mean, variance = self.evidence.targets - beta / precision, 1.0 / precision  # (5.12)
        rows = self.evidence.rows
        spread = self.parameters.constant**2 * self.kernel.covariance_sums(rows, rows, without, inverse)
        noise = self.parameters.noise
        return mean, np.maximum(variance - self.evidence.alpha - noise + spread, 0.0) + noise

    def _explained(self, rows) -> np.ndarray:
        return self.posterior.explained(self.parameters.constant * self.kernel.cross(rows, self.evidence.rows))

    def _spread(self, rows) -> np.ndarray:
        """sum_ij (b_i b_j - A_ij) Cov(q_i(x), q_j(x)) over the gaps of each row x."""
        if rows.complete.all():
            return np.zeros(len(rows))
        beta = self.posterior.coefficients[None]
        sums = self.kernel.covariance_sums(rows, self.evidence.rows, lambda _: beta, self.posterior.inverse)
        return self.parameters.constant**2 * sums
