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
from numba import njit

from gapkernel.compute.cholesky import factor_in_place, solve_in_place
from gapkernel.compute.elimination import ARITHMETIC, LANES

DEPENDENT = 1e-14
"""A direction of I - B_q with less than this share of its own variance is rounding."""

TOGETHER = 16
"""Rows of a pattern, and new rows of a law, that share one factor; more would save little and take more memory."""


@njit(cache=True, nogil=True, error_model="numpy")
def frames(side, patterns, gaps, root, gamma):
    """Where the frame Y_q of each of ``patterns`` begins, all of them one below another, and log |L_q L_q'|.

    ``root`` is Q, its rows the ``gaps`` of the new rows.
    """
    p = gaps.shape[0]
    n_patterns, n_shared = len(patterns), 0
    for q in patterns:
        for column in gaps:
            n_shared += side.position[q, column] >= 0
    start, frame, log_det = np.zeros(n_patterns + 1, np.int64), np.empty((n_shared, p)), np.empty(n_patterns)
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
                z[s] += rest[r, s] * root[shared[r]]
        remaining = np.eye(size) - 2.0 * gamma * (z @ z.T)
        log_det[k] = factor_in_place(remaining, size, 0.0)
        for s in range(p):
            column = z[:, s].copy()
            solve_in_place(remaining, size, column)
            frame[start[k] : start[k + 1], s] = np.sqrt(2.0 * gamma) * column
    return start, frame, log_det


@njit(cache=True, nogil=True, error_model="numpy")
def own_projections(pattern, slope, start, frame):
    """Y_q t_i of each row i on the frame of its own pattern, one row after another, and where each begins."""
    p, n = slope.shape
    begin = np.zeros(n + 1, np.int64)
    for i in range(n):
        begin[i + 1] = begin[i] + start[pattern[i] + 1] - start[pattern[i]]
    out = np.zeros(begin[n])
    for i in range(n):
        for k in range(begin[i + 1] - begin[i]):
            for s in range(p):
                out[begin[i] + k] += frame[start[pattern[i]] + k, s] * slope[s, i]
    return out, begin


@njit(cache=True, nogil=True, error_model="numpy")
def log_means(pattern, base, slope, start, frame, log_det, log_det_d, gamma):
    """log E e_i for each row i: N is I + 2 gamma W_q alone, and D is I + 2 gamma diag(l)."""
    along, begin = own_projections(pattern, slope, start, frame)
    out = np.empty(len(base))
    for i in range(len(base)):
        squared = np.sum(slope[:, i] ** 2) + np.sum(along[begin[i] : begin[i + 1]] ** 2)
        out[i] = base[i] + 2.0 * gamma * gamma * squared - 0.5 * (log_det[pattern[i]] + log_det_d)
    return out


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def shared_sums(pattern, place, base, slope, log_mean, start, frame, log_det, log_det_d, gamma, vectors, matrix):
    """sum_ij (v_i'v_j - matrix_ij) Cov(e_i, e_j) for each of T new rows of one law.

    Row i of ``pattern`` (n,), ``base`` (T, n), ``slope`` (T, p, n) of D^-1/2 s, ``log_mean`` (T, n) and ``vectors``
    (T, k, n) is row ``place[i]`` of the symmetric ``matrix``. Rows are sorted by pattern, and patterns by the size of
    their frame.
    """
    n_new, _, n = slope.shape
    widest = start[pattern[n - 1] + 1] - start[pattern[n - 1]]
    cross, system = np.empty((widest, widest, LANES)), np.empty((widest, widest, LANES))
    v, u = np.zeros((widest, LANES)), np.zeros((widest, LANES))
    squared, log_root = np.zeros(LANES), np.empty(LANES)
    mean, norm, totals = np.exp(log_mean), np.sum(slope**2, axis=1), np.zeros(n_new)
    own, own_start = own_projections(pattern, slope[0], start, frame)
    own = np.empty((n_new, len(own)))
    for t in range(n_new):
        own[t] = own_projections(pattern, slope[t], start, frame)[0]
    begin = 0
    while begin < n:
        q, end = pattern[begin], begin + 1
        while end < n and end - begin < TOGETHER and pattern[end] == q:
            end += 1
        size_q, known = start[q + 1] - start[q], start[q + 1]
        y_q, others = frame[start[q] : known], frame[:known].T  # the frames of this pattern and of those before it
        across = y_q @ others
        along, inner = np.empty((n_new, size_q, end)), np.empty((n_new, end - begin, end))
        beside = np.empty((n_new, end - begin, known))
        for t in range(n_new):
            before = np.ascontiguousarray(slope[t, :, :end])
            mine = np.ascontiguousarray(slope[t, :, begin:end].T)
            along[t], inner[t], beside[t] = y_q @ before, mine @ before, mine @ others
        for j0 in range(0, end, LANES):
            used = min(LANES, end - j0)
            size = start[pattern[j0 + used - 1] + 1] - start[pattern[j0 + used - 1]]
            _load(across, pattern, start, j0, used, size_q, size, cross, system)
            _factor(system, size, log_root)
            for lane in range(used):
                log_root[lane] += 0.5 * (log_det[q] + log_det[pattern[j0 + lane]] + log_det_d)
            for t in range(n_new):
                for i in range(max(begin, j0), end):
                    for lane in range(used):
                        squared[lane] = norm[t, i] + norm[t, j0 + lane] + 2.0 * inner[t, i - begin, j0 + lane]
                    for k in range(size_q):
                        for lane in range(used):
                            v[k, lane] = along[t, k, i] + along[t, k, j0 + lane]
                    for lane in range(used):
                        at, size_r = start[pattern[j0 + lane]], own_start[j0 + lane + 1] - own_start[j0 + lane]
                        for k in range(size_r):
                            u[k, lane] = beside[t, i - begin, at + k] + own[t, own_start[j0 + lane] + k]
                        for k in range(size_r, size):
                            u[k, lane] = 0.0
                    _add_frames(cross, system, v, u, size_q, size, squared)
                    for lane in range(min(used, i + 1 - j0)):
                        j = j0 + lane
                        log_product = base[t, i] + base[t, j] + 2.0 * gamma * gamma * squared[lane] - log_root[lane]
                        weight = -matrix[place[i], place[j]]
                        for k in range(vectors.shape[1]):
                            weight += vectors[t, k, i] * vectors[t, k, j]
                        excess, product = log_product - log_mean[t, i] - log_mean[t, j], mean[t, i] * mean[t, j]
                        # the second form where e^excess would overflow; there nothing cancels
                        covariance = product * np.expm1(excess) if excess < 30.0 else np.exp(log_product) - product
                        totals[t] += (weight if i == j else 2.0 * weight) * covariance
        begin = end
    return totals


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _load(across, pattern, start, j0, used, size_q, size, cross, system):
    """C and the upper triangle of I - C'C for rows j0, j0 + 1, ... in their lanes; no frame is I, as are lanes left."""
    lanes = cross.shape[2]
    for lane in range(lanes):
        r = pattern[j0 + lane] if lane < used else -1
        size_r = start[r + 1] - start[r] if lane < used else 0
        for a in range(size_q):
            for b in range(size):
                cross[a, b, lane] = across[a, start[r] + b] if b < size_r else 0.0
    for b in range(size):
        for other in range(b, size):
            for lane in range(lanes):
                system[b, other, lane] = 1.0 if b == other else 0.0
            for a in range(size_q):
                for lane in range(lanes):
                    system[b, other, lane] -= cross[a, b, lane] * cross[a, other, lane]


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _factor(system, size, log_root):
    """Overwrite the upper triangle by U with U'U = system, the diagonal inverted; ``log_root`` is half log |system|."""
    lanes = log_root.shape[0]
    log_root[:] = 0.0
    for k in range(size):
        for lane in range(lanes):
            log_root[lane] += 0.5 * np.log(system[k, k, lane])
        for lane in range(lanes):
            system[k, k, lane] = 1.0 / np.sqrt(system[k, k, lane])
        for r in range(k + 1, size):
            for lane in range(lanes):
                system[k, r, lane] *= system[k, k, lane]
        for r in range(k + 1, size):
            for s in range(r, size):
                for lane in range(lanes):
                    system[r, s, lane] -= system[k, r, lane] * system[k, s, lane]


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _add_frames(cross, system, v, u, size_q, size, squared):
    """Add v'v + (u + C'v)'(I - C'C)^-1 (u + C'v) to ``squared``; ``u`` is overwritten."""
    lanes = squared.shape[0]
    for a in range(size_q):
        for lane in range(lanes):
            squared[lane] += v[a, lane] * v[a, lane]
        for b in range(size):
            for lane in range(lanes):
                u[b, lane] += cross[a, b, lane] * v[a, lane]
    for k in range(size):
        for lane in range(lanes):
            u[k, lane] *= system[k, k, lane]
        for lane in range(lanes):
            squared[lane] += u[k, lane] * u[k, lane]
        for r in range(k + 1, size):
            for lane in range(lanes):
                u[r, lane] -= system[k, r, lane] * u[k, lane]
