"""The one door for data: whatever the user hands us becomes a float64 array with NaN for gaps."""

from __future__ import annotations

from datetime import date

import numpy as np
from sklearn.utils.validation import _check_y, check_consistent_length, validate_data


def numeric_table(estimator, X, *, reset: bool) -> np.ndarray:
    """Check ``X`` for ``estimator`` and return it as float64 with NaN in the gaps.

    NaN, None, pd.NA, NaT and masked values are gaps. Infinity, text and dates are errors that name the column.
    """
    try:
        table = validate_data(estimator, _without_na(X), reset=reset, dtype=np.float64, ensure_all_finite=False)
    except (ValueError, TypeError) as error:
        column = _first_column_without_numbers(X)
        if column is None:
            raise
        raise ValueError(
            f"Column {column} of X holds values that are not numbers. "
            f"Encode it as numbers first, or leave the column out."
        ) from error
    infinite = np.argwhere(np.isinf(table))
    if len(infinite):
        row, column = infinite[0]
        names = getattr(estimator, "feature_names_in_", None)
        where = repr(str(names[column])) if names is not None else int(column)
        raise ValueError(
            f"Input X contains infinity: row {row}, column {where}. Replace it by a number, or by NaN to make it a gap."
        )
    return table


def labelled_table(estimator, X, y, **options) -> tuple[np.ndarray, np.ndarray]:
    """`numeric_table` for `fit`, with the target checked too (``options`` go to scikit-learn's check of it)."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    X = numeric_table(estimator, X, reset=True)
    y = _check_y(y, estimator=estimator, **options)
    check_consistent_length(X, y)
    return X, y


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


def _first_column_without_numbers(X) -> str | None:
    """Name of the first column with text or dates, None if that is not what is wrong."""
    if hasattr(X, "columns"):
        columns = [(repr(str(name)), np.asarray(X[name], dtype=object)) for name in X.columns]
    else:
        values = np.asarray(X, dtype=object)
        if values.ndim != 2:
            return None
        columns = [(str(k), values[:, k]) for k in range(values.shape[1])]
    for name, values in columns:
        if any(_is_text_or_date(value) for value in values):
            return name
    return None


def _is_text_or_date(value) -> bool:
    if not isinstance(value, str):
        return isinstance(value, date | np.datetime64)
    try:
        float(value)
    except ValueError:
        return True
    return False
