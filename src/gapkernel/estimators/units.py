"""A warning of columns whose units differ too much for a kernel with one width."""

from __future__ import annotations

import warnings

import numpy as np

from gapkernel.compute.standardise import standard_of
from gapkernel.kernels import Kernel
from gapkernel.tables import Table

APART = 100.0
"""How many times the deviation of a column another one must have to drown it."""

ENOUGH_ROWS = 50
"""Rows from which deviations are worth a word."""

MOST_NAMES = 5


def warn_of_units(kernel: Kernel, table: Table) -> None:
    """Warn of columns that a kernel with one width hardly sees, because another column varies a hundred times more."""
    if not kernel.one_width or len(table) < ENOUGH_ROWS:
        return
    deviations = np.where(table.schema.categorical, 0.0, np.sqrt(standard_of(table.values).variances))
    largest = int(np.argmax(deviations))
    drowned = np.flatnonzero((deviations > 0) & (deviations * APART < deviations[largest]))
    if not drowned.size:
        return
    names = [f"{table.schema.label(k)} ({deviations[k]:.2g})" for k in drowned[:MOST_NAMES].tolist()]
    more = f" and {drowned.size - MOST_NAMES} more" if drowned.size > MOST_NAMES else ""
    warnings.warn(
        f"An RBF kernel has one width for all columns: next to column {table.schema.label(largest)} "
        f"(standard deviation {deviations[largest]:.2g}) it hardly sees {', '.join(names)}{more}. Standardise the "
        f"columns first: sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), ...) keeps the gaps.",
        UserWarning,
        stacklevel=4,
    )
