"""Vectors in compiled code do what the same arithmetic on arrays does."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from gapkernel.compute.linalg.vectors import CACHE_LINE, WIDTH, aligned_zeros, load, spread, store, transpose


@njit(error_model="numpy")
def _arithmetic(a, b, out):
    x, y = load(a, 1), load(b, 3)
    store(out, 0, x + y)
    store(out, WIDTH, x - y)
    store(out, 2 * WIDTH, x / y)
    store(out, 3 * WIDTH, spread(a[0]))


@njit
def _multiply(a, b, out):
    store(out, 0, load(a, 1) * load(b, 3))


@njit
def _turn(a, out):
    rows = load(a, 0), load(a, 8), load(a, 16), load(a, 24), load(a, 32), load(a, 40), load(a, 48), load(a, 56)
    at = 0
    for column in transpose(rows):
        store(out, at, column)
        at += WIDTH


@njit
def _copy(a):
    out = np.empty(WIDTH)
    store(out, 0, load(a, 0))
    return out


def test_arithmetic_is_that_of_arrays():
    rng = np.random.default_rng(0)
    a, b, out = rng.normal(size=12), rng.normal(size=12), np.empty(4 * WIDTH)
    _arithmetic(a, b, out)
    x, y = a[1:9], b[3:11]
    np.testing.assert_array_equal(out.reshape(4, WIDTH), [x + y, x - y, x / y, np.full(WIDTH, a[0])])
    _multiply(a, b, out)
    np.testing.assert_array_equal(out[:WIDTH], x * y)


def test_transpose_turns_rows_into_columns():
    a, out = np.arange(64.0), np.empty(64)
    _turn(a, out)
    np.testing.assert_array_equal(out.reshape(8, 8), a.reshape(8, 8).T)


def test_read_only_lines_are_read_and_others_refused():
    line = np.arange(float(WIDTH))
    line.flags.writeable = False
    np.testing.assert_array_equal(_copy(line), line)
    for other in (np.arange(16.0)[::2], np.zeros((2, 8)), np.zeros(8, dtype=np.float32)):
        with pytest.raises(TypingError, match="contiguous lines of doubles"):
            _copy(other)


@pytest.mark.parametrize("shape", [0, 1, 17, (3, 5), (2, 0)])
def test_aligned_zeros_begin_with_a_line_of_the_cache(shape):
    zeros = aligned_zeros(shape)
    assert zeros.shape == np.zeros(shape).shape
    assert zeros.dtype == np.float64
    assert zeros.flags.c_contiguous
    assert zeros.size == 0 or zeros.ctypes.data % CACHE_LINE == 0
    assert not zeros.any()
