"""Gap patterns: which rows have their gaps in the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gapkernel.compute.linalg.blocks import starts_of


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
    >>> found = Patterns.of(np.array([[False, True], [False, False], [False, True]]))
    >>> found.index, found.counts
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
