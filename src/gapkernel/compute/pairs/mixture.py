"""The expected RBF kernel for mixtures: the weighted double sum over the components of two rows."""

from __future__ import annotations

import numpy as np

from gapkernel.compute.pairs.expected_rbf import ExpectedRBFEngine
from gapkernel.compute.pairs.side import _factor
from gapkernel.compute.runtime.config import check_fits


class MixtureEngine:
    """sum over a, b of weight_ia weight_jb exp(scale_i + scale_j) E k(N_ia, N_jb), by one engine over all components.

    Parameters are those of `ExpectedRBFEngine`, with `MixtureRows` on either side or on both.
    """

    def __init__(self, left, right, gamma, scale_left, scale_right):
        rows, self.owner_left, weights = _components(left)
        scales = weights + scale_left[self.owner_left]
        self.shape = len(left), len(left if right is None else right)
        if right is None:
            self.owner_right = self.owner_left
            self.engine = ExpectedRBFEngine(rows, None, gamma, scales, scales)
            return
        there, self.owner_right, weights = _components(right)
        self.engine = ExpectedRBFEngine(rows, there, gamma, scales, weights + scale_right[self.owner_right])

    def matrix(self, log: bool = False) -> np.ndarray:
        """The whole matrix, or its logarithm."""
        check_fits((len(self.owner_left), len(self.owner_right)), "A kernel matrix of all components")
        matrix = _summed(self.engine.matrix(), self.owner_left, self.shape[0])
        matrix = np.ascontiguousarray(_summed(matrix.T, self.owner_right, self.shape[1]).T)
        if self.engine.symmetric:
            matrix = 0.5 * (matrix + matrix.T)  # the two sums round differently
        return np.log(matrix) if log else matrix

    def dot(self, coefficients: np.ndarray) -> np.ndarray:
        """The matrix times ``coefficients`` (n_right, k): the matrix is never held."""
        return _summed(self.engine.dot(coefficients[self.owner_right]), self.owner_left, self.shape[0])


def mixture_log_norm(rows, gamma) -> np.ndarray:
    """log of sum over a, b of weight_a weight_b E k(N_ia, N_ib): the squared norm of the mean embedding of each row."""
    total = np.zeros(len(rows))
    for a, first in enumerate(rows.components):
        for b in range(a + 1):
            both = rows.weights[:, a] * rows.weights[:, b] * (1.0 if a == b else 2.0)
            members = np.flatnonzero(both)
            if len(members):
                total[members] += both[members] * _paired(first.take(members), rows.components[b].take(members), gamma)
    return np.log(total)


def _paired(left, right, gamma) -> np.ndarray:
    """E k(N_i, N_i') for row i of one batch and row i of another, with the same gaps."""
    out = np.empty(len(left))
    laws = np.unique(np.column_stack([left.law, right.law]), axis=0, return_inverse=True)
    for k, (p, q) in enumerate(laws[0]):
        members = np.flatnonzero(laws[1].reshape(-1) == k)
        gaps = np.flatnonzero(left.gaps[p])
        spread = _block(left, p) + _block(right, q)
        factor, log_det = _factor(spread.ravel(), 0, len(gaps), gamma)
        delta = (left.means[members] - right.means[members])[:, gaps]
        z = np.linalg.solve(np.tril(factor), delta.T) if len(gaps) else np.zeros((0, len(members)))
        out[members] = np.exp(-gamma * np.sum(z**2, axis=0) - 0.5 * log_det)
    return out


def _block(rows, law) -> np.ndarray:
    size = int(rows.gaps[law].sum())
    return rows.covariance[rows.block_start[law] : rows.block_start[law + 1]].reshape(size, size)


def _components(rows):
    """The batch of all components, the row of each, and its log weight; an ordinary batch is its own component."""
    if rows.kind == "mixture":
        return rows.flat
    return rows.dense, np.arange(len(rows)), np.zeros(len(rows))


def _summed(matrix: np.ndarray, owner: np.ndarray, n: int) -> np.ndarray:
    """Rows of ``matrix`` added up by owner; every owner has one at least, and owners are sorted."""
    if len(owner) == n:
        return matrix
    return np.add.reduceat(matrix, np.searchsorted(owner, np.arange(n)), axis=0)
