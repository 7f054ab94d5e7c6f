"""Weighted sums of the covariances of kernel values with complete points, over the gaps of new rows.

For points z, z' and a row x of law N(m, S), in the directions of S's eigenvectors on the gaps (variances l_r, and
e = z - m) and with the observed columns o, E k(z, x) k(z', x) is

    exp(-gamma (|z - m|_o^2 + |z' - m|_o^2 + |e|^2 + |e'|^2) + gamma^2 sum_r 2 l_r (e_r + e'_r)^2 / (1 + 4 gamma l_r))

times prod_r (1 + 4 gamma l_r)^-1/2: all but the products e_r e'_r belongs to z or to z' alone, so that a pair costs a
scalar product over the gaps and an exponential.
"""

import numpy as np

from gapkernel.compute.linalg.covariance_blocks import spectrum
from gapkernel.compute.runtime.threads import run_tasks

BLOCK = 256
"""Points in one matrix product; the upper triangle of blocks is enough."""


def point_covariance_sums(left, points, gamma, vectors, matrix):
    """sum_ab (v_a'v_b - matrix_ab) Cov(k(z_a, x), k(z_b, x)) for each row x of ``left``, 0 for complete rows.

    ``points`` are the z, (n_points, d), ``matrix`` is symmetric, and ``vectors`` a function that returns the v of a row
    of ``left``, one v_a in each column.
    """

    def sum_of(task):
        t, gaps, covariance = task
        v = vectors(t)
        weights = v.T @ v
        weights -= matrix
        return _sum(points, left.means[t], gaps, *spectrum(covariance), gamma, weights)

    tasks = [(t, gaps, covariance) for rows, gaps, covariance in left.by_pattern() if len(gaps) for t in rows]
    sums = np.zeros(len(left))
    sums[[t for t, _, _ in tasks]] = run_tasks(sum_of, tasks, "Integrating over gaps")
    return sums


def _sum(points, mean, gaps, values, directions, gamma, matrix):
    observed = np.setdiff1d(np.arange(len(mean)), gaps)
    away = points[:, observed] - mean[observed]
    e = (points[:, gaps] - mean[gaps]) @ directions
    apart = -gamma * (np.einsum("ij,ij->i", away, away) + np.einsum("ij,ij->i", e, e))
    # the mean E k(z, x), and each point's own part of E k(z, x) k(z', x)
    pull = e**2 @ (2.0 * gamma**2 * values / (1.0 + 2.0 * gamma * values))
    mean_value = np.exp(apart + pull - 0.5 * np.log1p(2.0 * gamma * values).sum())
    share = 2.0 * gamma**2 * values / (1.0 + 4.0 * gamma * values)
    own = apart + e**2 @ share - 0.25 * np.log1p(4.0 * gamma * values).sum()
    other = 2.0 * e * share
    total = -mean_value @ matrix @ mean_value
    for begin in range(0, len(points), BLOCK):
        here = slice(begin, begin + BLOCK)
        both = e[here] @ other[begin:].T
        both += own[begin:]
        both += own[here, None]
        np.exp(both, out=both)
        both *= matrix[here, begin:]
        total += 2.0 * both.sum() - both[:, :BLOCK].sum()  # blocks right of the diagonal count twice
    return total
