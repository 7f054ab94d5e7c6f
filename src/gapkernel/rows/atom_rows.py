"""Rows as finitely many points with weights: what remains of any law when it is listed or drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import qmc
from sklearn.utils import check_random_state

from gapkernel.compute.doors import check_counts
from gapkernel.compute.draws import RowPoints, row_keys
from gapkernel.compute.linalg.covariance_blocks import places_of, starts_of
from gapkernel.rows.base import Indices, Rows, row_indices


@dataclass(frozen=True, eq=False)
class AtomRows(Rows):
    """An immutable batch of rows, each a few complete rows with weights.

    Attributes
    ----------
    values : ndarray of shape (n_atoms, n_features)
        The atoms of one row after those of another.
    log_weight : ndarray of shape (n_atoms,)
        The weights of the atoms of a row sum to 1.
    counts : ndarray of shape (n_rows,)
        Number of atoms of each row; 1 for a complete row.

    Examples
    --------
    >>> from gapkernel.density import Gaussian
    >>> rows = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]]).condition([[2.0, None], [1.0, 1.0]])
    >>> rows.atoms(4).counts  # four points stand for the first row, and the second is one
    array([4, 1])
    """

    values: np.ndarray
    log_weight: np.ndarray
    counts: np.ndarray

    kind: ClassVar[str] = "atoms"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts("The atoms of the rows", self.counts, len(self.values))

    @classmethod
    def drawn(
        cls, observed: np.ndarray, fill: Callable, n_atoms: int, method: str, seed: int, extra: int = 0
    ) -> AtomRows:
        """``n_atoms`` equal atoms for each row of ``observed`` that has a NaN, which ``fill`` replaces.

        ``fill(values, starts, cube)`` writes the gaps of row i into ``values[starts[i] : starts[i + 1]]``;
        ``cube(rows, n)`` gives points of the unit cube for these rows, (n_rows, n_atoms, n), and ``extra`` is how much
        larger than the number of columns n may be.
        """
        if method not in ("sobol", "random"):
            raise ValueError(
                f"method must be 'sobol' or 'random' for laws with infinitely many values, got {method!r}."
            )
        n_dimensions = observed.shape[1] + extra
        if method == "sobol" and n_dimensions > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"Sobol points have at most {qmc.Sobol.MAXDIM} coordinates, but the rows have {observed.shape[1]} "
                f"columns. Use method='random'."
            )
        points, keys = RowPoints(method, n_atoms, n_dimensions, seed), row_keys(observed)
        counts = np.where(np.isnan(observed).any(axis=1), n_atoms, 1)
        starts = starts_of(counts)
        values = np.repeat(observed, counts, axis=0)
        fill(values, starts, lambda rows, n: points(keys[rows], n))
        return cls(values, np.repeat(-np.log(counts), counts), counts)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.values.shape[1]

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the atoms of each row begin; one entry more than there are rows."""
        return starts_of(self.counts)

    @cached_property
    def owner(self) -> np.ndarray:
        """The row of each atom."""
        return np.repeat(np.arange(len(self)), self.counts)

    @cached_property
    def weight(self) -> np.ndarray:
        """The weight of each atom."""
        return np.exp(self.log_weight)

    @cached_property
    def uncertain(self) -> np.ndarray:
        """True for the cells in which the atoms of a row differ."""
        first = self.values[self.starts[:-1]]
        return self._sums(self.values != first[self.owner]) > 0

    @cached_property
    def means(self) -> np.ndarray:  # type: ignore[override]
        """The mean of each law."""
        means = self._sums(self.weight[:, None] * self.values)
        return np.where(self.uncertain, means, self.values[self.starts[:-1]])

    @cached_property
    def total_variance(self) -> np.ndarray:  # type: ignore[override]
        """Trace of each law's covariance."""
        return self._sums(self.weight[:, None] * (self.values - self.means[self.owner]) ** 2).sum(axis=1)

    def take(self, indices: Indices) -> AtomRows:
        kept = np.arange(len(self))[row_indices(indices)]
        places = places_of(self.starts, kept)
        return AtomRows(self.values[places], self.log_weight[places], self.counts[kept])

    def columns(self, indices: ArrayLike) -> AtomRows:
        return self._with(np.ascontiguousarray(self.values[:, np.asarray(indices)]))

    def beside(self, values: ArrayLike) -> AtomRows:
        return self._with(np.hstack([self.values, np.asarray(values)[self.owner]]))

    def scale(self, factors: ArrayLike) -> AtomRows:
        return self._with(self.values * self._factors(factors))

    def map(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> AtomRows:
        return self._with(self.values @ self._lines(matrix, "matrix").T + offset)

    def draws(self, n_draws: int, random_state: Any = None) -> np.ndarray:
        total = np.cumsum(self.weight)
        ends = total[self.starts[1:] - 1]
        begins = ends - self._sums(self.weight)
        share = check_random_state(random_state).random((n_draws, len(self)))
        chosen = np.searchsorted(total, begins + share * (ends - begins), side="right")
        return self.values[np.clip(chosen, self.starts[:-1], self.starts[1:] - 1)]

    def atoms(self, n_atoms: int, method: str = "sobol", seed: int = 0) -> AtomRows:
        return self

    def cell_nodes(self, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        return self.values[: self.counts[0], column], self.weight[: self.counts[0]]

    def components(self) -> tuple[tuple[np.ndarray, AtomRows], ...]:
        """The k-th atom of all rows, for each k; a row with fewer has the weight 0 there."""
        found = []
        for k in range(int(self.counts.max(initial=1))):
            places = self.starts[:-1] + np.minimum(k, self.counts - 1)
            found.append((np.where(k < self.counts, self.weight[places], 0.0), AtomRows.certain(self.values[places])))
        return tuple(found)

    @classmethod
    def certain(cls, X: np.ndarray) -> AtomRows:
        """Complete rows: one atom each."""
        return cls(np.array(X, dtype=np.float64), np.zeros(len(X)), np.ones(len(X), np.int64))

    def covariance_of(self, i: int) -> np.ndarray:
        mine = slice(self.starts[i], self.starts[i + 1])
        away = self.values[mine] - self.means[i]
        return (self.weight[mine, None] * away).T @ away

    def quadratic(self, directions: ArrayLike) -> np.ndarray:
        along = (self.values - self.means[self.owner]) @ self._lines(directions, "directions").T
        return self._sums(self.weight[:, None] * along**2)

    def _with(self, values: np.ndarray) -> AtomRows:
        return AtomRows(values, self.log_weight, self.counts)

    def _sums(self, table: np.ndarray) -> np.ndarray:
        """Lines of ``table``, one for each atom, added up by row."""
        if not len(self):
            return np.zeros((0, *table.shape[1:]))
        return np.add.reduceat(table, self.starts[:-1], axis=0)
