"""Eight doubles as one value, for the innermost loops of compiled code.

The compiler vectorises a loop only where it can prove that its arrays do not overlap, and keeps nothing in registers
from one loop to the next. A `Vector` is loaded, combined and stored by hand: ``total + load(a, i) * load(b, i)`` is a
fused instruction wherever the processor has one, for all eight or for as many at a time as its registers hold.
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

WIDTH = 8
"""Doubles in a vector."""

CACHE_LINE = 64
"""Bytes that travel together between memory and the processor."""

EIGHT_DOUBLES = ir.VectorType(ir.DoubleType(), WIDTH)
FUSED = ("contract", "nsz")  # as `compiled.FUSED`: no sum is reordered
LINE = types.Array(types.float64, 1, "C")


def aligned_zeros(shape) -> np.ndarray:
    """Zeros in memory where no vector at a multiple of `WIDTH` straddles two lines of the cache."""
    n_bytes = 8 * int(np.prod(shape))
    memory = np.zeros(n_bytes + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + n_bytes].view(np.float64).reshape(shape)


class Vector(types.Type):
    """The type of eight doubles side by side."""

    def __init__(self):
        super().__init__(name="Vector")


vector = Vector()


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, EIGHT_DOUBLES)


@intrinsic
def load(typing, array, at):
    """Eight elements of a line from ``at`` on, without a check that they exist."""
    _check_line(array)

    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, signature, arguments), align=8)

    return vector(array, at), generate


@intrinsic
def store(typing, array, at, value):
    """Write eight elements of a line from ``at`` on, without a check that they exist."""
    _check_line(array)

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _address(context, builder, signature, arguments), align=8)
        return context.get_dummy_value()

    return types.void(array, at, value), generate


def _check_line(array):
    if array not in (LINE, LINE.copy(readonly=True)):
        raise TypingError(f"vectors are loaded from contiguous lines of doubles, not from {array}")


def _address(context, builder, signature, arguments):
    """A pointer to the elements of the array, the first argument, from the second on."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    place = context.cast(builder, arguments[1], signature.args[1], types.intp)
    element = cgutils.get_item_pointer(context, builder, signature.args[0], array, [place])
    return builder.bitcast(element, EIGHT_DOUBLES.as_pointer())


@intrinsic
def spread(typing, number):
    """One number in all places."""

    def generate(context, builder, signature, arguments):
        nowhere = ir.Constant(EIGHT_DOUBLES, ir.Undefined)
        first = builder.insert_element(nowhere, arguments[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, first, _places([0] * WIDTH))

    return vector(types.float64), generate


@intrinsic
def transpose(typing, rows):
    """The columns of the matrix that has the eight vectors of a tuple as its rows."""

    def generate(context, builder, signature, arguments):
        lines = cgutils.unpack_tuple(builder, arguments[0], WIDTH)
        for distance in (1, 2, 4):  # swap the off-diagonal blocks of this size within all blocks of twice the size
            upper = [at if not at & distance else at - distance + WIDTH for at in range(WIDTH)]
            lower = [at + distance if not at & distance else at + WIDTH for at in range(WIDTH)]
            for r in range(WIDTH):
                if not r & distance:
                    a, b = lines[r], lines[r + distance]
                    lines[r] = builder.shuffle_vector(a, b, _places(upper))
                    lines[r + distance] = builder.shuffle_vector(a, b, _places(lower))
        return context.make_tuple(builder, signature.return_type, lines)

    return rows(rows), generate


def _places(places):
    return ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), places)


def _arithmetic(operation, instruction):
    """Let ``operation`` take two vectors."""

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
