"""Rows grouped by gap pattern, and Gaussian laws that share their covariance with the rows of the same gaps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gapkernel.compute.linalg.covariance_blocks import starts_of
from gapkernel.rows.base import Rows


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows grouped by exact gap pattern (packed bits, so two patterns can never be confused).

    Attributes
    ----------
    gaps : ndarray of shape (n_patterns, n_features), bool
        True where a pattern has a gap. Patterns are in lexicographic order, a complete row first.
    index : ndarray of shape (n_rows,)
        Pattern of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.rows import Patterns
    >>> patterns = Patterns.of(np.array([[False, True], [False, False], [False, True]]))
    >>> patterns.index, patterns.counts
    (array([1, 0, 1]), array([1, 2]))
    """

    gaps: np.ndarray
    index: np.ndarray

    @classmethod
    def of(cls, missing: np.ndarray) -> Patterns:
        """Group the rows of a boolean matrix."""
        if missing.shape[1] == 0:
            return cls(gaps=missing[:1], index=np.zeros(len(missing), np.int64))
        packed = np.ascontiguousarray(np.packbits(missing, axis=1))
        keys: np.ndarray = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        if packed.shape[1] <= 8:  # numbers sort many times faster than bytes
            words = np.zeros((len(packed), 8), np.uint8)
            words[:, : packed.shape[1]] = packed
            keys = words.view(">u8").ravel().astype(np.uint64)
        _, first, index = np.unique(keys, return_index=True, return_inverse=True)
        return cls(gaps=np.ascontiguousarray(missing[first]), index=index.reshape(-1))

    def __len__(self) -> int:
        return len(self.gaps)

    @cached_property
    def counts(self) -> np.ndarray:
        """Number of rows of each pattern."""
        return np.bincount(self.index, minlength=len(self.gaps))

    @cached_property
    def order(self) -> np.ndarray:
        """Rows sorted by pattern."""
        return np.argsort(self.index, kind="stable")

    @cached_property
    def row_start(self) -> np.ndarray:
        """Where the rows of each pattern begin in `order`; one entry more than there are patterns."""
        return starts_of(self.counts)


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

    def _taken(self, indices: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The means and patterns of the rows at ``indices``, and which patterns they need."""
        kept, pattern = np.unique(self.pattern[indices], return_inverse=True)
        return np.array(self.means[indices]), pattern.reshape(-1), kept
