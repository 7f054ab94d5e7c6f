"""How much a row counts: its own weight times that of its class, and nothing if that is zero, also in folds."""

from __future__ import annotations

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from gapkernel.solvers.base import Folds


def class_weighted(class_weight, labels: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """``weight`` times the weight of each row's class; None means equal weights, of the rows or of the classes."""
    by_class = compute_sample_weight(class_weight, labels)
    return by_class if weight is None else by_class * weight


def part_of(weight: np.ndarray | None, rows) -> np.ndarray | None:
    """The weights of some rows; None, for equal weights, stays None."""
    return None if weight is None else weight[rows]


def left_in(table, y, weight: np.ndarray | None) -> tuple:
    """The rows of positive weight with their targets, if there are any, and their weights; and the rows' places."""
    if weight is None:
        return table, y, None, np.arange(len(table))
    kept = np.flatnonzero(weight)
    if not len(kept):
        raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
    return table[kept], part_of(y, kept), weight[kept], kept


def splits_among(splits: Folds, kept: np.ndarray) -> Folds:
    """Splits of all rows as places among the sorted ones that are ``kept``, without splits that test none of these."""

    def places(part: np.ndarray) -> np.ndarray:
        return np.searchsorted(kept, part[np.isin(part, kept)])

    found = [(places(train), places(test)) for train, test in splits]
    for k, (train, test) in enumerate(found):
        if len(test) and not len(train):
            raise ValueError(f"Split {k} of cv has no row of positive weight to learn from.")
    return [(train, test) for train, test in found if len(test)]
