"""How much a row counts: its own weight times that of its class."""

from __future__ import annotations

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight


def class_weighted(class_weight, labels: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """``weight`` times the weight of each row's class; None means equal weights, of the rows or of the classes."""
    by_class = compute_sample_weight(class_weight, labels)
    return by_class if weight is None else by_class * weight


def part_of(weight: np.ndarray | None, rows) -> np.ndarray | None:
    """The weights of some rows; None, equal weights, stays None."""
    return None if weight is None else weight[rows]
