"""The one door for data: whatever the user passes becomes a table of numbers and category codes with gaps."""

from __future__ import annotations

from datetime import date

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_n_features,
    _check_sample_weight,
    _check_y,
    check_array,
    check_consistent_length,
    validate_data,
)

from gapkernel.tables.columns import Columns, categorical_columns
from gapkernel.tables.table import Schema, Table


def read_table(estimator, X, *, reset: bool, categorical_features="from_dtype", schema: Schema | None = None) -> Table:
    """Check ``X`` for ``estimator`` and return it as a `Table`.

    NaN, None, pd.NA, NaT and masked values are gaps. Infinity, mixed types, dates and times are errors that name the
    column. At fit (``reset=True``) the kinds of the columns and the levels of the categories are found; afterwards they
    are those of ``schema``, and a level that is not among them is a gap.

    Parameters
    ----------
    estimator : estimator
        Keeps and checks ``n_features_in_`` and ``feature_names_in_``.
    X : array-like, frame or Table
        A `Table` was checked when it was read, and is returned as it is.
    reset : bool
        True at fit.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        At fit, the columns that hold categories: those whose type says so; none, and text is an error; or the names,
        numbers or a mask of columns.
    schema : Schema, default=None
        After fit, what the columns held at fit; None is numbers.

    Returns
    -------
    table : Table
    """
    if isinstance(X, Table):
        _check_n_features(estimator, X.values, reset=reset)
        return X
    if reset:
        columns, categorical = categorical_columns(X, categorical_features)
        if not categorical.any():
            values = _checked(estimator, X, reset=True)
            return Table(values, Schema.of_numbers(values.shape[1], _names_of(X)))
        schema = _schema_of(columns, categorical)
    elif schema is None or not schema.categorical.any():
        values = _checked(estimator, X, reset=False)
        return Table(values, schema or Schema.of_numbers(values.shape[1], _names_of(X)))
    else:
        columns = Columns(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return Table(_coded(estimator, columns, schema), schema)


def read_labelled(estimator, X, y, *, categorical_features="from_dtype", **y_options) -> tuple[Table, np.ndarray]:
    """`read_table` for `fit`, with the target checked too (``y_options`` go to scikit-learn's check of it)."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    table = read_table(estimator, X, reset=True, categorical_features=categorical_features)
    y = _check_y(y, estimator=estimator, **y_options)
    check_consistent_length(table, y)
    return table, y


def read_classes(y, *, among: str = "") -> tuple[np.ndarray, np.ndarray]:
    """The classes in ``y``, sorted, and the place of each label among them.

    ``among`` ends the words "y holds one class only" where ``y`` is not the whole target, such as " among the rows with
    a value".
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        held = f"one class only{among}, {classes.tolist()[0]!r}" if len(classes) else f"no class{among}"
        raise ValueError(f"y holds {held}. A classifier needs at least two classes.")
    return classes, codes


def read_weight(sample_weight, table) -> np.ndarray | None:
    """A finite weight of at least 0 for each row of ``table``; None stays None, which stands for weights of one."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)


def numbers_of(table: Table, estimator) -> np.ndarray:
    """The cells of a table without categories; truth values are the numbers 0 and 1."""
    values = table.values
    for k in np.flatnonzero(table.schema.categorical):
        levels = table.schema.levels[k]
        if not levels or not all(isinstance(level, bool | np.bool_) for level in levels):
            raise ValueError(
                f"Column {table.schema.label(k)} of X holds categories, not numbers, but {type(estimator).__name__} is "
                f"for numbers only. Use density='auto' or gapkernel.density.JointGaussian(), or leave the column out."
            )
        values = values.copy() if values is table.values else values
        seen = ~table.missing[:, k]
        values[seen, k] = np.array(levels, dtype=np.float64)[values[seen, k].astype(int)]
    return values


def _names_of(X) -> tuple[str, ...] | None:
    return tuple(map(str, X.columns)) if hasattr(X, "columns") else None


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
