"""The systems of `compute.factor` for a tile of pairs, eight pairs side by side in two vectors.

A pair has little arithmetic of its own, and what it costs is moving numbers: every sum stays in registers until it is
complete, and what eight rows j need lies together. Such a group is a matrix (number, lane) written as a line; the groups
of a tile follow one another, so that with so many numbers each the group of row j begins at j * numbers.
"""

import numpy as np
from numba import njit

from gapkernel.compute.bits import lowest_bit
from gapkernel.compute.vectors import WIDTH, load, spread, store, transpose

LANES = 2 * WIDTH
"""Pairs whose systems are solved side by side."""

STRETCH = 7 * WIDTH
"""Numbers of a column's share that are added up together; shares are filled up to whole stretches."""

PIVOTS_PER_LOG = 10
"""Pivots multiplied together before taking a logarithm. A precision of factors is at least I, and so is X: every pivot
lies above 1, and 10 stay inside the range of a double up to 1e30 each."""


@njit(cache=True, nogil=True)
def row_starts(size):
    """Where the rows of upper triangles with one right side begin, filled up to whole vectors; (entry, LANES)."""
    starts = np.zeros(size + 1, dtype=np.int64)
    for r in range(size):
        starts[r + 1] = starts[r] + LANES * WIDTH * ((size + WIDTH - r) // WIDTH)
    return starts


@njit(cache=True, nogil=True)
def _store_pair(line, at, low, high):
    """One number of a group."""
    store(line, at, low)
    store(line, at + WIDTH, high)


@njit(cache=True, nogil=True)
def _store_group(line, at, low0, high0, low1, high1, low2, high2, low3, high3):
    """Four numbers of a group."""
    _store_pair(line, at, low0, high0)
    _store_pair(line, at + LANES, low1, high1)
    _store_pair(line, at + 2 * LANES, low2, high2)
    _store_pair(line, at + 3 * LANES, low3, high3)


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(side, other, shares, i, first, own, weighted):
    """delta / Lambda of row i of ``side`` and the group of ``other`` from row ``first`` on, over the gaps of row i.

    Returns the sum of delta^2 / Lambda over these gaps if they are ``own``; otherwise what they take away from the sum
    of delta^2 over the columns of which the other rows are certain.
    """
    p, d = side.pattern[i], side.columns.shape[1]
    columns, points, means, weights = side.columns, side.points, other.means, other.weights
    slope, offset = shares.slope, shares.offset
    low = high = spread(0.0)
    for r in range(side.n_gaps[p]):
        column = columns[p, r]
        point, at = spread(points[i, column]), first * d + column * LANES
        x, y = point - load(means, at), point - load(means, at + WIDTH)
        x_weight, y_weight = load(weights, at), load(weights, at + WIDTH)
        _store_pair(weighted, r * LANES, x * x_weight, y * y_weight)
        if own:
            low, high = low + x * x * x_weight, high + y * y * y_weight
        else:
            rise, fall = spread(slope[column]), spread(offset[column])
            low, high = low - x * x * (x_weight * rise - fall) * x_weight, high - y * y * (y_weight * rise - fall) * y_weight
    return low, high


@njit(cache=True, nogil=True, error_model="numpy")
def _add_distance(side, other, i, first, low, high):
    """Add the sum of delta^2 over the columns of which row i is certain, in two halves: no addition waits for another."""
    p, d = side.pattern[i], side.columns.shape[1]
    columns, points, means = side.columns, side.points, other.means
    low_odd = high_odd = spread(0.0)
    r = side.n_gaps[p]
    if (d - r) % 2 == 1:
        point, at = spread(points[i, columns[p, r]]), first * d + columns[p, r] * LANES
        x, y = point - load(means, at), point - load(means, at + WIDTH)
        low, high = low + x * x, high + y * y
        r += 1
    while r < d:
        point, at = spread(points[i, columns[p, r]]), first * d + columns[p, r] * LANES
        x, y = point - load(means, at), point - load(means, at + WIDTH)
        low, high = low + x * x, high + y * y
        point, at = spread(points[i, columns[p, r + 1]]), first * d + columns[p, r + 1] * LANES
        x, y = point - load(means, at), point - load(means, at + WIDTH)
        low_odd, high_odd = low_odd + x * x, high_odd + y * y
        r += 2
    return low + low_odd, high + high_odd


@njit(cache=True, nogil=True, error_model="numpy")
def _pull(side, shares, i, weighted, distance_low, distance_high, pulls, to):
    """r = the sum of F_l delta_l / Lambda_l over the gaps l of row i, for a group, followed by the distance."""
    p, loadings, n_slots, columns = side.pattern[i], shares.loadings, shares.n_slots, side.columns
    for a in range(0, n_slots, WIDTH):
        low0 = low1 = low2 = low3 = high0 = high1 = high2 = high3 = spread(0.0)
        for r in range(side.n_gaps[p]):
            low, high, at = load(weighted, r * LANES), load(weighted, r * LANES + WIDTH), columns[p, r] * n_slots + a
            f0, f1, f2, f3 = spread(loadings[at]), spread(loadings[at + 1]), spread(loadings[at + 2]), spread(loadings[at + 3])
            low0, low1, low2, low3 = low0 + f0 * low, low1 + f1 * low, low2 + f2 * low, low3 + f3 * low
            high0, high1, high2, high3 = high0 + f0 * high, high1 + f1 * high, high2 + f2 * high, high3 + f3 * high
        _store_group(pulls, to + a * LANES, low0, high0, low1, high1, low2, high2, low3, high3)
    store(pulls, to + shares.n_factors * LANES, distance_low)
    store(pulls, to + shares.n_factors * LANES + WIDTH, distance_high)


@njit(cache=True, nogil=True)
def _turn(source, begin, stride, target, to, target_stride):
    """Transpose four lines of four numbers."""
    a, b = load(source, begin), load(source, begin + stride)
    c, d = load(source, begin + 2 * stride), load(source, begin + 3 * stride)
    a, b, c, d = transpose(a, b, c, d)
    store(target, to, a)
    store(target, to + target_stride, b)
    store(target, to + 2 * target_stride, c)
    store(target, to + 3 * target_stride, d)


@njit(cache=True, nogil=True, error_model="numpy")
def _pull_left(left, right, shares, i0, i1, j0, wide, diagonal, pulls):
    """r_i and the distance of all pairs: for each row i the groups of its rows j."""
    weighted = np.empty(left.columns.shape[1] * LANES)
    for j in range(0, wide, LANES):  # one group of rows j stays in the cache for all rows i
        for i in range(i0, min(i1, j0 + j + LANES) if diagonal else i1):
            low, high = _weigh(left, right, shares, i, j0 + j, True, weighted)
            low, high = _add_distance(left, right, i, j0 + j, low, high)
            _pull(left, shares, i, weighted, low, high, pulls, ((i - i0) * wide + j) * shares.n_slots)


@njit(cache=True, nogil=True, error_model="numpy")
def _pull_right(left, right, shares, i0, i1, j0, j1, wide, diagonal, pulls):
    """r_j of all pairs and what it takes from their distance, laid out as by `_pull_left`; a group here has rows i."""
    size = shares.n_slots * LANES
    weighted, turned = np.empty(left.columns.shape[1] * LANES), np.zeros(WIDTH * size)
    for i in range(0, i1 - i0, LANES):
        for j in range(i if diagonal else 0, j1 - j0, WIDTH):
            for row in range(j, min(j + WIDTH, j1 - j0)):
                low, high = _weigh(right, left, shares, j0 + row, i0 + i, False, weighted)
                _pull(right, shares, j0 + row, weighted, low, high, turned, (row - j) * size)
            for part in range(0, LANES, WIDTH):
                to = ((i + part) * wide + j - j % LANES) * shares.n_slots + j % LANES
                for a in range(shares.n_factors + 1):
                    _turn(turned, a * LANES + part, size, pulls, to + a * LANES, wide * shares.n_slots)


@njit(cache=True, nogil=True)
def _common_columns(words_left, words_right, p, q, scale, places, begin):
    """List the columns missing under both laws, times ``scale``, from ``begin`` on; returns where they end."""
    for w in range(words_left.shape[1]):
        common = words_left[p, w] & words_right[q, w]
        while common:
            places[begin] = (64 * w + lowest_bit(common)) * scale
            common &= common - np.uint64(1)
            begin += 1
    return begin


@njit(cache=True, nogil=True, error_model="numpy")
def _add_shares(shares, places, ends, first, wide, lines, entries):
    """Add up the shares of the columns missing in both rows, for the groups of a row i.

    One stretch of numbers at a time for all pairs, so that the stretch stays in the cache.
    """
    systems, n_numbers = shares.systems, shares.n_numbers
    for t in range(0, n_numbers, STRETCH):
        begin = 0
        for j in range(first, wide):
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = spread(0.0)
            for c in range(begin, ends[j]):
                at = places[c] + t
                s0, s1, s2 = s0 + load(systems, at), s1 + load(systems, at + 4), s2 + load(systems, at + 8)
                s3, s4 = s3 + load(systems, at + 12), s4 + load(systems, at + 16)
                s5, s6 = s5 + load(systems, at + 20), s6 + load(systems, at + 24)
            begin = ends[j]
            line = (j % WIDTH) * STRETCH
            store(lines, line, s0)
            store(lines, line + 4, s1)
            store(lines, line + 8, s2)
            store(lines, line + 12, s3)
            store(lines, line + 16, s4)
            store(lines, line + 20, s5)
            store(lines, line + 24, s6)
            if (j + 1) % WIDTH == 0:
                to = (j - j % LANES) * n_numbers + t * LANES + (j + 1 - WIDTH) % LANES
                for at in range(0, STRETCH, WIDTH):
                    _turn(lines, at, STRETCH, entries, to + at * LANES, LANES)


@njit(cache=True, nogil=True, error_model="numpy")
def _write_systems(k, left_system, p, right_system, of_right, entries, of_pair, pull_left, pull_right, pull, starts, packed):
    """X and r of row i and a group of rows j: the rows of X from the diagonal on, each followed by its r."""
    triangle, entry = k * (k + 1) // 2 * LANES, 0
    for a in range(k):
        own_left, own_right = starts[a], starts[k + a]
        for b in range(a, k):
            at, left_number = of_pair + entry * LANES, spread(left_system[p, entry])
            low, high = load(entries, at + triangle), load(entries, at + triangle + WIDTH)
            _store_pair(packed, own_left, left_number + low, left_number + high)
            right_low, right_high = load(right_system, of_right), load(right_system, of_right + WIDTH)
            _store_pair(packed, own_right, right_low + low, right_high + high)
            low, high = load(entries, at), load(entries, at + WIDTH)
            _store_pair(packed, starts[a] + (k + b - a) * LANES, low, high)
            _store_pair(packed, starts[b] + (k + a - b) * LANES, low, high)
            own_left, own_right, of_right, entry = own_left + LANES, own_right + LANES, of_right + LANES, entry + 1
        at, zero = pull + a * LANES, spread(0.0)
        _store_pair(packed, starts[a] + (2 * k - a) * LANES, load(pull_left, at), load(pull_left, at + WIDTH))
        _store_pair(packed, own_right, zero - load(pull_right, at), zero - load(pull_right, at + WIDTH))


@njit(cache=True, nogil=True, error_model="numpy")
def _eliminate_packed(packed, size, starts, factor, reciprocal, value, log_det):
    """value = r' X^-1 r and log |X| in each lane, for systems packed by rows with their right side.

    A row is brought up to date by all rows above it, four entries at a time. The last four may reach beyond the end of
    the row: what is computed there only fills it up, and is never used.
    """
    value_low = value_high = spread(0.0)
    low = high = one = spread(1.0)
    log_det[:] = 0.0
    for r in range(size):
        for k in range(r):
            above = starts[k] + (r - k) * LANES  # entry (k, r)
            store(factor, k * LANES, load(packed, above) * load(reciprocal, k * LANES))
            store(factor, k * LANES + 4, load(packed, above + 4) * load(reciprocal, k * LANES + 4))
        for at in range(starts[r], starts[r + 1], 4 * LANES):
            low0, high0, low1, high1 = load(packed, at), load(packed, at + 4), load(packed, at + 8), load(packed, at + 12)
            low2, high2, low3, high3 = load(packed, at + 16), load(packed, at + 20), load(packed, at + 24), load(packed, at + 28)
            for k in range(r):
                above = starts[k] + (r - k) * LANES + at - starts[r]
                f, g = load(factor, k * LANES), load(factor, k * LANES + 4)
                low0, high0 = low0 - f * load(packed, above), high0 - g * load(packed, above + 4)
                low1, high1 = low1 - f * load(packed, above + 8), high1 - g * load(packed, above + 12)
                low2, high2 = low2 - f * load(packed, above + 16), high2 - g * load(packed, above + 20)
                low3, high3 = low3 - f * load(packed, above + 24), high3 - g * load(packed, above + 28)
            _store_group(packed, at, low0, high0, low1, high1, low2, high2, low3, high3)
        pivot_low, pivot_high = load(packed, starts[r]), load(packed, starts[r] + 4)
        one_low, one_high = one / pivot_low, one / pivot_high
        store(reciprocal, r * LANES, one_low)
        store(reciprocal, r * LANES + 4, one_high)
        end = starts[r] + (size - r) * LANES
        right_low, right_high = load(packed, end), load(packed, end + 4)
        value_low, value_high = value_low + right_low * right_low * one_low, value_high + right_high * right_high * one_high
        low, high = low * pivot_low, high * pivot_high
        if (r + 1) % PIVOTS_PER_LOG == 0 or r == size - 1:
            store(value, 0, low)
            store(value, 4, high)
            for lane in range(LANES):
                log_det[lane] += np.log(value[lane])
            low = high = one
    store(value, 0, value_low)
    store(value, 4, value_high)


@njit(cache=True, nogil=True, error_model="numpy")
def factor_tile(left, right, shares, starts, i0, i1, j0, j1, gamma, diagonal, scratch, squared, log_det):
    """Fill ``squared`` and ``log_det`` for rows i0..i1 against j0..j1; with ``diagonal`` from j = i on only.

    A lane is a row j. Lanes left over at the end hold what they hold; nobody reads them.
    """
    height, width, d, k = i1 - i0, j1 - j0, left.columns.shape[1], shares.n_factors
    wide = -(-width // LANES) * LANES
    n_system, n_numbers, pulls_left, pulls_right = left.system.shape[1], shares.n_numbers, scratch[0], scratch[1]
    _pull_left(left, right, shares, i0, i1, j0, wide, diagonal, pulls_left)
    _pull_right(left, right, shares, i0, i1, j0, j1, wide, diagonal, pulls_right)
    right_system = np.ones(wide * n_system)
    for j in range(width):
        for at in range(n_system):
            right_system[(j - j % LANES) * n_system + at * LANES + j % LANES] = right.system[right.pattern[j0 + j], at]
    places, ends = np.empty(wide * d, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    lines, entries = np.empty(WIDTH * STRETCH), np.empty(wide * n_numbers)
    packed, factor, reciprocal = np.ones(starts[2 * k] + 4 * LANES), np.empty(2 * k * LANES), np.empty(2 * k * LANES)
    value, group_log_det = np.empty(LANES), np.empty(LANES)
    for i in range(height):
        p, end = left.pattern[i0 + i], 0
        begin = i - i % LANES if diagonal else 0
        for j in range(begin, wide):
            if j < width:
                end = _common_columns(left.words, right.words, p, right.pattern[j0 + j], n_numbers, places, end)
            ends[j] = end
        _add_shares(shares, places, ends, begin, wide, lines, entries)
        for first in range(begin, width, LANES):
            pull = (i * wide + first) * shares.n_slots
            _write_systems(
                k, left.system, p, right_system, first * n_system, entries, first * n_numbers, pulls_left, pulls_right, pull,
                starts, packed
            )
            _eliminate_packed(packed, 2 * k, starts, factor, reciprocal, value, group_log_det)
            for j in range(first, min(first + LANES, width)):
                q, lane = right.pattern[j0 + j], j - first
                distance = pull + k * LANES + lane
                squared[i, j] = pulls_left[distance] + pulls_right[distance]
                log_det[i, j] = 0.0
                if left.n_gaps[p] + right.n_gaps[q] > 0:
                    squared[i, j] -= 2.0 * gamma * value[lane]
                    shared = entries[first * n_numbers + k * (k + 1) * LANES + lane]
                    log_det[i, j] = left.log_det[p] + right.log_det[q] + shared + group_log_det[lane]
