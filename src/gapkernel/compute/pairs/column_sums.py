"""The block engine of sums over columns: distances between numbers and tables between codes.

Columns lie one after another, so that every innermost loop runs along the rows of the right batch and vectorises.
A number is the same sum in the same order wherever its tile falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.compute.compiled import compiled
from gapkernel.compute.doors import check_array
from gapkernel.compute.linalg.covariance_blocks import starts_of
from gapkernel.compute.runtime.threads import run_tasks

TILE = 256
"""Rows on each side of a tile; a line of it stays in the nearest cache."""


@dataclass(frozen=True)
class ColumnBatch:
    """One batch, column by column.

    Attributes
    ----------
    numbers : ndarray of shape (n_numeric, n_rows)
        Values in units of range over weight, so that a distance is subtracted as it is; NaN in the gaps.
    profile : ndarray of shape (n_numeric, n_rows)
        What a value adds against a gap.
    codes : ndarray of shape (n_categorical, n_rows), int32
        Lines of the tables, the last for a gap.
    """

    numbers: np.ndarray
    profile: np.ndarray
    codes: np.ndarray

    def __len__(self) -> int:
        return self.numbers.shape[1]

    def check(self, n_numeric: int, sizes: np.ndarray) -> None:
        """Refuse a batch whose columns do not go together, or whose codes lie outside tables of these sizes."""
        check_array("The numbers", self.numbers, np.float64, n_numeric, len(self))
        check_array("The profiles", self.profile, np.float64, n_numeric, len(self))
        check_array("The codes", self.codes, np.int32, len(sizes), len(self))
        if self.codes.size and not ((self.codes >= 0) & (self.codes < sizes[:, None])).all():
            raise ValueError("A code is not that of a level.")


def summed(
    left: ColumnBatch, right: ColumnBatch | None, weights: np.ndarray, tables: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """The sum over columns for all pairs; ``right=None`` is the symmetric matrix of one batch.

    Parameters
    ----------
    weights : ndarray of shape (n_numeric,)
        What two equal numbers add.
    tables : ndarray
        The tables of all categorical columns, flattened one after another.
    starts : ndarray of shape (n_categorical + 1,)
        Where each begins; one entry more than there are columns.
    """
    symmetric = right is None
    right = left if right is None else right
    out = np.empty((len(left), len(right)))
    sizes = np.sqrt(np.diff(starts)).astype(np.int64)
    if not np.array_equal(starts, starts_of(sizes**2)):
        raise ValueError("The tables of the categories are not square.")
    check_array("The tables", tables, np.float64, starts[-1])
    for side in (left, right):
        side.check(len(weights), sizes)

    def fill(tile):
        i0, j0 = tile
        i1, j1 = min(i0 + TILE, len(left)), min(j0 + TILE, len(right))
        block = np.zeros((i1 - i0, j1 - j0))
        _add_distances(left.numbers, left.profile, right.numbers, right.profile, weights, i0, j0, block)
        _add_tables(left.codes, right.codes, tables, starts, sizes, i0, j0, block)
        out[i0:i1, j0:j1] = block
        if symmetric and i0 != j0:
            out[j0:j1, i0:i1] = block.T

    tiles = [(i, j) for i in range(0, len(left), TILE) for j in range(i if symmetric else 0, len(right), TILE)]
    run_tasks(fill, tiles, "Comparing rows")
    return out


@compiled()
def _add_distances(left, left_profile, right, right_profile, weights, i0, j0, out):
    """weight - |x - z|, or the profile of the one value that is there, or that of two gaps."""
    columns = out.shape[1]
    for i in range(out.shape[0]):
        for k in range(left.shape[0]):
            x, against_gap, weight = left[k, i0 + i], left_profile[k, i0 + i], weights[k]
            if np.isnan(x):
                for j in range(columns):
                    out[i, j] += right_profile[k, j0 + j]
            else:
                for j in range(columns):
                    value = weight - abs(x - right[k, j0 + j])
                    out[i, j] += value if value == value else against_gap  # NaN is a gap on the right


@compiled()
def _add_tables(left, right, tables, starts, sizes, i0, j0, out):
    columns = out.shape[1]
    for i in range(out.shape[0]):
        for k in range(left.shape[0]):
            line = starts[k] + left[k, i0 + i] * sizes[k]
            for j in range(columns):
                out[i, j] += tables[line + right[k, j0 + j]]
