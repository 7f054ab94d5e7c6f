"""The systems of `pairs.factor` for a tile of pairs, eight pairs side by side, one in each place of a vector.

A pair has little arithmetic of its own, and what it costs is moving numbers: every sum stays in registers until it is
complete, and what eight rows need lies together. Such a group is a matrix (number, row) written as a line; the groups
of a tile follow one another: if a row has k numbers, the group that begins with row j begins at j * k.
"""

import numpy as np

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.linalg.vectors import WIDTH, load, spread, store, transpose
from gapkernel.compute.pairs.side import lowest_bit

# How many vectors of sums the loops below keep in registers; arrays are filled up to whole multiples.
BLOCK = 4  # entries of a row of X
SLOTS = 6  # entries of r
STRETCH = 7 * WIDTH  # numbers of a column's share

PIVOTS_PER_LOG = 10
"""Pivots multiplied together before taking a logarithm. A precision of factors is at least I, and so is X: every pivot
lies above 1, and 10 stay inside the range of a double up to 1e30 each."""


@compiled()
def row_starts(size):
    """Where the rows of upper triangles with one right side begin, each filled up to whole blocks."""
    starts = np.zeros(size + 1, dtype=np.int64)
    for r in range(size):
        starts[r + 1] = starts[r] + WIDTH * BLOCK * ((size + BLOCK - r) // BLOCK)
    return starts


@inner()
def _weigh(side, other, i, first, weighted):
    """delta / Lambda of row i of ``side`` and the group of ``other`` from row ``first`` on, over the gaps of row i.

    Returns the sum of delta^2 / Lambda over these gaps.
    """
    p, d = side.pattern[i], side.columns.shape[1]
    columns, points, means, weights = side.columns, side.points, other.means, other.weights
    total = spread(0.0)
    for r in range(side.n_gaps[p]):
        column = columns[p, r]
        at = first * d + column * WIDTH
        delta = spread(points[i, column]) - load(means, at)
        scaled = delta * load(weights, at)
        store(weighted, r * WIDTH, scaled)
        total = total + delta * scaled
    return total


@inner()
def _certain_distance(side, other, i, first):
    """The sum of delta^2 / Lambda over the columns of which row i is certain; two sums, so that neither waits for
    itself."""
    p, d = side.pattern[i], side.columns.shape[1]
    columns, points, means, weights = side.columns, side.points, other.means, other.certain_weights
    even = odd = spread(0.0)
    r = side.n_gaps[p]
    while r + 1 < d:
        a, b = columns[p, r], columns[p, r + 1]
        at_a, at_b = first * d + a * WIDTH, first * d + b * WIDTH
        delta_a, delta_b = spread(points[i, a]) - load(means, at_a), spread(points[i, b]) - load(means, at_b)
        even = even + delta_a * load(weights, at_a) * delta_a
        odd = odd + delta_b * load(weights, at_b) * delta_b
        r += 2
    if r < d:
        at_a = first * d + columns[p, r] * WIDTH
        delta_a = spread(points[i, columns[p, r]]) - load(means, at_a)
        even = even + delta_a * load(weights, at_a) * delta_a
    return even + odd


@inner()
def _pull(side, shares, i, weighted, pulls, to):
    """r = the sum of (2 gamma)^1/2 F_l delta_l / Lambda_l over the gaps l of row i, for a group."""
    p, loadings, n_slots, columns = side.pattern[i], shares.loadings, shares.n_slots, side.columns
    for a in range(0, n_slots, SLOTS):
        r0 = r1 = r2 = r3 = r4 = r5 = spread(0.0)
        for r in range(side.n_gaps[p]):
            at, delta = columns[p, r] * n_slots + a, load(weighted, r * WIDTH)
            r0, r1 = r0 + spread(loadings[at]) * delta, r1 + spread(loadings[at + 1]) * delta
            r2, r3 = r2 + spread(loadings[at + 2]) * delta, r3 + spread(loadings[at + 3]) * delta
            r4, r5 = r4 + spread(loadings[at + 4]) * delta, r5 + spread(loadings[at + 5]) * delta
        slot = to + a * WIDTH
        for total in (r0, r1, r2, r3, r4, r5):
            store(pulls, slot, total)
            slot += WIDTH


@inner()
def _pull_left(left, right, shares, i0, i1, j0, wide, diagonal, pulls):
    """r_i of all pairs, followed by the distance: for each row i the groups of its rows j."""
    weighted = np.empty(left.columns.shape[1] * WIDTH)
    for j in range(0, wide, WIDTH):  # one group of rows j stays in the cache for all rows i
        for i in range(i0, min(i1, j0 + j + WIDTH) if diagonal else i1):
            distance = _weigh(left, right, i, j0 + j, weighted) + _certain_distance(left, right, i, j0 + j)
            to = ((i - i0) * wide + j) * shares.n_slots
            _pull(left, shares, i, weighted, pulls, to)
            store(pulls, to + shares.n_factors * WIDTH, distance)


@inner()
def _pull_right(left, right, shares, i0, i1, j0, j1, wide, diagonal, pulls):
    """r_j of all pairs, laid out as by `_pull_left`; here a group has rows i."""
    size = shares.n_slots * WIDTH
    weighted, turned = np.empty(left.columns.shape[1] * WIDTH), np.zeros(WIDTH * size)
    for i in range(0, i1 - i0, WIDTH):
        for j in range(i if diagonal else 0, j1 - j0, WIDTH):
            for row in range(j, min(j + WIDTH, j1 - j0)):
                _weigh(right, left, j0 + row, i0 + i, weighted)
                _pull(right, shares, j0 + row, weighted, turned, (row - j) * size)
            for a in range(shares.n_factors):
                to = (i * wide + j) * shares.n_slots + a * WIDTH
                _turn(turned, a * WIDTH, size, pulls, to, wide * shares.n_slots)


@inner()
def _turn(source, begin, stride, target, to, target_stride):
    """Write eight lines of eight numbers as eight columns."""
    a, b = load(source, begin), load(source, begin + stride)
    c, d = load(source, begin + 2 * stride), load(source, begin + 3 * stride)
    e, f = load(source, begin + 4 * stride), load(source, begin + 5 * stride)
    g, h = load(source, begin + 6 * stride), load(source, begin + 7 * stride)
    for column in transpose((a, b, c, d, e, f, g, h)):
        store(target, to, column)
        to += target_stride


@inner()
def _add_shares(left, right, shares, i, j0, first, last, lines, entries):
    """Add up the shares of the columns missing in both rows, for row i and the groups of rows first..last from j0 on.

    One stretch of numbers at a time for all pairs, so that the stretch stays in the cache.
    """
    systems, n_numbers, own, others = shares.systems, shares.n_numbers, left.words, right.words
    p, pattern = left.pattern[i], right.pattern
    for t in range(0, n_numbers, STRETCH):
        for j in range(first, last):
            q = pattern[j0 + j]
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = spread(0.0)
            for w in range(own.shape[1]):
                common = own[p, w] & others[q, w]
                while common:
                    at = (64 * w + lowest_bit(common)) * n_numbers + t
                    s0, s1 = s0 + load(systems, at), s1 + load(systems, at + WIDTH)
                    s2, s3 = s2 + load(systems, at + 2 * WIDTH), s3 + load(systems, at + 3 * WIDTH)
                    s4, s5 = s4 + load(systems, at + 4 * WIDTH), s5 + load(systems, at + 5 * WIDTH)
                    s6 = s6 + load(systems, at + 6 * WIDTH)
                    common &= common - np.uint64(1)
            at = j % WIDTH * STRETCH
            for total in (s0, s1, s2, s3, s4, s5, s6):
                store(lines, at, total)
                at += WIDTH
            if (j + 1) % WIDTH == 0 or j + 1 == last:
                to = (j - j % WIDTH) * n_numbers + t * WIDTH
                for at in range(0, STRETCH, WIDTH):
                    _turn(lines, at, STRETCH, entries, to + at * WIDTH, WIDTH)


@inner()
def _write_systems(
    k, left_system, right_system, of_right, entries, of_pair, pulls_left, pulls_right, pull, starts, packed
):
    """X and r of row i and a group of rows j: the rows of X from the diagonal on, each followed by its r."""
    triangle, entry = k * (k + 1) // 2 * WIDTH, 0
    for a in range(k):
        own_left, own_right = starts[a], starts[k + a]
        for b in range(a, k):
            at = entry * WIDTH
            own, mixed = load(entries, of_pair + at + triangle), load(entries, of_pair + at)
            store(packed, own_left, spread(left_system[entry]) + own)
            store(packed, own_right, load(right_system, of_right + at) + own)
            store(packed, starts[a] + (k + b - a) * WIDTH, mixed)
            store(packed, starts[b] + (k + a - b) * WIDTH, mixed)
            own_left, own_right, entry = own_left + WIDTH, own_right + WIDTH, entry + 1
        store(packed, starts[a] + (2 * k - a) * WIDTH, load(pulls_left, pull + a * WIDTH))
        store(packed, own_right, spread(0.0) - load(pulls_right, pull + a * WIDTH))


@inner()
def _eliminate_packed(packed, size, starts, factor, reciprocal, value, log_det):
    """value = r' X^-1 r and log |X| of a group, for systems packed by rows with their right side.

    A row is brought up to date by all rows above it, one block at a time. The last block may reach beyond the end of
    the row: what is computed there only fills it up, and is never used.
    """
    total, determinant = spread(0.0), spread(1.0)
    log_det[:] = 0.0
    for r in range(size):
        for k in range(r):
            store(factor, k * WIDTH, load(packed, starts[k] + (r - k) * WIDTH) * load(reciprocal, k * WIDTH))
        for at in range(starts[r], starts[r + 1], BLOCK * WIDTH):
            x0, x1 = load(packed, at), load(packed, at + WIDTH)
            x2, x3 = load(packed, at + 2 * WIDTH), load(packed, at + 3 * WIDTH)
            for k in range(r):
                above, f = starts[k] + (r - k) * WIDTH + at - starts[r], load(factor, k * WIDTH)
                x0, x1 = x0 - f * load(packed, above), x1 - f * load(packed, above + WIDTH)
                x2, x3 = x2 - f * load(packed, above + 2 * WIDTH), x3 - f * load(packed, above + 3 * WIDTH)
            store(packed, at, x0)
            store(packed, at + WIDTH, x1)
            store(packed, at + 2 * WIDTH, x2)
            store(packed, at + 3 * WIDTH, x3)
        pivot, right = load(packed, starts[r]), load(packed, starts[r] + (size - r) * WIDTH)
        inverse = spread(1.0) / pivot
        store(reciprocal, r * WIDTH, inverse)
        total, determinant = total + right * right * inverse, determinant * pivot
        if (r + 1) % PIVOTS_PER_LOG == 0 or r == size - 1:
            store(value, 0, determinant)
            for lane in range(WIDTH):
                log_det[lane] += np.log(value[lane])
            determinant = spread(1.0)
    store(value, 0, total)


@compiled()
def factor_tile(left, right, shares, starts, i0, i1, j0, j1, diagonal, scratch, squared, log_det):
    """Fill ``squared`` and ``log_det`` for rows i0..i1 against j0..j1; with ``diagonal`` from j = i on only.

    Rows that the last group lacks hold anything; they are never read.
    """
    height, width, k = i1 - i0, j1 - j0, shares.n_factors
    wide = -(-width // WIDTH) * WIDTH
    n_system, n_numbers, n_slots = left.system.shape[1], shares.n_numbers, shares.n_slots
    pulls_left, pulls_right = scratch[0], scratch[1]
    _pull_left(left, right, shares, i0, i1, j0, wide, diagonal, pulls_left)
    _pull_right(left, right, shares, i0, i1, j0, j1, wide, diagonal, pulls_right)
    right_system = np.ones(wide * n_system)
    for j in range(width):
        for at in range(n_system):
            right_system[(j - j % WIDTH) * n_system + at * WIDTH + j % WIDTH] = right.system[right.pattern[j0 + j], at]
    lines, entries = np.zeros(WIDTH * STRETCH), np.empty(wide * n_numbers)
    packed, factor, reciprocal = np.ones(starts[2 * k]), np.empty(2 * k * WIDTH), np.empty(2 * k * WIDTH)
    value, group_log_det = np.empty(WIDTH), np.empty(WIDTH)
    for i in range(height):
        p, begin = left.pattern[i0 + i], i - i % WIDTH if diagonal else 0
        left_system = left.system[p]
        _add_shares(left, right, shares, i0 + i, j0, begin, width, lines, entries)
        for first in range(begin, width, WIDTH):
            of_right, of_pair, pull = first * n_system, first * n_numbers, (i * wide + first) * n_slots
            _write_systems(
                k, left_system, right_system, of_right, entries, of_pair, pulls_left, pulls_right, pull, starts, packed
            )
            _eliminate_packed(packed, 2 * k, starts, factor, reciprocal, value, group_log_det)
            for j in range(first, min(first + WIDTH, width)):
                q, lane = right.pattern[j0 + j], j - first
                squared[i, j] = pulls_left[pull + k * WIDTH + lane]
                log_det[i, j] = 0.0
                if left.n_gaps[p] + right.n_gaps[q] > 0:
                    squared[i, j] -= value[lane]
                    shared = entries[of_pair + k * (k + 1) * WIDTH + lane]
                    log_det[i, j] = left.log_det[p] + right.log_det[q] + shared + group_log_det[lane]
