"""Dask collections as tables in parts. Every task goes through dask's own scheduler; dask is imported only here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from operator import add
from typing import Any

import dask
import dask.array as da
import numpy as np

from gapkernel.compute.runtime.config import config_context
from gapkernel.tables.table_in_parts import NO_ROW, HeldTable, MappedTable, Part, Sum, TableInParts, joined

BRANCHES = 8
"""Sums added in one task: the tree of sums does not depend on the number of workers, nor does its result."""


class DaskTable(TableInParts):
    """A dask array or dataframe, a part for each of its blocks.

    Parameters
    ----------
    X : dask array or dataframe
    y, weight : dask array or series, or array-like, default=None
        Of the same length as ``X``; dask collections of unknown lengths in the same blocks.
    """

    def __init__(self, X, y=None, weight=None):
        blocks = _blocks(X)
        lengths = _lengths(X, blocks)
        columns = [_aligned(values, lengths, name) for values, name in ((y, "y"), (weight, "sample_weight"))]
        self._lengths = [n for n in lengths if n]  # a block may be empty
        self.n_rows = sum(self._lengths)
        if not self.n_rows:
            raise ValueError(NO_ROW.format("the dask collection holds"))
        together = zip(blocks, *columns, lengths, strict=True)
        self._parts = [dask.delayed(Part)(*block) for *block, n in together if n]

    def take(self, rows: np.ndarray) -> Part:
        ends = np.cumsum(self._lengths)
        inside = np.split(rows, np.searchsorted(rows, ends[:-1]))
        starts = ends - self._lengths
        pieces = [
            part.take(numbers - start)
            for part, numbers, start in zip(self._parts, inside, starts, strict=True)
            if len(numbers)
        ]
        return joined(list(dask.compute(*pieces)))

    def sum(self, function: Callable[[Part], Sum], description: str | None = None) -> Sum:
        return _sum(partial(_part_sum, function), self._parts)

    def derived(self, function: Callable[[Part], Any]) -> MappedTable:
        return KeptOnWorkers(self, function, dask.persist(*_calls(function, self._parts)))


class KeptOnWorkers(MappedTable):
    """The results of a function on each block, kept on the workers; what a lost worker held is computed again."""

    def __init__(self, source: DaskTable, function: Callable[[Part], Any], results: tuple):
        super().__init__(source, function)
        self._results = results

    def sum(self, function: Callable[[Any], Sum], description: str | None = None) -> Sum:
        return _sum(function, self._results)


def _calls(function: Callable, blocks) -> list:
    """The function of each block, to be computed; it is sent once, not once for each block."""
    shared = dask.delayed(function, traverse=False)
    return [dask.delayed(_call)(shared, block) for block in blocks]


def _sum(function: Callable, blocks) -> Any:
    sums = _calls(function, blocks)
    while len(sums) > 1:
        sums = [dask.delayed(reduce)(add, sums[i : i + BRANCHES]) for i in range(0, len(sums), BRANCHES)]
    return dask.compute(sums[0])[0]


def answer_blocks(estimator, verb: str, X, *args, **kwargs):
    """A dask array of ``estimator.verb`` for the blocks of ``X``; a tuple of arrays where the verb returns a tuple."""
    probe = np.zeros((1, X.shape[1])) if isinstance(X, da.Array) else X._meta_nonempty[:1]
    example = getattr(estimator, verb)(probe, *args, **kwargs)  # wrong columns are an error here
    examples = [np.asarray(values) for values in (example if isinstance(example, tuple) else (example,))]
    shared = dask.delayed(estimator, traverse=False)
    blocks = _blocks(X)
    lengths = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(blocks)
    answers = [dask.delayed(_answer)(shared, verb, block, examples, args, kwargs) for block in blocks]
    arrays = tuple(
        da.concatenate(
            [
                da.from_delayed(answer[k], shape=(n, *values.shape[1:]), dtype=values.dtype)
                for answer, n in zip(answers, lengths, strict=True)
            ],
            allow_unknown_chunksizes=True,
        )
        for k, values in enumerate(examples)
    )
    return arrays if isinstance(example, tuple) else arrays[0]


def _answer(estimator, verb: str, block, examples: list[np.ndarray], args, kwargs) -> list[np.ndarray]:
    if len(block) == 0:
        return [np.empty((0, *values.shape[1:]), values.dtype) for values in examples]
    with config_context(n_threads=1):
        answer = getattr(estimator, verb)(block, *args, **kwargs)
    return [np.asarray(values) for values in (answer if isinstance(answer, tuple) else (answer,))]


def _part_sum(function: Callable[[Part], Sum], part: Part) -> Sum:
    return HeldTable(part).sum(function)


def _call(function: Callable, block):
    with config_context(n_threads=1):  # the scheduler uses the cores
        return function(block)


def _blocks(X) -> list:
    if isinstance(X, da.Array):
        return list(X.rechunk(dict.fromkeys(range(1, X.ndim), -1)).to_delayed().ravel())
    return list(X.to_delayed())


def _lengths(X, blocks: list) -> list[int]:
    if isinstance(X, da.Array) and not np.isnan(X.chunks[0]).any():
        return list(X.chunks[0])
    return list(dask.compute(*map(dask.delayed(len), blocks)))


def _aligned(values, lengths: list[int], name: str) -> list:
    """``values`` in blocks of the given lengths."""
    if values is None:
        return [None] * len(lengths)
    if not dask.is_dask_collection(values):
        values = da.from_array(np.asarray(values), chunks=-1)
    if isinstance(values, da.Array) and not np.isnan(values.chunks[0]).any():
        if len(values) != sum(lengths):
            raise ValueError(f"X has {sum(lengths)} rows, but {name} has {len(values)} values.")
        return _blocks(values.rechunk({0: tuple(lengths)}))
    blocks = _blocks(values)
    if _lengths(values, blocks) != lengths:
        raise ValueError(f"X and {name} are cut into different blocks: take them from the same dask collection.")
    return blocks
