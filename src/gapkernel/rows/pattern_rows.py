"""Rows with Gaussian laws that share their covariance with the rows of the same gaps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gapkernel.rows.base import Rows


@dataclass(frozen=True, eq=False)
class PatternRows(Rows):
    """Gaussian laws whose covariances are kept once for each pattern; a kind says how.

    Attributes
    ----------
    means : ndarray of shape (n_rows, n_features)
        The observed values, and the conditional means in the gaps.
    pattern : ndarray of shape (n_rows,)
        The pattern of each row.
    gaps : ndarray of shape (n_patterns, n_features), bool
        The columns on which a pattern is uncertain.
    """

    means: np.ndarray
    pattern: np.ndarray
    gaps: np.ndarray

    def __len__(self) -> int:
        return len(self.means)

    @property
    def n_features(self) -> int:
        return self.means.shape[1]

    @property
    def uncertain(self) -> np.ndarray:
        return self.gaps[self.pattern]

    @property
    def complete(self) -> np.ndarray:
        return np.logical_not(self.gaps.any(axis=1))[self.pattern]

    def components(self) -> tuple[tuple[np.ndarray, Rows], ...]:
        return ((np.ones(len(self)), self),)

    def covariance_of(self, i: int) -> np.ndarray:
        columns, block = self._block(self.pattern[i])
        full = np.zeros((self.n_features, self.n_features))
        full[np.ix_(columns, columns)] = block
        return full

    def by_pattern(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        order = np.argsort(self.pattern, kind="stable")
        ends = np.cumsum(np.bincount(self.pattern, minlength=len(self.gaps)))
        for k, members in enumerate(np.split(order, ends[:-1])):
            if len(members):
                yield members, *self._block(k)

    def tilted(self, column: int, shift: np.ndarray) -> PatternRows:
        means = np.array(self.means)
        for members, columns, covariance in self.by_pattern():
            (place,) = np.nonzero(columns == column)
            if len(place) and covariance[place[0], place[0]] > 0:
                slope = covariance[place[0]] / covariance[place[0], place[0]]  # S delta for a shift of 1
                means[np.ix_(members, columns)] += np.outer(shift[members], slope)
        return replace(self, means=means)

    @abstractmethod
    def _block(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The gap columns of pattern ``k``, and its covariance on them."""

    def _blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return map(self._block, range(len(self.gaps)))

    def _taken(self, indices) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The means and patterns of the rows at ``indices``, and which patterns they need."""
        kept, pattern = np.unique(self.pattern[indices], return_inverse=True)
        return np.array(self.means[indices]), pattern.reshape(-1), kept
