"""A warning of columns whose units differ too much for a kernel with one width."""

from __future__ import annotations

import warnings

import numpy as np

from gapkernel.density import Density
from gapkernel.kernels import Kernel

APART = 100.0
"""How many times the deviation of a column another one must have to drown it."""

ENOUGH_ROWS = 50
"""Rows from which deviations are worth a word."""

MOST_NAMES = 5


def warn_of_units(kernel: Kernel, density: Density, n_rows: int) -> None:
    """Warn of columns that a kernel with one width hardly sees, because another column varies a hundred times more.

    What counts is the units of the laws: a density may standardise the columns of the table.
    """
    if not kernel.one_width or n_rows < ENOUGH_ROWS:
        return
    schema, columns = density.schema_, density.columns_
    deviations = np.where(schema.categorical[columns], 0.0, np.sqrt(density.moments().variances))
    largest = int(np.argmax(deviations))
    drowned = np.flatnonzero((deviations > 0) & (deviations * APART < deviations[largest]))
    if not drowned.size:
        return
    names = [f"{schema.label(columns[k])} ({deviations[k]:.2g})" for k in drowned[:MOST_NAMES].tolist()]
    more = f" and {drowned.size - MOST_NAMES} more" if drowned.size > MOST_NAMES else ""
    warnings.warn(
        f"An RBF kernel has one width for all columns: next to column {schema.label(columns[largest])} "
        f"(standard deviation {deviations[largest]:.2g}) it hardly sees {', '.join(names)}{more}. Standardise the "
        f"columns first: sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), ...) keeps the gaps.",
        UserWarning,
        stacklevel=4,
    )
