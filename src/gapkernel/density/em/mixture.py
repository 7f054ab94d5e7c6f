"""Expectation maximisation for a mixture of Gaussians with gaps, on standardised columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans

from gapkernel.compute.runtime.tasks import one_openmp_thread
from gapkernel.density.em.climb import Ascent, climb
from gapkernel.density.em.gaussian import CompressedRows, Point, Prior, conditioned, expectation_at, maximisation
from gapkernel.rows import Patterns

NEGLIGIBLE = 1e-8
"""A component that explains less than this share of the rows is left as it is."""


class GappyTable:
    """Rows in the order of their patterns, for E-steps with any weights."""

    def __init__(self, X: np.ndarray):
        self.patterns = Patterns.of(np.isnan(X))
        self.filled = np.where(np.isnan(X), 0.0, X)
        self.sorted = np.column_stack([self.filled, np.ones(len(X))])[self.patterns.order]

    def weighted(self, weight: np.ndarray) -> CompressedRows:
        """The rows, each counted ``weight`` times."""
        counts = np.bincount(self.patterns.index, weights=weight, minlength=len(self.patterns))
        rows = self.sorted * np.sqrt(weight[self.patterns.order])[:, None]
        return CompressedRows(self.patterns.gaps, counts, self.patterns.row_start, rows)

    def conditioned(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """The rows with conditional means in their gaps, and the log density of what was observed."""
        rows, _, log_density = conditioned(self.patterns, self.filled, point.mean, point.covariance)
        return rows, log_density


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
