"""Sets of columns as words of 64 bits, and the two machine instructions that read them."""

import numpy as np
from numba import types
from numba.extending import intrinsic


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
