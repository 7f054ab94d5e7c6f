"""The types of a table: what its columns are, and its cells as numbers and category codes with gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, eq=False)
class Schema:
    """What a fit learned about the columns of a table.

    Attributes
    ----------
    levels : tuple
        For each column None if it holds numbers, else the levels of its category.
    ordered : tuple of bool
        Columns whose type says that the levels have an order.
    names : tuple of str or None
        The names of the columns, None where the table has none.
    """

    levels: tuple[tuple | None, ...]
    ordered: tuple[bool, ...]
    names: tuple[str, ...] | None = None

    @classmethod
    def of_numbers(cls, n_columns: int, names: tuple[str, ...] | None = None) -> Schema:
        """Numbers in every column."""
        return cls((None,) * n_columns, (False,) * n_columns, names)

    @property
    def categorical(self) -> np.ndarray:
        """True for columns of categories."""
        return np.array([levels is not None for levels in self.levels], dtype=bool)

    @property
    def code_columns(self) -> np.ndarray:
        """The column of the table that each column of `Table.one_hot` belongs to."""
        pairs = zip(self.levels, self.ordered, strict=True)
        n_codes = [1 if levels is None or ordered else len(levels) for levels, ordered in pairs]
        return np.repeat(np.arange(len(self.levels)), n_codes)

    @property
    def one_hot(self) -> np.ndarray:
        """True for the columns of `Table.one_hot` that hold the 0/1 code of a level."""
        nominal = self.categorical & ~np.array(self.ordered, dtype=bool)
        return nominal[self.code_columns]

    def label(self, column: int) -> str:
        """How an error message names a column."""
        return repr(self.names[column]) if self.names else str(column)

    def places(self, columns, parameter: str) -> list[int]:
        """The places of columns given by names, numbers or a mask; none for None. Errors name the ``parameter``."""
        columns = [] if columns is None else columns
        given = np.asarray(columns)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "biuOUT"):
            raise ValueError(f"{parameter} must hold names, numbers or a mask of columns, got {columns!r}.")
        if given.dtype.kind != "b":
            return [self._place(column, parameter) for column in columns]
        if len(given) != len(self.levels):
            raise ValueError(f"{parameter} is a mask of {len(given)} columns, but X has {len(self.levels)}.")
        return np.flatnonzero(given).tolist()

    def _place(self, column, parameter: str) -> int:
        if isinstance(column, int | np.integer):
            if not 0 <= column < len(self.levels):
                raise ValueError(f"{parameter} names column {column}, but X has {len(self.levels)} columns.")
            return int(column)
        names = self.names or ()
        if str(column) not in names:
            raise ValueError(f"{parameter} names column {column!r}, which X does not have.")
        return names.index(str(column))

    def take(self, columns) -> Schema:
        """The schema of some columns."""
        names = None if self.names is None else tuple(self.names[k] for k in columns)
        return Schema(tuple(self.levels[k] for k in columns), tuple(self.ordered[k] for k in columns), names)


class Tilt(NamedTuple):
    """An assumption about the gaps of a column: the missing values are higher or lower than the laws say.

    Attributes
    ----------
    column : int
    shift : ndarray of shape (n_rows,)
        By how much the mean of the cell moves in each row, in the units of the column. Cells that were observed stay.
    """

    column: int
    shift: np.ndarray


def _places(codes: np.ndarray) -> np.ndarray:
    """The places of levels, -1 in the gaps, so that an entry after the last level serves the gaps."""
    return np.where(np.isnan(codes), -1, codes).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Table:
    """A checked table.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Numbers, or the codes 0, 1, ... of categories as floats; NaN in the gaps.
    schema : Schema
        What the columns hold.
    tilt : Tilt or None
        What is assumed about the gaps of one column; None assumes nothing.
    """

    values: np.ndarray
    schema: Schema
    tilt: Tilt | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows) -> Table:
        tilt = None if self.tilt is None else Tilt(self.tilt.column, self.tilt.shift[rows])
        return Table(self.values[rows], self.schema, tilt)

    def hide(self, mask: np.ndarray) -> Table:
        """The table with gaps where ``mask``, (n_rows, n_columns), is true as well."""
        return replace(self, values=np.where(mask, np.nan, self.values))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape

    @property
    def missing(self) -> np.ndarray:
        """True in the gaps."""
        return np.isnan(self.values)

    def as_numbers(self) -> np.ndarray:
        """The cells as numbers: a level that is a number or a boolean as it is, other levels as their places."""
        values = self.values
        for k, levels in enumerate(self.schema.levels):
            if levels and not isinstance(levels[0], str):
                values = values.copy() if values is self.values else values
                values[:, k] = np.array([*levels, np.nan], dtype=np.float64)[_places(values[:, k])]
        return values

    def cells(self, column: int) -> np.ndarray:
        """A column as the user knows it: levels, None in the gaps; or numbers, NaN in the gaps."""
        levels, values = self.schema.levels[column], self.values[:, column]
        if levels is None:
            return values
        known = np.array([*levels, None], dtype=object)
        return known[_places(values)]

    def as_learned_from(self, rows) -> Table:
        """The table as a fit to these rows alone would read it: a level that none of them has becomes a gap.

        Ordered categories keep all levels, which their type lists.
        """
        levels = list(self.schema.levels)
        for k in np.flatnonzero(self.schema.categorical & ~np.array(self.schema.ordered, dtype=bool)):
            seen = np.unique(self.values[rows, k])
            levels[k] = tuple((levels[k] or ())[int(code)] for code in seen[~np.isnan(seen)])
        return self.recoded(replace(self.schema, levels=tuple(levels)))

    def recoded(self, schema: Schema) -> Table:
        """The table in the codes of a schema with fewer levels: those that it lacks become gaps."""
        values = self.values
        for k in np.flatnonzero(self.schema.categorical):
            known, wanted = self.schema.levels[k] or (), schema.levels[k] or ()
            if known != wanted:
                place = {level: float(code) for code, level in enumerate(wanted)}
                codes = np.array([*(place.get(level, np.nan) for level in known), np.nan])
                values = values.copy() if values is self.values else values
                values[:, k] = codes[_places(self.values[:, k])]
        return self if values is self.values else replace(self, values=values, schema=schema)

    def one_hot(self) -> np.ndarray:
        """Numbers, the places of ordered levels, and a 0/1 code for each other level; a gap is NaN in all its codes."""
        columns = self.schema.code_columns
        codes = np.take(self.values, columns, axis=1)
        hot, first = self.schema.one_hot, np.searchsorted(columns, columns)
        gaps = np.isnan(codes)
        codes[:, hot] = codes[:, hot] == (np.arange(len(columns)) - first)[hot]
        codes[gaps] = np.nan
        return codes

    def with_indicator(self, values: np.ndarray, indicator: bool) -> np.ndarray:
        """``values`` of the rows, (..., n_rows, n), with a 0/1 column for the gaps of each column if ``indicator``."""
        if not indicator:
            return values
        gaps = np.broadcast_to(self.missing, (*values.shape[:-2], *self.shape))
        return np.concatenate([values, gaps], axis=-1)

    @classmethod
    def from_one_hot(cls, codes: np.ndarray, schema: Schema) -> Table:
        """The table of these codes, with the level of the largest code; the inverse of `one_hot`."""
        columns, hot = schema.code_columns, schema.one_hot
        values = np.full((len(codes), len(schema.levels)), np.nan)
        values[:, columns[~hot]] = codes[:, ~hot]
        for k in np.unique(columns[hot]):
            block = codes[:, columns == k]
            values[:, k] = np.where(np.isnan(block).any(axis=1), np.nan, np.argmax(block, axis=1))
        for k in np.flatnonzero(schema.ordered):
            values[:, k] = np.clip(np.rint(values[:, k]), 0, len(schema.levels[k] or ()) - 1)
        return cls(values, schema)
