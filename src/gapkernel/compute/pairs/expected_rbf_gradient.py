"""How the expected RBF kernel changes with the length scale of each column, summed over all row pairs.

In units of the length scales, with M = I + 2 gamma (Sigma_i + Sigma_j), u = M^-1 delta and delta the difference of the
means,

    d log K / d log l_k = 2 gamma u_k^2 + 1 - (M^-1)_kk,

which is 2 gamma delta_k^2 in a column that both rows have (docs/theory/process.md). A likelihood needs only weighted
sums of these over all pairs, so one number is kept for each column and no matrix for any of them.
"""

import numpy as np

from gapkernel.compute.linalg.elimination import sweep
from gapkernel.compute.pairs.expected_rbf import TILE, ExpectedRBFEngine
from gapkernel.compute.pairs.scattered import gather_unions
from gapkernel.compute.pairs.scattered_gradient import scattered_sums
from gapkernel.compute.runtime.tasks import run_tasks


def length_scale_sums(engine: ExpectedRBFEngine, weights: np.ndarray) -> np.ndarray:
    """sum_ij weights_ij d log K_ij / d log l_k for each column k, over the pairs i != j of a symmetric engine.

    ``weights`` is symmetric, in the order of the rows.
    """
    side, order = engine.left, engine.order_left
    weights = weights[np.ix_(order, order)]
    np.fill_diagonal(weights, 0.0)  # a row is exactly as far from itself as before

    most_gaps = int(np.diff(side.gap_start).max(initial=0))

    def strip(edge):
        i0, i1 = edge
        total, scratch = np.zeros(len(side.means)), np.empty(4 * (2 * TILE) ** 2 * most_gaps)
        for j0, j1 in engine.edges_right:
            if j0 < i0:
                continue
            tile = weights[i0:i1, j0:j1]
            if i1 <= engine.crowded[0] and j1 <= engine.crowded[0]:
                share = 1.0 if i0 == j0 else 2.0  # the other half of the matrix is the same
                _shared_sums(side, i0, i1, j0, j1, engine.gamma, share, tile, total)
            else:
                scattered_sums(side, i0, i1, j0, j1, engine.gamma, i0 == j0, engine.lanes, tile, scratch, total)
        return total

    total = 2.0 * engine.gamma * _observed_sums(side.means * side.observed, side.observed, weights)
    for part in run_tasks(strip, engine.edges_left, "Differentiating"):
        total += part
    return total


def _observed_sums(values, observed, weights):
    """sum_ij weights_ij delta_k^2 over the pairs that both have column k."""
    return 2.0 * np.sum(values**2 * (observed @ weights), axis=1) - 2.0 * np.sum(values * (values @ weights), axis=1)


def _shared_sums(side, i0, i1, j0, j1, gamma, share, weights, total):
    """The sums on the columns missing in either of two patterns, added to ``total``: one inverse for all pairs."""
    p, q = side.pattern[i0], side.pattern[j0]
    union = np.flatnonzero((side.position[p] >= 0) | (side.position[q] >= 0))
    if not len(union):
        return
    matrix, delta = np.empty((len(union), len(union), 1)), np.empty((len(union), 1))
    gather_unions(side, side, i0, j0, np.zeros((1, 2), np.int64), gamma, len(union), matrix, delta)
    sweep(matrix, delta, len(union))
    upper = np.triu(-matrix[:, :, 0])
    inverse = upper + np.triu(upper, 1).T
    left, right = inverse @ side.means[union, i0:i1], inverse @ side.means[union, j0:j1]  # u = left - right
    squares = (
        left**2 @ weights.sum(axis=1) + right**2 @ weights.sum(axis=0) - 2.0 * np.sum(left @ weights * right, axis=1)
    )
    total[union] += share * (2.0 * gamma * squares + (1.0 - inverse.diagonal()) * weights.sum())
