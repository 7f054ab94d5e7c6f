"""The targets of a regression whose rows need not all have one, and what is known of their noise."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import column_or_1d

from gapkernel.tables import Table, read_labelled


def read_targets(estimator, X, y, unlabelled: bool, categorical_features) -> tuple[Table, np.ndarray, np.ndarray]:
    """The checked table, the targets with NaN where there is none, and the rows that have one."""
    missing = np.zeros(0, bool) if y is None else _missing(y)
    if missing.any():
        if not unlabelled:
            raise ValueError(
                f"Input y contains NaN: row {np.flatnonzero(missing)[0]} has no target. Leave such rows out, or set "
                f"unlabelled=True to let them inform the density."
            )
        if missing.all():
            raise ValueError("Input y contains NaN only: at least one row must have a target.")
        y = np.where(missing, 0.0, column_or_1d(np.asarray(y, dtype=object), warn=True)).astype(np.float64)
    table, y = read_labelled(estimator, X, y, categorical_features=categorical_features, y_numeric=True)
    y = y.astype(np.float64)
    if missing.any():
        y[missing] = np.nan
    return table, y, np.flatnonzero(~np.isnan(y))


def _missing(y) -> np.ndarray:
    """True where there is no target: NaN, None and pd.NA."""
    values = np.asarray(y.isna() if hasattr(y, "isna") else y).ravel()
    if values.dtype.kind == "b":
        return values if hasattr(y, "isna") else np.zeros(len(values), bool)
    if values.dtype == object:
        return np.array([value is None or value != value for value in values], dtype=bool)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.size, bool)


def checked_alpha(alpha, n_rows: int) -> np.ndarray:
    """A positive number for each row."""
    values = np.asarray(alpha)
    if values.dtype.kind not in "fiu" or not (np.all(values > 0) and np.isfinite(values).all()):
        raise ValueError(f"alpha must be positive, got {alpha!r}. Raise it; 1e-10 is the default.")
    if values.shape not in ((), (n_rows,)):
        raise ValueError(f"alpha must be a number or have one entry for each of {n_rows} rows, got {values.shape}.")
    return np.broadcast_to(values.astype(np.float64), (n_rows,))


def location_and_unit(y: np.ndarray, normalize: bool) -> tuple[float, float]:
    """Mean and deviation of the targets, or 0 and 1; a constant target has unit 1."""
    if not normalize:
        return 0.0, 1.0
    unit = float(np.std(y))
    return float(np.mean(y)), unit if unit > 10 * np.finfo(float).eps * np.abs(y).max() else 1.0
