"""A table in parts: what an estimator needs of a table that is never in memory as a whole.

Three verbs are enough: how many rows there are, a few rows by their numbers, and a sum over all parts. A
table in memory, a stream of batches and a dask collection (`gapkernel.tables.dask_parts`) each implement them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_consistent_length

from gapkernel.compute.runtime.config import thread_count
from gapkernel.compute.runtime.progress import tracked
from gapkernel.compute.runtime.threads import one_blas_thread, run_tasks
from gapkernel.tables.table import Table
from gapkernel.tables.user_tables import join_rows, take_rows

PART_ROWS = 4096
"""Rows worked on together: enough for the matrix products, few enough for their features to stay small."""

GROUPS = 16
"""Sums kept apart before they are added: a fixed number, so that a result does not depend on the number of threads."""

NO_ROW = "Found array with 0 sample(s): {} no row."

Sum = TypeVar("Sum")


@dataclass(frozen=True)
class Part:
    """Some rows: a checked `Table` or whatever the source holds, with target and weights where there are any."""

    X: Any
    y: Any = None
    weight: Any = None

    def __len__(self) -> int:
        return len(self.X)

    def __iter__(self) -> Iterator:
        return iter((self.X, self.y, self.weight))

    def take(self, rows) -> Part:
        """Some of the rows, by a slice or by numbers."""
        return Part(*(None if values is None else take_rows(values, rows) for values in self))


class TableInParts(ABC):
    """A table in parts."""

    checked = False
    """Whether the rows are one `Table`, checked as a whole; else each part is checked when it is read."""

    n_rows: int
    """Number of rows."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> Part:
        """The rows with these numbers, which must be sorted."""

    @abstractmethod
    def sum(self, function: Callable[[Part], Sum], description: str | None = None) -> Sum:
        """The sum of ``function(part)`` over all parts, in a fixed order."""

    def derived(self, function: Callable[[Part], Any]) -> MappedTable:
        """The result of ``function`` for each part, to be summed more than once."""
        return MappedTable(self, function)


class HeldTable(TableInParts):
    """A table in memory.

    Parameters
    ----------
    part : Part
        All of it.
    """

    def __init__(self, part: Part):
        self.whole, self.n_rows = part, len(part)
        self.checked = isinstance(part.X, Table)

    def take(self, rows: np.ndarray) -> Part:
        return self.whole if len(rows) == self.n_rows else self.whole.take(rows)

    def sum(self, function: Callable[[Part], Sum], description: str | None = None) -> Sum:
        groups = np.array_split(np.arange(0, self.n_rows, PART_ROWS), min(GROUPS, -(-self.n_rows // PART_ROWS)))

        def group_sum(starts):
            return reduce(add, (function(self.whole.take(slice(i, i + PART_ROWS))) for i in map(int, starts)))

        with one_blas_thread() if thread_count() > 1 else nullcontext():  # the parts use the cores
            return reduce(add, run_tasks(group_sum, groups, description))


class Batches(TableInParts):
    """A table read batch by batch, as often as needed; made by `batches`.

    Iterating gives the batches as they are read.

    Parameters
    ----------
    read : callable
        Starts to read: (X, y) or (X, y, sample_weight) for each batch.
    count : callable, default=None
        Gives the number of rows; None if only reading can tell.
    """

    def __init__(self, read: Callable[[], Iterable[tuple]], count: Callable[[], int] | None = None):
        self.read, self.count = read, count

    def __iter__(self) -> Iterator[tuple]:
        return iter(self.read())

    def parts(self) -> Iterator[Part]:
        """The batches with rows, once their lengths are checked."""
        for batch in self:
            part = Part(*batch)
            check_consistent_length(*(values for values in part if values is not None))
            if len(part):
                yield part

    @cached_property
    def n_rows(self) -> int:  # type: ignore[override]
        n = sum(map(len, self.parts())) if self.count is None else self.count()
        if n == 0:
            raise ValueError(NO_ROW.format("the batches hold"))
        return n

    def take(self, rows: np.ndarray) -> Part:
        pieces, start = [], 0
        for part in self.parts():
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, start + len(part))]
            if len(inside):
                pieces.append(part.take(inside - start))
            start += len(part)
        return joined(pieces)

    def sum(self, function: Callable[[Part], Sum], description: str | None = None) -> Sum:
        parts = tracked(self.parts(), None, description or "batches")
        return reduce(add, (HeldTable(part).sum(function) for part in parts))


class MappedTable(TableInParts):
    """A table in parts, each changed by a function when it is read: into another part, or into what is summed.

    Parameters
    ----------
    source : TableInParts
    function : callable
        From a part to a part with as many rows, or to what the function of a sum takes.
    """

    def __init__(self, source: TableInParts, function: Callable[[Part], Any]):
        self.source, self.function = source, function

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return self.source.n_rows

    def take(self, rows: np.ndarray) -> Part:
        return self.function(self.source.take(rows))

    def sum(self, function: Callable[[Any], Sum], description: str | None = None) -> Sum:
        return self.source.sum(partial(_composed, function, self.function), description)


def joined(parts: list[Part]) -> Part:
    """The rows of several parts in one."""
    return Part(*(None if pieces[0] is None else join_rows(pieces) for pieces in zip(*parts, strict=True)))


def _composed(outer: Callable, inner: Callable, part: Part):
    return outer(inner(part))
