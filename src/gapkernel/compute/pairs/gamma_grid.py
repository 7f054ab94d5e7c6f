"""The expected RBF family for many widths in one pass over the pairs of rows.

A pair is brought to tridiagonal form on the columns missing in either row, once; each width then costs one pass along
a diagonal. With M = I + 2 gamma S for one gamma, M = Q T Q' and c between 0 and 1, the system at the width c gamma is
(1 - c) I + c M = Q ((1 - c) I + c T) Q'. Pairs of crowded patterns keep the shared factor, one for each width.

Arrays are laid out as in `elimination`: ``(row, column, lane)``, and padding with the identity changes no bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.doors import check_array
from gapkernel.compute.linalg.elimination import PIVOTS_PER_LOG
from gapkernel.compute.pairs.scattered import gather_unions, observed_distance, sort_pairs
from gapkernel.compute.pairs.tile_engine import ExpectedRBFEngine, combine_logs, shared_tile

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

    def __init__(
        self, left: Any, right: Any, gammas: np.ndarray, scales_left: np.ndarray, scales_right: np.ndarray
    ) -> None:
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


@inner()
def tridiagonalise(matrix, vector, size, off_diagonal, work):
    """Overwrite ``matrix`` (upper triangle) and ``vector`` by Q'MQ and Q'vector; only the diagonal of the first is
    left there, what stands beside it goes to ``off_diagonal``. ``work`` is of shape (2, size, lanes)."""
    lanes = vector.shape[1]
    mirror, image = work[0], work[1]
    norm, beta, factor = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for k in range(size - 1):
        for lane in range(lanes):
            norm[lane] = 0.0
        for s in range(k + 1, size):
            for lane in range(lanes):
                norm[lane] += matrix[k, s, lane] * matrix[k, s, lane]
        for lane in range(lanes):  # away from the first entry, so that nothing cancels
            off_diagonal[k, lane] = -np.copysign(np.sqrt(norm[lane]), matrix[k, k + 1, lane])
        for lane in range(lanes):
            half = norm[lane] - matrix[k, k + 1, lane] * off_diagonal[k, lane]
            beta[lane] = 1.0 / half if half > 0.0 else 0.0  # I - beta v v' with v = mirror
        for s in range(k + 1, size):
            for lane in range(lanes):
                mirror[s, lane] = matrix[k, s, lane]
        for lane in range(lanes):
            mirror[k + 1, lane] -= off_diagonal[k, lane]
        _multiply_symmetric(matrix, mirror, k + 1, size, image)
        _dot(image, mirror, k + 1, size, factor)
        for lane in range(lanes):
            factor[lane] *= 0.5 * beta[lane] * beta[lane]
        for r in range(k + 1, size):
            for lane in range(lanes):
                image[r, lane] = beta[lane] * image[r, lane] - factor[lane] * mirror[r, lane]
        for r in range(k + 1, size):
            for s in range(r, size):
                for lane in range(lanes):
                    matrix[r, s, lane] -= mirror[r, lane] * image[s, lane] + image[r, lane] * mirror[s, lane]
        _dot(vector, mirror, k + 1, size, factor)
        for r in range(k + 1, size):
            for lane in range(lanes):
                vector[r, lane] -= factor[lane] * beta[lane] * mirror[r, lane]


@inner()
def _multiply_symmetric(matrix, vector, begin, size, out):
    """out = matrix @ vector from row ``begin`` on, with the upper triangle only."""
    lanes = vector.shape[1]
    for r in range(begin, size):
        for lane in range(lanes):
            out[r, lane] = 0.0
    for r in range(begin, size):
        for lane in range(lanes):
            out[r, lane] += matrix[r, r, lane] * vector[r, lane]
        for s in range(r + 1, size):
            for lane in range(lanes):
                out[r, lane] += matrix[r, s, lane] * vector[s, lane]
            for lane in range(lanes):
                out[s, lane] += matrix[r, s, lane] * vector[r, lane]


@inner()
def _dot(left, right, begin, size, out):
    lanes = out.shape[0]
    for lane in range(lanes):
        out[lane] = 0.0
    for r in range(begin, size):
        for lane in range(lanes):
            out[lane] += left[r, lane] * right[r, lane]


@inner()
def solve_tridiagonal(matrix, off_diagonal, vector, size, share, value, log_det):
    """Set ``value = vector' A^-1 vector`` and ``log_det = log |A|`` with A = (1 - share) I + share * tridiagonal."""
    lanes = value.shape[0]
    pivot, entry, ratio, determinant = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.ones(lanes)
    for lane in range(lanes):
        pivot[lane] = (1.0 - share) + share * matrix[0, 0, lane]
    for lane in range(lanes):
        entry[lane] = vector[0, lane]
    for lane in range(lanes):
        value[lane] = entry[lane] * entry[lane] / pivot[lane]
    for lane in range(lanes):
        determinant[lane] = pivot[lane]
    log_det[:] = 0.0
    for k in range(1, size):
        for lane in range(lanes):
            ratio[lane] = share * off_diagonal[k - 1, lane] / pivot[lane]
        for lane in range(lanes):
            diagonal = (1.0 - share) + share * matrix[k, k, lane]
            pivot[lane] = diagonal - share * off_diagonal[k - 1, lane] * ratio[lane]
        for lane in range(lanes):
            entry[lane] = vector[k, lane] - ratio[lane] * entry[lane]
        for lane in range(lanes):
            value[lane] += entry[lane] * entry[lane] / pivot[lane]
        for lane in range(lanes):
            determinant[lane] *= pivot[lane]
        if (k + 1) % PIVOTS_PER_LOG == 0:
            for lane in range(lanes):
                log_det[lane] += np.log(determinant[lane])
            for lane in range(lanes):
                determinant[lane] = 1.0
    for lane in range(lanes):
        log_det[lane] += np.log(determinant[lane])
