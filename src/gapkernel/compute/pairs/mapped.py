"""The expected RBF kernel for laws under a linear map, such as the root of a metric: systems of the rank of a law.

A map spreads the gaps of a row over all columns, but the covariance keeps its rank: Sigma_i = F_i F_i'. With
G_i G_i' = I + 2 gamma F_i'F_i, the frame Y_i = (2 gamma)^1/2 G_i^-1 F_i', C = Y_i Y_j', v = Y_i delta and
u = -Y_j delta, Woodbury's identity gives

    log |I + 2 gamma (Sigma_i + Sigma_j)| = log |G_i G_i'| + log |G_j G_j'| + log |I - C'C|
    delta' (I + 2 gamma (Sigma_i + Sigma_j))^-1 delta = delta'delta - v'v - (u + C'v)'(I - C'C)^-1 (u + C'v).

On whitened data, with the inverse of the density's covariance as the metric, F_i is an orthonormal basis, and C holds
the cosines of the angles between two subspaces.
"""

from __future__ import annotations

import numpy as np

from gapkernel.compute.compiled import compiled
from gapkernel.compute.doors import check_numbers, check_places
from gapkernel.compute.linalg.blocks import starts_of
from gapkernel.compute.linalg.cholesky import factor_in_place, solve_in_place
from gapkernel.compute.linalg.elimination import factor
from gapkernel.compute.linalg.frames import WIDEST, Frames, add_frames, load_frames
from gapkernel.compute.pairs.expected_rbf import ExpectedRBFEngine
from gapkernel.compute.pairs.shared import add_distances
from gapkernel.compute.runtime.tasks import one_blas_thread

FEW = 0.6
"""Share of the columns up to which systems of the rank are cheaper than systems of all columns."""


class MappedEngine(ExpectedRBFEngine):
    """`ExpectedRBFEngine` for two batches of `MappedRows`. Patterns that many rows share have one factor as there."""

    def __init__(self, left, right, gamma, scale_left, scale_right):
        super().__init__(left, right, gamma, scale_left, scale_right)
        self.frames_left = _frames(left, self.gamma, self.left.log_det)
        self.frames_right = self.frames_left if right is None else _frames(right, self.gamma, self.right.log_det)

    @staticmethod
    def pays(left, right, gamma) -> bool:
        """Whether the ranks of both batches are small, and no law is so wide that digits are lost."""
        ranks = [rows.rank[rows.pattern].mean() if len(rows) else 0.0 for rows in (left, right)]
        widest = max(rows.total_variance.max(initial=0.0) for rows in (left, right))
        return max(ranks) <= FEW * left.n_features and 1.0 + 4.0 * gamma * widest < WIDEST

    def matrix(self, log: bool = False) -> np.ndarray:
        with one_blas_thread():
            return super().matrix(log)

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
