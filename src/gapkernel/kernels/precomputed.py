"""Kernel values that the caller computed."""

from __future__ import annotations

import numpy as np

from gapkernel.kernels.base import Kernel
from gapkernel.rows import Rows


class Precomputed(Kernel):
    """Rows that hold their own kernel values with all training rows, in place of columns of a table.

    Parameters
    ----------
    places : ndarray of int, default=None
        The training rows that are compared with, all of them if None; estimators set it.
    """

    kinds = frozenset({"atoms"})  # the density that gives them has nothing to learn

    def __init__(self, places=None) -> None:
        self.places = places

    def _looked_at(self, rows: Rows) -> Rows:
        if not rows.complete.all():
            row = int(np.argmin(rows.complete))
            raise ValueError(f"kernel='precomputed' takes a kernel matrix without gaps, but row {row} has one.")
        return super()._looked_at(rows)

    def _diag(self, rows: Rows) -> np.ndarray:
        return self._gram(rows).diagonal()

    def _gram(self, rows: Rows) -> np.ndarray:
        matrix = self._cross(rows, rows)
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs the matrix of all pairs of rows, got {matrix.shape[0]} rows of "
                f"{matrix.shape[1]} values. To choose settings by cross-validation use GridSearchCV."
            )
        return matrix

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        return np.array(left.means if self.places is None else left.means[:, self.places])
