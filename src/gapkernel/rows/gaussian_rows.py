"""Rows as Gaussian laws: certain where a value was observed, a normal law on the gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from gapkernel.compute.draws import normal_draws
from gapkernel.compute.linalg.covariance_blocks import (
    check_blocks,
    flat,
    places_of,
    quadratic_forms,
    root_of,
    scale_blocks,
    starts_of,
)
from gapkernel.rows.atom_rows import AtomRows
from gapkernel.rows.base import Indices, row_indices
from gapkernel.rows.pattern_rows import PatternRows


@dataclass(frozen=True, eq=False)
class GaussianRows(PatternRows):
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

    Examples
    --------
    >>> from gapkernel.density import Gaussian
    >>> rows = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]]).condition([[2.0, None], [1.0, 1.0]])
    >>> rows.means
    array([[2., 1.],
           [1., 1.]])
    >>> rows.covariance_of(0)
    array([[0.  , 0.  ],
           [0.  , 0.75]])
    """

    covariance: np.ndarray

    kind: ClassVar[str] = "gaussian"

    @classmethod
    def certain(cls, X: ArrayLike) -> GaussianRows:
        """Complete rows: every law is a point."""
        X = np.array(X, dtype=np.float64, ndmin=2)
        return cls(X, np.zeros(len(X), np.int64), np.zeros((1, X.shape[1]), bool), np.empty(0))

    @classmethod
    def from_moments(cls, means: ArrayLike, covariances: ArrayLike) -> GaussianRows:
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
        covariance = flat(block[np.ix_(mine, mine)] for block, mine in zip(blocks, gaps, strict=True))
        return cls(means, pattern.reshape(-1), gaps, covariance)

    @property
    def dense(self) -> GaussianRows:
        """These laws with their covariances written out: as they are."""
        return self

    @cached_property
    def gap_start(self) -> np.ndarray:
        """Where the gaps of each pattern begin when all are listed; one entry more than there are patterns."""
        return starts_of(self.gaps.sum(axis=1))

    @cached_property
    def block_start(self) -> np.ndarray:
        """Where the covariance of each pattern begins in the flat array; one entry more than there are patterns."""
        return starts_of(self.gaps.sum(axis=1) ** 2)

    @cached_property
    def total_variance(self) -> np.ndarray:  # type: ignore[override]
        """Trace of each row's covariance: how much is unknown about it."""
        return np.array([block.trace() for _, block in self._blocks()])[self.pattern]

    def quadratic(self, directions: ArrayLike) -> np.ndarray:
        """The variance of w'x for each row x and each of the ``directions`` w (n_directions, d): (n, n_directions)."""
        directions = np.ascontiguousarray(self._lines(directions, "directions").T)
        out = np.empty((len(self.gaps), directions.shape[1]))
        check_blocks(self)
        gap_columns = np.nonzero(self.gaps)[1]
        quadratic_forms(gap_columns, self.gap_start, self.block_start, self.covariance, directions, out)
        return out[self.pattern]

    def take(self, indices: Indices) -> GaussianRows:
        """The rows at ``indices`` (integers, a slice or a mask), with the patterns they need."""
        means, pattern, kept = self._taken(row_indices(indices))
        covariance = self.covariance[places_of(self.block_start, kept)]
        return GaussianRows(means, pattern, self.gaps[kept], covariance)

    def columns(self, indices: ArrayLike) -> GaussianRows:
        """The marginal laws on some columns."""
        picked = np.asarray(indices)
        blocks = []
        for columns, block in self._blocks():
            place = np.full(self.n_features, -1)
            place[columns] = np.arange(len(columns))
            inside = place[picked][place[picked] >= 0]
            blocks.append(block[np.ix_(inside, inside)])
        means, gaps = (np.ascontiguousarray(part[:, picked]) for part in (self.means, self.gaps))
        return GaussianRows(means, self.pattern, gaps, flat(blocks))

    def beside(self, values: ArrayLike) -> GaussianRows:
        means, known = np.hstack([self.means, values]), np.zeros((len(self.gaps), np.shape(values)[1]), bool)
        return GaussianRows(means, self.pattern, np.hstack([self.gaps, known]), self.covariance)

    def scale(self, factors: ArrayLike) -> GaussianRows:
        """The laws of the rows with every column multiplied by its factor; gaps and patterns stay."""
        factors = np.array(self._factors(factors))  # one layout: each would be compiled by itself
        check_blocks(self)
        covariance = np.array(self.covariance)
        scale_blocks(covariance, self.gap_start, np.nonzero(self.gaps)[1], factors)
        return GaussianRows(self.means * factors, self.pattern, self.gaps, covariance)

    def map(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> MappedRows:
        """The laws of ``matrix @ x + offset``."""
        matrix = self._lines(matrix, "matrix")
        order = np.argsort(self.gaps.sum(axis=1), kind="stable")
        images = [matrix[:, columns] @ root_of(block) for columns, block in map(self._block, order)]
        gaps = np.array([image.any(axis=1) for image in images], bool).reshape(-1, len(matrix))
        covariance = flat(image[mine] @ image[mine].T for image, mine in zip(images, gaps, strict=True))
        rank = self.gaps.sum(axis=1)[order]
        means, pattern = self.means @ matrix.T + offset, np.argsort(order)[self.pattern]
        return MappedRows(means, pattern, gaps, covariance, flat(images), rank)

    def draws(self, n_draws: int, random_state: Any = None) -> np.ndarray:
        """Complete rows drawn from the laws, (n_draws, n_rows, n_features)."""
        draws = np.repeat(self.means[None], n_draws, axis=0)
        noise = check_random_state(random_state).standard_normal(draws.shape)
        for members, columns, covariance in self.by_pattern():
            if len(columns):
                around = noise[:, members][:, :, columns] @ root_of(covariance).T
                draws[np.ix_(np.arange(n_draws), members, columns)] += around
        return draws

    def atoms(self, n_atoms: int, method: str = "sobol", seed: int = 0) -> AtomRows:
        def fill(values: np.ndarray, starts: np.ndarray, cube: Callable[..., np.ndarray]) -> None:
            for members, columns, covariance in self.by_pattern():
                if len(columns):
                    places = np.add.outer(starts[members], np.arange(n_atoms))[:, :, None]
                    around = normal_draws(cube(members, len(columns)), covariance)
                    values[places, columns] = self.means[np.ix_(members, columns)][:, None] + around

        return AtomRows.drawn(np.where(self.uncertain, np.nan, self.means), fill, n_atoms, method, seed)

    def _block(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        columns = np.flatnonzero(self.gaps[k])
        block = self.covariance[self.block_start[k] : self.block_start[k + 1]]
        return columns, block.reshape(len(columns), len(columns))


@dataclass(frozen=True, eq=False)
class MappedRows(GaussianRows):
    """An immutable batch of rows, each the Gaussian law of a linear map of a row with gaps.

    A map spreads the gaps of a row over many columns, but its covariance keeps the rank that it had: the number of
    gaps. Its roots are kept, so that a kernel needs no matrix larger than the rank.

    Attributes
    ----------
    means, pattern, gaps, covariance : ndarray
        Those of `GaussianRows`; patterns are in the order of their rank.
    root : ndarray
        F with F F' the covariance over all columns, (n_features, rank), for each pattern, flattened one after another.
    rank : ndarray of shape (n_patterns,)
        The number of columns of each root.

    Examples
    --------
    >>> from gapkernel.density import Gaussian
    >>> rows = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]]).condition([[2.0, None], [1.0, 1.0]])
    >>> mapped = rows.map([[1.0, 1.0], [1.0, -1.0]])
    >>> mapped.means, mapped.rank
    (array([[3., 1.],
           [2., 0.]]), array([0, 1]))
    """

    root: np.ndarray
    rank: np.ndarray

    kind: ClassVar[str] = "mapped"

    def take(self, indices: Indices) -> MappedRows:
        """The rows at ``indices`` (integers, a slice or a mask), with the patterns they need."""
        rows, kept = super().take(indices), self._taken(row_indices(indices))[2]
        starts = self.n_features * starts_of(self.rank)
        root = flat(self.root[starts[k] : starts[k + 1]] for k in kept)
        return MappedRows(rows.means, rows.pattern, rows.gaps, rows.covariance, root, self.rank[kept])
