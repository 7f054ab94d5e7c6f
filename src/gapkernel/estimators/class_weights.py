"""Weights of rows and of classes; rows of weight zero are left out, in folds too."""

from __future__ import annotations

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from gapkernel.solvers.base import Folds


def class_weighted(class_weight, labels: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """The weight of each row times that of its class; None stands for equal weights."""
    by_class = compute_sample_weight(class_weight, labels)
    return by_class if weight is None else by_class * weight


def part_of(weight: np.ndarray | None, rows) -> np.ndarray | None:
    """The weights of the given rows; None, which stands for equal weights, stays None."""
    return None if weight is None else weight[rows]


def left_in(table, y, weight: np.ndarray | None) -> tuple:
    """The rows of positive weight, their targets (or None) and weights, and their places among all rows."""
    if weight is None:
        return table, y, None, np.arange(len(table))
    kept = np.flatnonzero(weight)
    if not len(kept):
        raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
    return table[kept], part_of(y, kept), weight[kept], kept


def splits_among(splits: Folds, kept: np.ndarray) -> Folds:
    """Splits of all rows as places among the rows that are ``kept`` (sorted), without splits that test none of them."""

    def places(part: np.ndarray) -> np.ndarray:
        return np.searchsorted(kept, part[np.isin(part, kept)])

    inside = [(places(train), places(test)) for train, test in splits]
    for k, (train, test) in enumerate(inside):
        if len(test) and not len(train):
            raise ValueError(f"Split {k} of cv has no row of positive weight to learn from.")
    return [(train, test) for train, test in inside if len(test)]
