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

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        matrix = np.array(left.means if self.places is None else left.means[:, self.places])
        if matrix.shape[1] != len(right):
            raise ValueError(
                f"kernel='precomputed' needs one value for each of the {len(right)} rows that are compared with, got "
                f"{matrix.shape[1]}. It is for SVC, SVR, OneClassSVM and KernelRidge; GridSearchCV chooses settings."
            )
        return matrix
