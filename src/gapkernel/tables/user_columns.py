"""The columns of whatever the user passes: which hold categories, with which levels, and where the gaps are."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils import check_array

from gapkernel.tables.table import Schema

CATEGORICAL_DTYPES = (nw.Categorical, nw.Enum, nw.String, nw.Boolean)
TIMES = (date, datetime, time, timedelta, np.datetime64, np.timedelta64)
BOOLEANS = (bool, np.bool_)
GAP_TYPES = ("NoneType", "NAType", "NaTType")
"""Types of which every value is a gap, by name: pandas need not be installed."""


class ArrayColumn:
    """A column of an array, or of Python objects in a frame.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
    label : str
        How error messages name it.
    """

    order: tuple | None = None
    """The levels of an ordered type, in their order; None for other types."""

    def __init__(self, values: np.ndarray, label: str):
        self.values, self.label = values, label

    @property
    def holds_categories(self) -> bool:
        """Whether the type of the column, or that of its cells, says that it holds categories."""
        if self.values.dtype.kind in "biuf":
            return False
        suspect = any(issubclass(t, (str, *BOOLEANS)) or _is_time(t) for t in _without_gaps(self._types))
        return suspect and self._holds_text()

    @cached_property
    def _cells(self) -> list:
        return self.values.tolist()

    @cached_property
    def _types(self) -> set[type]:
        return set(map(type, self._cells))

    def _holds_text(self) -> bool:
        """True for text or booleans, False for numbers; dates and a mixture of kinds are errors."""
        types = set(map(type, self.distinct))
        if any(map(_is_time, types)):
            raise ValueError(_dates(self.label))
        kinds = {"text" if issubclass(t, str) else "boolean" if issubclass(t, BOOLEANS) else "number" for t in types}
        if len(kinds) > 1:
            names = ", ".join(sorted(t.__name__ for t in types))
            raise ValueError(
                f"Column {self.label} of X mixes types ({names}). Make it all numbers or all text, None in the gaps."
            )
        return bool(kinds) and kinds != {"number"}

    @cached_property
    def distinct(self) -> list:
        """The distinct values as Python objects, without gaps, in any order."""
        return [value for value in dict.fromkeys(self._cells) if not _is_gap(value)]

    def mapped(self, numbers: dict) -> np.ndarray:
        """The number of each cell by its value; NaN for other values and in the gaps."""
        return np.fromiter((numbers.get(cell, np.nan) for cell in self._cells), np.float64, len(self._cells))

    def gaps(self) -> np.ndarray:
        """True in the gaps."""
        if self.values.dtype.kind in "biuf":
            return np.isnan(self.values)
        return np.fromiter(map(_is_gap, self._cells), bool, len(self._cells))

    def floats(self) -> np.ndarray:
        """The cells as float64, NaN in the gaps; an error that names the column if some are not numbers."""
        values = self.values
        if values.dtype == object:
            kinds = _without_gaps(self._types)
            if any(map(_is_time, kinds)):
                raise ValueError(_dates(self.label))  # some of them would pass for numbers
            if len(kinds) < len(self._types):
                values = np.where(self.gaps(), np.nan, values)
        try:
            return values.astype(np.float64)
        except OverflowError as error:
            raise ValueError(
                f"Column {self.label} of X holds a whole number that is too large for a float. Divide the column by a "
                f"power of ten, take its logarithm, or leave it out."
            ) from error
        except (ValueError, TypeError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(
                f"Column {self.label} of X holds values that are not numbers ({error}). Encode it as numbers, declare "
                f"it in categorical_features if the estimator has that parameter, or leave the column out."
            ) from error

    def levels(self) -> tuple:
        """The levels that occur, sorted; those of an ordered type as the type lists them."""
        if self.order is not None:
            return self.order
        self._holds_text()
        return tuple(sorted(self.distinct))

    def codes(self, levels: tuple) -> np.ndarray:
        """The place of each value among the levels as a float, NaN for a gap or another value."""
        place = {level: float(code) for code, level in enumerate(levels)}
        text = any(isinstance(level, str) for level in levels)
        if levels and any(isinstance(value, str) != text for value in self.distinct):
            spelled = self._places_by_number(levels)
            place |= {value: spelled[number] for value in self.distinct if (number := _number(value)) in spelled}
        return self.mapped(place)

    def _places_by_number(self, levels: tuple) -> dict:
        """The place of each level by the number it spells: files write numbers and text alike, and readers guess."""
        place = {_number(level): float(code) for code, level in enumerate(levels)}
        if len(place) < len(levels) or all(isinstance(level, str) for level in place):
            raise ValueError(
                f"Column {self.label} of X holds numbers where it held text at fit, such as {levels[0]!r}, and "
                f"cannot be matched with it. Turn the column back into text."
            )
        return place


class TypedColumn(ArrayColumn):
    """A column of a frame whose type says what it holds."""

    def __init__(self, series: nw.Series, label: str):
        self.series, self.label = series, label
        self.order = tuple(series.dtype.categories) if isinstance(series.dtype, nw.Enum) else None

    @cached_property
    def values(self) -> np.ndarray:  # type: ignore[override]
        return self.series.to_numpy()

    @property
    def holds_categories(self) -> bool:
        return isinstance(self.series.dtype, CATEGORICAL_DTYPES)

    @cached_property
    def distinct(self) -> list:
        return [value for value in self.series.drop_nulls().unique().to_list() if value == value]

    def mapped(self, numbers: dict) -> np.ndarray:
        known = [value for value in self.distinct if value in numbers]
        if not known:
            return np.full(len(self.series), np.nan)
        found = [numbers[value] for value in known]
        return self.series.replace_strict(known, found, default=None, return_dtype=nw.Float64).to_numpy()

    def gaps(self) -> np.ndarray:
        return np.isnan(self.values) if self.series.dtype.is_float() else self.series.is_null().to_numpy()


class Columns:
    """The columns of a table, in the form in which the user passed it.

    Sparse tables and repeated names are refused.

    Parameters
    ----------
    X : array-like, pandas or polars frame
    """

    def __init__(self, X):
        self.frame: nw.DataFrame | None = None
        self.array = np.empty((0, 0))
        self.names: tuple[str, ...] | None = None
        refuse_lazy(X)
        if nw.dependencies.is_into_dataframe(X):
            self.frame = eager_frame(X)
            self.names = tuple(map(str, self.frame.columns))
        else:
            self.array = _plain_array(X)
        self.n_rows, self.n = self.array.shape if self.frame is None else self.frame.shape
        self.all_numbers = Schema.of_numbers(self.n, self.names)
        self.label = self.all_numbers.label

    @cached_property
    def dtypes(self) -> list:
        """The types of a frame's columns."""
        return [] if self.frame is None else list(self.frame.schema.values())

    @cached_property
    def columns(self) -> list[ArrayColumn]:
        """The columns one by one."""
        return [self._column(k) for k in range(self.n)]

    def _column(self, k: int) -> ArrayColumn:
        if self.frame is None:
            return ArrayColumn(self.array[:, k], self.label(k))
        series = self.frame[:, k]
        untyped = isinstance(self.dtypes[k], nw.Object | nw.Unknown)
        return ArrayColumn(series.to_numpy(), self.label(k)) if untyped else TypedColumn(series, self.label(k))

    def schema(self, categorical_features="from_dtype") -> Schema:
        """What the columns hold, learned from them: their types say which hold categories, or the caller does."""
        if isinstance(categorical_features, str) and categorical_features == "from_dtype":
            places = [k for k, column in enumerate(self.columns) if column.holds_categories]
        else:
            places = self.all_numbers.places(categorical_features, "categorical_features")
        levels = {k: self.columns[k].levels() for k in places}
        ordered = tuple(k in levels and self.columns[k].order is not None for k in range(self.n))
        return Schema(tuple(map(levels.get, range(self.n))), ordered, self.names)

    def values(self, schema: Schema) -> np.ndarray:
        """Numbers as they are and categories as codes, NaN in the gaps; dates, times and infinity are errors."""
        for k in range(self.n):
            if self.array.dtype.kind in "mM" if self.frame is None else self.dtypes[k].is_temporal():
                raise ValueError(_dates(self.label(k)))
        values = self._coded(schema)
        infinite = np.argwhere(np.isinf(values))
        if len(infinite):
            row, column = infinite[0]
            raise ValueError(
                f"Input X contains infinity: row {row}, column {self.label(column)}. "
                f"Replace it by a number, or by NaN to make it a gap."
            )
        return values

    def _coded(self, schema: Schema) -> np.ndarray:
        if self.frame is None and self.array.dtype.kind in "biufc" and not schema.categorical.any():
            return self.array
        values = np.empty((self.n_rows, self.n))
        typed = [k for k, dtype in enumerate(self.dtypes) if schema.levels[k] is None and dtype.is_numeric()]
        if self.frame is not None and typed:
            together = self.frame[:, typed].to_numpy()  # column by column, wide tables would be slow
            if together.dtype == object:  # pandas' numbers with pd.NA among them
                typed = []
            elif len(typed) == self.n:
                return together
            else:
                values[:, typed] = together
        for k in sorted(set(range(self.n)) - set(typed)):
            levels = schema.levels[k]
            values[:, k] = self.columns[k].floats() if levels is None else self.columns[k].codes(levels)
        return values

    def gaps(self) -> np.ndarray:
        """True in the gaps."""
        gaps = [column.gaps() for column in self.columns]
        return np.column_stack(gaps) if gaps else np.empty((self.n_rows, 0), bool)


def _without_gaps(types: set[type]) -> set[type]:
    return {t for t in types if t.__name__ not in GAP_TYPES}


def _is_time(kind: type) -> bool:
    return issubclass(kind, TIMES) or kind.__name__ == "Period"


def _dates(label: str) -> str:
    return (
        f"Column {label} of X holds dates or times, not numbers. Turn it into numbers, for example days "
        f"since a fixed day, or leave the column out."
    )


def _plain_array(X) -> np.ndarray:
    if np.ma.isMaskedArray(X):
        gap: Any = np.nan if X.dtype.kind in "biuf" else None
        X = np.where(np.ma.getmaskarray(X), gap, X.data)
    dtype = None if hasattr(X, "__array__") else object
    anything = {"ensure_all_finite": False, "ensure_min_samples": 0, "ensure_min_features": 0}
    return check_array(X, dtype=dtype, input_name="X", **anything)


def eager_frame(X) -> nw.DataFrame:
    """A frame of any library behind one interface; repeated names are an error."""
    try:
        return nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        names = list(map(str, X.columns))
        repeated = next((name for name in sorted(names) if names.count(name) > 1), error)
        raise ValueError(
            f"There is more than one column named {repeated!r}. Give each column a name of its own."
        ) from error


def refuse_lazy(X) -> None:
    """An error for a polars LazyFrame, which holds no rows."""
    if nw.dependencies.is_polars_lazyframe(X):
        raise ValueError(
            "A polars LazyFrame holds no rows yet: call its collect(). For a table that does not fit in memory, give "
            "its files to gapkernel.batches."
        )


def _number(value):
    """The number that a text spells; any other value as it is."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _is_gap(value) -> bool:
    return type(value).__name__ in GAP_TYPES or (isinstance(value, float) and value != value)
