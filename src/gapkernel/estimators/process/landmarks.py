"""Predictive variances for rows with gaps by landmarks, where the sum over all pairs of training rows is too long.

The kernel value of a training row, E k(x_i, x) as a function of x, is close to sum_a w_ia k(z_a, x) with landmarks z_a
among the means of the training rows: its projection on their span. So sum_ij (b_i b_j - A_ij) Cov(q_i, q_j) over n^2
pairs of laws becomes a sum over pairs of complete points, each of which costs a hundredth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from gapkernel.compute.linalg.basis import Basis, pivoted_cholesky
from gapkernel.rows import GaussianRows, Rows

if TYPE_CHECKING:
    from gapkernel.estimators.process.evidence import FittedProcess

MANY = 100
"""Training rows beyond which "auto" takes landmarks."""

TOLERANCE = 0.01
"""Share of a predictive deviation by which landmarks may be off on the rows they are tried on, with "auto"."""

FIRST = 100
"""Landmarks that "auto" begins with; it doubles them until they are exact enough."""

TRIED = 12
"""Training rows with gaps on which landmarks are compared with the exact sum."""


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

    def spread(self, process: FittedProcess, rows: Rows, vectors) -> np.ndarray:
        """What the gaps of each row add to its variance; ``vectors`` returns v over the training rows for each row."""

        def projected(t):
            return vectors(t) @ self.projection.T

        sums = process.kernel.point_covariance_sums(rows, self.points, projected, self.matrix)
        return process.parameters.constant**2 * sums


def landmarks_of(process: FittedProcess, number: int | str) -> Landmarks | None:
    """``number`` landmarks, or as many as "auto" needs; None where the exact sum is to be taken.

    That is where all training rows would not be enough, and where few of them have gaps: then there is nothing to try
    landmarks on, and the exact sum is cheap.
    """
    training = process.evidence.rows
    uncertain = np.flatnonzero(~training.complete)
    if number == "auto" and len(uncertain) < TRIED:
        return None
    tried = training.take(uncertain[:: max(1, len(uncertain) // TRIED)][:TRIED])
    spread = process.exact_spread(tried)
    exact = process.variance_without_spread(tried) + spread + process.parameters.noise
    exact = np.maximum(exact, np.finfo(float).tiny)
    size = FIRST if number == "auto" else min(int(number), len(training))
    basis = _basis(process, len(training) if number == "auto" else size)
    while True:
        found = _projected(process, basis, size)
        off = found.spread(process, tried, lambda _: process.posterior.coefficients[None]) - spread
        error = float(np.abs(np.sqrt(np.maximum(1.0 + off / exact, 0.0)) - 1.0).max(initial=0.0))
        if number != "auto" or error <= TOLERANCE:
            return replace(found, error=error)
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
