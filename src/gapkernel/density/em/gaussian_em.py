"""Expectation maximisation for a Gaussian with gaps, on standardised columns.

Rows are written in homogeneous form, [x, 1]. The iteration needs only the sum of the outer products of the
rows of each pattern, so the rows of a crowded pattern are replaced by their triangular factor R, with the
same sums: after that the cost of an iteration no longer depends on how many rows share a pattern.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, pinvh

from gapkernel.compute.doors import check_array, check_numbers, check_places
from gapkernel.compute.linalg.conditional import SINGULAR, condition_patterns, expectation, workspace
from gapkernel.compute.linalg.covariance_blocks import starts_of
from gapkernel.compute.runtime.threads import run_tasks
from gapkernel.compute.standardise import Standard
from gapkernel.density.em.climb import Ascent, climb
from gapkernel.rows import Patterns
from gapkernel.tables import numbers_of, read_table, read_weights
from gapkernel.tables.table_in_parts import Part, TableInParts

CHUNKS = 16
"""Parts of the E-step; a fixed number, so that sums do not depend on the number of threads."""


@dataclass(frozen=True)
class Statistics:
    """Sums of the E-step: log |Sigma_OO|, the outer products of completed rows, and conditional covariances."""

    log_det: float
    moments: np.ndarray
    spread: np.ndarray

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(self.log_det + other.log_det, self.moments + other.moments, self.spread + other.spread)


@dataclass(frozen=True)
class CompressedRows:
    """Homogeneous rows sorted by pattern, with the weight and the observed cells each pattern stands for."""

    missing: np.ndarray
    counts: np.ndarray
    row_start: np.ndarray
    rows: np.ndarray

    @property
    def n_cells(self) -> float:
        """Observed cells, counted with their weights."""
        return float(self.counts @ (~self.missing).sum(axis=1))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.missing.shape[1]

    def statistics(self, mean: np.ndarray, covariance: np.ndarray, precision: np.ndarray, log_det: float) -> Statistics:
        """Sums of the E-step."""
        d, n_patterns = self.n_features, len(self.missing)
        check_array("The mean", mean, np.float64, d)
        check_array("The covariance", covariance, np.float64, d, d)
        cuts = np.searchsorted(self.row_start, np.linspace(0, self.row_start[-1], CHUNKS + 1)[1:-1])
        cuts = np.concatenate([[0], np.minimum(cuts, n_patterns), [n_patterns]])
        moments, spread = np.zeros((CHUNKS, d + 1, d + 1)), np.zeros((CHUNKS, d, d))

        def chunk(k: int) -> float:
            return expectation(
                self.missing, self.counts, self.row_start, self.rows, cuts[k], cuts[k + 1],
                mean, covariance, precision, log_det, workspace(d), moments[k], spread[k],
            )  # fmt: skip

        small = len(self.rows) < 1000  # then threads cost more than they save
        log_dets = [chunk(k) for k in range(CHUNKS)] if small else run_tasks(chunk, range(CHUNKS))
        return Statistics(float(np.sum(log_dets)), moments.sum(axis=0), spread.sum(axis=0))


def log_prior(covariance: np.ndarray, scatter: float) -> float:
    """Logarithm of the prior at a covariance, up to a constant: ``scatter`` is added to that of every column."""
    if scatter == 0:
        return 0.0
    try:
        factor = cho_factor(covariance, lower=True)
    except np.linalg.LinAlgError:
        return -np.inf  # singular
    return float(-0.5 * scatter * np.trace(cho_solve(factor, np.eye(len(covariance)))))


def conditioned(
    patterns: Patterns, X: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with conditional means in their gaps, flat conditional covariances of the patterns, and log densities."""
    n, d = X.shape
    check_array("The rows", X, np.float64, n, d)
    check_array("The gaps of the patterns", patterns.gaps, np.bool_, len(patterns), d)
    check_places("The patterns of the rows", patterns.index, len(patterns), n)
    check_numbers("The mean", mean, d)
    check_numbers("The covariance", covariance, d, d)
    block_start = starts_of(patterns.gaps.sum(axis=1) ** 2)
    rows, blocks, log_density = X.copy(), np.empty(block_start[-1]), np.empty(n)
    condition_patterns(
        patterns.gaps, patterns.row_start, patterns.order, mean, covariance,
        block_start, workspace(d), rows, blocks, log_density,
    )  # fmt: skip
    return rows, blocks, log_density


@dataclass(frozen=True)
class Point:
    """Parameters: a mean and a covariance."""

    mean: np.ndarray
    covariance: np.ndarray

    def flat(self) -> np.ndarray:
        """Both in one vector."""
        return np.concatenate([self.mean, self.covariance.ravel()])


class GappyTable:
    """Rows in the order of their patterns, for E-steps with any weights."""

    def __init__(self, X: np.ndarray) -> None:
        self.patterns = Patterns.of(np.isnan(X))
        self.filled = np.where(np.isnan(X), 0.0, X)
        self.sorted = np.column_stack([self.filled, np.ones(len(X))])[self.patterns.order]

    def weighted(self, weight: np.ndarray) -> CompressedRows:
        """The rows, each counted ``weight`` times."""
        counts = np.bincount(self.patterns.index, weights=weight, minlength=len(self.patterns))
        rows = self.sorted * np.sqrt(weight[self.patterns.order])[:, None]
        return CompressedRows(self.patterns.gaps, counts, self.patterns.row_start, rows)

    def compressed(self, weight: np.ndarray) -> CompressedRows:
        """The same, crowded patterns replaced by their triangular factors."""
        every, patterns = self.weighted(weight), self.patterns
        limit = (~patterns.gaps).sum(axis=1) + 1
        crowded = patterns.counts > limit
        row_start = starts_of(np.where(crowded, limit, patterns.counts))
        rows = np.zeros((row_start[-1], every.rows.shape[1]))
        rows[np.repeat(~crowded, np.diff(row_start))] = every.rows[np.repeat(~crowded, patterns.counts)]
        for p in np.flatnonzero(crowded):
            columns = np.flatnonzero(np.append(~patterns.gaps[p], True))
            block = every.rows[patterns.row_start[p] : patterns.row_start[p + 1], columns]
            rows[row_start[p] : row_start[p + 1], columns] = np.linalg.qr(block, mode="r")
        return replace(every, row_start=row_start, rows=rows)

    def conditioned(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """The rows with conditional means in their gaps, and the log density of what was observed."""
        rows, _, log_density = conditioned(self.patterns, self.filled, point.mean, point.covariance)
        return rows, log_density


def maximise_gaussian(data: CompressedRows | CompressedParts, scatter: float, tol: float, max_iter: int) -> Ascent:
    """The mean and covariance, as a `Point`, that EM reaches from mean 0 and covariance I.

    ``data`` are `CompressedRows`, or anything else that gives their sums: ``statistics``, ``n_cells``, ``n_features``.
    ``scatter`` is what the ridge adds to the scatter of every column.
    Every two steps, the path they took is extrapolated (squared extrapolation, SQUAREM).
    """

    def expect(point: Point) -> tuple[float, float, np.ndarray]:
        log_likelihood, moments = expectation_at(data, point)
        return log_likelihood, log_likelihood + log_prior(point.covariance, scatter), moments

    start = Point(np.zeros(data.n_features), np.eye(data.n_features))
    return climb(
        expect, lambda _, moments: maximisation(moments, scatter), start, data.n_cells, tol, max_iter, _extrapolate
    )


def _extrapolate(start: Point, middle: Point, end: Point) -> Point | None:
    """The squared extrapolation of two steps, None when it leaves the positive definite matrices."""
    d = len(start.mean)
    first = middle.flat() - start.flat()
    change = end.flat() - middle.flat() - first
    size = np.linalg.norm(change)
    length = np.linalg.norm(first) / size if size > 0 else 1.0
    if length <= 1.0:
        return None
    flat = start.flat() + 2 * length * first + length**2 * change
    covariance = flat[d:].reshape(d, d)
    try:
        np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return None
    return Point(flat[:d], covariance)


def expectation_at(data: CompressedRows | CompressedParts, point: Point) -> tuple[float, np.ndarray]:
    """Log-likelihood at the current parameters and the expected moments [x, 1][x, 1]'."""
    mean, covariance = point.mean, point.covariance
    d = len(mean)
    precision, log_det = _invert(covariance)
    sums = data.statistics(mean, covariance, precision, log_det)
    completed = np.tril(sums.moments)
    completed += np.tril(completed, -1).T
    # a completed row's deviation is orthogonal, in the metric of Sigma^-1, to its gaps: this is the sum of
    # (x - mu)_O' Sigma_OO^-1 (x - mu)_O
    shift = np.concatenate([np.eye(d), -mean[:, None]], axis=1)
    inverse = precision if len(precision) else pinvh(covariance)
    quadratic = np.sum(inverse * (shift @ completed @ shift.T))
    constant = np.log(2 * np.pi) * data.n_cells
    completed[:d, :d] += sums.spread
    return -0.5 * float(constant + sums.log_det + quadratic), completed


def maximisation(moments: np.ndarray, scatter: float) -> Point:
    """The parameters that maximise the expected complete-data objective."""
    n = moments[-1, -1]
    mean = moments[-1, :-1] / n
    covariance = (moments[:-1, :-1] - n * np.outer(mean, mean) + scatter * np.eye(len(mean))) / n
    return Point(mean, 0.5 * (covariance + covariance.T))


def _invert(covariance: np.ndarray) -> tuple[np.ndarray, float]:
    """Precision and log determinant; an empty precision when the covariance is singular."""
    try:
        factor = cho_factor(covariance, lower=True)
    except np.linalg.LinAlgError:
        return np.empty((0, 0)), 0.0
    diagonal = np.diag(factor[0])
    if np.any(diagonal**2 <= SINGULAR * covariance.diagonal()):
        return np.empty((0, 0)), 0.0
    return cho_solve(factor, np.eye(len(covariance))), float(2.0 * np.log(diagonal).sum())


class Observations:
    """The rows of an array that hold a value and have weight."""

    def __init__(self, X: np.ndarray, weight: np.ndarray) -> None:
        used = (weight > 0) & ~np.isnan(X).all(axis=1)
        # one layout, so that sums do not depend on the caller's
        self.X = np.ascontiguousarray(X if used.all() else X[used])
        self.weight = weight if used.all() else weight[used]

    def total(self, function: Callable) -> Any:
        """The sum of ``function(X, weight)`` over the rows."""
        return function(self.X, self.weight)

    def compressed(self, standard: Standard) -> CompressedRows:
        """The standardised, live columns, compressed by pattern."""
        return GappyTable(standard.apply(self.X)).compressed(self.weight)


class ObservationsInParts:
    """The same, of a table in parts: `reader` is the estimator that numbers are checked for."""

    def __init__(self, parts: TableInParts, reader: Any) -> None:
        self.parts, self.reader = parts, reader

    def total(self, function: Callable) -> Any:
        """The sum of ``function(X, weight)`` over the rows."""
        return self.parts.sum(partial(_ask, self.reader, methodcaller("total", function)), "density")

    def compressed(self, standard: Standard) -> CompressedParts:
        """The standardised, live columns, compressed by pattern within each part."""
        n_cells = float(standard.seen[standard.live].sum())
        parts = self.parts.derived(partial(_ask, self.reader, methodcaller("compressed", standard)))
        return CompressedParts(parts, int(standard.live.sum()), n_cells)


class CompressedParts:
    """Compressed rows in parts, for `maximise_gaussian`."""

    def __init__(self, parts: TableInParts, n_features: int, n_cells: float) -> None:
        self.parts, self.n_features, self.n_cells = parts, n_features, n_cells

    def statistics(self, *parameters: Any) -> Statistics:
        """Sums of the E-step."""
        return self.parts.sum(methodcaller("statistics", *parameters), "density")


def _ask(reader: Any, question: Callable[[Observations], Any], part: Part) -> Any:
    """What the rows of a part answer, once their numbers are checked for ``reader``."""
    X = numbers_of(read_table(reader, part.X, reset=False), reader)
    return question(Observations(X, read_weights(part.weight, X)))
