"""How the expected RBF kernel changes with the length scale of each column, summed over all row pairs.

In units of the length scales, with M = I + 2 gamma (Sigma_i + Sigma_j), u = M^-1 delta and delta the difference of the
means,

    d log K / d log l_k = 2 gamma u_k^2 + 1 - (M^-1)_kk,

which is 2 gamma delta_k^2 in a column that both rows have (docs/theory/process.md). A likelihood needs only weighted
sums of these over all pairs, so one number is kept for each column and no matrix for any of them.

Two crowded patterns share one inverse. Row pairs that share nothing have two forms, chosen pair by pair. With
P = A^-1 for each law, delta and t = P delta as in `scattered`, a pair solves for v and w on the columns that both rows
miss (blocks P_i, P_j and entries of vectors are those of the common columns there):

    C = P_i + P_j - P_j P_i,  v = C^-1 (t_i - t_j + P_j (delta - t_i)),  u = t_i - P_i v,  w = delta - u - v.

On all gaps of row i, u = P_i z with z = delta - v (v is 0 elsewhere) and M^-1 = P_i - P_i Y P_i with Y = C^-1 (I - P_j)
on the common columns; for row j likewise with w and Y' = (I - P_i) C^-1. So a row needs only

    R = sum_j weight_ij (2 gamma z z' + Y),    which adds (P R P)_kk + (1 - P_kk) sum_j weight_ij to column k,

and what both rows miss is then counted twice, hence taken off once: there M^-1 = P_i C^-1 P_j. Pairs with most columns
missing in both rows are cheaper on the columns missing in either: M is inverted there.
"""

import numpy as np
from scipy.linalg import cho_solve

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.linalg.elimination import sweep
from gapkernel.compute.pairs.scattered import gap_products, gather_intersections, gather_unions, most_gaps, sort_pairs
from gapkernel.compute.pairs.tile_engine import TILE, ExpectedRBFEngine, union_factor
from gapkernel.compute.runtime.threads import run_tasks


@compiled()
def scattered_sums(side, i0, i1, j0, j1, gamma, diagonal, lanes, weights, scratch, total):
    """Add the sums over rows i0..i1 against j0..j1, on the columns missing in either row, to ``total``.

    ``weights`` of pairs not to be counted are 0. ``scratch`` is work memory, reused from tile to tile.
    """
    height, width = i1 - i0, j1 - j0
    pairs, size = np.empty((height * width, 2), np.int64), np.empty(height * width, np.int64)
    n_intersection, n_all = sort_pairs(side, side, i0, i1, j0, j1, diagonal, False, pairs, size)
    weight = 2.0 * weights  # the other half of the matrix is the same
    if diagonal:
        for i in range(height):
            weight[i, : i + 1] = 0.0
    _union_sums(side, i0, j0, pairs[n_intersection:n_all], size[n_intersection:n_all], gamma, lanes, weight, total)

    most = max(most_gaps(side, i0, i1), most_gaps(side, j0, j1))
    n = height * most * width
    products, away = scratch[:n].reshape((height, most, width)), scratch[n : 2 * n].reshape((height, most, width))
    products_right = scratch[2 * n : 3 * n].reshape((width, most, height))
    away_right = scratch[3 * n : 4 * n].reshape((width, most, height))
    unused = np.zeros(max(height, width))
    for i in range(i0, i1):
        gap_products(side, side, i, j0, j1, away[i - i0], products[i - i0], unused)
    for j in range(j0, j1):
        gap_products(side, side, j, i0, i1, away_right[j - j0], products_right[j - j0], unused)
    rows_left, rows_right = np.zeros((height, most, most)), np.zeros((width, most, most))
    largest = size[n_intersection - 1] if n_intersection else 0
    blocks, vectors = np.empty((5, largest, largest, lanes)), np.empty((5, largest, lanes))
    places = np.empty((5, largest, lanes), np.int64)
    for begin in range(0, n_intersection, lanes):
        end = min(begin + lanes, n_intersection)
        group, common = pairs[begin:end], size[end - 1]
        gather_intersections(side, side, i0, j0, group, products, products_right, common, places, blocks, vectors)
        _solve(common, blocks, vectors)
        for lane in range(end - begin):
            i, j = group[lane, 0], group[lane, 1]
            for r in range(size[begin + lane]):
                at, at_right = places[1, r, lane], places[2, r, lane]
                away[i, at, j] -= vectors[3, r, lane]
                away_right[j, at_right, i] += vectors[4, r, lane]
                u, inverse = vectors[1, r, lane], vectors[2, r, lane]
                total[places[0, r, lane]] -= weight[i, j] * (2.0 * gamma * u * u + 1.0 - inverse)
                for s in range(size[begin + lane]):
                    rows_left[i, at, places[1, s, lane]] += weight[i, j] * blocks[3, r, s, lane]
                    rows_right[j, at_right, places[2, s, lane]] += weight[i, j] * blocks[4, r, s, lane]
    for i in range(height):
        _add_row(side, i0 + i, gamma, weight[i], away[i], rows_left[i], total)
    for j in range(width):
        _add_row(side, j0 + j, gamma, weight[:, j].copy(), away_right[j], rows_right[j], total)


@inner()
def _solve(size, blocks, vectors):
    """From P_i, P_j (blocks) and delta, t_i, t_j (vectors) in each lane: Y and Y' into blocks 3 and 4; u, the diagonal
    of M^-1, v and w into vectors 1 to 4."""
    p_left, p_right, inverse, y_left, y_right = blocks[0], blocks[1], blocks[2], blocks[3], blocks[4]
    delta, t_left, t_right, v, w = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    lanes = delta.shape[1]
    for r in range(size):
        for lane in range(lanes):
            w[r, lane] = t_left[r, lane] - t_right[r, lane]  # the right side, until w is known
        for s in range(size):
            for lane in range(lanes):
                w[r, lane] += p_right[r, s, lane] * (delta[s, lane] - t_left[s, lane])
            for lane in range(lanes):
                inverse[r, s, lane] = p_left[r, s, lane] + p_right[r, s, lane]
            for k in range(size):
                for lane in range(lanes):
                    inverse[r, s, lane] -= p_right[r, k, lane] * p_left[k, s, lane]
    _invert(inverse, size)
    for r in range(size):
        for lane in range(lanes):
            v[r, lane] = 0.0
        for s in range(size):
            for lane in range(lanes):
                v[r, lane] += inverse[r, s, lane] * w[s, lane]
            for lane in range(lanes):
                y_left[r, s, lane] = inverse[r, s, lane]
            for lane in range(lanes):
                y_right[r, s, lane] = inverse[r, s, lane]
            for k in range(size):
                for lane in range(lanes):
                    y_left[r, s, lane] -= inverse[r, k, lane] * p_right[k, s, lane]
                for lane in range(lanes):
                    y_right[r, s, lane] -= p_left[r, k, lane] * inverse[k, s, lane]
    for r in range(size):
        for s in range(size):
            for lane in range(lanes):
                t_left[r, lane] -= p_left[r, s, lane] * v[s, lane]  # u
        for lane in range(lanes):
            w[r, lane] = delta[r, lane] - t_left[r, lane] - v[r, lane]
        for lane in range(lanes):
            t_right[r, lane] = 0.0
        for s in range(size):  # (P_i C^-1 P_j)_rr, and C^-1 P_j = C^-1 - Y
            for lane in range(lanes):
                t_right[r, lane] += p_left[r, s, lane] * (inverse[s, r, lane] - y_left[s, r, lane])


@inner()
def _invert(matrix, size):
    """Gauss-Jordan without pivoting, for matrices whose symmetric part is positive definite, in each lane."""
    lanes = matrix.shape[2]
    pivot, factor = np.empty(lanes), np.empty(lanes)
    for k in range(size):
        for lane in range(lanes):
            pivot[lane] = 1.0 / matrix[k, k, lane]
        for lane in range(lanes):
            matrix[k, k, lane] = 1.0
        for s in range(size):
            for lane in range(lanes):
                matrix[k, s, lane] *= pivot[lane]
        for r in range(size):
            if r == k:
                continue
            for lane in range(lanes):
                factor[lane] = matrix[r, k, lane]
            for lane in range(lanes):
                matrix[r, k, lane] = 0.0
            for s in range(size):
                for lane in range(lanes):
                    matrix[r, s, lane] -= factor[lane] * matrix[k, s, lane]


@inner(reorder=True)
def _add_row(side, i, gamma, weight, z, collected, total):
    """Add (P R P)_kk + (1 - P_kk) sum_j weight_j to each gap k of row i, where R is ``collected`` +
    2 gamma sum_j weight_j z_j z_j'."""
    p = side.pattern[i]
    begin, block = side.gap_start[p], side.block_start[p]
    size, width = side.gap_start[p + 1] - begin, weight.shape[0]
    all_weight = 0.0
    for j in range(width):
        all_weight += weight[j]
    weighted = np.empty(width)
    for r in range(size):
        for j in range(width):
            weighted[j] = 2.0 * gamma * weight[j] * z[r, j]
        for s in range(r + 1):
            outer = 0.0
            for j in range(width):
                outer += weighted[j] * z[s, j]
            collected[r, s] += outer
            if s < r:
                collected[s, r] += outer
    for k in range(size):
        value = (1.0 - side.inverse[block + k * size + k]) * all_weight
        for r in range(size):
            product = 0.0
            for s in range(size):
                product += collected[r, s] * side.inverse[block + s * size + k]
            value += side.inverse[block + k * size + r] * product
        total[side.gaps[begin + k]] += value


@inner()
def _union_sums(side, i0, j0, pairs, size, gamma, lanes, weight, total):
    """Add the sums of pairs whose M is inverted on the columns missing in either row, and set their weights to 0."""
    if pairs.shape[0] == 0:
        return
    largest = size[-1]
    matrix, vector = np.empty((largest, largest, lanes)), np.empty((largest, lanes))
    for begin in range(0, pairs.shape[0], lanes):
        end = min(begin + lanes, pairs.shape[0])
        gather_unions(side, side, i0, j0, pairs[begin:end], gamma, size[end - 1], matrix, vector)
        sweep(matrix, vector, size[end - 1])
        for lane in range(end - begin):
            i, j = pairs[begin + lane, 0], pairs[begin + lane, 1]
            p, q = side.pattern[i0 + i], side.pattern[j0 + j]
            place = 0
            for column in range(side.position.shape[1]):
                if side.position[p, column] >= 0 or side.position[q, column] >= 0:
                    u, inverse = vector[place, lane], -matrix[place, place, lane]
                    total[column] += weight[i, j] * (2.0 * gamma * u * u + 1.0 - inverse)
                    place += 1
            weight[i, j] = 0.0


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
    union, factor, _ = union_factor(side, side, i0, j0, gamma)
    if not len(union):
        return
    inverse = cho_solve((factor, True), np.eye(len(union)))
    left, right = inverse @ side.means[union, i0:i1], inverse @ side.means[union, j0:j1]  # u = left - right
    squares = (
        left**2 @ weights.sum(axis=1) + right**2 @ weights.sum(axis=0) - 2.0 * np.sum(left @ weights * right, axis=1)
    )
    total[union] += share * (2.0 * gamma * squares + (1.0 - inverse.diagonal()) * weights.sum())
