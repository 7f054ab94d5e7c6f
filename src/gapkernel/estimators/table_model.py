"""A model for tables as they come: columns by name, categories by their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gapkernel.tables import schema_of
from gapkernel.tables.files import Reading, known_columns


def _has(method: str):
    return lambda model: hasattr(getattr(model, "estimator_", model.estimator), method)


@dataclass(eq=False, repr=False)
class TableModel(BaseEstimator):
    """An estimator that takes new tables as a file reader gives them; what ``gapkernel fit`` saves.

    Columns are found by name, in any order, and others are left out. Categories are matched by their text, and a level
    that fit did not see is a gap, as are the usual marks such as "?" and "NA".

    Parameters
    ----------
    estimator : estimator
        What learns and predicts; it gets a frame of numbers and categories.
    target : str, default="prediction"
        What is predicted, for those who write it to a table.
    gap_marks : sequence of str, default=()
        Further text or numbers that mean a gap.
    decimal : {".", ","} or None, default=None
        The decimal sign of numbers in text; None finds it from each column.
    absent_as_gaps : bool, default=False
        Whether a column that a new table does not have is a gap in every row; an error otherwise.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    names_ : list of str or None
        The columns; None where the estimator was fitted without names.
    levels_ : dict of str to tuple, or None
        The levels of the columns of categories; None where they are not known.

    Examples
    --------
    >>> import pandas as pd
    >>> import gapkernel as gk
    >>> from gapkernel.estimators.table_model import TableModel
    >>> table = pd.DataFrame({"kind": ["a", "a", "b", "b"], "size": [1.0, None, 3.0, 4.0]})
    >>> model = TableModel(gk.SVC()).fit(table, [0, 0, 1, 1])
    >>> model.predict(pd.DataFrame({"remark": ["x"], "size": ["?"], "kind": ["b"]}))
    array([1])
    """

    estimator: Any
    target: str = "prediction"
    gap_marks: Sequence[str] = ()
    decimal: str | None = None
    absent_as_gaps: bool = False
    names_: list[str] | None = field(init=False)
    levels_: dict[str, tuple] | None = field(init=False)

    @classmethod
    def around(cls, fitted) -> TableModel:
        """A fitted estimator as a model for tables; one that is such a model already is returned as it is."""
        if isinstance(fitted, cls):
            return fitted
        model = cls(fitted)
        names = getattr(fitted, "feature_names_in_", None)
        schema = getattr(fitted, "schema_", None) or getattr(getattr(fitted, "density_", None), "schema_", None)
        model.estimator_, model.names_ = fitted, None if names is None else [str(name) for name in names]
        model.levels_ = None if names is None or schema is None else _levels(schema)
        return model

    def fit(self, X, y=None) -> Self:
        """Keep the names and the levels of the columns, and fit the estimator.

        Parameters
        ----------
        X : frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : TableModel
        """
        schema = schema_of(X)
        names = list(schema.names or map(str, range(len(schema.levels))))
        known = {names[k]: levels for k, levels in enumerate(schema.levels) if levels is not None}
        self.names_, self.levels_ = names, known
        self.estimator_ = clone(self.estimator).fit(self.known(X)[0], y)
        return self

    def known(self, X, *, what="X") -> tuple[Any, list[str]]:
        """The columns that the model knows with the types they had at fit, and notes on what was taken for a gap.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        what : str, default="X"
            What error messages call the table.

        Returns
        -------
        X : frame
        notes : list of str
        """
        reading = Reading(gap_marks=tuple(self.gap_marks), decimal=self.decimal)
        return known_columns(X, self.names_, self.levels_, reading, absent_as_gaps=self.absent_as_gaps, what=what)

    def _answer(self, method: str, X, **options):
        check_is_fitted(self, "estimator_")
        return getattr(self.estimator_, method)(self.as_fitted(self.known(X)[0]), **options)

    def as_fitted(self, known):
        """Known columns in the form that the estimator was fitted with: a frame, or an array without names."""
        return np.asarray(known) if self.names_ is None else known

    def predict(self, X) -> np.ndarray:
        """The class or the value of each row of a table."""
        return self._answer("predict", X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """The probability of each class for each row of a table."""
        return self._answer("predict_proba", X)

    @available_if(_has("predict_interval"))
    def predict_interval(self, X, coverage=0.9) -> np.ndarray:
        """Intervals that hold the value of a row with probability ``coverage``, shape (n_samples, 2)."""
        return self._answer("predict_interval", X, coverage=coverage)

    @available_if(_has("predict_set"))
    def predict_set(self, X, coverage=0.9) -> np.ndarray:
        """Sets that hold the class of a row with probability ``coverage``, shape (n_samples, n_classes)."""
        return self._answer("predict_set", X, coverage=coverage)

    @available_if(_has("decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """The decision value of each row of a table."""
        return self._answer("decision_function", X)

    @property
    def classes_(self) -> np.ndarray:
        """The classes of a classifier."""
        return self.estimator_.classes_

    def __sklearn_tags__(self):
        """Those of the estimator."""
        return get_tags(self.estimator)


def _levels(schema) -> dict[str, tuple]:
    return {name: levels for name, levels in zip(schema.names or (), schema.levels, strict=False) if levels is not None}
