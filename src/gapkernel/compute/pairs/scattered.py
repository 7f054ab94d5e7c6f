"""The expected RBF kernel for row pairs that share nothing: two forms, chosen pair by pair.

With A = I + 2 gamma Sigma for each law and delta the difference of the means, the kernel needs

    log |A_i + A_j - I|    and    delta' (A_i + A_j - I)^-1 delta.

* Intersection form: only the columns missing in *both* rows are factorised (equation 6 of docs/theory/kernels.md).
* Union form: the columns missing in *either* row, which is cheaper when most cells are gaps.
"""

import numpy as np

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.linalg.elimination import add_solved, eliminate, factor
from gapkernel.compute.pairs.side import count_ones, lowest_bit

SMALL = 6
"""Number of common gaps up to which the intersection form is always taken: there is little work to save."""


@inner()
def gap_products(side, other, i, first, last, delta, products, quadratic):
    """For row i of ``side`` against rows first..last of ``other``, on the gaps of row i only: ``delta``, the difference
    of the means, ``products`` = A_i^-1 delta and ``quadratic`` += delta' A_i^-1 delta."""
    p = side.pattern[i]
    begin, size = side.gap_start[p], side.gap_start[p + 1] - side.gap_start[p]
    block, inverse, gaps = side.block_start[p], side.inverse, side.gaps
    means, other_means = side.means, other.means
    width = last - first
    for r in range(size):
        mean = means[gaps[begin + r], i]
        for j in range(width):
            delta[r, j] = mean - other_means[gaps[begin + r], first + j]
    for r in range(size):
        for j in range(width):
            products[r, j] = 0.0
        s = 0
        while s + 4 <= size:  # four columns at a time: the target is loaded and stored a quarter as often
            at = block + r * size + s
            b0, b1, b2, b3 = inverse[at], inverse[at + 1], inverse[at + 2], inverse[at + 3]
            for j in range(width):
                products[r, j] += b0 * delta[s, j] + b1 * delta[s + 1, j] + b2 * delta[s + 2, j] + b3 * delta[s + 3, j]
            s += 4
        while s < size:
            b0 = inverse[block + r * size + s]
            for j in range(width):
                products[r, j] += b0 * delta[s, j]
            s += 1
        for j in range(width):
            quadratic[j] += delta[r, j] * products[r, j]


@inner()
def observed_distance(left, right, i, first, last, squared):
    """Add the squared distance over the columns observed in both rows."""
    means_left, means_right, observed_left, observed = left.means, right.means, left.observed, right.observed
    for column in range(means_left.shape[0]):
        if observed_left[column, i] == 0.0:
            continue
        mean = means_left[column, i]
        for j in range(last - first):
            delta = mean - means_right[column, first + j]
            squared[j] += observed[column, first + j] * delta * delta


@inner()
def sort_pairs(left, right, i0, i1, j0, j1, diagonal, unions, pairs, size):
    """List the pairs (i, j) that need a factor, sorted by form and size; returns (intersection, all) counts.

    With ``unions`` every pair that has a gap is listed, in the union form.
    """
    d = left.means.shape[0]
    width = j1 - j0
    bucket = np.zeros(2 * d + 3, dtype=np.int64)
    key = np.zeros((i1 - i0) * width, dtype=np.int64)
    for i in range(i0, i1):
        p = left.pattern[i]
        m = left.gap_start[p + 1] - left.gap_start[p]
        for j in range(j0, j1):
            q = right.pattern[j]
            both = 0
            for w in range(left.words.shape[1]):
                both += count_ones(left.words[p, w] & right.words[q, w])
            either = m + (right.gap_start[q + 1] - right.gap_start[q]) - both
            at = (i - i0) * width + (j - j0)
            if not (diagonal and j < i):
                if unions:
                    key[at] = d + either if either else 0
                elif both <= SMALL or 8 * both**3 < either**3:
                    key[at] = both
                else:
                    key[at] = d + either
            bucket[key[at] + 1] += 1
    bucket[0] = -bucket[1]  # key 0 needs no factor and is not listed
    for k in range(1, bucket.shape[0]):
        bucket[k] += bucket[k - 1]
    n_intersection, n_all = bucket[d + 1], bucket[2 * d + 2]
    for i in range(i1 - i0):
        for j in range(width):
            at = key[i * width + j]
            if at > 0:
                pairs[bucket[at], 0], pairs[bucket[at], 1] = i, j
                size[bucket[at]] = at if at <= d else at - d
                bucket[at] += 1
    return n_intersection, n_all


@inner()
def _common_gaps(words_left, words_right, p, q, lane, columns, place_left, place_right):
    """List the columns missing under both patterns and their places among the gaps of each; returns how many."""
    both = before_left = before_right = 0
    for w in range(words_left.shape[1]):
        gaps_left, gaps_right = words_left[p, w], words_right[q, w]
        common = gaps_left & gaps_right
        while common:
            lower = (common & (~common + np.uint64(1))) - np.uint64(1)  # all bits below the lowest set one
            columns[both, lane] = 64 * w + lowest_bit(common)
            place_left[both, lane] = before_left + count_ones(gaps_left & lower)
            place_right[both, lane] = before_right + count_ones(gaps_right & lower)
            common &= common - np.uint64(1)
            both += 1
        before_left += count_ones(gaps_left)
        before_right += count_ones(gaps_right)
    return both


@inner()
def gather_intersections(left, right, i0, j0, pairs, left_products, right_products, size, places, blocks, vectors):
    """Copy what each pair needs on the columns missing in both its rows into its lane.

    First the places of the common columns, lane by lane, then the numbers there, in long loops over lanes. Lanes
    left over at the end repeat the last pair; they are never read.
    """
    lanes = blocks.shape[3]
    columns, place_left, place_right, row_left, row_right = places[0], places[1], places[2], places[3], places[4]
    pattern_left, pattern_right, words_left, words_right = left.pattern, right.pattern, left.words, right.words
    start_left, start_right = left.gap_start, right.gap_start
    block_left, block_right = left.block_start, right.block_start
    n_common = np.empty(lanes, dtype=np.int64)
    at = np.empty((2, lanes), dtype=np.int64)
    for lane in range(lanes):
        pair = min(lane, pairs.shape[0] - 1)
        at[0, lane], at[1, lane] = pairs[pair, 0], pairs[pair, 1]
        p, q = pattern_left[i0 + at[0, lane]], pattern_right[j0 + at[1, lane]]
        both = _common_gaps(words_left, words_right, p, q, lane, columns, place_left, place_right)
        n_common[lane] = both
        m, m_right = start_left[p + 1] - start_left[p], start_right[q + 1] - start_right[q]
        for r in range(both):
            row_left[r, lane] = block_left[p] + place_left[r, lane] * m
            row_right[r, lane] = block_right[q] + place_right[r, lane] * m_right
        for r in range(both, size):  # a place that exists; `_pad` overwrites what is read there
            columns[r, lane] = place_left[r, lane] = place_right[r, lane] = 0
            row_left[r, lane], row_right[r, lane] = block_left[p], block_right[q]
    means_left, means_right, inverse_left, inverse_right = left.means, right.means, left.inverse, right.inverse
    for r in range(size):
        for lane in range(lanes):
            i, j, column = i0 + at[0, lane], j0 + at[1, lane], columns[r, lane]
            vectors[0, r, lane] = means_left[column, i] - means_right[column, j]
        for lane in range(lanes):
            vectors[1, r, lane] = left_products[at[0, lane], place_left[r, lane], at[1, lane]]
        for lane in range(lanes):
            vectors[2, r, lane] = -right_products[at[1, lane], place_right[r, lane], at[0, lane]]
        for s in range(size):
            for lane in range(lanes):
                blocks[0, r, s, lane] = inverse_left[row_left[r, lane] + place_left[s, lane]]
            for lane in range(lanes):
                blocks[1, r, s, lane] = inverse_right[row_right[r, lane] + place_right[s, lane]]
    for lane in range(lanes):
        if n_common[lane] < size:
            _pad(blocks, vectors, n_common[lane], size, lane)


@inner()
def _pad(blocks, vectors, begin, size, lane):
    """Complete a lane's system with the identity, from row ``begin`` on."""
    for r in range(begin, size):
        for k in range(3):
            vectors[k, r, lane] = 0.0
        for k in range(2):
            for s in range(size):
                blocks[k, r, s, lane] = blocks[k, s, r, lane] = 0.0
            blocks[k, r, r, lane] = 1.0


@inner()
def _solve_intersections(size, blocks, vectors, value, log_det):
    """The intersection identity in each lane, with P the common block of A^-1 and t = A^-1 delta on it:

    C = P_i + P_j - P_j P_i,  value = t_i't_j - delta'(t_i + t_j) + a' C^-1 b,
    a = t_j - t_i + P_i (delta - t_j),  b = t_i - t_j + P_j (delta - t_i).

    It is written with A^-1 rather than I - A^-1, so that no digits are lost when gamma is large. C has a
    positive definite symmetric part because P_i and P_j lie between 0 and I.
    """
    p_left, p_right, matrix = blocks[0], blocks[1], blocks[2]
    delta, t_left, t_right, a, b = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    lanes = value.shape[0]
    extra = np.zeros(lanes)
    for r in range(size):
        for lane in range(lanes):
            extra[lane] += t_left[r, lane] * t_right[r, lane]
        for lane in range(lanes):
            extra[lane] -= delta[r, lane] * (t_left[r, lane] + t_right[r, lane])
        for lane in range(lanes):
            a[r, lane] = t_right[r, lane] - t_left[r, lane]
        for lane in range(lanes):
            b[r, lane] = t_left[r, lane] - t_right[r, lane]
        for s in range(size):
            for lane in range(lanes):
                a[r, lane] += p_left[r, s, lane] * (delta[s, lane] - t_right[s, lane])
            for lane in range(lanes):
                b[r, lane] += p_right[r, s, lane] * (delta[s, lane] - t_left[s, lane])
            for lane in range(lanes):
                matrix[r, s, lane] = p_left[r, s, lane] + p_right[r, s, lane]
            k = 0
            while k + 4 <= size:  # four terms at a time: the target is loaded and stored a quarter as often
                for lane in range(lanes):
                    matrix[r, s, lane] -= (
                        p_right[r, k, lane] * p_left[k, s, lane]
                        + p_right[r, k + 1, lane] * p_left[k + 1, s, lane]
                        + p_right[r, k + 2, lane] * p_left[k + 2, s, lane]
                        + p_right[r, k + 3, lane] * p_left[k + 3, s, lane]
                    )
                k += 4
            while k < size:
                for lane in range(lanes):
                    matrix[r, s, lane] -= p_right[r, k, lane] * p_left[k, s, lane]
                k += 1
    eliminate(matrix, a, b, size, value, log_det)
    for lane in range(lanes):
        value[lane] += extra[lane]


@inner()
def _add_covariance(side, p, factor, place, lane, matrix):
    begin, size, block = side.gap_start[p], side.gap_start[p + 1] - side.gap_start[p], side.block_start[p]
    gaps, covariance = side.gaps, side.covariance
    for r in range(size):
        row = place[gaps[begin + r]]
        for s in range(r, size):
            matrix[row, place[gaps[begin + s]], lane] += factor * covariance[block + r * size + s]


@compiled()
def gather_unions(left, right, i0, j0, pairs, gamma, size, matrix, delta):
    """Write A_i + A_j - I on the columns missing in either row, and delta there, into each lane."""
    pattern_left, pattern_right, at_left, at_right = left.pattern, right.pattern, left.position, right.position
    means_left, means_right = left.means, right.means
    place = np.empty(at_left.shape[1], dtype=np.int64)
    for lane in range(delta.shape[1]):
        either = 0
        if lane < pairs.shape[0]:
            i, j = i0 + pairs[lane, 0], j0 + pairs[lane, 1]
            p, q = pattern_left[i], pattern_right[j]
            for column in range(at_left.shape[1]):
                if at_left[p, column] >= 0 or at_right[q, column] >= 0:
                    place[column] = either
                    delta[either, lane] = means_left[column, i] - means_right[column, j]
                    for s in range(either):
                        matrix[s, either, lane] = 0.0
                    matrix[either, either, lane] = 1.0
                    either += 1
            _add_covariance(left, p, 2.0 * gamma, place, lane, matrix)
            _add_covariance(right, q, 2.0 * gamma, place, lane, matrix)
        for r in range(either, size):
            delta[r, lane] = 0.0
            for s in range(r):
                matrix[s, r, lane] = 0.0
            matrix[r, r, lane] = 1.0


@inner()
def most_gaps(side, first, last):
    """The largest number of gaps among rows first..last."""
    most = 0
    for i in range(first, last):
        p = side.pattern[i]
        most = max(most, side.gap_start[p + 1] - side.gap_start[p])
    return most


@compiled()
def scattered_tile(left, right, i0, i1, j0, j1, gamma, diagonal, lanes, scratch, squared, log_det):
    """Fill ``squared`` and ``log_det`` for rows i0..i1 against j0..j1, each with a pattern of its own.

    With ``diagonal`` the two sides are the same rows and only pairs j >= i are filled in. ``scratch`` is reused from
    tile to tile: memory fresh from the system would cost more than the arithmetic.
    """
    height, width = i1 - i0, j1 - j0
    most_left, most_right = most_gaps(left, i0, i1), most_gaps(right, j0, j1)
    order = np.empty((height * width, 2), dtype=np.int64)
    size = np.empty(height * width, dtype=np.int64)
    n_intersection, n_all = sort_pairs(left, right, i0, i1, j0, j1, diagonal, False, order, size)

    n_left, n_right = height * most_left * width, width * most_right * height
    left_products = scratch[:n_left].reshape((height, most_left, width))
    right_products = scratch[n_left : n_left + n_right].reshape((width, most_right, height))
    delta = np.empty((max(most_left, most_right), max(height, width)))
    quadratic = np.zeros((height, width))
    quadratic_right = np.zeros((width, height))
    for i in range(i0, i1):
        squared[i - i0, :] = 0.0
        observed_distance(left, right, i, j0, j1, squared[i - i0])
        gap_products(left, right, i, j0, j1, delta, left_products[i - i0], quadratic[i - i0])
    for j in range(j0, j1):
        gap_products(right, left, j, i0, i1, delta, right_products[j - j0], quadratic_right[j - j0])
    for i in range(height):
        base = left.log_det[left.pattern[i0 + i]]
        for j in range(width):
            quadratic[i, j] += quadratic_right[j, i]
            log_det[i, j] = base + right.log_det[right.pattern[j0 + j]]

    largest = 0
    for at in range(n_all):
        largest = max(largest, size[at])
    blocks, vectors = np.empty((3, largest, largest, lanes)), np.empty((5, largest, lanes))
    places = np.empty((5, largest, lanes), dtype=np.int64)
    value, group_log_det = np.empty(lanes), np.empty(lanes)
    begin = 0
    while begin < n_all:
        end = min(begin + lanes, n_intersection if begin < n_intersection else n_all)
        pairs, n_pairs, largest = order[begin:end], end - begin, size[end - 1]
        if begin < n_intersection:
            gather_intersections(
                left, right, i0, j0, pairs, left_products, right_products, largest, places, blocks, vectors
            )
            _solve_intersections(largest, blocks, vectors, value, group_log_det)
        else:
            gather_unions(left, right, i0, j0, pairs, gamma, largest, blocks[0], vectors[0])
            factor(blocks[0], largest, group_log_det)
            value[:] = 0.0
            add_solved(blocks[0], vectors[0], largest, value)
        for lane in range(n_pairs):
            i, j = pairs[lane, 0], pairs[lane, 1]
            if begin < n_intersection:
                quadratic[i, j] += value[lane]
                log_det[i, j] += group_log_det[lane]
            else:
                quadratic[i, j] = value[lane]
                log_det[i, j] = group_log_det[lane]
        begin = end
    for i in range(height):
        for j in range(width):
            squared[i, j] += quadratic[i, j]
