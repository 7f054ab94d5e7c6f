"""What the gaps of new rows add to a predictive variance: weighted sums of the covariances of kernel values.

The kernel values are those with laws, or those with complete points, which cost much less.
"""

import numpy as np

from gapkernel.compute.doors import check_numbers
from gapkernel.compute.linalg.covariance_blocks import spectrum
from gapkernel.compute.moments.kernel_moments import Bumps, base_and_pull, curvatures, log_means, weighted_covariances
from gapkernel.compute.moments.shared_moments import TOGETHER, frames_of, shared_covariances, shared_log_means
from gapkernel.compute.pairs.mapped_engine import WIDEST
from gapkernel.compute.pairs.side import check_laws, lay_out
from gapkernel.compute.runtime.config import get_config, thread_count
from gapkernel.compute.runtime.threads import one_blas_thread, run_tasks

BLOCK = 256
"""Points in one matrix product; the upper triangle of blocks is enough."""


def covariance_sums(left, right, gamma, vectors, matrix):
    """sum_ij (v_i'v_j - matrix_ij) Cov(e_i, e_j) over the gaps of each row of ``left``, i and j the rows of ``right``.

    ``matrix`` is symmetric, and ``vectors`` a function that returns the v of a row of ``left``, one v_i in each column
    of (k, n). Complete rows have 0.
    """
    check_laws(left, right.n_features)
    check_numbers("The weights of the covariances", matrix, len(right), len(right))
    side, order, _ = lay_out(right, gamma, 0.0)

    def sums_of(task):
        members, gaps, covariance = task
        values, directions = spectrum(covariance)
        own = np.array([vectors(t)[:, order] for t in members])
        shared = 1.0 + 4.0 * gamma * values[-1] < WIDEST and _sharing_pays(side, gaps)
        method = _by_pattern if shared else _by_pair
        return method(side, order, left.means[members], gaps, values, directions, gamma, own, matrix)

    tasks = list(_tasks(left, len(right)))
    sums = np.zeros(len(left))
    with one_blas_thread():
        found = run_tasks(sums_of, tasks, "Integrating over gaps")
    for (members, _, _), part in zip(tasks, found, strict=True):
        sums[members] = part
    return sums


def _tasks(left, n):
    """Rows of ``left`` with the same law, their gaps and their covariance, as many as a thread has memory for."""
    budget = get_config().memory_budget // thread_count()
    for members, gaps, covariance in left.by_pattern():
        if len(gaps):
            row = 8 * n * ((4 + 2 * TOGETHER) * len(gaps) + left.n_features)  # at most, with both methods
            step = int(np.clip(budget // row, 1, TOGETHER))
            for k in range(0, len(members), step):
                yield members[k : k + step], gaps, covariance


def _sharing_pays(side, gaps):
    """Whether systems of the shared gaps, for each pattern and row, cost less than those of all gaps for each pair."""
    sizes = (side.position[:, gaps] >= 0).sum(axis=1)
    return 8.0 * np.sum(sizes.astype(float) ** 3) < len(side.pattern) * len(gaps) ** 3


def _by_pair(side, order, means, gaps, values, directions, gamma, vectors, matrix):
    root = np.ascontiguousarray(directions * np.sqrt(values))
    base, pull = _around(side, means, gaps, gamma)
    slope, curvature = root.T @ pull, curvatures(side, gaps, root)
    bumps = Bumps(order, base, slope, log_means(base, slope, curvature, gamma), vectors)
    return weighted_covariances(bumps, curvature, gamma, matrix)


def _by_pattern(side, order, means, gaps, values, directions, gamma, vectors, matrix):
    sizes = (side.position[:, gaps] >= 0).sum(axis=1)
    patterns = np.argsort(sizes, kind="stable")
    rank = np.argsort(patterns)[side.pattern]
    sequence = np.argsort(rank, kind="stable")
    pattern = rank[sequence]
    base, pull = _around(side, means, gaps, gamma)
    base, pull = np.take(base, sequence, axis=1), np.take(pull, sequence, axis=2)

    def framed(d, share):
        root = np.ascontiguousarray(directions * np.sqrt(values / d))
        frames = frames_of(side, patterns, gaps, root, gamma)
        return frames._replace(log_det=frames.log_det + share * np.log(d).sum()), root.T @ pull

    frames, slope = framed(1.0 + 2.0 * gamma * values, 1.0)
    log_mean = shared_log_means(pattern, frames, base, slope, gamma)
    frames, slope = framed(1.0 + 4.0 * gamma * values, 0.5)
    bumps = Bumps(order[sequence], base, slope, log_mean, np.take(vectors, sequence, axis=2))
    return shared_covariances(pattern, frames, bumps, gamma, matrix)


def _around(side, means, gaps, gamma):
    """The bases (T, n) and the pulls on the gaps (T, p, n)."""
    both = [base_and_pull(side, mean, gamma) for mean in means]
    return np.array([base for base, _ in both]), np.array([pull[gaps] for _, pull in both])


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
        return _sum_of_points(points, left.means[t], gaps, *spectrum(covariance), gamma, weights)

    tasks = [(t, gaps, covariance) for rows, gaps, covariance in left.by_pattern() if len(gaps) for t in rows]
    sums = np.zeros(len(left))
    sums[[t for t, _, _ in tasks]] = run_tasks(sum_of, tasks, "Integrating over gaps")
    return sums


def _sum_of_points(points, mean, gaps, values, directions, gamma, matrix):
    """The sum for one row with these gaps.

    For points z, z' and a row x of law N(m, S), in the directions of S's eigenvectors on the gaps (variances l_r, and
    e = z - m) and with the observed columns o, E k(z, x) k(z', x) is

        exp(-gamma (|z - m|_o^2 + |z' - m|_o^2 + |e|^2 + |e'|^2)
            + gamma^2 sum_r 2 l_r (e_r + e'_r)^2 / (1 + 4 gamma l_r))

    times prod_r (1 + 4 gamma l_r)^-1/2: all but the products e_r e'_r belongs to z or to z' alone, so that a pair costs
    a scalar product over the gaps and an exponential.
    """
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
