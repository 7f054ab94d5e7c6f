"""Four doubles in one register, for the innermost loops of compiled code.

The compiler vectorises a loop only where it can prove that its arrays do not overlap, and keeps nothing in registers
from one loop to the next. A `Vector` is loaded, combined and stored by hand: ``total = total + load(a, i) * load(b, i)``
becomes one fused instruction wherever the processor has one, and smaller ones where it has none so wide.
"""

from __future__ import annotations

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload, register_model

WIDTH = 4
"""Doubles in a vector."""

CACHE_LINE = 64
"""Bytes that travel together between memory and the processor."""

REGISTER = ir.VectorType(ir.DoubleType(), WIDTH)
FUSED = ("contract", "nsz")  # as `elimination.ARITHMETIC`: no sum is reordered
LINE = types.Array(types.float64, 1, "C")


def aligned_zeros(shape) -> np.ndarray:
    """Zeros in memory where no vector at a multiple of `WIDTH` straddles two lines of the cache."""
    n_bytes = 8 * int(np.prod(shape))
    memory = np.zeros(n_bytes + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + n_bytes].view(np.float64).reshape(shape)


class Vector(types.Type):
    """The type of four doubles side by side."""

    def __init__(self):
        super().__init__(name="Vector")


vector = Vector()


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, REGISTER)


def _address(context, builder, signature, arguments):
    """A pointer to the four elements of the array, the first argument, from the second on."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    place = context.cast(builder, arguments[1], signature.args[1], types.intp)
    element = cgutils.get_item_pointer(context, builder, signature.args[0], array, [place])
    return builder.bitcast(element, REGISTER.as_pointer())


def _check_line(array):
    if array not in (LINE, LINE.copy(readonly=True)):
        raise TypingError(f"vectors are loaded from contiguous lines of doubles, not from {array}")


@intrinsic
def load(typing, array, at):
    """The four elements of a line from ``at`` on; there is no check that there are so many."""
    _check_line(array)

    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, signature, arguments), align=8)

    return vector(array, at), generate


@intrinsic
def store(typing, array, at, value):
    """Write the four elements of a line from ``at`` on; there is no check that there are so many."""
    _check_line(array)

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _address(context, builder, signature, arguments), align=8)
        return context.get_dummy_value()

    return types.void(array, at, value), generate


@intrinsic
def spread(typing, number):
    """One number in all four places."""

    def generate(context, builder, signature, arguments):
        nowhere = ir.Constant(REGISTER, ir.Undefined)
        first = builder.insert_element(nowhere, arguments[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, first, _places(0, 0, 0, 0))

    return vector(types.float64), generate


@intrinsic
def transpose(typing, a, b, c, d):
    """The columns of the matrix that has four vectors as its rows."""

    def generate(context, builder, signature, arguments):
        a, b, c, d = arguments
        shuffle = builder.shuffle_vector
        even, odd = _places(0, 4, 2, 6), _places(1, 5, 3, 7)
        low, high = _places(0, 1, 4, 5), _places(2, 3, 6, 7)
        even_top, even_bottom = shuffle(a, b, even), shuffle(c, d, even)  # (a0, b0, a2, b2), (c0, d0, c2, d2)
        odd_top, odd_bottom = shuffle(a, b, odd), shuffle(c, d, odd)
        columns = [shuffle(*pair, half) for half in (low, high) for pair in ((even_top, even_bottom), (odd_top, odd_bottom))]
        return context.make_tuple(builder, signature.return_type, columns)

    return types.UniTuple(vector, 4)(a, b, c, d), generate


def _places(*places):
    return ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), places)


def _arithmetic(operation, instruction):
    """Let ``operation`` take two vectors, as one machine instruction."""

    @intrinsic
    def combine(typing, left, right):
        def generate(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments, flags=FUSED)

        return vector(left, right), generate

    @overload(operation)
    def choose(left, right):
        if isinstance(left, Vector) and isinstance(right, Vector):
            return lambda left, right: combine(left, right)
        return None


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")
_arithmetic(operator.truediv, "fdiv")
