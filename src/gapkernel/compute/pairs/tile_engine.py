"""The block engine of the expected RBF family: tiles, threads and where each number goes.

A matrix is cut into tiles along the sorted rows of both sides. A thread takes one strip of tiles at a time; a number
never depends on how many threads work or which strip they take first. Two patterns that many rows share have one
factor for all their pairs; other rows are compared pair by pair (`scattered`).
"""

from __future__ import annotations

import threading
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.doors import check_array, check_finite
from gapkernel.compute.linalg.elimination import LANES, factor_in_place, solve_in_place
from gapkernel.compute.pairs.scattered import gather_unions, scattered_tile
from gapkernel.compute.pairs.side import lay_out
from gapkernel.compute.runtime.threads import run_tasks

TILE = 64
"""Rows on each side of a tile; its work arrays then stay in the processor's cache."""


class ExpectedRBFEngine:
    """exp(scale_i + scale_j) * E exp(-gamma ||x - y||^2) for rows of two batches, with independent draws.

    Parameters
    ----------
    left, right : GaussianRows
        With ``right=None`` the batch is paired with itself and only half of the pairs are computed.
    gamma : float
    scale_left, scale_right : ndarray of shape (n,)
        Logarithms of the factors of each row (what a normalisation needs).
    """

    def __init__(self, left: Any, right: Any, gamma: float, scale_left: np.ndarray, scale_right: np.ndarray) -> None:
        self.gamma, self.symmetric = float(gamma), right is None
        # the training side is the right one, or the only one: the centre must not depend on new rows
        training = left if right is None else right
        check_array("The means of the rows", left.means, np.float64, len(left), training.means.shape[1])
        check_array("The scales of the rows", scale_left, np.float64, len(left))
        check_array("The scales of the rows", scale_right, np.float64, len(training))
        centre = training.means.mean(axis=0) if len(training) else 0.0
        here = self._laid_out(left, centre)
        there = here if right is None else self._laid_out(right, centre)
        self.left, self.order_left, crowded_left = here
        self.right, self.order_right, crowded_right = there
        self.crowded = crowded_left, crowded_right
        self.edges_left = _edges(self.left.pattern, crowded_left)
        self.edges_right = _edges(self.right.pattern, crowded_right)
        self.scale_left, self.scale_right = scale_left[self.order_left], scale_right[self.order_right]
        self._worker = threading.local()
        self.lanes = LANES if left.means.shape[1] <= 64 else 16  # wide systems fill the cache with fewer lanes

    def _laid_out(self, rows, centre):
        """One side for the compiled loops, the order of its rows, and how many of them share crowded patterns."""
        return lay_out(rows, self.gamma, centre)

    def matrix(self) -> np.ndarray:
        """The whole matrix."""
        return self._filled(lambda *tile: self._log_tile(*tile)[None], 1)[0]

    def _filled(self, log_tiles, n_layers: int) -> np.ndarray:
        """Matrices one upon another, (n_layers, n_left, n_right), from the logarithms of their tiles.

        Numbers are looked at tile by tile, while they are in the processor's cache: to look at a matrix again takes a
        tenth of its time.
        """
        out = np.empty((n_layers, len(self.order_left), len(self.order_right)))
        doubtful = []  # tiles whose sum is not finite

        def fill(edge):
            i0, i1 = edge
            for j0, j1 in self.edges_right:
                if self.symmetric and j0 < i0:
                    continue
                blocks = log_tiles(i0, i1, j0, j1)
                np.exp(blocks, out=blocks)
                rows, columns = self.order_left[i0:i1], self.order_right[j0:j1]
                half = self.symmetric and i0 == j0
                for block, matrix in zip(blocks, out, strict=True):
                    _write_tile(block, rows, columns, self.symmetric, half, matrix)
                    if not isfinite(_total(block, half)):
                        doubtful.append((i0, j0))

        run_tasks(fill, self.edges_left, "Comparing rows")
        return check_finite(out, "The kernel matrix") if doubtful else out

    def dot(self, coefficients: np.ndarray) -> np.ndarray:
        """The matrix times ``coefficients`` (n_right, k), one tile at a time: the matrix is never held."""
        coefficients = np.asarray(coefficients, dtype=np.float64)
        check_array("The coefficients", coefficients, np.float64, len(self.order_right), np.shape(coefficients)[-1])
        coefficients = np.ascontiguousarray(coefficients[self.order_right])
        out = np.zeros((len(self.order_left), coefficients.shape[1]))

        def fill(edge):
            i0, i1 = edge
            total = np.zeros((i1 - i0, coefficients.shape[1]))
            for j0, j1 in self.edges_right:
                block = self._log_tile(i0, i1, j0, j1)
                _accumulate(np.exp(block, out=block), coefficients[j0:j1], total)
            out[self.order_left[i0:i1]] = total

        run_tasks(fill, self.edges_left, "Comparing rows")
        return out

    def _log_tile(self, i0, i1, j0, j1):
        squared, log_det = np.empty((i1 - i0, j1 - j0)), np.empty((i1 - i0, j1 - j0))
        if i1 <= self.crowded[0] and j1 <= self.crowded[1]:
            shared_tile(self.left, self.right, i0, i1, j0, j1, self.gamma, squared, log_det)
        else:
            self._scattered_tile(i0, i1, j0, j1, self.symmetric and i0 == j0, squared, log_det)
        combine_logs(squared, log_det, -self.gamma, self.scale_left[i0:i1], self.scale_right[j0:j1])
        return squared

    def _scattered_tile(self, i0, i1, j0, j1, half, squared, log_det):
        """Fill a tile of rows with patterns of their own; ``half`` of one on the diagonal is enough."""
        scattered_tile(
            self.left, self.right, i0, i1, j0, j1, self.gamma, half, self.lanes, self._scratch(), squared, log_det
        )

    def _scratch(self):
        """Work memory of the current thread."""
        if not hasattr(self._worker, "scratch"):
            self._worker.scratch = self._new_scratch()
        return self._worker.scratch

    def _new_scratch(self) -> np.ndarray:
        most_gaps = sum(int(np.diff(side.gap_start).max(initial=0)) for side in (self.left, self.right))
        return np.empty(2 * TILE**2 * most_gaps)  # a tile of crowded rows has 2 TILE rows, any other TILE


def _edges(pattern: np.ndarray, n_crowded: int) -> list[tuple[int, int]]:
    """Cut sorted rows into tiles; a tile of crowded rows never spans two patterns."""
    groups = np.flatnonzero(np.diff(pattern[:n_crowded])) + 1
    starts = [0, *groups.tolist(), n_crowded] if n_crowded else [0]
    cuts = [cut for start, stop in pairwise(starts) for cut in range(start, stop, 2 * TILE)]
    cuts += [*range(n_crowded, len(pattern), TILE), len(pattern)]
    return list(pairwise(dict.fromkeys(cuts)))


@compiled()
def combine_logs(squared, log_det, minus_gamma, scale_left, scale_right):
    """log K = -gamma * quadratic form - 1/2 * log determinant + scales, into ``squared``."""
    for i in range(squared.shape[0]):
        for j in range(squared.shape[1]):
            value = minus_gamma * squared[i, j] + (scale_left[i] + scale_right[j])
            squared[i, j] = value - 0.5 * log_det[i, j]


@compiled()
def _write_tile(block, rows, columns, symmetric, half, out):
    for i in range(block.shape[0]):
        for j in range(i if half else 0, block.shape[1]):
            out[rows[i], columns[j]] = block[i, j]
            if symmetric:
                out[columns[j], rows[i]] = block[i, j]


@compiled(reorder=True)
def _total(block, half):
    """The sum of a tile, or of the half of it that is filled."""
    total = 0.0
    for i in range(block.shape[0]):
        for j in range(i if half else 0, block.shape[1]):
            total += block[i, j]
    return total


@compiled()
def _accumulate(block, coefficients, total):
    """total += block @ coefficients, summed in a fixed order so that no bit depends on the blocking."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            value = block[i, j]
            for k in range(coefficients.shape[1]):
                total[i, k] += value * coefficients[j, k]


@compiled()
def union_factor(left, right, i, j, gamma):
    """Columns missing in either row, the Cholesky factor of I + 2 gamma S on them, its log determinant."""
    union = np.flatnonzero((left.position[left.pattern[i]] >= 0) | (right.position[right.pattern[j]] >= 0))
    size = len(union)
    matrix, delta = np.zeros((size, size, 1)), np.empty((size, 1))
    gather_unions(left, right, i, j, np.zeros((1, 2), np.int64), gamma, size, matrix, delta)
    factor = matrix[:, :, 0].T.copy()
    return union, factor, factor_in_place(factor, size, 0.0)


@inner()
def _whitened(side, first, last, union, factor):
    """Means of rows first..last with the union columns replaced by L^-1 times them, one row per column."""
    means = side.means[:, first:last].copy()
    column = np.empty(union.shape[0])
    for i in range(last - first):
        for r in range(union.shape[0]):
            column[r] = means[union[r], i]
        solve_in_place(factor, union.shape[0], column)
        for r in range(union.shape[0]):
            means[union[r], i] = column[r]
    return means


@inner()
def add_distances(left, right, squared):
    """Add the squared distances between the columns of ``left`` (d, n) and of ``right`` (d, m)."""
    for i in range(left.shape[1]):
        for column in range(left.shape[0]):
            mean = left[column, i]
            for j in range(right.shape[1]):
                squared[i, j] += (mean - right[column, j]) ** 2


@compiled()
def shared_tile(left, right, i0, i1, j0, j1, gamma, squared, log_det):
    """Fill ``squared`` and ``log_det`` for rows i0..i1 of one pattern against j0..j1 of another."""
    union, factor, common_log_det = union_factor(left, right, i0, j0, gamma)
    means_left = _whitened(left, i0, i1, union, factor)
    means_right = _whitened(right, j0, j1, union, factor)
    squared[:] = 0.0
    log_det[:] = common_log_det
    add_distances(means_left, means_right, squared)
