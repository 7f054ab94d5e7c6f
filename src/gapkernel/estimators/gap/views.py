"""Ways to look at a prepared table: as it is, with gaps of categories as levels, or without offsets of gap patterns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from gapkernel.tables import Schema, Table

CROWD = 10
"""Rows of a gap pattern from which it may be a source of its own."""


class View(ABC):
    """A change to prepared tables, learned from the training table."""

    @abstractmethod
    def __call__(self, table: Table) -> Table:
        """The table as this view shows it."""


class AsItIs(View):
    """Gaps are gaps."""

    def __call__(self, table: Table) -> Table:
        return table


@dataclass(frozen=True, eq=False)
class GapsAsLevels(View):
    """A gap in a category is a level of its own, for categories that had gaps at fit.

    Attributes
    ----------
    columns : ndarray of int
    schema : Schema
    """

    columns: np.ndarray
    schema: Schema

    def __call__(self, table: Table) -> Table:
        values = table.values.copy()
        for k in self.columns:
            values[np.isnan(values[:, k]), k] = len(self.schema.levels[k]) - 1
        return replace(table, values=values, schema=self.schema)


@dataclass(frozen=True, eq=False)
class WithoutOffsets(View):
    """Numbers less the offset of the row's gap pattern, where a pattern marks a source whose numbers are shifted.

    Attributes
    ----------
    patterns : ndarray of shape (n_patterns, n_bytes)
        Gap patterns that many rows share, packed.
    offsets : ndarray of shape (n_patterns, len(columns))
        How far the numbers of each pattern are shifted.
    columns : ndarray of int
        The columns of numbers.
    """

    patterns: np.ndarray
    offsets: np.ndarray
    columns: np.ndarray

    def __call__(self, table: Table) -> Table:
        values = table.values.copy()
        places = {pattern.tobytes(): place for place, pattern in enumerate(self.patterns)}
        unknown = len(self.patterns)
        found = [places.get(mask.tobytes(), unknown) for mask in np.packbits(table.missing, axis=1)]
        values[:, self.columns] -= np.vstack([self.offsets, np.zeros(len(self.columns))])[found]
        return replace(table, values=values)


def gaps_as_levels(table: Table) -> GapsAsLevels | None:
    """The view in which gaps of categories are levels; None if no category has gaps."""
    columns = np.flatnonzero(table.schema.categorical & table.missing.any(axis=0))
    if not len(columns):
        return None
    levels, ordered = list(table.schema.levels), list(table.schema.ordered)
    for k in columns:
        levels[k], ordered[k] = (*(levels[k] or ()), "missing"), False
    return GapsAsLevels(columns, replace(table.schema, levels=tuple(levels), ordered=tuple(ordered)))


def without_offsets(table: Table) -> WithoutOffsets | None:
    """The view without offsets of gap patterns, shrunk by empirical Bayes; None if few rows share a pattern."""
    columns = np.flatnonzero(~table.schema.categorical)
    masks = np.packbits(table.missing, axis=1)
    patterns, group, counts = np.unique(masks, axis=0, return_inverse=True, return_counts=True)
    crowded = np.flatnonzero(counts >= CROWD)
    if len(crowded) < 2 or counts[crowded].sum() < 0.5 * len(table) or not len(columns):
        return None
    numbers = table.values[:, columns]
    seen = ~np.isnan(numbers)
    total = np.maximum(seen.sum(axis=0), 1)
    centre = np.nansum(numbers, axis=0) / total
    n = np.array([seen[group == g].sum(axis=0) for g in crowded])
    means = np.array([np.nansum(numbers[group == g], axis=0) for g in crowded]) / np.maximum(n, 1) - centre
    within = [np.nansum((numbers[group == g] - centre - m) ** 2, axis=0) for g, m in zip(crowded, means, strict=True)]
    noise = np.sum(within, axis=0) / np.maximum(n.sum(axis=0) - (n > 0).sum(axis=0), 1)  # variance inside a pattern
    # variance between patterns by the method of moments: E (mean - centre)^2 = between + noise / n
    there = n > 0
    excess = np.where(there, means**2 - noise / np.maximum(n, 1), 0.0)
    between = np.maximum(excess.sum(axis=0) / np.maximum(there.sum(axis=0), 1), 0.0)
    spread = between + noise / np.maximum(n, 1)
    offsets = np.where(there, means * np.divide(between, spread, out=np.zeros_like(spread), where=spread > 0), 0.0)
    return WithoutOffsets(patterns[crowded], offsets, columns)
