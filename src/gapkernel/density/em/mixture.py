"""Expectation maximisation for a mixture of Gaussians with gaps, on standardised columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans

from gapkernel.compute.runtime.tasks import one_openmp_thread
from gapkernel.density.em.climb import Ascent, climb
from gapkernel.density.em.gaussian import GappyTable, Point, Prior, expectation_at, maximisation

NEGLIGIBLE = 1e-8
"""A component that explains less than this share of the rows is left as it is."""


@dataclass(frozen=True)
class Components:
    """Parameters: the shares of the components, and the mean and covariance of each."""

    shares: np.ndarray
    points: list[Point]


def clusters(table: GappyTable, weight: np.ndarray, whole: Point, n_components: int, random) -> np.ndarray:
    """Memberships (n, n_components) from k-means on the rows completed by one Gaussian."""
    completed = table.conditioned(whole)[0]
    with one_openmp_thread():
        labels = KMeans(n_components, n_init=5, random_state=random).fit(completed, sample_weight=weight).labels_
    return (labels[:, None] == np.arange(n_components)).astype(np.float64)


def maximise_mixture(
    table: GappyTable, weight: np.ndarray, memberships: np.ndarray, prior: Prior, tol: float, max_iter: int
) -> Ascent:
    """The `Components` that EM reaches from ``memberships``."""
    d = table.filled.shape[1]

    def expect(components: Components):
        log_likelihood, memberships = _memberships(table, weight, components)
        log_prior = sum(prior.log_density(point.mean, point.covariance) for point in components.points)
        return log_likelihood, log_likelihood + log_prior, memberships

    def maximise(components: Components, memberships: np.ndarray) -> Components:
        return _maximised(table, weight, memberships, components.points, prior)

    start = _maximised(table, weight, memberships, [Point(np.zeros(d), np.eye(d))] * memberships.shape[1], prior)
    return climb(expect, maximise, start, table.weighted(weight).n_cells, tol, max_iter)


def _memberships(table, weight, components: Components) -> tuple[float, np.ndarray]:
    """The log-likelihood, and how likely each component is for each row."""
    with np.errstate(divide="ignore"):
        logs = np.column_stack([table.conditioned(point)[1] for point in components.points])
        logs += np.log(components.shares)
    total = logsumexp(logs, axis=1)
    return float(weight @ total), np.exp(logs - total[:, None])


def _maximised(table, weight, memberships, points, prior) -> Components:
    """The components for given memberships; ``points`` complete the rows."""
    counts = weight @ memberships
    new = []
    for count, member, point in zip(counts, memberships.T, points, strict=True):
        if count <= NEGLIGIBLE * counts.sum():
            new.append(point)
            continue
        _, moments = expectation_at(table.weighted(weight * member), point)
        new.append(maximisation(moments, prior))
    return Components(counts / counts.sum(), new)
