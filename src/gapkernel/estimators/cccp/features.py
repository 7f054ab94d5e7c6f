"""Features of completed rows, block by block: kept when all of them fit the memory budget, else computed each time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gapkernel.compute.linalg.basis import Basis
from gapkernel.compute.runtime.config import get_config
from gapkernel.compute.runtime.progress import tracked
from gapkernel.density.completions import Completions, row_blocks
from gapkernel.kernels.on_vectors import CompleteKernel
from gapkernel.solvers.cccp.problem import Block

BLOCK_BYTES = 64 << 20
"""Size of the features of one block, or of its completed rows if these are wider."""


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
    X : ndarray of shape (n_rows, n_columns)
        With gaps.
    completions : Completions
    features : FeatureMap
    keep : bool
        Whether to keep the blocks, if they fit half the memory budget.
    verbose : bool
    """

    def __init__(self, X: np.ndarray, completions: Completions, features: FeatureMap, *, keep=True, verbose=False):
        self.X, self.completions, self.features = X, completions, features
        counts = completions.counts(X)
        widest = max(features.size * features.dtype.itemsize, X.shape[1] * X.itemsize)  # bytes of a completion
        self.slices = row_blocks(counts, min(BLOCK_BYTES, get_config().memory_budget) // widest)
        self.bytes = int(counts.sum()) * features.size * features.dtype.itemsize
        self._kept: list[Block] | None = None
        if keep and 2 * self.bytes <= get_config().memory_budget:
            blocks = tracked(range(len(self)), len(self), "features", verbose)
            self._kept = [self._compute(b) for b in blocks]

    def __len__(self) -> int:
        return len(self.slices)

    def __getitem__(self, b):
        if not 0 <= b < len(self):
            raise IndexError(b)
        return self._kept[b] if self._kept is not None else self._compute(b)

    def _compute(self, b) -> Block:
        completed = self.completions.complete(self.X[self.slices[b]])
        return Block(self.features(completed.values), completed.log_weight, completed.counts)
