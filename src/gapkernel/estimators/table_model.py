"""A model for tables as they come: columns by name, categories by their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_n_features, check_is_fitted

from gapkernel.tables import Schema, labels_of, names_of, read_table
from gapkernel.tables.takes_gaps import TakesGaps, copy_columns
from gapkernel.tables.user_tables import pandas_files


def _has(method: str):
    return lambda model: hasattr(getattr(model, "estimator_", model.estimator), method)


@dataclass(eq=False, repr=False)
class TableModel(MetaEstimatorMixin, BaseEstimator):
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
    classes_ : ndarray of shape (n_classes,)
        The classes of a classifier.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

    Examples
    --------
    >>> import pandas as pd
    >>> import gapkernel as gk
    >>> table = pd.DataFrame({"kind": ["a", "a", "b", "b"], "size": [1.0, None, 3.0, 4.0]})
    >>> model = gk.TableModel(gk.SVC()).fit(table, [0, 0, 1, 1])
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

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "target": [str],
        "gap_marks": ["array-like"],
        "decimal": [StrOptions({".", ","}), None],
        "absent_as_gaps": ["boolean"],
    }

    @classmethod
    def around(cls, fitted) -> TableModel:
        """Make a model for tables of a fitted estimator.

        Parameters
        ----------
        fitted : estimator
            One that is such a model already is returned as it is.

        Returns
        -------
        model : TableModel
        """
        if isinstance(fitted, cls):
            return fitted
        check_is_fitted(fitted)
        model, names = cls(fitted), getattr(fitted, "feature_names_in_", None)
        model.estimator_, model.names_ = fitted, None if names is None else [str(name) for name in names]
        reads_levels = names is not None and isinstance(fitted, TakesGaps)  # others do not say what they read
        model.levels_ = _levels(fitted.schema_) if reads_levels else None
        copy_columns(fitted, model)
        return model

    def fit(self, X, y=None) -> Self:
        """Keep the names and the levels of the columns, and fit the estimator.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : TableModel
        """
        self._validate_params()
        schema = read_table(self, X, reset=True).schema
        names, levels = _names(schema), _levels(schema)
        fitted = clone(self.estimator).fit(self._known(X, names, levels)[0], y)
        self.estimator_, self.names_, self.levels_ = fitted, names, levels
        return self

    def known(self, X, *, what="X") -> tuple[Any, list]:
        """Find the columns that the model knows, with the types they had at fit.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        what : str, default="X"
            What error messages call the table.

        Returns
        -------
        X : frame
        notes : list
            What was taken for a gap, and how numbers were read; `str` gives the words.
        """
        check_is_fitted(self, "estimator_")
        if names_of(X) is None:
            _check_n_features(self, [labels_of(X)], reset=False)  # as many as a row has cells
        return self._known(X, self.names_, self.levels_, what)

    def _known(self, X, names, levels, what="X") -> tuple[Any, list]:
        files = pandas_files()
        reading = files.Reading(gap_marks=tuple(self.gap_marks), decimal=self.decimal)
        return files.known_columns(X, names, levels, reading, absent_as_gaps=self.absent_as_gaps, what=what)

    def as_fitted(self, known) -> Any:
        """Give known columns the form that the estimator was fitted with: a frame, or an array without names.

        Parameters
        ----------
        known : frame
            As `known` gives it.

        Returns
        -------
        X : frame or ndarray
        """
        return np.asarray(known) if self.names_ is None else known

    def predict(self, X) -> np.ndarray:
        """Predict the class or the value of each row of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
        """
        return self._answer("predict", X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Predict the probability of each class for each row of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return self._answer("predict_proba", X)

    @available_if(_has("predict_interval"))
    def predict_interval(self, X, coverage=0.9) -> np.ndarray:
        """Predict intervals that hold the value of a row with a given probability.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
        """
        return self._answer("predict_interval", X, coverage=coverage)

    @available_if(_has("predict_set"))
    def predict_set(self, X, coverage=0.9) -> np.ndarray:
        """Predict sets that hold the class of a row with a given probability.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        sets : ndarray of shape (n_samples, n_classes), bool
        """
        return self._answer("predict_set", X, coverage=coverage)

    @available_if(_has("conformal_rules"))
    def conformal_rules(self, X, coverage=0.9) -> np.ndarray:
        """Say which left-out rows an interval or a set of each row goes by.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        rules : ndarray of str, shape (n_samples,)
        """
        return self._answer("conformal_rules", X, coverage=coverage)

    @available_if(_has("decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Give the decision value of each row of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._answer("decision_function", X)

    @available_if(_has("score"))
    def score(self, X, y, sample_weight=None) -> float:
        """Score the estimator on a table: the accuracy of a classifier, the R squared of a regressor.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
        """
        return self._answer("score", X, y=y, **({} if sample_weight is None else {"sample_weight": sample_weight}))

    def _answer(self, method: str, X, **options):
        known = self.as_fitted(self.known(X)[0])
        return getattr(self.estimator_, method)(known, **options)

    @property
    def classes_(self) -> np.ndarray:
        """The classes of a classifier."""
        return self.estimator_.classes_

    def __sklearn_tags__(self):
        """Those of the estimator."""
        return get_tags(self.estimator)


def _names(schema: Schema) -> list[str]:
    return list(schema.names or map(str, range(len(schema.levels))))


def _levels(schema: Schema) -> dict[str, tuple]:
    return {name: levels for name, levels in zip(_names(schema), schema.levels, strict=True) if levels is not None}
