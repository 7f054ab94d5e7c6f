"""How the columns of a table enter the regressions: kinds, levels, and standardised design columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from gapkernel.compute.record import Record
from gapkernel.compute.standardise import standard_of
from gapkernel.tables import Table

DISCRETE = ("binary", "categorical")
FIXED = ("constant", "empty")


@dataclass(frozen=True)
class CodedColumn:
    """What was learned about a column.

    In codes, a numeric column is standardised, a discrete one holds the number of its level, and a gap is NaN.
    In the design a column takes no place (constant, or never observed), one (numeric, binary), or one for each
    level but the first (categorical); all are standardised, so that one ridge fits all.

    Attributes
    ----------
    kind : {"numeric", "binary", "categorical", "constant", "empty"}
    levels : ndarray
        The distinct values, sorted.
    location, scale : float
        Of a numeric column; the value of a constant one is its location.
    centre, spread : ndarray of shape (n_places, 1)
        Mean and deviation of each place over the observed cells.
    """

    kind: str
    levels: np.ndarray
    location: float
    scale: float
    centre: np.ndarray
    spread: np.ndarray

    @classmethod
    def learn(cls, values: np.ndarray, varying: str, location: float, scale: float, live: bool) -> CodedColumn:
        """The coding of a column; ``varying`` is its kind if it varies (is ``live``)."""
        levels = np.unique(values[~np.isnan(values)])
        kind = "empty" if len(levels) == 0 else varying if live else "constant"
        n_places = _n_places(kind, levels)
        raw = cls(kind, levels, location, scale, np.zeros((n_places, 1)), np.ones((n_places, 1)))
        if n_places == 0:
            return raw
        codes = raw.encode(values)
        design = raw.design(codes[~np.isnan(codes)])
        return replace(raw, centre=design.mean(axis=1, keepdims=True), spread=design.std(axis=1, keepdims=True))

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Codes of values; a value that is not a level of a discrete column is a gap."""
        if self.kind not in DISCRETE:
            return (values - self.location) / self.scale
        place = np.searchsorted(self.levels, values).clip(max=len(self.levels) - 1)
        return np.where(self.levels[place] == values, place, np.nan)

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Values from codes."""
        return self.levels[codes.astype(int)] if self.kind in DISCRETE else self.location + self.scale * codes

    def design(self, codes: np.ndarray) -> np.ndarray:
        """The places of the column in the design, (n_places, n_rows)."""
        if self.kind == "categorical":
            codes = codes == np.arange(1, len(self.levels))[:, None]
        return (codes - self.centre) / self.spread


@dataclass(frozen=True)
class Coding(Record):
    """The coding of all columns of a table.

    Attributes
    ----------
    columns : list of CodedColumn
    """

    columns: list[CodedColumn]

    @classmethod
    def learn(cls, table: Table) -> Coding:
        """The coding of a table."""
        standard = standard_of(table.values)
        learned = zip(table.values.T, kinds_of(table), standard.location, standard.scale, standard.live, strict=True)
        return cls([CodedColumn.learn(*column) for column in learned])

    @cached_property
    def blocks(self) -> list[slice]:
        """The places of each column in the design; place 0 is the intercept."""
        ends = accumulate((len(column.centre) for column in self.columns), initial=1)
        return [slice(*ends) for ends in pairwise(ends)]

    @property
    def kinds(self) -> list[str]:
        """The kind of each column."""
        return [column.kind for column in self.columns]

    def encode(self, X: np.ndarray) -> np.ndarray:
        """Codes of a table, which may lack the last columns, as new rows lack the target."""
        return np.column_stack([column.encode(values) for column, values in zip(self.columns, X.T, strict=False)])

    def design(self, codes: np.ndarray) -> np.ndarray:
        """The design of codes without gaps, (n_places, n_rows)."""
        columns = zip(self.columns, codes.T, strict=True)
        return np.vstack([np.ones(len(codes)), *(column.design(values) for column, values in columns)])

    def places(self, columns) -> np.ndarray:
        """The places in the design of the intercept and some columns."""
        return np.r_[0, *(self.blocks[k] for k in columns)]


def _n_places(kind: str, levels: np.ndarray) -> int:
    """How many places a column takes in the design."""
    return 0 if kind in FIXED else len(levels) - 1 if kind == "categorical" else 1


def kinds_of(table: Table) -> list[str]:
    """The kind of each column that varies: numbers that are all 0 and 1, and two levels, are binary."""
    kinds = []
    for column, categorical in zip(table.values.T, table.schema.categorical, strict=True):
        values = np.unique(column[~np.isnan(column)])
        binary = len(values) == 2 if categorical else values.tolist() == [0, 1]
        kinds.append("binary" if binary else "categorical" if categorical else "numeric")
    return kinds
