"""How the expected RBF kernel changes with the length scale of each column, summed over all row pairs.

In units of the length scales, with M = I + 2 gamma (Sigma_i + Sigma_j), u = M^-1 delta and delta the difference of the
means,

    d log K / d log l_k = 2 gamma u_k^2 + 1 - (M^-1)_kk,

which is 2 gamma delta_k^2 in a column that both rows have (docs/process.md). A likelihood needs only weighted sums of
these over all pairs, so one number is kept for each column and no matrix for any of them.
"""

import numpy as np
from numba import njit

from gapkernel.compute.bits import count_ones
from gapkernel.compute.elimination import sweep
from gapkernel.compute.expected_rbf import ExpectedRBFEngine
from gapkernel.compute.scattered import gather_unions
from gapkernel.compute.tasks import run_tasks


def length_scale_sums(engine: ExpectedRBFEngine, weights: np.ndarray) -> np.ndarray:
    """sum_ij weights_ij d log K_ij / d log l_k for each column k, over the pairs i != j of a symmetric engine.

    ``weights`` is symmetric, in the order of the rows.
    """
    side, order = engine.left, engine.order_left
    weights = weights[np.ix_(order, order)]
    np.fill_diagonal(weights, 0.0)  # a row is exactly as far from itself as before

    def strip(edge):
        i0, i1 = edge
        total = np.zeros(len(side.means))
        for j0, j1 in engine.edges_right:
            if j0 < i0:
                continue
            tile = weights[i0:i1, j0:j1]
            share = 1.0 if i0 == j0 else 2.0  # the other half of the matrix is the same
            if i1 <= engine.crowded[0] and j1 <= engine.crowded[0]:
                _shared_sums(side, i0, i1, j0, j1, engine.gamma, share, tile, total)
            else:
                scattered_sums(side, i0, i1, j0, j1, engine.gamma, i0 == j0, engine.lanes, share, tile, total)
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


@njit(cache=True, nogil=True)
def _sort_by_union(side, i0, i1, j0, j1, diagonal, pairs, size):
    """List the pairs (i, j) with a gap in either row, sorted by the number of such columns; returns how many."""
    d, width = side.means.shape[0], j1 - j0
    bucket = np.zeros(d + 2, dtype=np.int64)
    key = np.zeros((i1 - i0, width), dtype=np.int64)
    for i in range(i1 - i0):
        for j in range(i + 1 if diagonal else 0, width):
            p, q = side.pattern[i0 + i], side.pattern[j0 + j]
            for w in range(side.words.shape[1]):
                key[i, j] += count_ones(side.words[p, w] | side.words[q, w])
            if key[i, j] > 0:
                bucket[key[i, j] + 1] += 1
    for k in range(1, d + 2):
        bucket[k] += bucket[k - 1]
    n_pairs = bucket[d + 1]
    for i in range(i1 - i0):
        for j in range(width):
            if key[i, j] > 0:
                at = bucket[key[i, j]]
                pairs[at, 0], pairs[at, 1], size[at] = i, j, key[i, j]
                bucket[key[i, j]] += 1
    return n_pairs


@njit(cache=True, nogil=True, error_model="numpy")
def scattered_sums(side, i0, i1, j0, j1, gamma, diagonal, lanes, share, weights, total):
    """The sums on the columns missing in either row, each pair with an inverse of its own, added to ``total``."""
    pairs, size = np.empty(((i1 - i0) * (j1 - j0), 2), np.int64), np.empty((i1 - i0) * (j1 - j0), np.int64)
    n_pairs = _sort_by_union(side, i0, i1, j0, j1, diagonal, pairs, size)
    if n_pairs == 0:
        return
    matrix, vector = np.empty((size[n_pairs - 1], size[n_pairs - 1], lanes)), np.empty((size[n_pairs - 1], lanes))
    for begin in range(0, n_pairs, lanes):
        end = min(begin + lanes, n_pairs)
        gather_unions(side, side, i0, j0, pairs[begin:end], gamma, size[end - 1], matrix, vector)
        sweep(matrix, vector, size[end - 1])
        for lane in range(end - begin):
            i, j = pairs[begin + lane, 0], pairs[begin + lane, 1]
            p, q = side.pattern[i0 + i], side.pattern[j0 + j]
            weight = (2.0 if diagonal else share) * weights[i, j]
            place = 0
            for column in range(side.position.shape[1]):
                if side.position[p, column] >= 0 or side.position[q, column] >= 0:
                    u, inverse = vector[place, lane], -matrix[place, place, lane]
                    total[column] += weight * (2.0 * gamma * u * u + 1.0 - inverse)
                    place += 1
