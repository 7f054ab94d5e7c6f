"""A completed table in the form in which the caller passed it."""

from __future__ import annotations

import narwhals as nw
import numpy as np

from gapkernel.tables.columns import Columns
from gapkernel.tables.table import Schema, Table


def fill_gaps(X, table: Table, values: np.ndarray):
    """``X`` with its gaps filled, in its own form: a frame stays a frame, an array an array, a `Table` a `Table`.

    Parameters
    ----------
    X : array-like, frame or Table
        As the caller passed it.
    table : Table
        ``X`` as it was read; its gaps are filled, all else stays as it is.
    values : ndarray of shape (n_rows, n_columns)
        The completed cells, categories as codes.
    """
    if isinstance(X, Table):
        return Table(values, table.schema)
    frame = Columns(X).frame
    if frame is None:
        return _with_levels(values, table.schema)
    for k in np.flatnonzero(table.missing.any(axis=0)).tolist():
        levels, gaps = table.schema.levels[k], table.missing[:, k]
        if levels is None:
            frame = frame.with_columns(_series(frame[:, k], gaps, values[gaps, k], nw.Float64()))
        elif levels:  # a category that was never observed has no level to fill in
            filled = [levels[int(code)] for code in values[gaps, k]]
            frame = frame.with_columns(_series(frame[:, k], gaps, filled, None))
    return frame.clone().to_native()


def _with_levels(values: np.ndarray, schema: Schema) -> np.ndarray:
    """The cells with levels in place of codes; an array of objects if some level is not a number."""
    known = {k: levels for k, levels in enumerate(schema.levels) if levels}
    numeric = all(np.array(levels).dtype.kind in "iuf" for levels in known.values())
    out = values if not known else values.astype(np.float64 if numeric else object)
    for k, levels in known.items():
        out[:, k] = np.array(levels, dtype=out.dtype)[values[:, k].astype(int)]
    return out


def _series(series: nw.Series, gaps: np.ndarray, filled, dtype) -> nw.Series:
    """A column with its gaps filled, of this type; None keeps the type of a category."""
    cells = np.array(series.to_list(), dtype=object)
    cells[gaps] = filled
    plain = nw.new_series(series.name, cells.tolist(), dtype=dtype, backend=series.implementation)
    keeps = dtype is None and isinstance(series.dtype, nw.Categorical | nw.Enum)
    return plain.cast(series.dtype) if keeps else plain
