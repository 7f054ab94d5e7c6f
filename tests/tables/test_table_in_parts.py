"""Every table in parts has the rows of the table in one piece, in the same order."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gapkernel as gk
from gapkernel.tables.part_by_part import parts_of
from gapkernel.tables.table_in_parts import HeldTable, MappedTable, Part

N = 5000  # more than the rows that are worked on together
X = np.arange(2.0 * N).reshape(N, 2)
Y, WEIGHT = X[:, 0] % 7, X[:, 1] % 5


def batches(n_rows, step):
    """The rows in batches, of which the first is empty."""
    starts = [0, *range(0, n_rows, step)]
    return ((X[:0] if k == 0 else X[i : i + step], *_rest(i, step, k)) for k, i in enumerate(starts))


def _rest(i, step, k):
    return (Y[:0], WEIGHT[:0]) if k == 0 else (Y[i : i + step], WEIGHT[i : i + step])


def doubled(part):
    return Part(2 * part.X, part.y, part.weight)


def in_blocks():
    da = pytest.importorskip("dask.array")
    return parts_of(da.from_array(X, chunks=(900, 1)), da.from_array(Y, chunks=700), WEIGHT)


KINDS = {
    "held": lambda: HeldTable(Part(X, Y, WEIGHT)),
    "batches": lambda: parts_of(gk.batches(partial(batches, N, 700))),
    "mapped": lambda: MappedTable(HeldTable(Part(X / 2, Y, WEIGHT)), doubled),
    "dask": in_blocks,
}


def moments(part):
    return (part.weight * part.y) @ part.X


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_the_whole(kind):
    parts = KINDS[kind]()
    assert parts.n_rows == N
    for rows in (np.arange(N), np.array([0, 699, 700, 701, 2100, N - 1]), np.array([1500])):
        for found, expected in zip(parts.take(rows), (X, Y, WEIGHT), strict=True):
            assert_array_equal(found, expected[rows])
    assert_allclose(parts.sum(moments), (WEIGHT * Y) @ X, rtol=1e-12)
    derived = parts.derived(moments)
    for _ in range(2):  # it may be summed again
        assert_allclose(derived.sum(np.negative), -(WEIGHT * Y) @ X, rtol=1e-12)


def test_batches_whose_targets_are_too_few_are_refused():
    parts = parts_of(gk.batches(lambda: iter([(X[:5], Y[:4])])))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        parts.sum(moments)
    with pytest.raises(ValueError, match="Batches bring their own targets"):
        parts_of(parts, Y)
