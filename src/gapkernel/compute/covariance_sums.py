"""What the gaps of new rows add to a predictive variance: weighted sums of the covariances of kernel values."""

import numpy as np

from gapkernel.compute.config import get_config, thread_count
from gapkernel.compute.kernel_moments import bumps, curvatures, weighted_covariance
from gapkernel.compute.shared_moments import TOGETHER, frames, log_means, shared_sums
from gapkernel.compute.side import lay_out
from gapkernel.compute.tasks import run_tasks

WIDEST = 1e4
"""Largest 1 + 4 gamma variance of a law whose work is shared: sharing loses digits in proportion to it."""


def covariance_sums(left, right, gamma, vectors, matrix):
    """sum_ij (v_i'v_j - matrix_ij) Cov(e_i, e_j) over the gaps of each row of ``left``, i and j the rows of ``right``.

    ``matrix`` is symmetric, and ``vectors`` a function that returns the v of a row of ``left``, one v_i in each column
    of (k, n). Complete rows have 0.
    """
    side, order, _ = lay_out(right, gamma, 0.0)

    def sums_of(task):
        members, gaps, covariance = task
        values, directions = np.linalg.eigh(covariance)
        values = np.maximum(values, 0.0)
        own = np.array([vectors(t)[:, order] for t in members])
        shared = 1.0 + 4.0 * gamma * values[-1] < WIDEST and _sharing_pays(side, gaps)
        method = _by_pattern if shared else _by_pair
        return method(side, order, left.means[members], gaps, values, directions, gamma, own, matrix)

    tasks = list(_tasks(left, len(right)))
    sums = np.zeros(len(left))
    for (members, _, _), found in zip(tasks, run_tasks(sums_of, tasks, "Integrating over gaps"), strict=True):
        sums[members] = found
    return sums


def _tasks(left, n):
    """Rows of ``left`` with the same law, their gaps and their covariance, so many that a thread has room for them."""
    for members, gaps, covariance in left.by_pattern():
        if len(gaps):
            row = 8 * n * (4 * len(gaps) + left.n_features)
            step = int(np.clip(get_config().memory_budget // (thread_count() * row), 1, TOGETHER))
            for k in range(0, len(members), step):
                yield members[k : k + step], gaps, covariance


def _sharing_pays(side, gaps):
    """Whether systems of the shared gaps, one for each pattern and row, cost less than those of all gaps for each pair."""
    sizes = (side.position[:, gaps] >= 0).sum(axis=1)
    return 4.0 * len(sizes) * np.mean(sizes.astype(float) ** 3) < len(side.pattern) * len(gaps) ** 3


def _by_pair(side, order, means, gaps, values, directions, gamma, vectors, matrix):
    root = np.ascontiguousarray(directions * np.sqrt(values))
    curvature = curvatures(side, gaps, root)
    sums = []
    for mean, own in zip(means, vectors, strict=True):
        base, pull = bumps(side, mean, gamma)
        sums.append(weighted_covariance(order, base, root.T @ pull[gaps], curvature, gamma, own, matrix))
    return np.array(sums)


def _by_pattern(side, order, means, gaps, values, directions, gamma, vectors, matrix):
    used = np.unique(side.pattern)
    patterns = used[np.argsort((side.position[used][:, gaps] >= 0).sum(axis=1), kind="stable")]
    rank = np.empty(len(side.log_det), np.int64)
    rank[patterns] = np.arange(len(patterns))
    sequence = np.argsort(rank[side.pattern], kind="stable")
    pattern = rank[side.pattern[sequence]]
    one, two = 1.0 + 2.0 * gamma * values, 1.0 + 4.0 * gamma * values  # D for the mean of a value and of a product
    root_one, root_two = (np.ascontiguousarray(directions * np.sqrt(values / d)) for d in (one, two))
    of_means = frames(side, patterns, gaps, root_one, gamma)
    of_products = frames(side, patterns, gaps, root_two, gamma)
    base, slope, log_mean = [], [], []
    for mean in means:
        own, pull = bumps(side, mean, gamma)
        own, pull = own[sequence], pull[np.ix_(gaps, sequence)]
        base.append(own)
        slope.append(root_two.T @ pull)
        log_mean.append(log_means(pattern, own, root_one.T @ pull, *of_means, np.log(one).sum(), gamma))
    return shared_sums(
        pattern, order[sequence], np.array(base), np.array(slope), np.array(log_mean), *of_products,
        np.log(two).sum(), gamma, np.ascontiguousarray(vectors[:, :, sequence]), matrix,
    )  # fmt: skip
