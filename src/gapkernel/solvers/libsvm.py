"""Support vector machines on a given Gram matrix, by scikit-learn's libsvm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn import svm


@dataclass(frozen=True)
class SupportVectors:
    """A solved machine.

    Attributes
    ----------
    support : ndarray of shape (n_support,)
        Rows with a coefficient.
    dual_coef, intercept : ndarray
        As in scikit-learn.
    weights : ndarray of shape (n_support, n_outputs)
        Decision values are ``cross @ weights + intercept``; several classes give one output for each pair.
    n_support : ndarray
        Support rows of each class.
    n_iter : ndarray or int
    status : int
        0 when solved.
    class_weight : ndarray or None
        Multipliers of C for each class, in classification.
    """

    support: np.ndarray
    dual_coef: np.ndarray
    intercept: np.ndarray
    weights: np.ndarray
    n_support: np.ndarray
    n_iter: np.ndarray | int
    status: int
    class_weight: np.ndarray | None = None


MACHINES = {"SVC": svm.SVC, "SVR": svm.SVR, "OneClassSVM": svm.OneClassSVM}


def machine(kind: str, **parameters):
    """A machine with checked parameters, so that a wrong one is refused before the Gram matrix is computed."""
    libsvm = MACHINES[kind](kernel="precomputed", **parameters)
    libsvm._validate_params()
    return libsvm


def solve(machine, gram, y, sample_weight) -> SupportVectors:
    """Train a machine on a Gram matrix; classes are numbers 0, 1, ..."""
    machine.fit(gram, y, sample_weight)
    return SupportVectors(
        support=machine.support_,
        dual_coef=machine.dual_coef_,
        intercept=machine.intercept_,
        weights=_pairwise_weights(machine.dual_coef_, machine.n_support_),
        n_support=machine.n_support_,
        n_iter=machine.n_iter_,
        status=machine.fit_status_,
        class_weight=getattr(machine, "class_weight_", None),
    )


def _pairwise_weights(dual_coef: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """One column for each pair of classes i < j: libsvm keeps a row's coefficient against each other class."""
    if len(dual_coef) == 1:
        return dual_coef.T
    ends = np.cumsum(n_support)
    of_class = [slice(end - count, end) for end, count in zip(ends, n_support, strict=True)]
    columns = []
    for i in range(len(n_support)):
        for j in range(i + 1, len(n_support)):
            column = np.zeros(dual_coef.shape[1])
            column[of_class[i]] = dual_coef[j - 1, of_class[i]]
            column[of_class[j]] = dual_coef[i, of_class[j]]
            columns.append(column)
    return np.column_stack(columns)
