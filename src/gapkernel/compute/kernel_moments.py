"""Second moments of expected RBF kernel values over the gaps of one row, in compiled loops.

For a fixed row x the training rows have kernel values e_i(x) = E k(x_i, x), a Gaussian bump in x. When x is itself a
law, m + R z with a standard normal z on its gaps, they vary together:

    log e_i = base_i + 2 gamma slope_i'z - gamma z'curvature_i z,

so every moment of products is a Gaussian integral over z. A weighted sum of all covariances is what a predictive
variance needs; the matrix of them is never held.
"""

import numpy as np
from numba import njit

from gapkernel.compute.elimination import ARITHMETIC, LANES, eliminate_symmetric
from gapkernel.compute.side import lay_out
from gapkernel.compute.tasks import run_tasks


def root_of(covariance):
    """R with R R' = covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))


@njit(cache=True, nogil=True, error_model="numpy")
def bumps(side, mean, gaps, root, gamma):
    """base (n,), slope (p, n) and curvature (p, p, n) of the rows of ``side`` around a law with p gaps.

    With B_i = (I + 2 gamma Sigma_i)^-1: base is -1/2 log |B_i^-1| - gamma (m_i - m)'B_i(m_i - m), slope is
    R'B_i(m_i - m) and curvature R'B_i R.
    """
    d, n = side.means.shape
    p = gaps.shape[0]
    base, slope, curvature = np.empty(n), np.zeros((p, n)), np.empty((p, p, n))
    away, pulled, middle = np.empty(d), np.empty(d), np.empty((p, p))
    of_pattern = np.empty((p, p))
    last = -1
    for i in range(n):
        q = side.pattern[i]
        begin, size, block = side.gap_start[q], side.gap_start[q + 1] - side.gap_start[q], side.block_start[q]
        for column in range(d):
            away[column] = pulled[column] = side.means[column, i] - mean[column]
        for r in range(size):
            total = 0.0
            for s in range(size):
                total += side.inverse[block + r * size + s] * away[side.gaps[begin + s]]
            pulled[side.gaps[begin + r]] = total
        squared = 0.0
        for column in range(d):
            squared += away[column] * pulled[column]
        base[i] = -0.5 * side.log_det[q] - gamma * squared
        for r in range(p):
            for s in range(p):
                slope[s, i] += root[r, s] * pulled[gaps[r]]
        if q != last:  # rows are sorted by pattern
            for r in range(p):
                at = side.position[q, gaps[r]]
                for s in range(p):
                    other = side.position[q, gaps[s]]
                    if at >= 0 and other >= 0:
                        middle[r, s] = side.inverse[block + at * size + other]
                    else:
                        middle[r, s] = 1.0 if r == s else 0.0
            of_pattern[:] = root.T @ (middle @ root)
            last = q
        for r in range(p):
            for s in range(p):
                curvature[r, s, i] = of_pattern[r, s]
    return base, slope, curvature


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def weighted_covariance(base, slope, curvature, gamma, weights):
    """sum_ij weights_ij Cov(e_i, e_j) for symmetric ``weights``, one number."""
    p, n = slope.shape
    matrix, vector = np.empty((p, p, LANES)), np.empty((p, LANES))
    value, log_det = np.empty(LANES), np.empty(LANES)
    log_mean = np.empty(n)
    for j0 in range(0, n, LANES):
        _load(slope, curvature, gamma, -1, j0, matrix, vector)
        eliminate_symmetric(matrix, vector, p, value, log_det)
        for lane in range(min(LANES, n - j0)):
            log_mean[j0 + lane] = base[j0 + lane] + 2.0 * gamma * gamma * value[lane] - 0.5 * log_det[lane]
    total = 0.0
    for i in range(n):
        for j0 in range(0, i + 1, LANES):
            _load(slope, curvature, gamma, i, j0, matrix, vector)
            eliminate_symmetric(matrix, vector, p, value, log_det)
            for lane in range(min(LANES, i + 1 - j0)):
                j = j0 + lane
                log_product = base[i] + base[j] + 2.0 * gamma * gamma * value[lane] - 0.5 * log_det[lane]
                weight = weights[i, j] if i == j else 2.0 * weights[i, j]
                total += weight * _difference(log_product, log_mean[i] + log_mean[j])
    return total


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _load(slope, curvature, gamma, i, j0, matrix, vector):
    """I + 2 gamma (W_i + W_j) and s_i + s_j for rows j0, j0 + 1, ... in their lanes; row i = -1 has none of its own."""
    p, n = slope.shape
    lanes = vector.shape[1]
    used = min(lanes, n - j0)
    for r in range(p):
        own = slope[r, i] if i >= 0 else 0.0
        for lane in range(used):
            vector[r, lane] = own + slope[r, j0 + lane]
        for s in range(r, p):
            constant = 2.0 * gamma * curvature[r, s, i] if i >= 0 else 0.0
            if r == s:
                constant += 1.0
            for lane in range(used):
                matrix[r, s, lane] = constant + 2.0 * gamma * curvature[r, s, j0 + lane]
        for lane in range(used, lanes):  # lanes left over: the identity, which nobody reads
            vector[r, lane] = 0.0
            for s in range(r, p):
                matrix[r, s, lane] = 1.0 if r == s else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _difference(log_a, log_b):
    """exp(log_a) - exp(log_b) without cancellation or overflow."""
    if log_a >= log_b:
        return -np.exp(log_a) * np.expm1(log_b - log_a)
    return np.exp(log_b) * np.expm1(log_a - log_b)


def covariance_sums(left, right, gamma, weights):
    """sum_ij weights_ij Cov(e_i, e_j) over the gaps of each row of ``left``, i and j the rows of ``right``.

    ``weights`` is a symmetric matrix, or a function that returns the one of a row of ``left``. Complete rows have 0.
    """
    side, order, _ = lay_out(right, gamma, 0.0)
    fixed = None if callable(weights) else weights[np.ix_(order, order)]

    def total(t):
        gaps = np.flatnonzero(left.gaps[left.law[t]])
        root = root_of(left.covariance_of(t)[np.ix_(gaps, gaps)])
        base, slope, curvature = bumps(side, left.means[t], gaps, root, gamma)
        own = weights(t)[np.ix_(order, order)] if fixed is None else fixed
        return weighted_covariance(base, slope, curvature, gamma, own)

    sums = np.zeros(len(left))
    incomplete = np.flatnonzero(~left.complete)
    sums[incomplete] = run_tasks(total, incomplete.tolist(), "Integrating over gaps")
    return sums
