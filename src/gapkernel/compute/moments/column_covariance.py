"""Covariances between the kernel values of one column, in compiled loops.

Column j of a random kernel matrix holds k(x_i, x_j) for all rows i. Its entries share the draw of x_j, so they
are correlated through the gaps of row j alone: a pair costs one Cholesky factor of that size.
"""

import numpy as np
from numba import njit

from gapkernel.compute.linalg.cholesky import factor_in_place, solve_in_place


@njit(cache=True, nogil=True, error_model="numpy")
def shared_covariance(law, base, slopes, curvatures, gamma):
    """Cov[e_i(z), e_l(z)] over a standard normal z, with e_i(z) = E[k(x_i, x_j) | x_j = m_j + R z].

    log e_i(z) = base_i + 2 gamma slopes_i'z - gamma z'curvatures_i z, and rows of one law share the curvature.
    So both moments below are Gaussian integrals over z.
    """
    n, size = slopes.shape
    out = np.empty((n, n))
    matrix, vector = np.empty((size, size)), np.empty(size)
    means = np.empty(n)
    none = np.zeros((size, size))
    for i in range(n):
        means[i] = base[i] + _log_integral(curvatures[law[i]], none, slopes[i], none[0], gamma, matrix, vector)
    for i in range(n):
        for k in range(i + 1):
            both = base[i] + base[k]
            both += _log_integral(curvatures[law[i]], curvatures[law[k]], slopes[i], slopes[k], gamma, matrix, vector)
            product = means[i] + means[k]
            out[i, k] = np.exp(product) * np.expm1(both - product)  # E[e e'] - E[e] E[e'], without cancellation
            out[k, i] = out[i, k]
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _log_integral(curvature, other_curvature, slope, other_slope, gamma, matrix, vector):
    """log E exp(2 gamma s'z - gamma z'Wz) = 2 gamma^2 s'(I + 2 gamma W)^-1 s - 1/2 log |I + 2 gamma W|."""
    size = len(vector)
    for r in range(size):
        for s in range(r + 1):
            matrix[r, s] = 2.0 * gamma * (curvature[r, s] + other_curvature[r, s])
        matrix[r, r] += 1.0
        vector[r] = slope[r] + other_slope[r]
    log_det = factor_in_place(matrix, size, 0.0)
    solve_in_place(matrix, size, vector)
    total = 0.0
    for r in range(size):
        total += vector[r] * vector[r]
    return 2.0 * gamma * gamma * total - 0.5 * log_det
