"""Labels that may be unobserved or known in part, as sets of classes that are still possible."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import _check_y, check_consistent_length, column_or_1d

from gapkernel.estimators import class_weighted
from gapkernel.tables import Table, names_of, read_classes

UNOBSERVED = -1


class CandidateLabels(NamedTuple):
    """The classes, and for each row those that are still possible, (n_rows, n_classes)."""

    classes: np.ndarray
    candidates: np.ndarray

    def weights(self, weight: np.ndarray | None, class_weight) -> np.ndarray:
        """The weight of each row's loss; class weights are for rows with one possible label."""
        weight = np.ones(len(self.candidates)) if weight is None else weight.copy()
        known = self.candidates.sum(axis=1) == 1
        if class_weight is not None and known.any():
            labels = self.classes[self.candidates[known].argmax(axis=1)]
            weight[known] = class_weighted(class_weight, labels, weight[known])
        return weight


def read_labels(y, table: Table, name: str) -> CandidateLabels:
    """Labels with -1 for an unobserved one, or a boolean matrix of possible classes (a frame's columns name them)."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    labels = _candidate_matrix(y) or _label_vector(y)
    check_consistent_length(table, labels.candidates)
    empty = np.flatnonzero(~labels.candidates.any(axis=1))
    if len(empty):
        raise ValueError(
            f"Row {empty[0]} of y has no possible class. Give each row at least one True; "
            f"all True is an unobserved label."
        )
    if labels.candidates.all():
        raise ValueError("No label is observed: every row may be of any class. Label at least one row of two classes.")
    return labels


def _candidate_matrix(y) -> CandidateLabels | None:
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] < 2:
        return None
    if values.dtype == object and all(isinstance(cell, bool | np.bool_) for cell in values.flat):
        values = values.astype(bool)  # the nullable booleans of pandas, without gaps
    if values.dtype != bool:
        if np.isin(values, (0, 1)).all():
            raise ValueError("y is a matrix of the numbers 0 and 1. To name possible classes, pass a boolean matrix.")
        return None
    classes = np.asarray(names_of(y) or range(values.shape[1]))
    names, first = np.unique(classes, return_index=True)
    return CandidateLabels(names, values[:, first])  # classes_ is sorted in all classifiers


def _label_vector(y) -> CandidateLabels:
    if isinstance(y, list | tuple) and any(isinstance(label, str) for label in y):
        y = np.array(y, dtype=object)  # else -1 among strings would become the string "-1"
    y = column_or_1d(y, warn=True)
    if any(label is None for label in y.tolist()):
        raise ValueError("y holds None. None is not a label; use -1 for an unobserved one.")
    if any(isinstance(label, str) and label == str(UNOBSERVED) for label in y.tolist()):
        raise ValueError("y holds the text '-1'. For an unobserved label among names use an object array with -1.")
    observed = ~np.array([_is_unobserved(label) for label in y.tolist()], dtype=bool)
    if not observed.any():
        raise ValueError("No label is observed: every entry of y is -1. Label at least one row of two classes.")
    known = _check_y(np.array(y[observed].tolist()) if y.dtype == object else y[observed])
    classes, codes = read_classes(known)
    candidates = np.ones((len(y), len(classes)), dtype=bool)
    candidates[observed] = np.eye(len(classes), dtype=bool)[codes]
    return CandidateLabels(classes, candidates)


def _is_unobserved(label) -> bool:
    return not isinstance(label, str | bool) and label == UNOBSERVED
