"""Features of completed rows, block by block: kept when all of them fit the memory budget, else computed each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from gapkernel.compute import Basis, centres, get_config, starts_of, tracked
from gapkernel.density import AtomicDensity, row_blocks
from gapkernel.kernels import CompleteKernel
from gapkernel.papers.missing_variables.objective import Block
from gapkernel.rows import AtomRows
from gapkernel.tables import Table

BLOCK_BYTES = 64 << 20
"""Size of the features of one block, or of its completed rows if these are wider."""


MOST_BASIS = 500
"""Basis functions when the caller names no number."""

MOST_PICKED_FROM = 10_000
"""Rows among which the basis is picked, unless four times its size is more; beyond, they are drawn."""


def basis_size(n_basis: int | None, n_rows: int) -> int:
    """Most basis functions for rows of this number."""
    if n_basis is not None and n_basis > n_rows:
        raise ValueError(
            f"n_basis={n_basis} is more than the {n_rows} rows that a basis can be picked from. "
            f"Use at most n_basis={n_rows}, or None."
        )
    return min(MOST_BASIS, n_rows) if n_basis is None else n_basis


def rows_for_basis(
    table: Table, completions: AtomicDensity, basis: str, size: int, indicator: bool, random
) -> np.ndarray:
    """The complete rows that basis functions are picked from: complete ones, means of completions, or centres."""
    complete = np.asarray(~table.missing.any(axis=1))
    if basis == "complete" and not complete.any():
        raise ValueError(
            "basis='complete' needs complete rows to pick basis functions from, but every row of X has a gap. "
            "Use basis='auto', which fills gaps by the means of their completions."
        )
    enough = basis == "complete" or (basis == "auto" and complete.sum() >= size)
    pool = np.flatnonzero(complete) if enough else np.arange(len(table))
    most = max(MOST_PICKED_FROM, 4 * size)
    if len(pool) > most:
        pool = np.sort(random.choice(pool, most, replace=False))
    picked = table[pool]
    codes = picked.one_hot() if complete[pool].all() else completions.means(picked)
    rows = picked.with_indicator(codes, indicator)
    return centres(rows, size, random) if basis == "kmeans" else rows


class FeatureMap:
    """phi of complete rows: whitened kernel values with the basis, and a constant 1 for the intercept.

    Parameters
    ----------
    kernel : CompleteKernel
    basis : Basis
    intercept : bool
    dtype : dtype
    """

    def __init__(self, kernel: CompleteKernel, basis: Basis, intercept: bool, dtype):
        self.kernel, self.intercept, self.dtype = kernel, intercept, np.dtype(dtype)
        self.basis, self.whitening = basis, basis.whitening.astype(dtype)
        # an RBF sees differences only, and float32 keeps few digits of values far from 0
        self.origin = basis.rows.mean(axis=0) if kernel.source == "rbf" else np.zeros(basis.rows.shape[1])

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.basis.rows) + self.intercept

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """(n_rows, size)."""
        features = np.ones((len(rows), self.size), self.dtype)
        values = self.kernel((rows - self.origin).astype(self.dtype, copy=False), self.basis.rows - self.origin)
        features[:, : len(self.basis.rows)] = values.astype(self.dtype, copy=False) @ self.whitening
        return features


class FeatureBlocks(Sequence[Block]):
    """Blocks of rows with the features of their completions.

    Parameters
    ----------
    table : Table
        With gaps.
    completions : AtomicDensity
    features : FeatureMap
    indicator : bool
        Whether completions have a further 0/1 column for the gaps of each column.
    keep : bool
        Whether to keep the blocks, if they fit half the memory budget.
    most : int or None
        Most completions of a row: of more, so many are drawn.
    verbose : bool
    """

    def __init__(
        self,
        table: Table,
        completions: AtomicDensity,
        features: FeatureMap,
        *,
        indicator=False,
        keep=True,
        most: int | None = None,
        verbose=False,
    ):
        self.table, self.completions, self.features, self.indicator = table, completions, features, indicator
        self.most = most
        counts, itemsize = completions.counts(table), features.dtype.itemsize
        width = len(completions.columns_) + indicator * table.shape[1]
        widest = max(features.size * itemsize, width * 8)  # bytes of a completion
        self.slices = row_blocks(counts, min(BLOCK_BYTES, get_config().memory_budget) // widest)
        self._kept: list[Block] | None = None
        if keep and 2 * int(counts.sum()) * features.size * itemsize <= get_config().memory_budget:
            blocks = tracked(range(len(self)), len(self), "features", verbose)
            self._kept = [self._compute(b) for b in blocks]

    def __len__(self) -> int:
        return len(self.slices)

    def __getitem__(self, b):
        if not 0 <= b < len(self):
            raise IndexError(b)
        return self._kept[b] if self._kept is not None else self._compute(b)

    def _compute(self, b) -> Block:
        table = self.table[self.slices[b]]
        atoms = cast(AtomRows, self.completions.condition(table))
        some = slice(None) if self.most is None else _some(atoms.counts, self.most)
        values = table[atoms.owner[some]].with_indicator(atoms.values[some], self.indicator)
        counts = atoms.counts if self.most is None else np.minimum(atoms.counts, self.most)
        return Block(self.features(values), atoms.log_weight[some], counts)


def _some(counts: np.ndarray, most: int) -> np.ndarray:
    """The places of at most ``most`` completions of each row, drawn from all of them."""
    owner = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((np.random.default_rng(0).random(len(owner)), owner))  # the rows stay together
    return np.sort(order[np.arange(len(owner)) - starts_of(counts)[owner] < most])
