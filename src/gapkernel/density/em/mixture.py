"""Expectation maximisation for a mixture of Gaussians with gaps, on standardised columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans

from gapkernel.compute.linalg.conditional import condition_patterns, workspace
from gapkernel.density.em.gaussian import (
    ROUNDING,
    CompressedRows,
    Prior,
    _expectation,
    _maximisation,
    _Point,
)
from gapkernel.rows import Patterns

NEGLIGIBLE = 1e-8
"""A component that explains less than this share of the rows is left as it is."""


class GappyTable:
    """Rows in the order of their patterns, for E-steps with any weights."""

    def __init__(self, X: np.ndarray):
        self.patterns = Patterns.of(np.isnan(X))
        filled = np.where(np.isnan(X), 0.0, X)
        self.filled = filled
        self.sorted = np.column_stack([filled, np.ones(len(X))])[self.patterns.order]
        self.block_start = np.concatenate([[0], np.cumsum(self.patterns.gaps.sum(axis=1) ** 2)])

    def weighted(self, weight: np.ndarray) -> CompressedRows:
        """The rows, each counted ``weight`` times."""
        counts = np.bincount(self.patterns.index, weights=weight, minlength=len(self.patterns))
        rows = self.sorted * np.sqrt(weight[self.patterns.order])[:, None]
        return CompressedRows(self.patterns.gaps, counts, self.patterns.row_start, rows)

    def conditioned(self, point: _Point) -> tuple[np.ndarray, np.ndarray]:
        """The rows with conditional means in their gaps, and the log density of what was observed."""
        rows, log_density = self.filled.copy(), np.empty(len(self.filled))
        condition_patterns(
            self.patterns.gaps, self.patterns.row_start, self.patterns.order, point.mean, point.covariance,
            self.block_start, workspace(rows.shape[1]), rows, np.empty(self.block_start[-1]), log_density,
        )  # fmt: skip
        return rows, log_density


@dataclass(frozen=True)
class MixtureFit:
    """The result of `maximise_mixture`."""

    weights: np.ndarray
    points: list[_Point]
    log_likelihood: np.ndarray
    objective: np.ndarray
    n_iter: int
    converged: bool


def clusters(table: GappyTable, weight: np.ndarray, whole: _Point, n_components: int, random) -> np.ndarray:
    """Memberships (n, n_components) from k-means on the rows completed by one Gaussian."""
    completed = table.conditioned(whole)[0]
    labels = KMeans(n_components, n_init=5, random_state=random).fit(completed, sample_weight=weight).labels_
    return (labels[:, None] == np.arange(n_components)).astype(np.float64)


def maximise_mixture(
    table: GappyTable, weight: np.ndarray, memberships: np.ndarray, prior: Prior, tol: float, max_iter: int
) -> MixtureFit:
    """Iterate from ``memberships`` until a step raises the objective by less than ``tol`` of its size."""
    d = table.filled.shape[1]
    n_cells = table.weighted(weight).n_cells
    points = [_Point(np.zeros(d), np.eye(d)) for _ in memberships.T]
    shares, points = _maximised(table, weight, memberships, points, prior)
    history: list[tuple[float, float]] = []
    best, converged = (shares, points), False
    while len(history) <= max_iter and not converged:
        log_likelihood, memberships = _memberships(table, weight, shares, points)
        objective = log_likelihood + sum(prior.log_density(point.mean, point.covariance) for point in points)
        if history:
            rise, size = objective - history[-1][1], max(abs(objective), n_cells)
            if rise < 0:
                converged = -rise <= max(tol, ROUNDING) * size  # a step falls by rounding only
                break
            converged = rise <= tol * size
        history.append((log_likelihood, objective))
        best = shares, points
        shares, points = _maximised(table, weight, memberships, points, prior)
    log_likelihoods, objectives = np.array(history).T
    return MixtureFit(*best, log_likelihoods, objectives, len(history) - 1, converged)


def _memberships(table, weight, shares, points) -> tuple[float, np.ndarray]:
    """The log-likelihood, and how likely each component is for each row."""
    with np.errstate(divide="ignore"):
        logs = np.column_stack([table.conditioned(point)[1] for point in points]) + np.log(shares)
    total = logsumexp(logs, axis=1)
    return float(weight @ total), np.exp(logs - total[:, None])


def _maximised(table, weight, memberships, points, prior) -> tuple[np.ndarray, list[_Point]]:
    """Shares and parameters of the components for given memberships; ``points`` complete the rows."""
    counts = weight @ memberships
    new = []
    for count, member, point in zip(counts, memberships.T, points, strict=True):
        if count <= NEGLIGIBLE * counts.sum():
            new.append(point)
            continue
        _, moments = _expectation(table.weighted(weight * member), point)
        new.append(_maximisation(moments, prior))
    return counts / counts.sum(), new
