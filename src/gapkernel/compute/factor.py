"""The expected RBF kernel for laws of few factors: no matrix of the size of the gaps.

Row i is m_i + P_i (F z_i + noise), with z_i of precision G_i and P_i the mask of its gaps M_i; psi is the variance of
the noise. For two rows, Lambda = 1 + 2 gamma psi (1_i + 1_j) is diagonal, and Woodbury's identity leaves a system in
the two rows' factors only:

    X = [ G_i + 2 gamma W_ii      2 gamma W_ij     ]     W_ij = sum of F_l F_l' / Lambda_l over l in M_i and M_j
        [    2 gamma W_ij     G_j + 2 gamma W_jj   ]     W_ii the same over l in M_i
    log |I + 2 gamma S| = sum of log Lambda_l + log |X| - log |G_i| - log |G_j|
    delta' (I + 2 gamma S)^-1 delta = sum of delta_l^2 / Lambda_l - 2 gamma r' X^-1 r
    r = (r_i, r_j),   r_i = sum of F_l delta_l / Lambda_l over l in M_i

With w1 = 1 / (1 + 2 gamma psi) and w2 = 1 / (1 + 4 gamma psi), everything but the columns missing in both rows is
known row by row; those are added up from a table with one line for each column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from gapkernel.compute.bits import lowest_bit, pack_words
from gapkernel.compute.elimination import ARITHMETIC, PIVOTS_PER_LOG
from gapkernel.compute.expected_rbf import ExpectedRBFEngine, _combine, _edges
from gapkernel.rows.factor import _products

LANES = 64
"""Systems solved side by side; all have the same size."""


class FactorSide(NamedTuple):
    """One side of a kernel block, for one gamma."""

    means: np.ndarray  # (d, n) conditional means, one row in each column
    missing: np.ndarray  # (d, n) 1.0 where the value is uncertain, else 0.0
    pattern: np.ndarray  # (n,) law of each row
    words: np.ndarray  # (p, w) the gap set of each law, packed
    gap_start: np.ndarray  # (p + 1,) where the gaps of a law begin in `gaps`
    gaps: np.ndarray  # gap columns of all laws, one after another
    system: np.ndarray  # (p, k (k + 1) / 2) upper triangle of G + 2 gamma W, as if no gap were shared
    log_det: np.ndarray  # (p,) sum of log (1 + 2 gamma psi) over the gaps, less log |G|


class Columns(NamedTuple):
    """What each column contributes, for one gamma."""

    systems: np.ndarray  # (d, k (k + 1) + 1 and more) if missing in both rows: to the blocks ij and ii of X, to log det
    loadings: np.ndarray  # (k, d) F'
    once: np.ndarray  # (d,) w1, the weight where one row has a gap
    lost: np.ndarray  # (d,) w1 - w2, what a gap in the other row takes away from it


class FactorEngine(ExpectedRBFEngine):
    """`ExpectedRBFEngine` for two batches of `FactorRows` with the same factors."""

    def __init__(self, left, right, gamma, scale_left, scale_right):
        self.gamma, self.symmetric = float(gamma), right is None
        training = left if right is None else right
        centre = training.means.mean(axis=0) if len(training) else 0.0
        self.columns = _columns(left.loadings, left.noise, self.gamma)
        self.left, self.order_left = _lay_out(left, self.gamma, centre)
        self.scale_left = scale_left[self.order_left]
        self.edges_left = _edges(self.left.pattern, 0)
        if self.symmetric:
            self.right, self.order_right, self.edges_right = self.left, self.order_left, self.edges_left
            self.scale_right = self.scale_left
        else:
            self.right, self.order_right = _lay_out(right, self.gamma, centre)
            self.scale_right, self.edges_right = scale_right[self.order_right], _edges(self.right.pattern, 0)

    def _log_tile(self, i0, i1, j0, j1):
        squared, log_det = np.zeros((i1 - i0, j1 - j0)), np.zeros((i1 - i0, j1 - j0))
        half = self.symmetric and i0 == j0
        _factor_tile(self.left, self.right, self.columns, i0, i1, j0, j1, self.gamma, half, LANES, squared, log_det)
        _combine(squared, log_det, -self.gamma, -0.5, self.scale_left[i0:i1], self.scale_right[j0:j1])
        return squared


def factor_log_det(rows, gamma) -> np.ndarray:
    """log |I + 2 gamma Sigma_i| for each row."""
    inflated = 1.0 + 2.0 * gamma * rows.noise
    systems = rows.precision + 2.0 * gamma * _products(rows.gaps / inflated, rows.loadings)
    log_det = np.linalg.slogdet(systems)[1] - np.linalg.slogdet(rows.precision)[1]
    return (rows.gaps @ np.log(inflated) + log_det)[rows.law]


def _lay_out(rows, gamma, centre) -> tuple[FactorSide, np.ndarray]:
    w1 = 1.0 / (1.0 + 2.0 * gamma * rows.noise)
    upper = np.triu_indices(rows.loadings.shape[1])
    systems = rows.precision + 2.0 * gamma * _products(rows.gaps * w1, rows.loadings)
    side = FactorSide(
        means=np.ascontiguousarray((rows.means - centre).T),
        missing=np.ascontiguousarray(rows.gaps[rows.law].T, dtype=np.float64),
        pattern=np.ascontiguousarray(rows.law),
        words=pack_words(rows.gaps),
        gap_start=np.concatenate([[0], np.cumsum(rows.gaps.sum(axis=1))]),
        gaps=np.ascontiguousarray(np.nonzero(rows.gaps)[1]),
        system=np.ascontiguousarray(systems[:, upper[0], upper[1]]),
        log_det=-(rows.gaps @ np.log(w1)) - np.linalg.slogdet(rows.precision)[1],
    )
    return side, np.arange(len(rows))


def _columns(loadings, noise, gamma) -> Columns:
    w1, w2 = 1.0 / (1.0 + 2.0 * gamma * noise), 1.0 / (1.0 + 4.0 * gamma * noise)
    upper = np.triu_indices(loadings.shape[1])
    outer = 2.0 * gamma * loadings[:, upper[0]] * loadings[:, upper[1]]
    parts = np.column_stack([w2[:, None] * outer, -(w1 - w2)[:, None] * outer, 2.0 * np.log(w1) - np.log(w2)])
    systems = np.zeros((len(parts), -(-parts.shape[1] // 16) * 16))  # whole vectors only: no remainder to loop over
    systems[:, : parts.shape[1]] = parts
    return Columns(systems, np.ascontiguousarray(loadings.T), w1, w1 - w2)


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _observed_distance(left, right, i, first, last, squared):
    """Add the squared distance over the columns of which row i is certain, as if all rows were."""
    means_left, means_right, missing = left.means, right.means, left.missing
    for column in range(means_left.shape[0]):
        if missing[column, i] > 0.0:
            continue
        mean = means_left[column, i]
        for j in range(last - first):
            delta = mean - means_right[column, first + j]
            squared[j] += delta * delta


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _pulls(side, other, columns, i, first, last, own, weighted, pulls, distance):
    """Row i of ``side`` against rows first..last of ``other``, over the gaps of row i: r into ``pulls``.

    With ``own`` the distance there is added to ``distance``; otherwise only what these gaps take away from the
    squared distance where the other row is certain.
    """
    p = side.pattern[i]
    begin, size = side.gap_start[p], side.gap_start[p + 1] - side.gap_start[p]
    gaps, means, other_means, missing, width = side.gaps, side.means, other.means, other.missing, last - first
    loadings, all_once, all_lost = columns.loadings, columns.once, columns.lost
    for r in range(size):
        column = gaps[begin + r]
        mean, once, lost = means[column, i], all_once[column], all_lost[column]
        for j in range(width):
            delta = mean - other_means[column, first + j]
            weighted[r, j] = delta * (once - lost * missing[column, first + j])
        if own:
            for j in range(width):
                distance[j] += (mean - other_means[column, first + j]) * weighted[r, j]
        else:
            for j in range(width):
                delta = mean - other_means[column, first + j]
                distance[j] -= (1.0 - missing[column, first + j]) * (1.0 - once) * delta * delta
    for a in range(loadings.shape[0]):
        for j in range(width):
            pulls[a, j] = 0.0
        r = 0
        while r + 4 <= size:  # four columns at a time: the target is loaded and stored a quarter as often
            b0, b1 = loadings[a, gaps[begin + r]], loadings[a, gaps[begin + r + 1]]
            b2, b3 = loadings[a, gaps[begin + r + 2]], loadings[a, gaps[begin + r + 3]]
            for j in range(width):
                pulls[a, j] += (b0 * weighted[r, j] + b1 * weighted[r + 1, j]) + (
                    b2 * weighted[r + 2, j] + b3 * weighted[r + 3, j]
                )
            r += 4
        while r < size:
            b0 = loadings[a, gaps[begin + r]]
            for j in range(width):
                pulls[a, j] += b0 * weighted[r, j]
            r += 1


@njit(cache=True, nogil=True)
def _common_columns(words_left, words_right, p, q, columns):
    """List the columns missing under both laws; returns how many."""
    both = 0
    for w in range(words_left.shape[1]):
        common = words_left[p, w] & words_right[q, w]
        while common:
            columns[both] = 64 * w + lowest_bit(common)
            common &= common - np.uint64(1)
            both += 1
    return both


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _add_lines(table, columns, both, total):
    """Sum the lines of ``table`` for the first ``both`` columns."""
    width = total.shape[0]
    for t in range(width):
        total[t] = 0.0
    c = 0
    while c + 4 <= both:  # four columns at a time: the target is loaded and stored a quarter as often
        c0, c1, c2, c3 = columns[c], columns[c + 1], columns[c + 2], columns[c + 3]
        for t in range(width):
            total[t] += (table[c0, t] + table[c1, t]) + (table[c2, t] + table[c3, t])
        c += 4
    while c < both:
        c0 = columns[c]
        for t in range(width):
            total[t] += table[c0, t]
        c += 1


@njit(cache=True, nogil=True)
def _transpose(lines, entries):
    """Lines of pairs into lanes, eight at a time, so that whole cache lines are written."""
    lanes, width = lines.shape
    for first in range(0, lanes, 8):
        for at in range(width):
            for lane in range(first, min(first + 8, lanes)):
                entries[at, lane] = lines[lane, at]


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _write_systems(left_system, right_system, entries, pull_left, pull_right, first, packed):
    """X and r of row i and the rows j of all lanes: the rows of X from the diagonal on, each followed by its r."""
    lanes, k = packed.shape[1], pull_left.shape[0]
    triangle = k * (k + 1) // 2
    at = 0
    for a in range(k):
        row = a * k - a * (a - 1) // 2 - a  # where row a of a packed triangle would have its column 0
        for b in range(a, k):
            for lane in range(lanes):
                packed[at, lane] = left_system[row + b] + entries[triangle + row + b, lane]
            at += 1
        for b in range(k):
            source = row + b if b >= a else b * k - b * (b - 1) // 2 - b + a
            for lane in range(lanes):
                packed[at, lane] = entries[source, lane]
            at += 1
        for lane in range(lanes):
            packed[at, lane] = pull_left[a, first + lane]
        at += 1
    for a in range(k):
        row = a * k - a * (a - 1) // 2 - a
        for b in range(a, k):
            for lane in range(lanes):
                packed[at, lane] = right_system[row + b, first + lane] + entries[triangle + row + b, lane]
            at += 1
        for lane in range(lanes):
            packed[at, lane] = -pull_right[a, first + lane]
        at += 1


@njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")
def _eliminate_packed(packed, size, factor, reciprocal, value, log_det):
    """value = r' X^-1 r and log |X| in each lane, for systems packed by rows with their right side.

    A row is brought up to date by all rows above it, four at a time, which needs fewer loads and stores than
    eliminating one pivot after another.
    """
    lanes = value.shape[0]
    determinant = np.ones(lanes)
    value[:] = 0.0
    log_det[:] = 0.0
    start = 0
    for r in range(size):
        length = size + 1 - r
        above = r  # entry (k, r)
        for k in range(r):
            for lane in range(lanes):
                factor[k, lane] = packed[above, lane] * reciprocal[k, lane]
            above += size - k
        for t in range(length):
            target, k, above = start + t, 0, r + t  # above is entry (k, r + t)
            while k + 4 <= r:
                a1 = above + size - k
                a2 = a1 + size - k - 1
                a3 = a2 + size - k - 2
                for lane in range(lanes):
                    packed[target, lane] -= (
                        factor[k, lane] * packed[above, lane]
                        + factor[k + 1, lane] * packed[a1, lane]
                        + factor[k + 2, lane] * packed[a2, lane]
                        + factor[k + 3, lane] * packed[a3, lane]
                    )
                above = a3 + size - k - 3
                k += 4
            while k < r:
                for lane in range(lanes):
                    packed[target, lane] -= factor[k, lane] * packed[above, lane]
                above += size - k
                k += 1
        end = start + length - 1
        for lane in range(lanes):
            reciprocal[r, lane] = 1.0 / packed[start, lane]
        for lane in range(lanes):
            value[lane] += packed[end, lane] * packed[end, lane] * reciprocal[r, lane]
        for lane in range(lanes):
            determinant[lane] *= packed[start, lane]
        if (r + 1) % PIVOTS_PER_LOG == 0 or r == size - 1:
            for lane in range(lanes):
                log_det[lane] += np.log(determinant[lane])
            for lane in range(lanes):
                determinant[lane] = 1.0
        start += length


@njit(cache=True, nogil=True, error_model="numpy")
def _factor_tile(left, right, columns, i0, i1, j0, j1, gamma, diagonal, lanes, squared, log_det):
    """Fill ``squared`` and ``log_det``, given as zeros, for rows i0..i1 against j0..j1; a lane is a row j."""
    height, width, d, k = i1 - i0, j1 - j0, left.means.shape[0], columns.loadings.shape[0]
    n_lanes = -(-width // lanes) * lanes  # lanes left over hold whatever they hold; nobody reads them
    pull_left, pulls_right = np.ones((k, n_lanes)), np.ones((height, k, n_lanes))
    pulls_of_j, distance, weighted = np.empty((k, height)), np.empty(height), np.empty((d, max(height, width)))
    right_system = np.ones((right.system.shape[1], n_lanes))
    for j in range(width):
        right_system[:, j] = right.system[right.pattern[j0 + j]]
        distance[:] = 0.0
        _pulls(right, left, columns, j0 + j, i0, i1, False, weighted, pulls_of_j, distance)
        squared[:, j] += distance
        for i in range(height):
            for a in range(k):
                pulls_right[i, a, j] = pulls_of_j[a, i]
    common, lines = np.empty(d, dtype=np.int64), np.zeros((lanes, columns.systems.shape[1]))
    entries, packed = np.empty((lines.shape[1], lanes)), np.empty((k * (2 * k + 3), lanes))
    factor, reciprocal = np.empty((2 * k, lanes)), np.empty((2 * k, lanes))
    value, group_log_det = np.empty(lanes), np.empty(lanes)
    words_left, words_right, table, pattern_right = left.words, right.words, columns.systems, right.pattern
    n_gaps_right = right.gap_start[1:] - right.gap_start[:-1]
    for i in range(height):
        p = left.pattern[i0 + i]
        gaps_left = left.gap_start[p + 1] - left.gap_start[p]
        _observed_distance(left, right, i0 + i, j0, j1, squared[i])
        _pulls(left, right, columns, i0 + i, j0, j1, True, weighted, pull_left, squared[i])
        for first in range(i - i % lanes if diagonal else 0, width, lanes):
            last = min(first + lanes, width)
            for j in range(first, last):
                both = _common_columns(words_left, words_right, p, pattern_right[j0 + j], common)
                _add_lines(table, common, both, lines[j - first])
            _transpose(lines, entries)
            _write_systems(left.system[p], right_system, entries, pull_left, pulls_right[i], first, packed)
            _eliminate_packed(packed, 2 * k, factor, reciprocal, value, group_log_det)
            for j in range(first, last):
                q = pattern_right[j0 + j]
                if gaps_left + n_gaps_right[q] > 0:
                    squared[i, j] -= 2.0 * gamma * value[j - first]
                    shared = lines[j - first, k * (k + 1)]
                    log_det[i, j] = left.log_det[p] + right.log_det[q] + shared + group_log_det[j - first]
