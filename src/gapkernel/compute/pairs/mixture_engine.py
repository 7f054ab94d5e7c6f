"""The expected RBF kernel for mixtures: the weighted double sum over the components of two rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapkernel.compute.doors import check_numbers
from gapkernel.compute.pairs.side import inflated_factor
from gapkernel.compute.pairs.tile_engine import ExpectedRBFEngine
from gapkernel.compute.runtime.config import check_fits


class MixtureEngine:
    """sum over a, b of weight_ia weight_jb exp(scale_i + scale_j) E k(N_ia, N_jb), by one engine over all components.

    Parameters are those of `ExpectedRBFEngine`, with all components of a batch on each side: ``batch``, their Gaussian
    laws sorted by row, ``owner``, the row of each, ``log_weight`` and ``n_rows``.
    """

    def __init__(self, left: Any, right: Any, gamma: float, scale_left: np.ndarray, scale_right: np.ndarray) -> None:
        other = left if right is None else right
        self.owner_left, self.owner_right, self.shape = left.owner, other.owner, (left.n_rows, other.n_rows)
        scales = left.log_weight + scale_left[left.owner], other.log_weight + scale_right[other.owner]
        self.engine = ExpectedRBFEngine(left.batch, None if right is None else right.batch, gamma, *scales)

    def matrix(self) -> np.ndarray:
        """The whole matrix."""
        check_fits((len(self.owner_left), len(self.owner_right)), "A kernel matrix of all components")
        matrix = _summed(self.engine.matrix(), self.owner_left, self.shape[0])
        matrix = np.ascontiguousarray(_summed(matrix.T, self.owner_right, self.shape[1]).T)
        if self.engine.symmetric:
            matrix = 0.5 * (matrix + matrix.T)  # the two sums round differently
        return matrix

    def dot(self, coefficients: np.ndarray) -> np.ndarray:
        """The matrix times ``coefficients`` (n_right, k): the matrix is never held."""
        return _summed(self.engine.dot(coefficients[self.owner_right]), self.owner_left, self.shape[0])


def mixture_log_norm(components, gamma) -> np.ndarray:
    """log of sum over a, b of weight_a weight_b E k(N_ia, N_ib): the squared norm of the mean embedding of each row.

    ``components`` are pairs of a weight for each row and a batch of Gaussian laws.
    """
    total = np.zeros(len(components[0][0]))
    for a, (weight, first) in enumerate(components):
        for b, (other, second) in enumerate(components[: a + 1]):
            both = weight * other * (1.0 if a == b else 2.0)
            members = np.flatnonzero(both)
            if len(members):
                total[members] += both[members] * _paired(first.take(members), second.take(members), gamma)
    return np.log(total)


def _paired(left, right, gamma) -> np.ndarray:
    """E k(N_i, N_i') for row i of one batch and row i of another, with the same gaps: both points, or neither."""
    out = np.empty(len(left))
    pairs, place = np.unique(np.column_stack([left.pattern, right.pattern]), axis=0, return_inverse=True)
    for k, (p, q) in enumerate(pairs):
        members = np.flatnonzero(place.reshape(-1) == k)
        gaps = np.flatnonzero(left.gaps[p])
        spread = _block(left, p) + _block(right, q)
        check_numbers("A covariance", spread, len(gaps), len(gaps))
        factor, log_det = inflated_factor(spread.ravel(), 0, len(gaps), gamma)
        delta = (left.means[members] - right.means[members]).T
        if len(gaps):
            delta[gaps] = np.linalg.solve(np.tril(factor), delta[gaps])
        out[members] = np.exp(-gamma * np.sum(delta**2, axis=0) - 0.5 * log_det)
    return out


def _block(rows, pattern) -> np.ndarray:
    size = int(rows.gaps[pattern].sum())
    return rows.covariance[rows.block_start[pattern] : rows.block_start[pattern + 1]].reshape(size, size)


def _summed(matrix: np.ndarray, owner: np.ndarray, n: int) -> np.ndarray:
    """Rows of ``matrix`` added up by owner; every owner has one at least, and owners are sorted."""
    if len(owner) == n:
        return matrix
    return np.add.reduceat(matrix, np.searchsorted(owner, np.arange(n)), axis=0)
