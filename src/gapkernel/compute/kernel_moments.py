"""Second moments of expected RBF kernel values over the gaps of one row, in compiled loops.

For a fixed row x the training rows have kernel values e_i(x) = E k(x_i, x), a Gaussian bump in x. When x is itself a
law, m + R z with a standard normal z on its gaps, they vary together:

    log e_i = base_i + 2 gamma slope_i'z - gamma z'curvature_i z,

so every moment of products is a Gaussian integral over z. A weighted sum of all covariances is what a predictive
variance needs; the matrix of them is never held. Here each pair of training rows has its own system of the size of the
gaps; `shared_moments` does the same with smaller ones.
"""

import numpy as np
from numba import njit

from gapkernel.compute.elimination import ARITHMETIC, LANES, eliminate_symmetric


@njit(cache=True, nogil=True, error_model="numpy")
def bumps(side, mean, gamma):
    """base (n,) and pull (d, n) of the rows of ``side`` around ``mean``.

    With B_i = (I + 2 gamma Sigma_i)^-1 the pull is B_i(m_i - m), the base -1/2 log |B_i^-1| - gamma (m_i - m)'B_i(m_i - m)
    and the slope R' times the pull on the gaps.
    """
    d, n = side.means.shape
    base, pull = np.empty(n), np.empty((d, n))
    away, pulled = np.empty(d), np.empty(d)
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
            pull[column, i] = pulled[column]
        base[i] = -0.5 * side.log_det[q] - gamma * squared
    return base, pull


@njit(cache=True, nogil=True, error_model="numpy")
def curvatures(side, gaps, root):
    """R'B_i R (p, p, n) of the rows of ``side`` around laws with p gaps."""
    p, n = gaps.shape[0], side.pattern.shape[0]
    curvature, middle, of_pattern = np.empty((p, p, n)), np.empty((p, p)), np.empty((p, p))
    last = -1
    for i in range(n):
        q = side.pattern[i]
        size, block = side.gap_start[q + 1] - side.gap_start[q], side.block_start[q]
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
    return curvature


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def weighted_covariance(place, base, slope, curvature, gamma, vectors, matrix):
    """sum_ij (v_i'v_j - matrix_ij) Cov(e_i, e_j), one number.

    Row i, column i of ``vectors`` (k, n), is row ``place[i]`` of the symmetric ``matrix``.
    """
    p, n = slope.shape
    system, vector = np.empty((p, p, LANES)), np.empty((p, LANES))
    value, log_det = np.empty(LANES), np.empty(LANES)
    log_mean = np.empty(n)
    for j0 in range(0, n, LANES):
        _load(slope, curvature, gamma, -1, j0, system, vector)
        eliminate_symmetric(system, vector, p, value, log_det)
        for lane in range(min(LANES, n - j0)):
            log_mean[j0 + lane] = base[j0 + lane] + 2.0 * gamma * gamma * value[lane] - 0.5 * log_det[lane]
    total = 0.0
    for i in range(n):
        for j0 in range(0, i + 1, LANES):
            _load(slope, curvature, gamma, i, j0, system, vector)
            eliminate_symmetric(system, vector, p, value, log_det)
            for lane in range(min(LANES, i + 1 - j0)):
                j = j0 + lane
                log_product = base[i] + base[j] + 2.0 * gamma * gamma * value[lane] - 0.5 * log_det[lane]
                weight = -matrix[place[i], place[j]]
                for k in range(vectors.shape[0]):
                    weight += vectors[k, i] * vectors[k, j]
                total += (weight if i == j else 2.0 * weight) * difference(log_product, log_mean[i] + log_mean[j])
    return total


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _load(slope, curvature, gamma, i, j0, system, vector):
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
                system[r, s, lane] = constant + 2.0 * gamma * curvature[r, s, j0 + lane]
        for lane in range(used, lanes):  # lanes left over: the identity, which nobody reads
            vector[r, lane] = 0.0
            for s in range(r, p):
                system[r, s, lane] = 1.0 if r == s else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def difference(log_a, log_b):
    """exp(log_a) - exp(log_b) without cancellation or overflow."""
    if log_a >= log_b:
        return -np.exp(log_a) * np.expm1(log_b - log_a)
    return np.exp(log_b) * np.expm1(log_a - log_b)
