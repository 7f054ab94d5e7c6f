"""What a model answers to rows of which further cells are hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.inspectable import Inspectable
from gapkernel.tables import Table, read_table, take_rows, with_gaps

EXPLAINED = ("decision_function", "latent_mean", "predict_proba")
"""What is explained of a classifier, the first that it has."""

AVERAGES = ("predict", "decision_function", "latent_mean")
"""The answers that may be averages over the law of a row; probabilities and variances never are."""

ROWS_AT_ONCE = 2**14
"""Rows with hidden cells that are answered together."""


class Chosen(NamedTuple):
    """What is explained of each row.

    Attributes
    ----------
    outputs : ndarray of shape (n_rows,)
        The column of the answers.
    signs : ndarray of shape (n_rows,)
        What it is multiplied by.
    labels : ndarray of shape (n_rows,)
        The class, or the number of the target.
    """

    outputs: np.ndarray
    signs: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a model to some rows, with cells hidden.

    Attributes
    ----------
    model : estimator
    X : array-like, frame or Table
        The rows in the form that the model takes: ours take a table that was read.
    table : Table
        The same rows, read.
    method : str
        What answers.
    """

    model: Any
    X: Any
    table: Table
    method: str

    @classmethod
    def of(cls, model, X, response_method: str) -> Answers:
        """Read the rows and settle what answers."""
        check_is_fitted(model)
        method = _settled(model, response_method)
        if isinstance(model, Inspectable):
            table = model.table_of(X)
            return cls(model, table, table, method)
        return cls(model, X, read_table(BaseEstimator(), X, reset=True), method)

    @property
    def exact(self) -> bool:
        """Whether the answer to a row with hidden cells is the expected answer to the row given the others."""
        return self.method in AVERAGES and isinstance(self.model, Inspectable) and self.model.averages_gaps

    @property
    def of_pairs(self) -> bool:
        """Whether there is a decision value for each pair of more than two classes, and not for each class."""
        by_pair = getattr(self.model, "decision_function_shape", None) == "ovo" and len(self.model.classes_) > 2
        return by_pair and self.method == "decision_function"

    def __call__(self, rows: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """The answers to ``rows`` (their places) with ``hidden`` cells, (n, n_outputs)."""
        if isinstance(self.X, Table):
            seen: Any = Table(np.where(hidden, np.nan, self.table.values[rows]), self.table.schema)
        else:
            seen = with_gaps(take_rows(self.X, rows), hidden)
        if self.method == "variance":
            try:
                found = self.model.predict(seen, return_std=True)[1] ** 2
            except TypeError as error:
                raise ValueError(f"{type(self.model).__name__} has no predict(X, return_std=True).") from error
        else:
            found = getattr(self.model, self.method)(seen)
        return np.asarray(found).reshape(len(rows), -1)

    def chosen(self, target) -> Chosen:
        """The output that is explained of each row; None is the predicted of several classes."""
        found = self(np.arange(len(self.table)), np.zeros(self.table.shape, bool))
        n_rows, n_outputs = found.shape
        labels = np.asarray(self.model.classes_) if is_classifier(self.model) else np.arange(n_outputs)
        one_for_two = is_classifier(self.model) and n_outputs == 1  # a value for the second class, against the first
        if self.of_pairs:
            labels = np.arange(n_outputs)
        if target is not None:
            if target not in labels.tolist():
                raise ValueError(f"target must be one of {labels.tolist()}, got {target!r}.")
            places = np.full(n_rows, labels.tolist().index(target))
        elif len(labels) <= 2 and is_classifier(self.model):
            places = np.full(n_rows, len(labels) - 1)
        elif n_outputs == 1 or (is_classifier(self.model) and not self.of_pairs):
            places = found.argmax(axis=1)
        else:
            what = "pairs of classes" if self.of_pairs else "targets"
            raise ValueError(f"The model has {n_outputs} {what}: say which one is explained by target=.")
        if one_for_two:
            return Chosen(np.zeros(n_rows, int), np.where(places == 1, 1.0, -1.0), labels[places])
        return Chosen(places, np.ones(n_rows), labels[places])


def _settled(model, method: str) -> str:
    """The method that answers, checked."""
    if method == "auto":
        found = "predict" if is_regressor(model) else next((name for name in EXPLAINED if hasattr(model, name)), None)
        if found is None:
            raise ValueError(f"{type(model).__name__} has none of {', '.join(EXPLAINED)}, so nothing can be explained.")
        return found
    known = ("predict", "variance") if is_regressor(model) else EXPLAINED
    if method not in known or (method in EXPLAINED and not hasattr(model, method)):
        raise ValueError(
            f"response_method must be 'auto' or a method of {type(model).__name__} among {known}, got {method!r}."
        )
    return method


def with_summary(model, lacks: str) -> Inspectable:
    """The model, which must remember its training table, or an error that says what it ``lacks``."""
    if isinstance(model, Inspectable) and hasattr(model, "training_summary_"):
        return model
    raise ValueError(
        f"{type(model).__name__} {lacks}. Use an estimator of this package that learns from a table in memory, such as "
        f"GapClassifier or SVC."
    )


def inside_of(model):
    """The estimator inside scikit-learn's `CalibratedClassifierCV`, or the model itself."""
    from sklearn.calibration import CalibratedClassifierCV  # slow to import

    return model.calibrated_classifiers_[0].estimator if isinstance(model, CalibratedClassifierCV) else model


def last_step(model, X, names) -> tuple[Any, Any, Any]:
    """The last step of a pipeline, what reaches it of ``X``, and the names of that; any other model as it is.

    The steps before may have moved the columns; there are no names where they do not say how.
    """
    if not isinstance(model, Pipeline):
        return model, X, names
    if len(model) > 1:
        before = model[:-1]
        named = names is not None and all(hasattr(step, "get_feature_names_out") for _, step in before.steps)
        X, names = before.transform(X), before.get_feature_names_out(names) if named else None
    return model[-1], X, names
