"""Columns of whatever the user hands us: which are categories, what their levels are, what is a gap."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import narwhals as nw
import numpy as np

CATEGORICAL_DTYPES = (nw.Categorical, nw.Enum, nw.String, nw.Boolean)
TIMES = (date, datetime, timedelta, np.datetime64, np.timedelta64)


class Columns:
    """The columns of a table, one by one: names, types and values.

    Parameters
    ----------
    X : array-like, pandas or polars frame
    """

    def __init__(self, X):
        frame = nw.from_native(X, eager_only=True, pass_through=True) if _looks_like_frame(X) else X
        self.frame = frame if isinstance(frame, nw.DataFrame) else None
        self.array = np.empty((0, 0)) if self.frame is not None else _plain_array(X)
        self.n = self.frame.shape[1] if self.frame is not None else self.array.shape[1]
        self.dtypes = list(self.frame.schema.values()) if self.frame is not None else [None] * self.n
        self.names = tuple(map(str, self.frame.columns)) if self.frame is not None else None

    def label(self, column: int) -> str:
        """How a complaint names a column."""
        return repr(self.names[column]) if self.names else str(column)

    def values(self, column: int) -> list:
        """The values of a column as Python objects, None in the gaps."""
        raw = self.frame[:, column].to_list() if self.frame is not None else self.array[:, column].tolist()
        return [None if _is_gap(value) else value for value in raw]

    def order(self, column: int) -> tuple | None:
        """The levels of an ordered category in their order; None where the type states none."""
        dtype = self.dtypes[column]
        return tuple(dtype.categories) if isinstance(dtype, nw.Enum) else None

    def numbers(self, columns: np.ndarray) -> Any:
        """The part of the table that holds numbers, in its own form."""
        if self.frame is not None:
            return self.frame[:, columns.tolist()].to_native()
        return self.array[:, columns]

    def is_categorical(self, column: int) -> bool:
        """Whether the type of a column says that it holds categories; dates and mixed types are complaints."""
        dtype = self.dtypes[column]
        if isinstance(dtype, CATEGORICAL_DTYPES):
            return True
        if dtype is not None and dtype.is_temporal():
            raise ValueError(_dates(self.label(column)))
        if dtype is not None and dtype != nw.Object and not isinstance(dtype, nw.Unknown):
            return False
        return _kind_of(self.values(column), self.label(column)) == "category"

    def levels(self, column: int) -> tuple:
        """The levels that occur in a column, sorted; those of an ordered type as the type lists them."""
        order = self.order(column)
        if order is not None:
            return order
        values = self.values(column)
        _kind_of(values, self.label(column))  # for its complaints
        seen = {value for value in values if value is not None}
        return tuple(sorted(seen))

    def codes(self, column: int, levels: tuple) -> np.ndarray:
        """The place of each value among the levels as a float, NaN for a gap or an unknown level."""
        place = {level: float(code) for code, level in enumerate(levels)}
        values = self.values(column)
        text = any(isinstance(level, str) for level in levels)
        if levels and any(value is not None and isinstance(value, str) != text for value in values):
            place = self._numbers_for_text(column, levels) | place
            values = [value if value in place else _number(value) for value in values]
        return np.array([place.get(value, np.nan) for value in values], dtype=np.float64)

    def _numbers_for_text(self, column: int, levels: tuple) -> dict:
        """The place of each level by the number that it spells: files write both alike, and readers guess."""
        place = {_number(level): float(code) for code, level in enumerate(levels)}
        if len(place) < len(levels) or all(isinstance(level, str) for level in place):
            raise ValueError(
                f"Column {self.label(column)} of X holds numbers where it held text at fit, such as {levels[0]!r}, and "
                f"cannot be matched with it. Turn the column into text as it was."
            )
        return place


def categorical_columns(X, categorical_features) -> tuple[Any, np.ndarray]:
    """Which columns are categories, as a mask; no `Columns` where the table is numbers by its type alone."""
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    if categorical_features is None or np.ma.isMaskedArray(X) or (by_type and _is_plainly_numeric(X)):
        return None, np.zeros(0, bool)
    _refuse_repeated_names(X)
    columns = Columns(X)
    if by_type:
        return columns, np.array([columns.is_categorical(k) for k in range(columns.n)], dtype=bool)
    return columns, _declared(categorical_features, columns)


def _declared(categorical_features, columns: Columns) -> np.ndarray:
    """A mask from a list of names, of column numbers, or a mask."""
    wrong = "categorical_features must be 'from_dtype', None, or names, numbers or a mask of columns, got "
    if isinstance(categorical_features, str):
        raise ValueError(f"{wrong}{categorical_features!r}.")
    given = np.asarray(categorical_features)
    mask = np.zeros(columns.n, bool)
    if given.size == 0:
        return mask
    if given.ndim != 1 or given.dtype.kind not in "biuOUT":
        raise ValueError(f"{wrong}{categorical_features!r}.")
    if given.dtype.kind == "b":
        if len(given) != columns.n:
            raise ValueError(f"categorical_features is a mask of {len(given)} columns, but X has {columns.n}.")
        return given.copy()
    if given.dtype.kind in "iu":
        outside = given[(given < 0) | (given >= columns.n)]
        if outside.size:
            raise ValueError(f"categorical_features names column {outside[0]}, but X has {columns.n} columns.")
        mask[given] = True
        return mask
    for name in given.tolist():
        if columns.names is None or str(name) not in columns.names:
            raise ValueError(f"categorical_features names column {name!r}, which X does not have.")
        mask[columns.names.index(str(name))] = True
    return mask


def _kind_of(values: list, label: str) -> str:
    """ "category" for text and truth values, "number" otherwise; a mixture of the two is a complaint."""
    types = {type(value) for value in values if value is not None}
    if any(issubclass(t, TIMES) for t in types):
        raise ValueError(_dates(label))
    text = {t for t in types if issubclass(t, str | bool | np.bool_)}
    if not text:
        return "number"
    if len({"text" if issubclass(t, str) else "truth" for t in text} | ({"number"} if types - text else set())) > 1:
        names = sorted(t.__name__ for t in types)
        raise ValueError(
            f"Column {label} of X mixes types ({', '.join(names)}). Make it all numbers or all text, None in the gaps."
        )
    return "category"


def _dates(label: str) -> str:
    return (
        f"Column {label} of X holds dates or times, not numbers. Turn it into numbers, for example days "
        f"since a fixed day, or leave the column out."
    )


def _is_plainly_numeric(X) -> bool:
    dtype = getattr(X, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "biufc"


def _looks_like_frame(X) -> bool:
    return hasattr(X, "columns") or hasattr(X, "__narwhals_dataframe__")


def _plain_array(X) -> np.ndarray:
    if hasattr(X, "toarray"):
        raise TypeError("Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert.")
    array = X if isinstance(X, np.ndarray) else _objects(X)
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got array of dimension {array.ndim}: one row per observation is needed.")
    return array


def _objects(X) -> np.ndarray:
    """Values of a list of rows, each as it is."""
    try:
        return np.asarray(X, dtype=object)
    except ValueError:
        return np.empty(0)  # ragged: scikit-learn's check says so


def _refuse_repeated_names(X) -> None:
    names = [str(name) for name in getattr(X, "columns", ())]
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise ValueError(f"X has more than one column named {repeated[0]!r}. Give each column a name of its own.")


def _number(value):
    """The number that a text spells; any other value as it is."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _is_gap(value) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
