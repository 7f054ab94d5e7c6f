"""One side of a kernel block, laid out for the compiled loops."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from gapkernel.compute.compiled import compiled
from gapkernel.compute.doors import check_numbers, check_places
from gapkernel.compute.linalg.covariance_blocks import check_blocks
from gapkernel.compute.linalg.elimination import factor_in_place, invert_factored


@intrinsic
def count_ones(typing_context, word):
    """Number of set bits."""

    def emit(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), emit


@intrinsic
def lowest_bit(typing_context, word):
    """Position of the lowest set bit."""

    def emit(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), emit


def pack_words(masks):
    """Rows of a boolean matrix as rows of 64-bit words, column k in bit k % 64 of word k // 64."""
    n_rows, n_columns = masks.shape
    n_words = max(1, -(-n_columns // 64))
    packed = np.zeros((n_rows, 8 * n_words), dtype=np.uint8)
    packed[:, : -(-n_columns // 8)] = np.packbits(masks, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64)


CROWD = 24
"""Rows a pattern must have before one shared factor pays."""


class Side(NamedTuple):
    """One side of a kernel block: rows sorted by pattern, and what each pattern needs for one gamma."""

    means: np.ndarray  # (d, n) conditional means, one row in each column
    observed: np.ndarray  # (d, n) 1.0 where the value is certain, else 0.0
    pattern: np.ndarray  # (n,) pattern of each row
    words: np.ndarray  # (p, w) the gap set of each pattern, packed
    gap_start: np.ndarray  # (p + 1,) where the gaps of a pattern begin in `gaps`
    gaps: np.ndarray  # gap columns of all patterns, one after another
    position: np.ndarray  # (p, d) place of a column among the pattern's gaps, -1 where observed
    block_start: np.ndarray  # (p + 1,) where the matrices of a pattern begin in the two arrays below
    covariance: np.ndarray  # Sigma of each pattern on its gaps, flattened
    inverse: np.ndarray  # A^-1 of each pattern on its gaps, flattened
    log_det: np.ndarray  # (p,) log |A|


@compiled()
def inflated_factor(covariance, begin, size, gamma):
    """Cholesky factor and log determinant of I + 2 gamma Sigma for the covariance that starts at ``begin``."""
    factor = np.empty((size, size))
    for r in range(size):
        for s in range(r + 1):
            factor[r, s] = 2.0 * gamma * covariance[begin + r * size + s]
        factor[r, r] += 1.0
    return factor, factor_in_place(factor, size, 0.0)


@compiled(reorder=True)
def invert_patterns(gap_start, block_start, covariance, gamma, inverse, log_det):
    """Fill ``inverse`` with (I + 2 gamma Sigma)^-1 and ``log_det`` with log |I + 2 gamma Sigma|."""
    for p in range(log_det.shape[0]):
        size = gap_start[p + 1] - gap_start[p]
        begin = block_start[p]
        factor, log_det[p] = inflated_factor(covariance, begin, size, gamma)
        block = inverse[begin : begin + size * size].reshape((size, size))
        invert_factored(factor, size, np.empty((size, size)), block)


@compiled()
def _log_dets(gap_start, block_start, covariance, gamma, log_det):
    for p in range(log_det.shape[0]):
        log_det[p] = inflated_factor(covariance, block_start[p], gap_start[p + 1] - gap_start[p], gamma)[1]


def check_laws(rows, n_columns):
    """Refuse Gaussian rows whose parts do not go together, or that have other columns."""
    check_blocks(rows)
    check_numbers("A mean", rows.means, len(rows.pattern), n_columns)
    check_places("The patterns of the rows", rows.pattern, len(rows.gaps), len(rows.means))


def row_log_det(rows: Any, gamma: float) -> np.ndarray:
    """log |I + 2 gamma Sigma_i| for each row."""
    check_blocks(rows)
    log_det = np.empty(len(rows.gaps))
    _log_dets(rows.gap_start, rows.block_start, rows.covariance, gamma, log_det)
    return log_det[rows.pattern]


def lay_out(rows, gamma, centre):
    """Sort ``rows`` by pattern, crowded patterns first; returns the side, the order and the crowded rows' number.

    Means are measured from ``centre``, so that columns far from 0 lose no digits.
    """
    check_laws(rows, rows.n_features)
    counts = np.bincount(rows.pattern, minlength=len(rows.gaps))
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.lexsort((np.arange(len(counts)), counts < CROWD))] = np.arange(len(counts))
    order = np.argsort(rank[rows.pattern], kind="stable")
    n_crowded = int(counts[counts >= CROWD].sum())

    inverse, log_det = np.empty_like(rows.covariance), np.empty(len(rows.gaps))
    invert_patterns(rows.gap_start, rows.block_start, rows.covariance, gamma, inverse, log_det)
    side = Side(
        means=np.ascontiguousarray((rows.means[order] - centre).T),
        observed=np.ascontiguousarray(~rows.gaps[rows.pattern[order]].T, dtype=np.float64),
        pattern=np.ascontiguousarray(rows.pattern[order]),
        words=pack_words(rows.gaps),
        gap_start=rows.gap_start,
        gaps=np.ascontiguousarray(np.nonzero(rows.gaps)[1]),
        position=np.where(rows.gaps, np.cumsum(rows.gaps, axis=1) - 1, -1),
        block_start=rows.block_start,
        covariance=rows.covariance,
        inverse=inverse,
        log_det=log_det,
    )
    return side, order, n_crowded
