"""The rows that a density is fitted to: an array, or a table in parts. Both give sums, and compressed rows for EM."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np

from gapkernel.compute.standardise import Standard
from gapkernel.density.em.gaussian import CompressedRows, GappyTable, Statistics
from gapkernel.tables import numbers_of, read_table, read_weights
from gapkernel.tables.table_in_parts import Part, TableInParts


class Observations:
    """The rows of an array that hold a value and have weight."""

    def __init__(self, X: np.ndarray, weight: np.ndarray):
        used = (weight > 0) & ~np.isnan(X).all(axis=1)
        # one layout, so that sums do not depend on the caller's
        self.X = np.ascontiguousarray(X if used.all() else X[used])
        self.weight = weight if used.all() else weight[used]

    def total(self, function: Callable):
        """The sum of ``function(X, weight)`` over the rows."""
        return function(self.X, self.weight)

    def compressed(self, standard: Standard) -> CompressedRows:
        """The standardised, live columns, compressed by pattern."""
        return GappyTable(standard.apply(self.X)).compressed(self.weight)


class ObservationsInParts:
    """The same, of a table in parts: `reader` is the estimator that numbers are checked for."""

    def __init__(self, parts: TableInParts, reader):
        self.parts, self.reader = parts, reader

    def total(self, function: Callable):
        """The sum of ``function(X, weight)`` over the rows."""
        return self.parts.sum(partial(_ask, self.reader, methodcaller("total", function)), "density")

    def compressed(self, standard: Standard) -> CompressedParts:
        """The standardised, live columns, compressed by pattern within each part."""
        n_cells = float(standard.seen[standard.live].sum())
        parts = self.parts.derived(partial(_ask, self.reader, methodcaller("compressed", standard)))
        return CompressedParts(parts, int(standard.live.sum()), n_cells)


class CompressedParts:
    """Compressed rows in parts, for `maximise_gaussian`."""

    def __init__(self, parts: TableInParts, n_features: int, n_cells: float):
        self.parts, self.n_features, self.n_cells = parts, n_features, n_cells

    def statistics(self, *parameters) -> Statistics:
        """Sums of the E-step."""
        return self.parts.sum(methodcaller("statistics", *parameters), "density")


def _ask(reader, question: Callable[[Observations], Any], part: Part):
    """What the rows of a part answer, once their numbers are checked for ``reader``."""
    X = numbers_of(read_table(reader, part.X, reset=False), reader)
    return question(Observations(X, read_weights(part.weight, X)))
