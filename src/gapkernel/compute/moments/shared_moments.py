"""Second moments of expected RBF kernel values over the gaps of rows that share a law, the work shared by pattern.

Notation of `kernel_moments`: training row i of pattern q has slope s_i and curvature W_q = R'B_q R around the new row's
law, and the pair (i, j) of patterns (q, r) needs the determinant of N = I + 2 gamma (W_q + W_r) and (s_i + s_j)'N^-1
(s_i + s_j). B_q differs from the identity only on the gaps that q shares with the new row, so with R'R = diag(l),
D = I + 4 gamma diag(l), Q = R D^-1/2 and a root F_q of I - B_q on the shared gaps

    N = D^1/2 (I - 2 gamma (Z_q'Z_q + Z_r'Z_r)) D^1/2,    Z_q = F_q'Q: as many rows as there are shared gaps.

With I - 2 gamma Z_q Z_q' = L_q L_q', the frame Y_q = (2 gamma)^1/2 L_q^-1 Z_q, C = Y_q Y_r' and t = D^-1/2 (s_i + s_j),
Woodbury's identity leaves a system of the size of the smaller frame:

    log |N| = log |D| + log |L_q L_q'| + log |L_r L_r'| + log |I - C'C|
    s'N^-1 s = t't + v'v + u'(I - C'C)^-1 u,    v = Y_q t,    u = Y_r t + C'v.

Frames and I - C'C depend on patterns only; complete training rows have empty frames and cost a matrix product.
"""

import numpy as np

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.linalg.elimination import LANES, factor, factor_in_place, solve_in_place
from gapkernel.compute.moments.kernel_moments import add_up
from gapkernel.compute.pairs.mapped_engine import Frames, add_frames, load_frames

DEPENDENT = 1e-14
"""A direction of I - B_q with less than this share of its own variance is rounding."""

TOGETHER = 16
"""Training rows in one matrix product, and new rows that share a factor; more would take memory and save little."""


@compiled()
def frames_of(side, patterns, gaps, root, gamma):
    """The frames of ``patterns``; ``root`` is Q, its rows the ``gaps`` of the new rows."""
    p = gaps.shape[0]
    n_patterns, n_shared = len(patterns), 0
    for q in patterns:
        for column in gaps:
            n_shared += side.position[q, column] >= 0
    start, rows, log_det = np.zeros(n_patterns + 1, np.int64), np.empty((n_shared, p)), np.empty(n_patterns)
    shared = np.empty(p, np.int64)
    for k in range(n_patterns):
        q, size = patterns[k], 0
        own, block = side.gap_start[q + 1] - side.gap_start[q], side.block_start[q]
        for r in range(p):
            if side.position[q, gaps[r]] >= 0:
                shared[size] = r
                size += 1
        start[k + 1] = start[k] + size
        rest = np.empty((size, size))  # I - B_q
        for r in range(size):
            at = block + side.position[q, gaps[shared[r]]] * own
            for s in range(r + 1):
                rest[r, s] = (1.0 if r == s else 0.0) - side.inverse[at + side.position[q, gaps[shared[s]]]]
        factor_in_place(rest, size, DEPENDENT)
        z = np.zeros((size, p))
        for r in range(size):
            for s in range(r + 1):
                for column in range(p):
                    z[s, column] += rest[r, s] * root[shared[r], column]
        remaining = np.empty((size, size))  # I - 2 gamma Z_q Z_q'
        for r in range(size):
            for s in range(r + 1):
                total = 0.0
                for column in range(p):
                    total += z[r, column] * z[s, column]
                remaining[r, s] = (1.0 if r == s else 0.0) - 2.0 * gamma * total
        log_det[k] = factor_in_place(remaining, size, 0.0)
        solved = np.empty(size)
        for column in range(p):
            for r in range(size):
                solved[r] = np.sqrt(2.0 * gamma) * z[r, column]
            solve_in_place(remaining, size, solved)
            for r in range(size):
                rows[start[k] + r, column] = solved[r]
    return Frames(start, rows, log_det)


@inner()
def own_projections(pattern, frames, slope):
    """Y_q t_i of each row i on the frame of its own pattern, one row after another, and where each begins."""
    n_new, p, n = slope.shape
    begin = np.zeros(n + 1, np.int64)
    for i in range(n):
        begin[i + 1] = begin[i] + frames.start[pattern[i] + 1] - frames.start[pattern[i]]
    out = np.zeros((n_new, begin[n]))
    for t in range(n_new):
        for i in range(n):
            first = frames.start[pattern[i]]
            for k in range(begin[i + 1] - begin[i]):
                for s in range(p):
                    out[t, begin[i] + k] += frames.rows[first + k, s] * slope[t, s, i]
    return out, begin


@compiled()
def shared_log_means(pattern, frames, base, slope, gamma):
    """log E e_i (T, n): N is I + 2 gamma W_q, D is I + 2 gamma diag(l), and ``frames.log_det`` has its log |D|."""
    own, begin = own_projections(pattern, frames, slope)
    out = np.empty_like(base)
    for t in range(base.shape[0]):
        for i in range(base.shape[1]):
            squared = 0.0
            for s in range(slope.shape[1]):
                squared += slope[t, s, i] ** 2
            for k in range(begin[i], begin[i + 1]):
                squared += own[t, k] ** 2
            out[t, i] = base[t, i] + 2.0 * gamma * gamma * squared - 0.5 * frames.log_det[pattern[i]]
    return out


@compiled()
def shared_covariances(pattern, frames, bumps, gamma, matrix):
    """`weighted_covariances` from the slopes D^-1/2 s; ``frames.log_det`` has half of log |D|.

    Rows are sorted by their ``pattern``, and patterns by the size of their frame.
    """
    start, slope = frames.start, bumps.slope
    n_new, _, n = slope.shape
    widest = start[pattern[n - 1] + 1] - start[pattern[n - 1]]
    cross, system = np.empty((widest, widest, LANES)), np.empty((widest, widest, LANES))
    v, u = np.zeros((widest, LANES)), np.zeros((widest, LANES))
    value, log_det = np.zeros(LANES), np.empty(LANES)
    mean, totals, norm = np.exp(bumps.log_mean), np.zeros(n_new), np.zeros((n_new, n))
    for t in range(n_new):
        for s in range(slope.shape[1]):
            for i in range(n):
                norm[t, i] += slope[t, s, i] ** 2
    own, own_start = own_projections(pattern, frames, slope)
    for first in range(0, n, TOGETHER):
        stop = min(first + TOGETHER, n)
        top, known = start[pattern[first]], start[pattern[stop - 1] + 1]
        here, before = frames.rows[top:known], frames.rows[:known].T  # frames of these rows, and of all up to these
        across, mine = np.empty((known - top, known)), np.empty((stop - first, slope.shape[1]))
        np.dot(here, before, across)
        along, inner = np.empty((n_new, known - top, n)), np.empty((n_new, stop - first, n))
        beside = np.empty((n_new, stop - first, known))
        for t in range(n_new):
            for s in range(slope.shape[1]):
                for i in range(first, stop):
                    mine[i - first, s] = slope[t, s, i]
            np.dot(here, slope[t], along[t])
            np.dot(mine, slope[t], inner[t])
            np.dot(mine, before, beside[t])
        begin = first
        while begin < stop:
            q, end = pattern[begin], begin + 1
            while end < stop and pattern[end] == q:
                end += 1
            low, high = start[q] - top, start[q + 1] - top
            for j0 in range(0, end, LANES):
                used = min(LANES, end - j0)
                size = start[pattern[j0 + used - 1] + 1] - start[pattern[j0 + used - 1]]
                load_frames(across[low:high], pattern, start, j0, used, size, cross, system)
                factor(system, size, log_det)
                for lane in range(used):
                    log_det[lane] += frames.log_det[q] + frames.log_det[pattern[j0 + lane]]
                for t in range(n_new):
                    for i in range(max(begin, j0), end):
                        for lane in range(used):
                            value[lane] = norm[t, i] + norm[t, j0 + lane] + 2.0 * inner[t, i - first, j0 + lane]
                        for k in range(low, high):
                            for lane in range(used):
                                v[k - low, lane] = along[t, k, i] + along[t, k, j0 + lane]
                        for lane in range(used):
                            at, of_j = start[pattern[j0 + lane]], own_start[j0 + lane]
                            size_r = own_start[j0 + lane + 1] - of_j
                            for k in range(size):
                                u[k, lane] = beside[t, i - first, at + k] + own[t, of_j + k] if k < size_r else 0.0
                        add_frames(cross, system, v, u, high - low, size, value)
                        last = min(used, i + 1 - j0)
                        totals[t] += add_up(bumps, mean, t, i, j0, last, value, log_det, gamma, matrix)
            begin = end
    return totals
