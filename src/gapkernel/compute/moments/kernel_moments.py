"""Second moments of expected RBF kernel values over the gaps of one row, in compiled loops.

For a fixed row x the training rows have kernel values e_i(x) = E k(x_i, x), a Gaussian bump in x. When x is itself a
law, m + R z with a standard normal z on its gaps, they vary together:

    log e_i = base_i + 2 gamma slope_i'z - gamma z'curvature_i z,

so every moment of products is a Gaussian integral over z. A weighted sum of all covariances is what a predictive
variance needs; the matrix of them is never held. New rows with the same law share the curvatures, so all of them need
the same systems, one of the size of the gaps for each pair of training rows; `shared_moments` has smaller ones.
"""

from typing import NamedTuple

import numpy as np

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.linalg.elimination import LANES, add_solved, factor


class Bumps(NamedTuple):
    """The kernel values of n training rows around T new rows with the same law, and the weights of their covariances.

    The weight of the pair (i, j) is v_i'v_j - matrix_ij, i being row ``place[i]`` of a symmetric matrix.
    """

    place: np.ndarray  # (n,)
    base: np.ndarray  # (T, n)
    slope: np.ndarray  # (T, p, n)
    log_mean: np.ndarray  # (T, n) log E e_i
    vectors: np.ndarray  # (T, k, n)


@compiled()
def base_and_pull(side, mean, gamma):
    """base (n,) and pull (d, n) of the rows of ``side`` around ``mean``.

    With B_i = (I + 2 gamma Sigma_i)^-1 the pull is B_i(m_i - m), the base -1/2 log |B_i^-1| - gamma (m_i - m)' times
    the pull, and the slope R' times the pull on the gaps.
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


@compiled()
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
            np.dot(root.T, middle @ root, of_pattern)
            last = q
        for r in range(p):
            for s in range(p):
                curvature[r, s, i] = of_pattern[r, s]
    return curvature


@compiled()
def log_means(base, slope, curvature, gamma):
    """log E e_i (T, n)."""
    n_new, p, n = slope.shape
    system, vector = np.empty((p, p, LANES)), np.zeros((p, LANES))
    value, log_det, out = np.empty(LANES), np.empty(LANES), np.empty((n_new, n))
    for j0 in range(0, n, LANES):
        used = min(LANES, n - j0)
        _load(curvature, gamma, -1, j0, used, system)
        factor(system, p, log_det)
        for t in range(n_new):
            _quadratic(slope, t, -1, j0, used, system, vector, value)
            for lane in range(used):
                out[t, j0 + lane] = base[t, j0 + lane] + 2.0 * gamma * gamma * value[lane] - 0.5 * log_det[lane]
    return out


@compiled()
def weighted_covariances(bumps, curvature, gamma, matrix):
    """sum_ij (v_i'v_j - matrix_ij) Cov(e_i, e_j) for each new row."""
    n_new, p, n = bumps.slope.shape
    system, vector = np.empty((p, p, LANES)), np.zeros((p, LANES))
    value, log_det = np.empty(LANES), np.empty(LANES)
    mean, totals = np.exp(bumps.log_mean), np.zeros(n_new)
    for i in range(n):
        for j0 in range(0, i + 1, LANES):
            used = min(LANES, i + 1 - j0)
            _load(curvature, gamma, i, j0, used, system)
            factor(system, p, log_det)
            for t in range(n_new):
                _quadratic(bumps.slope, t, i, j0, used, system, vector, value)
                totals[t] += add_up(bumps, mean, t, i, j0, used, value, log_det, gamma, matrix)
    return totals


@inner()
def add_up(bumps, mean, t, i, j0, used, value, log_det, gamma, matrix):
    """The part of new row t's sum that comes from rows i and j0, j0 + 1, ..., each pair counted both ways."""
    total, row = 0.0, bumps.place[i]
    base_i, log_mean_i, mean_i = bumps.base[t, i], bumps.log_mean[t, i], mean[t, i]
    for lane in range(used):
        j = j0 + lane
        weight = -matrix[row, bumps.place[j]]
        for k in range(bumps.vectors.shape[1]):
            weight += bumps.vectors[t, k, i] * bumps.vectors[t, k, j]
        log_product = base_i + bumps.base[t, j] + 2.0 * gamma * gamma * value[lane] - 0.5 * log_det[lane]
        excess = log_product - log_mean_i - bumps.log_mean[t, j]
        total += (weight if i == j else 2.0 * weight) * _difference(log_product, excess, mean_i * mean[t, j])
    return total


@inner()
def _difference(log_product, excess, product):
    """E e_i e_j - E e_i E e_j, with e^excess their ratio; the second form where that could overflow, and nothing
    cancels."""
    return product * np.expm1(excess) if excess < 30.0 else np.exp(log_product) - product


@compiled()
def covariances(base, slope, curvature, gamma):
    """Cov(e_i, e_j) of all pairs (n, n) over the gaps of one new row, from its base (1, n) and slope (1, p, n)."""
    _, p, n = slope.shape
    system, vector = np.empty((p, p, LANES)), np.zeros((p, LANES))
    value, log_det, out = np.empty(LANES), np.empty(LANES), np.empty((n, n))
    log_mean = log_means(base, slope, curvature, gamma)[0]
    mean = np.exp(log_mean)
    for i in range(n):
        for j0 in range(0, i + 1, LANES):
            used = min(LANES, i + 1 - j0)
            _load(curvature, gamma, i, j0, used, system)
            factor(system, p, log_det)
            _quadratic(slope, 0, i, j0, used, system, vector, value)
            for lane in range(used):
                j = j0 + lane
                log_product = base[0, i] + base[0, j] + 2.0 * gamma * gamma * value[lane] - 0.5 * log_det[lane]
                excess = log_product - log_mean[i] - log_mean[j]
                out[i, j] = out[j, i] = _difference(log_product, excess, mean[i] * mean[j])
    return out


@inner()
def _quadratic(slope, t, i, j0, used, system, vector, value):
    """s'N^-1 s for the factored ``system`` N, s the slopes of rows i and j0, j0 + 1, ... added up; row -1 has none."""
    for r in range(vector.shape[0]):
        own = slope[t, r, i] if i >= 0 else 0.0
        for lane in range(used):
            vector[r, lane] = own + slope[t, r, j0 + lane]
    value[:] = 0.0
    add_solved(system, vector, vector.shape[0], value)


@inner()
def _load(curvature, gamma, i, j0, used, system):
    """I + 2 gamma (W_i + W_j) for rows j0, j0 + 1, ... in their lanes; row i = -1 has none of its own."""
    p, lanes = system.shape[1:]
    for r in range(p):
        for s in range(r, p):
            constant = 2.0 * gamma * curvature[r, s, i] if i >= 0 else 0.0
            if r == s:
                constant += 1.0
            for lane in range(used):
                system[r, s, lane] = constant + 2.0 * gamma * curvature[r, s, j0 + lane]
            for lane in range(used, lanes):  # lanes left over: the identity, never read
                system[r, s, lane] = 1.0 if r == s else 0.0
