"""From a table as it was read to what members see: what each column is taken for, and ways to look at the table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gapkernel.compute.standardise import standard_of
from gapkernel.estimators.inspectable import TrainingSummary
from gapkernel.tables import Schema, Table, Tilt

FEW_VALUES, MANY_VALUES = 3, 12
"""Whole numbers with this many different values may be codes of a category: both are tried, the evidence decides."""

ROWS_PER_CODE = 5
"""Rows for each value that codes of a category have at least, in the mean."""

MANY_LEVELS = 20
"""Levels of a category that are kept apart; rarer ones are merged."""

IDENTIFYING = 0.5
"""Share of different values from which many levels are names of rows and not a category."""

FEW_ROWS = 20
"""Rows below which nothing is taken for an identifier."""

CROWD = 10
"""Rows of a gap pattern from which it may be a source of its own."""


class ColumnUse(NamedTuple):
    """What a column is taken for.

    Attributes
    ----------
    name : str
    kind : str
        "number", "category" or "left out".
    reason : str
    """

    name: str
    kind: str
    reason: str


@dataclass(frozen=True, eq=False)
class Preparation:
    """From a table as it was read to the table that is learned from: standardised numbers, and categories.

    Attributes
    ----------
    columns : tuple of ColumnUse
        One for each column of the table.
    used : ndarray of int
        The columns that are learned from.
    values : tuple
        For each used column, the places of the codes or levels of the table in ``schema``; None for a number.
    location, scale : ndarray of shape (n_used,)
    schema : Schema
        Of the prepared table.
    """

    columns: tuple[ColumnUse, ...]
    used: np.ndarray
    values: tuple[dict[float, int] | None, ...]
    location: np.ndarray
    scale: np.ndarray
    schema: Schema

    def __call__(self, table: Table) -> Table:
        """Prepare rows; a value that is no level is a gap."""
        out = (table.values[:, self.used] - self.location) / self.scale
        for k, places in enumerate(self.values):
            if places is not None:
                known = table.values[:, self.used[k]]
                out[:, k] = [places.get(value, np.nan) for value in known.tolist()]
        return Table(out, self.schema, self._tilt(table.tilt))

    def in_units(self, place: int, values: np.ndarray) -> np.ndarray:
        """Values of a used column in the units of the table; of merged levels the first stands for all."""
        places = self.values[place]
        if places is None:
            return self.location[place] + self.scale[place] * values
        first = {number: value for value, number in reversed(places.items())}
        return np.array([first[int(value)] for value in values])

    def _tilt(self, tilt: Tilt | None) -> Tilt | None:
        """The same assumption about the prepared table; none about a column that is left out."""
        if tilt is None or tilt.column not in self.used:
            return None
        place = int(np.flatnonzero(self.used == tilt.column)[0])
        return Tilt(place, tilt.shift / self.scale[place])

    def summary(self, table: Table) -> TrainingSummary:
        """The summary of the table as it was read; numbers that were taken for a category have no deviation."""
        summary, nominal = TrainingSummary.of(table), np.zeros(table.shape[1], bool)
        nominal[self.used] = self.schema.categorical & ~np.array(self.schema.ordered, dtype=bool)
        return replace(summary, deviations=np.where(nominal, np.nan, summary.deviations))

    def masks(self, table: Table) -> np.ndarray:
        """The gaps in the columns that are learned from, (n_rows, n_columns of the table)."""
        masks = np.zeros(table.shape, bool)
        masks[:, self.used] = self(table).missing
        return masks


def code_columns(table: Table) -> np.ndarray:
    """True for columns of numbers that may be codes of a category."""
    found = np.zeros(table.shape[1], bool)
    for k in np.flatnonzero(~table.schema.categorical):
        seen = table.values[~np.isnan(table.values[:, k]), k]
        if len(seen) and np.all(seen == np.rint(seen)):
            n_values = len(np.unique(seen))
            found[k] = FEW_VALUES <= n_values <= MANY_VALUES and len(seen) >= ROWS_PER_CODE * n_values
    return found


def preparation(table: Table, codes: np.ndarray) -> Preparation:
    """Decide about each column; ``codes`` marks the numbers that are codes of a category."""
    schema = table.schema
    names = map(str, schema.names or range(len(schema.levels)))
    decisions = []
    for k, known in enumerate(schema.levels):
        seen = table.values[~np.isnan(table.values[:, k]), k]
        decisions.append(_decided(seen, known, bool(schema.ordered[k]), bool(codes[k]), len(seen) < len(table)))
    kinds, reasons, values, levels = zip(*decisions, strict=True)
    used = np.array([k for k, kind in enumerate(kinds) if kind != "left out"], dtype=np.int64)
    if not len(used):
        raise ValueError("No column of X can be learned from: each is empty, constant or an identifier.")
    standard = standard_of(table.values[:, used])
    number = np.array([values[k] is None for k in used])
    prepared = replace(
        schema.take(used),
        levels=tuple(levels[k] for k in used),
        ordered=tuple(bool(schema.ordered[k]) and values[k] is not None for k in used),
    )
    return Preparation(
        tuple(map(ColumnUse, names, kinds, reasons)),
        used,
        tuple(values[k] for k in used),
        np.where(number, standard.location, 0.0),
        np.where(number, standard.scale, 1.0),
        prepared,
    )


def _decided(seen: np.ndarray, levels: tuple | None, ordered: bool, codes: bool, gaps: bool):
    """Kind, reason, places of the values among the levels, and the levels."""
    distinct, counts = np.unique(seen, return_counts=True)
    if not len(distinct):
        return "left out", "no value", None, None
    if len(distinct) == 1:
        if not gaps:
            return "left out", "one value", None, None
        return "category", "one value, and gaps", {float(distinct[0]): 0}, ("the value",)
    labels = [str(levels[int(v)]) if levels is not None else f"{v:g}" for v in distinct]
    if levels is None and not codes:
        reason = "every number of a range once: a row number?" if _is_count(distinct, len(seen)) else "numbers"
        return "number", reason, None, None
    if levels is None:
        reason = f"whole numbers with {len(distinct)} values: a category explains y better"
    elif len(distinct) > MANY_LEVELS and len(distinct) > IDENTIFYING * len(seen) and len(seen) >= FEW_ROWS:
        return "left out", f"an identifier: {len(distinct)} levels in {len(seen)} rows", None, None
    else:
        reason = f"{len(distinct)} levels"
    if len(distinct) <= MANY_LEVELS or ordered:  # ordered levels are one column, however many
        return "category", reason, {float(v): place for place, v in enumerate(distinct)}, tuple(labels)
    kept = np.sort(np.argsort(-counts, kind="stable")[: MANY_LEVELS - 1])
    places = dict.fromkeys(distinct.tolist(), len(kept))
    places |= {float(distinct[i]): place for place, i in enumerate(kept)}
    return "category", f"{reason}, the rarest merged", places, (*(labels[i] for i in kept), "other")


def _is_count(distinct: np.ndarray, n: int) -> bool:
    """Whether values are a range of whole numbers, each once."""
    return FEW_ROWS <= n == len(distinct) and distinct[-1] - distinct[0] == n - 1 and bool(np.all(distinct % 1 == 0))


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


def views_of(table: Table) -> dict[str, View]:
    """The views of a prepared table by name, those that change nothing left out."""
    views = {"plain": AsItIs(), "levels": gaps_as_levels(table), "offsets": without_offsets(table)}
    return {name: view for name, view in views.items() if view is not None}
