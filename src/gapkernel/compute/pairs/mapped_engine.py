"""The expected RBF kernel for laws under a linear map, such as the root of a metric: systems of the rank of a law.

A map spreads the gaps of a row over all columns, but the covariance keeps its rank: Sigma_i = F_i F_i'. With
G_i G_i' = I + 2 gamma F_i'F_i, the frame Y_i = (2 gamma)^1/2 G_i^-1 F_i', C = Y_i Y_j', v = Y_i delta and
u = -Y_j delta, Woodbury's identity gives

    log |I + 2 gamma (Sigma_i + Sigma_j)| = log |G_i G_i'| + log |G_j G_j'| + log |I - C'C|
    delta' (I + 2 gamma (Sigma_i + Sigma_j))^-1 delta = delta'delta - v'v - (u + C'v)'(I - C'C)^-1 (u + C'v).

So the identity and two matrices of low rank need systems of their ranks only. On whitened data, with the inverse of the
density's covariance as the metric, F_i is an orthonormal basis, and C holds the cosines of the angles between two
subspaces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.doors import check_numbers, check_places
from gapkernel.compute.linalg.covariance_blocks import starts_of
from gapkernel.compute.linalg.elimination import add_solved, factor, factor_in_place, solve_in_place
from gapkernel.compute.pairs.tile_engine import ExpectedRBFEngine, add_distances
from gapkernel.compute.runtime.threads import one_blas_thread

WIDEST = 1e4
"""Largest 1 + 4 gamma variance of a law for which frames are used: they lose digits in proportion to it."""


class Frames(NamedTuple):
    """The frames Y_q of all patterns, one below another."""

    start: np.ndarray  # where each begins; one entry more than there are patterns
    rows: np.ndarray  # (start[-1], p)
    log_det: np.ndarray  # of each pattern


@inner()
def add_frames(cross, system, v, u, size_q, size, value):
    """Add v'v + (u + C'v)'(I - C'C)^-1 (u + C'v) to ``value``; ``u`` is overwritten."""
    lanes = value.shape[0]
    for a in range(size_q):
        for lane in range(lanes):
            value[lane] += v[a, lane] * v[a, lane]
        for b in range(size):
            for lane in range(lanes):
                u[b, lane] += cross[a, b, lane] * v[a, lane]
    add_solved(system, u, size, value)


@inner()
def load_frames(across, pattern, start, j0, used, size, cross, system):
    """C and the upper triangle of I - C'C for rows j0, j0 + 1, ... in their lanes; no frame is I, as are lanes left."""
    lanes, size_q = cross.shape[2], across.shape[0]
    at, sizes = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
    for lane in range(used):
        at[lane] = start[pattern[j0 + lane]]
        sizes[lane] = start[pattern[j0 + lane] + 1] - at[lane]
    for a in range(size_q):
        for b in range(size):
            for lane in range(lanes):
                cross[a, b, lane] = across[a, at[lane] + b] if b < sizes[lane] else 0.0
    for b in range(size):
        for other in range(b, size):
            for lane in range(lanes):
                system[b, other, lane] = 1.0 if b == other else 0.0
            rest = size_q % 4
            for a in range(rest):
                for lane in range(lanes):
                    system[b, other, lane] -= cross[a, b, lane] * cross[a, other, lane]
            for a in range(rest, size_q, 4):  # four at a time: the system is loaded and stored less often
                for lane in range(lanes):
                    system[b, other, lane] -= (
                        cross[a, b, lane] * cross[a, other, lane]
                        + cross[a + 1, b, lane] * cross[a + 1, other, lane]
                        + cross[a + 2, b, lane] * cross[a + 2, other, lane]
                        + cross[a + 3, b, lane] * cross[a + 3, other, lane]
                    )


FEW = 0.6
"""Share of the columns up to which systems of the rank are cheaper than systems of all columns."""


class MappedEngine(ExpectedRBFEngine):
    """`ExpectedRBFEngine` for two batches of `MappedRows`. Patterns that many rows share have one factor as there."""

    def __init__(self, left: Any, right: Any, gamma: float, scale_left: np.ndarray, scale_right: np.ndarray) -> None:
        super().__init__(left, right, gamma, scale_left, scale_right)
        self.frames_left = _frames(left, self.gamma, self.left.log_det)
        self.frames_right = self.frames_left if right is None else _frames(right, self.gamma, self.right.log_det)

    @staticmethod
    def pays(left, right, gamma) -> bool:
        """Whether the ranks of both batches are small, and no law is so wide that digits are lost."""
        ranks = [rows.rank[rows.pattern].mean() if len(rows) else 0.0 for rows in (left, right)]
        widest = max(rows.total_variance.max(initial=0.0) for rows in (left, right))
        return max(ranks) <= FEW * left.n_features and 1.0 + 4.0 * gamma * widest < WIDEST

    def matrix(self) -> np.ndarray:
        with one_blas_thread():
            return super().matrix()

    def dot(self, coefficients: np.ndarray) -> np.ndarray:
        with one_blas_thread():
            return super().dot(coefficients)

    def _scattered_tile(self, i0, i1, j0, j1, half, squared, log_det):
        frames = self.frames_left, self.frames_right
        _mapped_tile(self.left, self.right, *frames, i0, i1, j0, j1, half, self.lanes, squared, log_det)


def _frames(rows, gamma, log_det) -> Frames:
    check_places("The ranks", rows.rank, len(rows.root) + 1, len(rows.gaps))
    if np.any(np.diff(rows.rank) < 0):
        raise ValueError("The patterns are not in the order of their ranks.")
    check_numbers("A root", rows.root, rows.rank.sum() * rows.n_features)
    frames = Frames(starts_of(rows.rank), np.empty((rows.rank.sum(), rows.n_features)), log_det)
    _fill_frames(rows.root, gamma, frames)
    return frames


@compiled()
def _fill_frames(roots, gamma, frames):
    """Y = (2 gamma)^1/2 G^-1 F' for each pattern, F the next of the flattened roots."""
    d = frames.rows.shape[1]
    for p in range(frames.log_det.shape[0]):
        begin, end = frames.start[p], frames.start[p + 1]
        root = np.sqrt(2.0 * gamma) * roots[begin * d : end * d].reshape((d, end - begin))
        system = np.zeros((end - begin, end - begin))
        for column in range(d):
            for r in range(end - begin):
                for s in range(r + 1):
                    system[r, s] += root[column, r] * root[column, s]
        for r in range(end - begin):
            system[r, r] += 1.0
        factor_in_place(system, end - begin, 0.0)
        for column in range(d):
            solve_in_place(system, end - begin, root[column])
            frames.rows[begin:end, column] = root[column]


@compiled()
def _mapped_tile(left, right, here, there, i0, i1, j0, j1, diagonal, lanes, squared, log_det):
    """Fill ``squared`` and ``log_det`` for rows i0..i1 against j0..j1; with ``diagonal`` from j = i on at least.

    Rows are sorted by pattern, and patterns by the size of their frame.
    """
    top = there.start[right.pattern[j0]]
    start, frames = there.start - top, there.rows[top : there.start[right.pattern[j1 - 1] + 1]]
    means_left, means_right = left.means[:, i0:i1].copy(), right.means[:, j0:j1].copy()
    beside, own = frames @ means_left, frames @ means_right  # Y_j m_i and Y_j m_j, for all frames and rows
    width = j1 - j0
    widest = start[right.pattern[j1 - 1] + 1] - start[right.pattern[j1 - 1]]
    tallest = here.start[left.pattern[i1 - 1] + 1] - here.start[left.pattern[i1 - 1]]
    cross, system = np.empty((tallest, widest, lanes)), np.empty((widest, widest, lanes))
    v, u = np.zeros((tallest, lanes)), np.zeros((widest, lanes))
    value, common = np.empty(lanes), np.empty(lanes)
    begin = i0
    while begin < i1:
        p, end = left.pattern[begin], begin + 1
        while end < i1 and left.pattern[end] == p:
            end += 1
        frame = here.rows[here.start[p] : here.start[p + 1]]
        size_p = frame.shape[0]
        across, others = frame @ frames.T, frame @ means_right
        mine = frame @ means_left[:, begin - i0 : end - i0].copy()
        for first in range((begin - i0) // lanes * lanes if diagonal else 0, width, lanes):
            used = min(lanes, width - first)
            last = right.pattern[j0 + first + used - 1]
            size = start[last + 1] - start[last]
            load_frames(across, right.pattern, start, j0 + first, used, size, cross, system)
            factor(system, size, common)
            for i in range(begin, end):
                value[:] = 0.0
                for a in range(size_p):
                    for lane in range(used):
                        v[a, lane] = mine[a, i - begin] - others[a, first + lane]
                for lane in range(used):
                    q = right.pattern[j0 + first + lane]
                    for b in range(size):
                        at = start[q] + b
                        inside = at < start[q + 1]
                        u[b, lane] = own[at, first + lane] - beside[at, i - i0] if inside else 0.0
                add_frames(cross, system, v, u, size_p, size, value)
                for lane in range(used):
                    squared[i - i0, first + lane] = -value[lane]
                    q = right.pattern[j0 + first + lane]
                    log_det[i - i0, first + lane] = here.log_det[p] + there.log_det[q] + common[lane]
        begin = end
    add_distances(means_left, means_right, squared)
