"""Verbs on tables in the form in which the user passed them: lists, arrays and frames keep their form.

Other packages touch frames only by these verbs and by `gapkernel.tables.reading`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils import _safe_indexing

from gapkernel.tables.table import Schema, Table
from gapkernel.tables.user_columns import ArrayColumn, Columns, eager_frame


def schema_of(X, categorical_features="from_dtype") -> Schema:
    """What the columns of a table hold: names, and the levels of the categories that occur."""
    return Columns(X).schema(categorical_features)


def names_of(X) -> tuple | None:
    """The names of a frame's columns; None for a table without names."""
    return tuple(eager_frame(X).columns) if nw.dependencies.is_into_dataframe(X) else None


def labels_of(X) -> tuple[str, ...]:
    """What error messages and figures call the columns: their names, or their numbers where they have none."""
    return tuple(map(str, names_of(X) or range(Columns(X).n)))


def gaps_of(X) -> np.ndarray:
    """True in the gaps of a table of numbers, text, categories or dates."""
    return Columns(X).gaps()


def floats_of(X) -> np.ndarray:
    """The cells of a table of numbers as float64, NaN in the gaps; text, dates and infinity are errors."""
    columns = Columns(X)
    return np.asarray(columns.values(columns.all_numbers), dtype=np.float64)


def missing_in(y) -> np.ndarray:
    """True where a target has no value: NaN, None, pd.NA and what a mask hides."""
    if isinstance(y, np.ma.MaskedArray):
        return missing_in(y.data) | np.ma.getmaskarray(y).ravel()
    if nw.dependencies.is_into_series(y):
        y = nw.from_native(y, series_only=True).to_numpy()
    return ArrayColumn(np.asarray(y).ravel(), "y").gaps()


def take_rows(X, rows) -> Any:
    """Some rows of a table, a target or weights, by a slice or by numbers."""
    return _safe_indexing(X, rows)


def take_columns(X, columns) -> Any:
    """Some columns of a table, by numbers."""
    return _safe_indexing(X if nw.dependencies.is_into_dataframe(X) else Columns(X).array, columns, axis=1)


def join_rows(pieces) -> Any:
    """The rows of several tables of the same form, targets or weights, in one."""
    if len(pieces) == 1:
        return pieces[0]
    if nw.dependencies.is_into_dataframe(pieces[0]):
        return nw.concat([eager_frame(piece) for piece in pieces]).to_native()
    if isinstance(pieces[0], list):
        return [row for piece in pieces for row in piece]
    return np.concatenate([np.asarray(piece) for piece in pieces])


def with_gaps(X, holes: np.ndarray) -> Any:
    """A copy of a table with gaps in the ``holes``.

    A frame gives a frame; lists and arrays give arrays, of floats with NaN if they hold numbers, else of objects with
    None.
    """
    columns = Columns(X)
    if columns.frame is None:
        values = columns.array.astype(_dtype_with_gaps(X, columns.array))
        values[holes] = None if values.dtype == object else np.nan
        return values
    frame, backend = columns.frame, columns.frame.implementation
    keep = [nw.new_series("keep", ~holes[:, k], backend=backend) for k in range(columns.n)]
    return frame.with_columns(nw.when(keep[k]).then(nw.col(name)) for k, name in enumerate(frame.columns)).to_native()


def fill_gaps(X, table: Table, values: np.ndarray) -> Any:
    """``X`` with its gaps filled, in its own form: a frame stays a frame, an array an array, a `Table` a `Table`.

    Parameters
    ----------
    X : array-like, frame or Table
        As the caller passed it.
    table : Table
        ``X`` as it was read: its gaps are filled, all else stays as it is.
    values : ndarray of shape (n_rows, n_columns)
        The completed cells, categories as codes.
    """
    filled = Table(values, table.schema)
    if isinstance(X, Table):
        return filled
    columns, levels = Columns(X), table.schema.levels
    if columns.frame is None:
        numeric = all(np.array(known or ()).dtype.kind in "iuf" for known in levels)
        out = values.astype(np.float64 if numeric else object)
        for k in np.flatnonzero(table.schema.categorical).tolist():
            out[:, k] = filled.cells(k)
        return out
    frame = columns.frame
    series = []
    for k in np.flatnonzero(table.missing.any(axis=0)).tolist():
        if levels[k] != ():  # a category that was never observed has no level to fill in
            column = nw.new_series(frame.columns[k], filled.cells(k).tolist(), backend=frame.implementation)
            keeps_type = isinstance(columns.dtypes[k], nw.Categorical | nw.Enum)
            series.append(column.cast(columns.dtypes[k]) if keeps_type else column)
    return frame.clone().with_columns(*series).to_native()


def one_row(row, estimator) -> Any:
    """One row as a table; a pandas Series keeps its names where ``estimator`` was fitted to a frame."""
    if np.ndim(row) == 2:
        return row
    if hasattr(estimator, "feature_names_in_") and nw.dependencies.is_pandas_series(row):
        return row.to_frame().T.infer_objects()
    return np.asarray(row).reshape(1, -1)


def named_like_fit(values: np.ndarray, estimator) -> Any:
    """An array of numbers in the form of the table that ``estimator`` was fitted to: an array, or a pandas frame."""
    if not hasattr(estimator, "feature_names_in_"):
        return values
    import pandas as pd

    return pd.DataFrame(values, columns=estimator.feature_names_in_)


def _dtype_with_gaps(X, array: np.ndarray) -> np.dtype:
    if array.dtype.kind in "fO" and isinstance(X, np.ndarray):
        return array.dtype
    numbers = array.dtype.kind in "biuf" or all(cell is None or isinstance(cell, Real) for cell in array.flat)
    return np.dtype(np.float64 if numbers else object)


def pandas_files():
    """The module that reads files into pandas frames, an error without pandas, which is optional."""
    try:
        from gapkernel.tables import files
    except ImportError as error:
        raise ImportError('This needs pandas: pip install "gapkernel[cli]".') from error
    return files
