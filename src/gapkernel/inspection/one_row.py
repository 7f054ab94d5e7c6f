"""One row as a table, with the names its estimator knows."""

from __future__ import annotations

import numpy as np


def one_row(estimator, row):
    """``row`` as a table of one row: a pandas Series keeps its names where ``estimator`` was fitted with names."""
    if np.ndim(row) == 2:
        return row
    if hasattr(row, "to_frame") and hasattr(row, "index") and hasattr(estimator, "feature_names_in_"):
        return row.to_frame().T.infer_objects()
    return np.asarray(row).reshape(1, -1)
