"""Rows as Gaussian laws: certain where a value was observed, a normal law on the gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from gapkernel.compute.draws.row_points import normal_draws
from gapkernel.compute.linalg.blocks import scale_blocks
from gapkernel.compute.linalg.quadratic import quadratic_forms
from gapkernel.rows.atoms import AtomRows
from gapkernel.rows.base import Rows, row_indices


@dataclass(frozen=True, eq=False)
class GaussianRows(Rows):
    """An immutable batch of rows, each a Gaussian law.

    Rows that share a gap pattern share a covariance, so covariances are kept once per pattern, on the gaps
    only. A complete row is a law with no gaps.

    Attributes
    ----------
    means : ndarray of shape (n_rows, n_features)
        The observed values, and the conditional means in the gaps.
    pattern : ndarray of shape (n_rows,)
        Which gaps and covariance each row has.
    gaps : ndarray of shape (n_patterns, n_features), bool
        The columns on which a pattern is uncertain.
    covariance : ndarray
        Covariances of all patterns on their gaps, flattened one after another.
    """

    means: np.ndarray
    pattern: np.ndarray
    gaps: np.ndarray
    covariance: np.ndarray

    kind: ClassVar[str] = "gaussian"

    @classmethod
    def certain(cls, X) -> GaussianRows:
        """Complete rows: every law is a point."""
        X = np.array(X, dtype=np.float64, ndmin=2)
        return cls(X, np.zeros(len(X), np.int64), np.zeros((1, X.shape[1]), bool), np.empty(0))

    @classmethod
    def from_moments(cls, means, covariances) -> GaussianRows:
        """Rows given by any means (n, d) and any covariances (n, d, d); equal covariances are stored once."""
        means = np.array(means, dtype=np.float64, ndmin=2)
        covariances = np.asarray(covariances, dtype=np.float64)
        if covariances.shape != (len(means), means.shape[1], means.shape[1]):
            raise ValueError(
                f"covariances must have shape {(len(means), means.shape[1], means.shape[1])} "
                f"to go with means of shape {means.shape}, got {covariances.shape}."
            )
        if not (np.isfinite(means).all() and np.isfinite(covariances).all()):
            raise ValueError("means and covariances must be finite.")
        if np.any(covariances.diagonal(axis1=1, axis2=2) < 0):
            raise ValueError("covariances must have variances of 0 or more on their diagonals.")
        distinct, pattern = np.unique(covariances.reshape(len(means), -1), axis=0, return_inverse=True)
        blocks = distinct.reshape(-1, means.shape[1], means.shape[1])
        gaps = blocks.diagonal(axis1=1, axis2=2) > 0
        return cls(
            means, pattern.reshape(-1), gaps, flat_blocks(b[np.ix_(g, g)] for b, g in zip(blocks, gaps, strict=True))
        )

    def __len__(self) -> int:
        return len(self.means)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.means.shape[1]

    @property
    def dense(self) -> GaussianRows:
        """These laws with their covariances written out: as they are."""
        return self

    @cached_property
    def gap_start(self) -> np.ndarray:
        """Where the gaps of each pattern begin when all are listed; one entry more than there are patterns."""
        return np.concatenate([[0], np.cumsum(self.gaps.sum(axis=1))])

    @cached_property
    def block_start(self) -> np.ndarray:
        """Where the covariance of each pattern begins in the flat array; one entry more than there are patterns."""
        return np.concatenate([[0], np.cumsum(self.gaps.sum(axis=1) ** 2)])

    @property
    def uncertain(self) -> np.ndarray:
        """True for the cells that are not known for certain."""
        return self.gaps[self.pattern]

    @property
    def complete(self) -> np.ndarray:
        """True for rows without uncertainty."""
        return np.logical_not(self.gaps.any(axis=1))[self.pattern]

    @cached_property
    def total_variance(self) -> np.ndarray:
        """Trace of each row's covariance: how much is unknown about it."""
        return np.array([block.trace() for _, block in self._blocks()])[self.pattern]

    def quadratic(self, directions) -> np.ndarray:
        """The variance of w'x for each row x and each of the ``directions`` w (n_directions, d): (n, n_directions)."""
        directions = np.ascontiguousarray(self._directions(directions).T)
        out = np.empty((len(self.gaps), directions.shape[1]))
        gap_columns = np.nonzero(self.gaps)[1]
        quadratic_forms(gap_columns, self.gap_start, self.block_start, self.covariance, directions, out)
        return out[self.pattern]

    def covariance_of(self, i: int) -> np.ndarray:
        """The covariance of row ``i`` over all columns, zero outside its gaps."""
        gaps, start = self.gaps[self.pattern[i]], self.block_start[self.pattern[i]]
        full = np.zeros((self.n_features, self.n_features))
        full[np.ix_(gaps, gaps)] = self.covariance[start : start + gaps.sum() ** 2].reshape(gaps.sum(), gaps.sum())
        return full

    def by_pattern(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each pattern in use: its rows, its gap columns, and its covariance on them."""
        order = np.argsort(self.pattern, kind="stable")
        ends = np.cumsum(np.bincount(self.pattern, minlength=len(self.gaps)))
        begin = 0
        for end, (columns, block) in zip(ends, self._blocks(), strict=True):
            if end > begin:
                yield order[begin:end], columns, block
            begin = end

    def take(self, indices) -> GaussianRows:
        """The rows at ``indices`` (integers, a slice or a mask), with the patterns they need."""
        indices = row_indices(indices)
        kept, pattern = np.unique(self.pattern[indices], return_inverse=True)
        starts = self.block_start
        covariance = flat_blocks(self.covariance[starts[k] : starts[k + 1]] for k in kept)
        return GaussianRows(self.means[indices], pattern.reshape(-1), self.gaps[kept], covariance)

    def columns(self, indices) -> GaussianRows:
        """The marginal laws on some columns."""
        picked = np.asarray(indices)
        blocks = []
        for columns, block in self._blocks():
            place = np.full(self.n_features, -1)
            place[columns] = np.arange(len(columns))
            inside = place[picked][place[picked] >= 0]
            blocks.append(block[np.ix_(inside, inside)])
        return GaussianRows(
            np.ascontiguousarray(self.means[:, picked]),
            self.pattern.copy(),
            np.ascontiguousarray(self.gaps[:, picked]),
            flat_blocks(blocks),
        )

    def beside(self, values) -> GaussianRows:
        means, known = np.hstack([self.means, values]), np.zeros((len(self.gaps), np.shape(values)[1]), bool)
        return GaussianRows(means, self.pattern, np.hstack([self.gaps, known]), self.covariance)

    def scale(self, factors) -> GaussianRows:
        """The laws of the rows with every column multiplied by its factor; gaps and patterns stay."""
        factors = self._factors(factors)
        covariance = np.array(self.covariance)
        scale_blocks(covariance, self.gap_start, np.nonzero(self.gaps)[1], factors)
        return GaussianRows(self.means * factors, self.pattern, self.gaps, covariance)

    def map(self, matrix, offset=0.0) -> GaussianRows:
        """The laws of ``matrix @ x + offset``."""
        matrix = self._matrix(matrix)
        gaps = np.zeros((len(self.gaps), len(matrix)), bool)
        blocks = []
        for k, (columns, block) in enumerate(self._blocks()):
            image = matrix[:, columns]
            gaps[k] = image.any(axis=1)
            mapped = image[gaps[k]] @ block @ image[gaps[k]].T
            blocks.append(0.5 * (mapped + mapped.T))
        return GaussianRows(self.means @ matrix.T + offset, self.pattern.copy(), gaps, flat_blocks(blocks))

    def draws(self, n_draws: int, random_state=None) -> np.ndarray:
        """Complete rows drawn from the laws, (n_draws, n_rows, n_features)."""
        draws = np.repeat(self.means[None], n_draws, axis=0)
        noise = check_random_state(random_state).standard_normal(draws.shape)
        for members, columns, covariance in self.by_pattern():
            if len(columns):
                values, vectors = np.linalg.eigh(covariance)
                root = vectors * np.sqrt(np.maximum(values, 0.0))
                draws[np.ix_(np.arange(n_draws), members, columns)] += noise[:, members][:, :, columns] @ root.T
        return draws

    def atoms(self, n_atoms: int, method: str = "sobol", seed: int = 0) -> AtomRows:
        def fill(values, starts, cube):
            for members, columns, covariance in self.by_pattern():
                if len(columns):
                    places = np.add.outer(starts[members], np.arange(n_atoms))[:, :, None]
                    around = normal_draws(cube(members, len(columns)), covariance)
                    values[places, columns] = self.means[np.ix_(members, columns)][:, None] + around

        return AtomRows.drawn(np.where(self.uncertain, np.nan, self.means), fill, n_atoms, method, seed)

    def components(self) -> tuple[tuple[np.ndarray, GaussianRows], ...]:
        return ((np.ones(len(self)), self),)

    def _blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for k, gaps in enumerate(self.gaps):
            columns = np.flatnonzero(gaps)
            start = self.block_start[k]
            yield columns, self.covariance[start : start + len(columns) ** 2].reshape(len(columns), len(columns))


def flat_blocks(blocks: Iterable[np.ndarray]) -> np.ndarray:
    """Matrices written one after another."""
    pieces = [np.ravel(block) for block in blocks]
    return np.concatenate(pieces) if pieces else np.empty(0)
