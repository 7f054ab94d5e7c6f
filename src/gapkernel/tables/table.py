"""The one door for data: whatever the user hands us becomes a table of numbers and category codes with gaps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np
from sklearn.utils.validation import _check_n_features, _check_y, check_array, check_consistent_length, validate_data

from gapkernel.tables.columns import Columns, categorical_columns


@dataclass(frozen=True, eq=False)
class Schema:
    """What a fit learned about the columns.

    Attributes
    ----------
    levels : tuple
        For each column None if it holds numbers, else the levels of its category.
    ordered : tuple of bool
        Columns whose type says that the levels have an order.
    names : tuple of str or None
    """

    levels: tuple[tuple | None, ...]
    ordered: tuple[bool, ...]
    names: tuple[str, ...] | None = None

    @classmethod
    def of_numbers(cls, n_columns: int) -> Schema:
        """Numbers in every column."""
        return cls((None,) * n_columns, (False,) * n_columns)

    @property
    def categorical(self) -> np.ndarray:
        """True for columns of categories."""
        return np.array([levels is not None for levels in self.levels], dtype=bool)

    def label(self, column: int) -> str:
        """How a complaint names a column."""
        return repr(self.names[column]) if self.names else str(column)

    def index(self, column) -> int:
        """The place of a column given by name or number."""
        if self.names and column in self.names:
            return self.names.index(column)
        if isinstance(column, int | np.integer) and 0 <= column < len(self.levels):
            return int(column)
        raise ValueError(f"There is no column {column!r} among the {len(self.levels)} columns of X.")

    def take(self, columns) -> Schema:
        """The schema of some columns."""
        names = None if self.names is None else tuple(self.names[k] for k in columns)
        return Schema(tuple(self.levels[k] for k in columns), tuple(self.ordered[k] for k in columns), names)


@dataclass(frozen=True, eq=False)
class Table:
    """A checked table.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Numbers, or the codes 0, 1, ... of categories as floats; NaN in the gaps.
    schema : Schema
    """

    values: np.ndarray
    schema: Schema

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows) -> Table:
        return Table(self.values[rows], self.schema)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape

    @property
    def missing(self) -> np.ndarray:
        """True in the gaps."""
        return np.isnan(self.values)

    @property
    def codes(self) -> np.ndarray:
        """The categorical columns as integers, -1 in the gaps."""
        codes = self.values[:, self.schema.categorical]
        return np.where(np.isnan(codes), -1, codes).astype(np.int64)

    @property
    def numbers(self) -> np.ndarray:
        """The numeric columns, NaN in the gaps."""
        return self.values[:, ~self.schema.categorical]


def read_table(estimator, X, *, reset: bool, categorical_features="from_dtype", schema: Schema | None = None) -> Table:
    """Check ``X`` for ``estimator`` and return it as a `Table`.

    At fit (``reset=True``) the kinds of the columns and the levels of the categories are found; afterwards they are
    those of ``schema``, and a level it does not know is a gap.
    """
    if isinstance(X, Table):  # its names were checked when it was read
        _check_n_features(estimator, X.values, reset=reset)
        return X
    if reset:
        columns, categorical = categorical_columns(X, categorical_features)
        if not categorical.any():
            values = _checked(estimator, X, reset=True)
            return Table(values, Schema.of_numbers(values.shape[1]))
        schema = _schema_of(columns, categorical)
    elif schema is None or not schema.categorical.any():
        values = _checked(estimator, X, reset=False)
        return Table(values, schema or Schema.of_numbers(values.shape[1]))
    else:
        columns = Columns(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return Table(_coded(estimator, columns, schema), schema)


def numeric_table(estimator, X, *, reset: bool) -> np.ndarray:
    """Check ``X`` for ``estimator`` and return it as float64 with NaN in the gaps.

    NaN, None, pd.NA, NaT and masked values are gaps. Infinity, text and dates are errors that name the column.
    """
    if isinstance(X, Table):
        categorical = np.flatnonzero(X.schema.categorical)
        if len(categorical):
            raise ValueError(
                f"Column {X.schema.label(categorical[0])} of X holds categories, but {type(estimator).__name__} is for "
                f"numbers. Use density='auto' or gapkernel.density.JointGaussian(), or leave the column out."
            )
        _check_n_features(estimator, X.values, reset=reset)
        return X.values
    return _checked(estimator, X, reset=reset)


def labelled_table(estimator, X, y, **options) -> tuple[np.ndarray, np.ndarray]:
    """`numeric_table` for `fit`, with the target checked too (``options`` go to scikit-learn's check of it)."""
    table, y = labelled_mixed_table(estimator, X, y, categorical_features=None, **options)
    return table.values, y


def labelled_mixed_table(estimator, X, y, *, categorical_features, **options) -> tuple[Table, np.ndarray]:
    """`read_table` for `fit`, with the target checked too."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    X = read_table(estimator, X, reset=True, categorical_features=categorical_features)
    y = _check_y(y, estimator=estimator, **options)
    check_consistent_length(X, y)
    return X, y


def _schema_of(columns: Columns, categorical: np.ndarray) -> Schema:
    levels = tuple(columns.levels(k) if categorical[k] else None for k in range(columns.n))
    ordered = tuple(bool(categorical[k]) and columns.order(k) is not None for k in range(columns.n))
    return Schema(levels, ordered, columns.names)


def _coded(estimator, columns: Columns, schema: Schema) -> np.ndarray:
    """Numbers as they are and categories as codes, in one array."""
    codes = {k: columns.codes(k, levels) for k, levels in enumerate(schema.levels) if levels is not None}
    values = np.empty((len(next(iter(codes.values()))), len(schema.levels)))
    for k, column in codes.items():
        values[:, k] = column
    numeric = np.flatnonzero(~schema.categorical)
    if len(numeric):
        values[:, numeric] = _floats(
            columns.numbers(numeric),
            lambda part: check_array(part, dtype=np.float64, ensure_all_finite=False, estimator=estimator),
            lambda k: schema.label(int(numeric[k])),
        )
    return values


def _checked(estimator, X, *, reset: bool) -> np.ndarray:
    """A table of numbers, through scikit-learn's own check."""
    names = [repr(str(name)) for name in X.columns] if hasattr(X, "columns") else None
    return _floats(
        X,
        lambda X: validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=False),
        lambda k: names[k] if names else str(k),
    )


def _floats(X, check, label) -> np.ndarray:
    """``X`` as float64 by ``check``; text and infinity are complaints with the ``label`` of their column."""
    try:
        table = check(_without_na(X))
    except (ValueError, TypeError) as error:
        column = _first_column_without_numbers(X)
        if column is None:
            raise
        raise ValueError(
            f"Column {label(column)} of X holds values that are not numbers. Encode it as numbers, declare it in "
            f"categorical_features if the estimator has that parameter, or leave the column out."
        ) from error
    infinite = np.argwhere(np.isinf(table))
    if len(infinite):
        row, column = infinite[0]
        raise ValueError(
            f"Input X contains infinity: row {row}, column {label(column)}. "
            f"Replace it by a number, or by NaN to make it a gap."
        )
    return table


def _without_na(X):
    """``X`` with NaN for masked values, pd.NA and NaT, which no array library turns into numbers."""
    if np.ma.isMaskedArray(X):
        return np.ma.filled(X.astype(np.float64), np.nan)
    if hasattr(X, "notna") and hasattr(X, "dtypes"):
        return X.where(X.notna(), np.nan) if any(dtype.kind == "O" for dtype in X.dtypes) else X
    if isinstance(X, list | tuple):
        try:
            X = np.asarray(X)
        except ValueError:
            return X  # ragged: scikit-learn's check says so
    if isinstance(X, np.ndarray) and X.dtype == object:
        missing = np.frompyfunc(lambda value: type(value).__name__ in ("NAType", "NaTType"), 1, 1)(X).astype(bool)
        return np.where(missing, np.nan, X) if missing.any() else X
    return X


def _first_column_without_numbers(X) -> int | None:
    """The first column with text or dates, None if that is not what is wrong."""
    if hasattr(X, "columns"):
        columns = [np.asarray(X[name], dtype=object) for name in X.columns]
    else:
        values = np.asarray(X, dtype=object)
        if values.ndim != 2:
            return None
        columns = list(values.T)
    for k, values in enumerate(columns):
        if any(_is_text_or_date(value) for value in values):
            return k
    return None


def _is_text_or_date(value) -> bool:
    if not isinstance(value, str):
        return isinstance(value, date | np.datetime64)
    try:
        float(value)
    except ValueError:
        return True
    return False
