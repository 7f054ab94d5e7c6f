"""Completions: the law of a row's gaps as finitely many complete rows with weights.

The integral over what is missing becomes a sum, g(theta | x, y) = log sum_s w_s exp f_y(x_s). The points of a row
depend on the row and the seed alone, so the sum is the same in every iteration and in every batch of rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc
from sklearn.base import clone

from gapkernel.compute.draws.row_points import RowPoints, normal_draws
from gapkernel.compute.draws.streams import row_keys
from gapkernel.compute.runtime.config import get_config
from gapkernel.density import Gaussian

EXACT_LIMIT = 4096
"""Most completions that the exact sum may have for one row."""

MEANS_BYTES = 64 << 20
"""Size of the completions that are held at a time where only their means are asked for."""


@dataclass(frozen=True, eq=False)
class CompletedRows:
    """Complete rows, those of one incomplete row after another.

    Attributes
    ----------
    values : ndarray of shape (n_completions, n_columns)
    log_weight : ndarray of shape (n_completions,)
        The weights of the completions of a row sum to 1.
    counts : ndarray of shape (n_rows,)
        Completions of each row; 1 for a complete row.
    """

    values: np.ndarray
    log_weight: np.ndarray
    counts: np.ndarray

    def means(self) -> np.ndarray:
        """The weighted mean of each row's completions."""
        begins = np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.intp)
        return np.add.reduceat(np.exp(self.log_weight)[:, None] * self.values, begins, axis=0)


class Completions(ABC):
    """A base measure for the gaps.

    Parameters
    ----------
    n_completions : int
    method : {"sobol", "random"}
    seed : int
    """

    def __init__(self, n_completions: int, method: str, seed: int):
        self.n_completions, self.method, self.seed = n_completions, method, seed

    def fit(self, X: np.ndarray, sample_weight=None) -> Completions:
        """Learn from a table what gaps may hold."""
        if self.method == "sobol" and X.shape[1] > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"Sobol points have at most {qmc.Sobol.MAXDIM} coordinates, but X has {X.shape[1]} columns. "
                f"Use sampling='random'."
            )
        self._points = RowPoints(self.method, self.n_completions, X.shape[1], self.seed)
        self._fit(X, sample_weight)
        return self

    def counts(self, X: np.ndarray) -> np.ndarray:
        """How many completions each row has."""
        return np.where(np.isnan(X).any(axis=1), self.n_completions, 1)

    def complete(self, X: np.ndarray) -> CompletedRows:
        """The completions of each row."""
        counts = self.counts(X)
        values = np.repeat(X, counts, axis=0)
        starts = np.concatenate([[0], np.cumsum(counts)])
        log_weight = np.repeat(-np.log(counts), counts)
        incomplete = np.flatnonzero(np.isnan(X).any(axis=1))
        if len(incomplete):
            self._fill(X, incomplete, values, starts)
        return CompletedRows(values, log_weight, counts)

    def means(self, X: np.ndarray) -> np.ndarray:
        """The rows with the means of their completions in the gaps."""
        return self._in_blocks(X, self.counts(X), lambda rows: self.complete(rows).means())

    @staticmethod
    def _in_blocks(X, sizes: np.ndarray, means) -> np.ndarray:
        """``means`` of blocks of rows; ``sizes`` says how many rows as wide as X each of them takes."""
        out = np.empty(X.shape)
        most = min(MEANS_BYTES, get_config().memory_budget) // max(X.shape[1] * X.itemsize, 1)
        for rows in row_blocks(sizes, most):
            out[rows] = means(X[rows])
        return out

    @abstractmethod
    def _fit(self, X, sample_weight) -> None:
        """`fit`, after the points."""

    @abstractmethod
    def _fill(self, X, incomplete: np.ndarray, values: np.ndarray, starts: np.ndarray) -> None:
        """Write the completions of the incomplete rows into their places ``starts[i]:starts[i + 1]`` of ``values``."""


class DensityCompletions(Completions):
    """Draws from the normal law of the gaps given what was observed."""

    def __init__(self, n_completions: int, method: str, seed: int, density):
        super().__init__(n_completions, method, seed)
        self.density = density

    def _fit(self, X, sample_weight):
        density = clone(self.density).fit(X, sample_weight=sample_weight)
        seen = ~np.isnan(X)
        typical = np.where(seen, X, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        rows = density.condition(typical[None])  # an observed row must come back as it is
        if (
            rows.kind not in ("gaussian", "factor")
            or rows.means.shape[1] != X.shape[1]
            or not np.allclose(rows.means[0], typical)
        ):
            raise ValueError(
                f"density must give Gaussian laws in the units of X, as density.Gaussian does; got {density!r}."
            )
        self.density = density

    def means(self, X):
        return self._in_blocks(X, np.full(len(X), X.shape[1]), lambda rows: self.density.condition(rows).means)

    def _fill(self, X, incomplete, values, starts):
        rows, keys = self.density.condition(X[incomplete]), row_keys(X[incomplete])
        for members, columns, covariance in rows.by_pattern():
            draws = normal_draws(self._points(keys[members], len(columns)), covariance)
            for i, around in zip(members, draws, strict=True):
                mine = slice(starts[incomplete[i]], starts[incomplete[i] + 1])
                values[mine] = rows.means[i]
                values[mine, columns] += around


class UniformCompletions(Completions):
    """Draws from the box that the observed values of each column span (the paper's)."""

    def _fit(self, X, sample_weight):
        seen = ~np.isnan(X)
        some = seen.any(axis=0)
        self.low = np.where(some, np.where(seen, X, np.inf).min(axis=0, initial=np.inf), 0.0)
        self.high = np.where(some, np.where(seen, X, -np.inf).max(axis=0, initial=-np.inf), 0.0)

    def means(self, X):
        return np.where(np.isnan(X), 0.5 * self.low + 0.5 * self.high, X)

    def _fill(self, X, incomplete, values, starts):
        keys = row_keys(X[incomplete])
        for key, i in zip(keys, incomplete, strict=True):
            gaps = np.flatnonzero(np.isnan(X[i]))
            points = self._points(np.array([key]), len(gaps))[0]
            values[starts[i] : starts[i + 1], gaps] = self.low[gaps] + points * (self.high - self.low)[gaps]


class EmpiricalCompletions(Completions):
    """Values copied together from other rows, drawn by how near these are in the columns that were observed.

    A donor weighs exp(-distance / (2 bandwidth)), the distance being the mean squared difference, in standard
    deviations, over the columns that both rows have, and the bandwidth its mean over the sqrt(n) nearest donors.
    Rows that have all the missing columns are donors; if there are none, those that have most of them, with column
    means in place of the rest.
    """

    def _fit(self, X, sample_weight):
        seen = ~np.isnan(X)
        total = np.maximum(seen.sum(axis=0), 1)
        self.mean = np.where(seen, X, 0.0).sum(axis=0) / total
        away = np.where(seen, X - self.mean, 0.0)
        deviation = np.sqrt((away**2).sum(axis=0) / total)
        self.scale = np.where(deviation > 0, deviation, 1.0)
        self.values, self.donors, self.donors_seen = np.where(seen, X, self.mean), away / self.scale, seen.astype(float)
        self.weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)

    def _fill(self, X, incomplete, values, starts):
        keys = row_keys(X[incomplete])
        for key, i in zip(keys, incomplete, strict=True):
            gaps = np.isnan(X[i])
            lacking = gaps.sum() - self.donors_seen[:, gaps].sum(axis=1)
            donors = np.flatnonzero((lacking == lacking[self.weight > 0].min()) & (self.weight > 0))
            share = self._shares(X[i], gaps, donors)
            points = self._points(np.array([key]), 1)[0, :, 0]
            chosen = donors[np.minimum(np.searchsorted(np.cumsum(share), points), len(donors) - 1)]
            values[starts[i] : starts[i + 1], gaps] = self.values[chosen][:, gaps]

    def _shares(self, row, gaps, donors) -> np.ndarray:
        """The probability of each donor."""
        common = self.donors_seen[donors][:, ~gaps]
        away = self.donors[donors][:, ~gaps] - ((row - self.mean) / self.scale)[~gaps]
        distance = (common * away**2).sum(axis=1) / np.maximum(common.sum(axis=1), 1.0)
        nearest = np.sort(distance)[: max(1, int(np.sqrt(len(distance))))]
        bandwidth = max(nearest.mean(), 1e-6 * distance.mean()) or 1.0
        share = self.weight[donors] * np.exp(-0.5 * (distance - nearest[0]) / bandwidth)
        return share / share.sum()


class ExactCompletions(Completions):
    """Every combination of the values that the missing columns have shown, all with the same weight."""

    def _fit(self, X, sample_weight):
        self.levels = [np.unique(column[~np.isnan(column)]) for column in X.T]
        self.levels = [levels if len(levels) else np.zeros(1) for levels in self.levels]

    def counts(self, X):
        logs = np.isnan(X) @ np.log([len(levels) for levels in self.levels])
        worst = int(logs.argmax()) if len(logs) else 0
        if len(logs) and logs[worst] > np.log(EXACT_LIMIT) + 1e-9:
            raise ValueError(
                f"completions='exact' would need {np.exp(logs[worst]):.3g} completions of row {worst}, which has "
                f"{int(np.isnan(X[worst]).sum())} gaps; at most {EXACT_LIMIT} are allowed. Use completions='density', "
                f"'uniform' or 'empirical'."
            )
        return np.rint(np.exp(logs)).astype(np.int64)

    def means(self, X):
        return np.where(np.isnan(X), [levels.mean() for levels in self.levels], X)

    def _fill(self, X, incomplete, values, starts):
        for i in incomplete:
            gaps = np.flatnonzero(np.isnan(X[i]))
            grid = np.meshgrid(*(self.levels[k] for k in gaps), indexing="ij")
            values[starts[i] : starts[i + 1], gaps] = np.column_stack([axis.ravel() for axis in grid])


KINDS: dict[str, type[Completions]] = {
    "uniform": UniformCompletions,
    "empirical": EmpiricalCompletions,
    "exact": ExactCompletions,
}


def completions_of(kind: str, n_completions: int, method: str, seed: int, density="auto") -> Completions:
    """The base measure that a word names."""
    if kind == "density":
        density = Gaussian() if isinstance(density, str) and density == "auto" else density
        return DensityCompletions(n_completions, method, seed, density)
    return KINDS[kind](n_completions, method, seed)


def row_blocks(counts: np.ndarray, most: int) -> list[slice]:
    """Runs of rows with at most ``most`` completions together, but at least one row."""
    slices, begin, total = [], 0, 0
    for i, count in enumerate(counts):
        if i > begin and total + count > most:
            slices.append(slice(begin, i))
            begin, total = i, 0
        total += int(count)
    if len(counts):
        slices.append(slice(begin, len(counts)))
    return slices
