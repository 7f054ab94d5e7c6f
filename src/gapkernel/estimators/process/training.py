"""What a Gaussian process learns from: rows of which not all need a target, and what is known of the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from gapkernel.estimators.base import Training
from gapkernel.estimators.class_weights import part_of
from gapkernel.tables import Table, missing_in, read_labelled

HELD_OUT = 0.25
"""Share of the rows that split conformal calibration keeps for itself."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ProcessTraining(Training):
    """What a process learns from.

    The table holds the rows that the density sees: those to learn from, and those with NaN in ``y``, which have no
    target.

    Attributes
    ----------
    alpha : ndarray of shape (n_rows,)
        Known extra noise of each target.
    held_out : Table
        Rows that are kept for calibration.
    held_out_y, held_out_weight : ndarray
        Their targets and weights.
    random : RandomState
    """

    alpha: np.ndarray
    held_out: Table
    held_out_y: np.ndarray
    held_out_weight: np.ndarray
    random: np.random.RandomState


def process_training(table: Table, y: np.ndarray, weight, alpha, split: bool, random_state) -> ProcessTraining:
    """What a process learns from, and with ``split`` what it is calibrated by."""
    alpha, random = _checked_alpha(alpha, len(y)), check_random_state(random_state)
    counts = np.ones(len(y), bool) if weight is None else weight > 0
    labelled = np.flatnonzero(counts & ~np.isnan(y))
    if not len(labelled):
        raise ValueError("sample_weight is zero for every row with a target, so there is nothing to learn from.")
    held_out = labelled[:0]
    if split:
        if len(labelled) * HELD_OUT < 1:
            raise ValueError(
                f"conformal='split' needs at least {int(1 / HELD_OUT)} rows with a target, got {len(labelled)}: "
                f"use conformal='count'."
            )
        held_out = random.permutation(labelled)[: int(HELD_OUT * len(labelled))]
    seen = np.setdiff1d(np.flatnonzero(counts), held_out)
    return ProcessTraining(
        table=table[seen],
        y=y[seen],
        weight=part_of(weight, seen),
        kept=seen,
        alpha=alpha[seen],
        held_out=table[held_out],
        held_out_y=y[held_out],
        held_out_weight=np.ones(len(held_out)) if weight is None else weight[held_out],
        random=random,
    )


def read_targets(estimator, X, y, unlabelled: bool, categorical_features) -> tuple[Table, np.ndarray]:
    """The checked table, and the targets with NaN where there is none."""
    missing = np.zeros(0, bool) if y is None else missing_in(y)
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
    return table, y


def _checked_alpha(alpha, n_rows: int) -> np.ndarray:
    """A positive number for each row."""
    values = np.asarray(alpha)
    if values.dtype.kind not in "fiu" or not (np.all(values > 0) and np.isfinite(values).all()):
        raise ValueError(f"alpha must be positive, got {alpha!r}. Raise it; 1e-10 is the default.")
    if values.shape not in ((), (n_rows,)):
        raise ValueError(f"alpha must be a number or have one entry for each of {n_rows} rows, got {values.shape}.")
    return np.broadcast_to(values.astype(np.float64), (n_rows,))


def location_and_unit(y: np.ndarray, weight: np.ndarray | None) -> tuple[float, float]:
    """Mean and deviation of the targets; a constant target has unit 1."""
    mean = float(np.average(y, weights=weight))
    unit = float(np.sqrt(np.average((y - mean) ** 2, weights=weight)))
    return mean, unit if unit > 10 * np.finfo(float).eps * np.abs(y).max() else 1.0
