"""The expected RBF family for many widths in one pass over the pairs of rows.

A pair is brought to tridiagonal form on the columns missing in either row, once; each width then costs one pass along
a diagonal. Pairs of crowded patterns keep the shared factor, one for each width.
"""

from __future__ import annotations

import numpy as np

from gapkernel.compute.compiled import compiled
from gapkernel.compute.doors import check_array
from gapkernel.compute.linalg.tridiagonal import solve_tridiagonal, tridiagonalise
from gapkernel.compute.pairs.expected_rbf import ExpectedRBFEngine, combine_logs
from gapkernel.compute.pairs.scattered import gather_unions, observed_distance, sort_pairs
from gapkernel.compute.pairs.shared import shared_tile

ENOUGH_WIDTHS = 6
"""Widths from which one pass is faster than one engine for each (measured: benchmarks/results/model_selection.md)."""


class GammaGridEngine(ExpectedRBFEngine):
    """`ExpectedRBFEngine` for several widths.

    Parameters
    ----------
    left, right : GaussianRows
        With ``right=None`` the batch is paired with itself.
    gammas : ndarray of shape (n_gammas,)
    scales_left, scales_right : ndarray of shape (n_gammas, n)
        Logarithms of the factors of each row at each width.
    """

    def __init__(self, left, right, gammas, scales_left, scales_right):
        for scales, rows in ((scales_left, left), (scales_right, left if right is None else right)):
            check_array("The scales of the rows", scales, np.float64, len(gammas), len(rows))
        widest = int(np.argmax(gammas))
        super().__init__(left, right, gammas[widest], scales_left[widest], scales_right[widest])
        self.gammas = gammas
        self.scales_left = np.ascontiguousarray(scales_left[:, self.order_left])
        self.scales_right = np.ascontiguousarray(scales_right[:, self.order_right])

    def matrices(self) -> np.ndarray:
        """The matrices of all widths, (n_gammas, n_left, n_right)."""
        return self._filled(self._log_tiles, len(self.gammas))

    def _log_tiles(self, i0, i1, j0, j1):
        shape = len(self.gammas), i1 - i0, j1 - j0
        squared, log_det = np.empty(shape), np.empty(shape)
        if i1 <= self.crowded[0] and j1 <= self.crowded[1]:
            for k, gamma in enumerate(self.gammas):
                shared_tile(self.left, self.right, i0, i1, j0, j1, gamma, squared[k], log_det[k])
        else:
            half = self.symmetric and i0 == j0
            _grid_tile(
                self.left, self.right, i0, i1, j0, j1, self.gamma, self.gammas, half, self.lanes, squared, log_det
            )
        for k, gamma in enumerate(self.gammas):
            combine_logs(squared[k], log_det[k], -gamma, self.scales_left[k, i0:i1], self.scales_right[k, j0:j1])
        return squared


@compiled()
def _grid_tile(left, right, i0, i1, j0, j1, widest, gammas, diagonal, lanes, squared, log_det):
    """Fill ``squared`` and ``log_det``, one layer for each gamma, for rows i0..i1 against j0..j1."""
    height, width = i1 - i0, j1 - j0
    pairs = np.empty((height * width, 2), dtype=np.int64)
    size = np.empty(height * width, dtype=np.int64)
    _, n_pairs = sort_pairs(left, right, i0, i1, j0, j1, diagonal, True, pairs, size)
    squared[0] = 0.0
    for i in range(i0, i1):
        observed_distance(left, right, i, j0, j1, squared[0, i - i0])
    log_det[:] = 0.0
    for k in range(1, gammas.shape[0]):
        squared[k] = squared[0]
    largest = size[n_pairs - 1] if n_pairs else 0
    matrix, work = np.empty((largest, largest, lanes)), np.empty((2, largest, lanes))
    delta, off_diagonal = np.empty((largest, lanes)), np.empty((largest, lanes))
    value, group_log_det = np.empty(lanes), np.empty(lanes)
    for begin in range(0, n_pairs, lanes):
        end = min(begin + lanes, n_pairs)
        group, columns = pairs[begin:end], size[end - 1]
        gather_unions(left, right, i0, j0, group, widest, columns, matrix, delta)
        tridiagonalise(matrix, delta, columns, off_diagonal, work)
        for k in range(gammas.shape[0]):
            solve_tridiagonal(matrix, off_diagonal, delta, columns, gammas[k] / widest, value, group_log_det)
            for lane in range(end - begin):
                squared[k, group[lane, 0], group[lane, 1]] += value[lane]
            for lane in range(end - begin):
                log_det[k, group[lane, 0], group[lane, 1]] = group_log_det[lane]
