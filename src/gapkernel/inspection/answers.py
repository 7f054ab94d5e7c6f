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


WORDS = {"predict": "prediction", "predict_proba": "probability", "decision_function": "decision value"}
"""What people call the answer of a method, where its own name does not say it."""


class Explained(NamedTuple):
    """Which number of a row's answer is explained.

    Attributes
    ----------
    outputs : ndarray of shape (n_rows,)
        Its place among the outputs of the method.
    signs : ndarray of shape (n_rows,)
        -1 where it is the output's opposite: a decision value of two classes is that of the second.
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
            return self.to(Table(np.where(hidden, np.nan, self.table.values[rows]), self.table.schema))
        return self.to(with_gaps(take_rows(self.X, rows), hidden))

    def to(self, X) -> np.ndarray:
        """The answers to any rows, (n, n_outputs)."""
        if self.method != "variance":
            answers = getattr(self.model, self.method)(X)
        else:
            try:
                answers = self.model.predict(X, return_std=True)[1] ** 2
            except TypeError as error:
                raise ValueError(f"{type(self.model).__name__} has no predict(X, return_std=True).") from error
        return np.asarray(answers).reshape(len(X), -1)

    @property
    def of_classes(self) -> bool:
        """Whether the outputs are those of classes."""
        return is_classifier(self.model) and not self.of_pairs

    def explained(self, target) -> Explained:
        """The output that is explained of each row; without a target, of several classes the predicted one."""
        answers = self.to(self.X)
        n_rows, n_outputs = answers.shape
        labels = np.asarray(self.model.classes_) if self.of_classes else np.arange(n_outputs)
        if target is not None:
            if target not in labels.tolist():
                raise ValueError(f"target must be one of {labels.tolist()}, got {target!r}.")
            places = np.full(n_rows, labels.tolist().index(target))
        elif self.of_classes and len(labels) <= 2:
            places = np.full(n_rows, len(labels) - 1)
        elif self.of_classes or n_outputs == 1:
            places = answers.argmax(axis=1)
        else:
            what = "pairs of classes" if self.of_pairs else "targets"
            raise ValueError(f"The model has {n_outputs} {what}: say which one is explained by target=.")
        if self.of_classes and n_outputs == 1:
            return Explained(np.zeros(n_rows, int), np.where(places == 1, 1.0, -1.0), labels[places])
        return Explained(places, np.ones(n_rows), labels[places])


def in_words(method: str, label=None) -> str:
    """What people call the answer of a method, of one class or of any."""
    words = WORDS.get(method, method.replace("_", " "))
    return words if label is None else f"{words} of {label}"


def _settled(model, method: str) -> str:
    """The method that answers, checked."""
    known = ("predict", "variance") if is_regressor(model) else tuple(m for m in EXPLAINED if hasattr(model, m))
    if not known:
        raise ValueError(f"{type(model).__name__} has none of {', '.join(EXPLAINED)}, so nothing can be explained.")
    if method not in ("auto", *known):
        raise ValueError(
            f"response_method must be 'auto' or, for {type(model).__name__}, one of {', '.join(known)}, got {method!r}."
        )
    return known[0] if method == "auto" else method


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
    return model.calibrated_classifiers_[0].estimator if hasattr(model, "calibrated_classifiers_") else model


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
