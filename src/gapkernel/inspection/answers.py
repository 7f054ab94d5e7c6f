"""What a model answers to rows of which further cells are hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.inspectable import Inspectable
from gapkernel.tables import Table, read_table, take_rows, with_gaps

EXPLAINED = ("decision_function", "latent_mean_and_variance", "predict_proba")
"""What is explained of a classifier, the first that it has."""

AVERAGES = ("predict", "decision_function", "latent_mean_and_variance")
"""The answers that may be averages over the law of a row; probabilities and variances never are."""

ROWS_AT_ONCE = 2**14
"""Rows with hidden cells that are answered together."""


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

    def __call__(self, rows: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """The answers to ``rows`` (their places) with ``hidden`` cells, (n, n_outputs)."""
        if isinstance(self.X, Table):
            seen: Any = Table(np.where(hidden, np.nan, self.table.values[rows]), self.table.schema)
        else:
            seen = with_gaps(take_rows(self.X, rows), hidden)
        if self.method == "variance":
            found = self.model.predict(seen, return_std=True)[1] ** 2
        else:
            found = getattr(self.model, self.method)(seen)
            found = found[0] if self.method == "latent_mean_and_variance" else found
        return np.asarray(found).reshape(len(rows), -1)

    def chosen(self, target) -> tuple[np.ndarray, np.ndarray]:
        """The output that is explained of each row, and its sign; None is the predicted of several classes."""
        everything = np.arange(len(self.table))
        outputs = self(everything, np.zeros(self.table.shape, bool))
        n_outputs, sign = outputs.shape[1], np.ones(len(outputs))
        if target is None:
            if n_outputs > 2 and is_classifier(self.model):
                return outputs.argmax(axis=1), sign
            if n_outputs > 1 and not is_classifier(self.model):
                raise ValueError(f"The model has {n_outputs} targets: say which one is explained by target=.")
            return np.full(len(outputs), n_outputs - 1), sign
        known = self.model.classes_.tolist() if is_classifier(self.model) else list(range(n_outputs))
        if len(known) != max(n_outputs, 2) and is_classifier(self.model):  # pairs of classes
            known = list(range(n_outputs))
        if target not in known:
            raise ValueError(f"target must be one of {known}, got {target!r}.")
        place = known.index(target)
        if n_outputs == 1 and is_classifier(self.model):  # a value is for the second class and against the first
            return np.zeros(len(outputs), int), sign if place else -sign
        return np.full(len(outputs), place), sign


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


def names_after(steps: Pipeline, names):
    """What the columns that leave ``steps`` are called, which may have moved them; None where the steps do not say."""
    if names is None or not all(hasattr(step, "get_feature_names_out") for _, step in steps.steps):
        return None
    return steps.get_feature_names_out(names)
