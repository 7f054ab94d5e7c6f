"""What a fitted process predicts: the exact moments of its values over the posterior and over the laws of new rows.

In the notation of `gapkernel.estimators.process.evidence`, a new row x with gaps has by the law of total variance

    mean E h(x),    variance c - sum_ij A_ij E q_i(x) q_j(x) + Var h(x) + noise,

and with q_i = E q_i + (q_i - E q_i) the variance is that of a row whose kernel values are E q_i, plus its spread
sum_ij (b_i b_j - A_ij) Cov(q_i(x), q_j(x)), every covariance in closed form.

With many training rows that sum takes long. The kernel value of a training row, E k(x_i, x) as a function of x, is
close to sum_a w_ia k(z_a, x) with landmarks z_a among the means of the training rows: its projection on their span. So
a sum over n^2 pairs of laws becomes a sum over pairs of complete points, each of which costs a hundredth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from gapkernel.compute.doors import check_finite
from gapkernel.compute.linalg.basis import Basis, pivoted_cholesky
from gapkernel.compute.record import Record
from gapkernel.compute.runtime.config import get_config
from gapkernel.estimators.process.evidence import Evidence
from gapkernel.estimators.process.hyperparameters import Hyperparameters
from gapkernel.kernels import AnisotropicRBF
from gapkernel.rows import GaussianRows, Rows
from gapkernel.solvers.process import Posterior

MANY = 100
"""Training rows beyond which "auto" takes landmarks."""

TOLERANCE = 0.01
"""Share of a predictive deviation by which landmarks may be off on the rows they are tried on, with "auto"."""

FIRST = 100
"""Landmarks that "auto" begins with; it doubles them until they are exact enough."""

TRIED = 12
"""Training rows with gaps on which landmarks are compared with the exact sum."""

Vectors = Callable[[int], np.ndarray]
"""From the place of a row to vectors over the training rows, (n_vectors, n)."""


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Points in place of training rows.

    Attributes
    ----------
    points : ndarray of shape (n_landmarks, n_columns)
    projection : ndarray of shape (n_landmarks, n)
        P, whose column i holds the weights of the points in the kernel value of training row i.
    matrix : ndarray of shape (n_landmarks, n_landmarks)
        P A P'.
    error : float
        The largest share of its value by which a predictive deviation was off, among the rows they were tried on.
    """

    points: np.ndarray
    projection: np.ndarray
    matrix: np.ndarray
    error: float = 0.0


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
    posterior: Posterior
    n_landmarks: int | str | None = "auto"

    @property
    def kernel(self) -> AnisotropicRBF:
        """The correlation of the process."""
        return self.parameters.kernel

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
        for block in self._blocks(len(rows)):
            explained = self.posterior.explained(self._cross(rows.take(block)))
            out[block] = self.parameters.constant - np.einsum("ij,ij->j", explained, explained)
        return out

    def covariance(self, rows: Rows) -> np.ndarray:
        """Covariance of the targets, the gaps of different rows independent."""
        explained = self.posterior.explained(self._cross(rows))
        out = self.parameters.constant * self.kernel.gram(rows) - explained.T @ explained
        out[np.diag_indices_from(out)] += self._spread(rows) + self.parameters.noise
        return out

    def left_out(self, rows: Rows | None = None, places: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of rows, as `mean` and `variance` would give them without the training row at each place.

        By default of all training rows; ``rows`` may know less of them. The posterior without row i has b and A less
        their parts along column i of A, whatever the kernel of row i with itself (equation 5.12 of Rasmussen and
        Williams). A row whose A_ii is zero, of a class that is sure to the last digit, has no part in them.
        """
        if rows is None or places is None:
            rows, places = self.evidence.rows, np.arange(len(self.evidence.rows))
        inverse, beta = self.posterior.inverse, self.posterior.coefficients
        diagonal = np.where(inverse.diagonal() > 0, inverse.diagonal(), np.inf)
        own, mean, variance = diagonal[places], np.empty(len(rows)), np.empty(len(rows))
        for block in self._blocks(len(rows)):
            cross = self._cross(rows.take(block))
            along, explained = np.einsum("ij,ij->i", cross, inverse[places[block]]), self.posterior.explained(cross)
            mean[block] = cross @ beta - along * beta[places[block]] / own[block]
            unknown = self.parameters.constant - np.einsum("ij,ij->j", explained, explained)
            variance[block] = unknown + along**2 / own[block]

        def without(t):  # bb' - A without row i is vv' - A with these v
            i = places[t]
            column = inverse[i]
            return np.stack([beta - column * (beta[i] / diagonal[i]), column / np.sqrt(diagonal[i])])

        variance = np.maximum(variance + self._spread(rows, without), 0.0) + self.parameters.noise
        return self.evidence.prior_mean + mean, variance

    def _cross(self, rows: Rows) -> np.ndarray:
        return self.parameters.constant * self.kernel.cross(rows, self.evidence.rows)

    def _blocks(self, n_rows: int) -> list[slice]:
        """Rows whose kernel values with the training rows fit in memory."""
        step = max(1, get_config().memory_budget // (8 * 4 * len(self.evidence.rows)))
        return [slice(k, k + step) for k in range(0, n_rows, step)]

    @cached_property
    def landmarks(self) -> Landmarks | None:
        """Points that stand for the training rows in `variance`; None where the sum is over all training rows."""
        few = self.n_landmarks == "auto" and len(self.evidence.rows) <= MANY
        return None if self.n_landmarks is None or few else _landmarks_of(self, self.n_landmarks)

    def _spread(self, rows: Rows, vectors: Vectors | None = None) -> np.ndarray:
        """What the gaps of each row add to its variance; for b there may be other vectors v, for v'v - A."""
        if rows.complete.all():
            return np.zeros(len(rows))
        return self.spread_by(self.landmarks, rows, vectors)

    def spread_by(self, landmarks: Landmarks | None, rows: Rows, vectors: Vectors | None = None) -> np.ndarray:
        """sum_ij (b_i b_j - A_ij) Cov(q_i(x), q_j(x)) over the gaps of each row x, by landmarks or all training rows.

        ``vectors`` returns, for the place of a row, other v in place of b: the weights are v'v - A.
        """
        vectors = vectors or (lambda _: self.posterior.coefficients[None])
        if landmarks is None:
            sums = self.kernel.covariance_sums(rows, self.evidence.rows, vectors, self.posterior.inverse)
        else:

            def projected(t):
                return vectors(t) @ landmarks.projection.T

            sums = self.kernel.point_covariance_sums(rows, landmarks.points, projected, landmarks.matrix)
        return self.parameters.constant**2 * sums


def _landmarks_of(process: FittedProcess, number: int | str) -> Landmarks | None:
    """``number`` landmarks, or as many as "auto" needs; None where the exact sum is to be taken.

    That is where all training rows would not be enough, and where few of them have gaps: then there is nothing to try
    landmarks on, and the exact sum is cheap.
    """
    training = process.evidence.rows
    uncertain = np.flatnonzero(~training.complete)
    if number == "auto" and len(uncertain) < TRIED:
        return None
    tried = training.take(uncertain[:: max(1, len(uncertain) // TRIED)][:TRIED])
    spread = process.spread_by(None, tried)
    exact = process.variance_without_spread(tried) + spread + process.parameters.noise
    exact = np.maximum(exact, np.finfo(float).tiny)
    size = FIRST if number == "auto" else min(int(number), len(training))
    basis = _basis(process, len(training) if number == "auto" else size)
    while True:
        landmarks = _projected(process, basis, size)
        off = process.spread_by(landmarks, tried) - spread
        error = float(np.abs(np.sqrt(np.maximum(1.0 + off / exact, 0.0)) - 1.0).max(initial=0.0))
        if number != "auto" or error <= TOLERANCE:
            return replace(landmarks, error=error)
        if size >= len(basis.rows):
            return None
        size *= 2


def _basis(process: FittedProcess, size: int) -> Basis:
    """Means of training rows, in the order in which they explain most of the others."""
    training = process.evidence.rows
    factors = 1.0 / np.broadcast_to(process.kernel.length_scale, training.n_features)

    def between(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return rbf_kernel(left, right, gamma=process.kernel.inverse_width())

    basis = pivoted_cholesky(training.means * factors, between, np.ones(len(training)), size, 1e-10)
    return replace(basis, rows=training.means[basis.pivots])


def _projected(process: FittedProcess, basis: Basis, size: int) -> Landmarks:
    """The first points of the basis in place of the training rows."""
    points, whitening = basis.rows[:size], basis.whitening[:size, :size]
    features = process.kernel.cross(process.evidence.rows, GaussianRows.certain(points)) @ whitening
    projection = whitening @ features.T
    matrix = projection @ process.posterior.inverse @ projection.T
    return Landmarks(points, projection, 0.5 * (matrix + matrix.T))
