"""The expected RBF kernel for two patterns that many rows share: one factor serves every row pair."""

import numpy as np

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.linalg.cholesky import factor_in_place, solve_in_place


@inner()
def _union_factor(left, right, p, q, gamma):
    """Columns missing under either pattern, the Cholesky factor of I + 2 gamma S on them, its log determinant."""
    d = left.position.shape[1]
    union = np.empty(d, dtype=np.int64)
    size = 0
    for column in range(d):
        if left.position[p, column] >= 0 or right.position[q, column] >= 0:
            union[size] = column
            size += 1
    m, m_right = left.gap_start[p + 1] - left.gap_start[p], right.gap_start[q + 1] - right.gap_start[q]
    factor = np.zeros((size, size))
    for r in range(size):
        for s in range(r + 1):
            a, b = left.position[p, union[r]], left.position[p, union[s]]
            if a >= 0 and b >= 0:
                factor[r, s] += 2.0 * gamma * left.covariance[left.block_start[p] + a * m + b]
            a, b = right.position[q, union[r]], right.position[q, union[s]]
            if a >= 0 and b >= 0:
                factor[r, s] += 2.0 * gamma * right.covariance[right.block_start[q] + a * m_right + b]
        factor[r, r] += 1.0
    log_det = factor_in_place(factor, size, 0.0)
    return union[:size], factor, log_det


@inner()
def _whitened(side, first, last, union, factor):
    """Means of rows first..last with the union columns replaced by L^-1 times them, one row per column."""
    means = side.means[:, first:last].copy()
    column = np.empty(union.shape[0])
    for i in range(last - first):
        for r in range(union.shape[0]):
            column[r] = means[union[r], i]
        solve_in_place(factor, union.shape[0], column)
        for r in range(union.shape[0]):
            means[union[r], i] = column[r]
    return means


@inner()
def add_distances(left, right, squared):
    """Add the squared distances between the columns of ``left`` (d, n) and of ``right`` (d, m)."""
    for i in range(left.shape[1]):
        for column in range(left.shape[0]):
            mean = left[column, i]
            for j in range(right.shape[1]):
                squared[i, j] += (mean - right[column, j]) ** 2


@compiled()
def shared_tile(left, right, i0, i1, j0, j1, gamma, squared, log_det):
    """Fill ``squared`` and ``log_det`` for rows i0..i1 of one pattern against j0..j1 of another (6(a))."""
    union, factor, common_log_det = _union_factor(left, right, left.pattern[i0], right.pattern[j0], gamma)
    means_left = _whitened(left, i0, i1, union, factor)
    means_right = _whitened(right, j0, j1, union, factor)
    squared[:] = 0.0
    log_det[:] = common_log_det
    add_distances(means_left, means_right, squared)
