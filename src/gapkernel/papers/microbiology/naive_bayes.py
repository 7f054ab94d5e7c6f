"""Naive Bayes for categories, which leaves gaps out."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute import check_finite
from gapkernel.kernels import POSITIVE
from gapkernel.tables import AnswersInParts, TakesGaps, read_classes, read_labelled, read_table, read_weights


class CategoricalNaiveBayes(ClassifierMixin, AnswersInParts, TakesGaps, BaseEstimator):
    """Naive Bayes on categories: columns are independent given the class, so a gap is simply left out.

    The baseline of the microbiology papers. Every different value in a column is a category, numbers included.

    Parameters
    ----------
    smoothing : float, default=1.0
        Rows added to every category of every class (Laplace's smoothing).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log of each class's share of the weight.
    categories_ : list of ndarray
        The categories of each column, sorted.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        Log probability of each category given the class, among the observed cells.
    schema_ : Schema
        What the columns held in `fit`: numbers, or categories and their levels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they have names.

    Notes
    -----
    A category that was not there in `fit` is a gap.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.papers.microbiology import CategoricalNaiveBayes
    >>> X = np.array([[0.0, 1.0], [0.0, np.nan], [1.0, 0.0], [np.nan, 0.0]])
    >>> CategoricalNaiveBayes().fit(X, ["cow", "cow", "hen", "hen"]).predict([[0.0, np.nan], [np.nan, 0.0]])
    array(['cow', 'hen'], dtype='<U3')
    """

    _parameter_constraints: ClassVar[dict] = {"smoothing": [POSITIVE]}

    def __init__(self, *, smoothing=1.0) -> None:
        self.smoothing = smoothing

    def fit(self, X, y, sample_weight=None) -> CategoricalNaiveBayes:
        """Count the categories of each class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : CategoricalNaiveBayes
        """
        self._validate_params()
        table, y = read_labelled(self, X, y)
        weight = read_weights(sample_weight, table)
        classes, codes = read_classes(y)
        member = (codes == np.arange(len(classes))[:, None]) * weight  # (n_classes, n_samples)
        with np.errstate(divide="ignore"):  # a class of weight 0 has prior 0
            self.class_log_prior_ = np.log(member.sum(axis=1) / member.sum())
        self._codes = [np.unique(column[~np.isnan(column) & (weight > 0)]) for column in table.values.T]
        self.feature_log_prob_ = []
        for column, seen in zip(table.values.T, self._codes, strict=True):
            counts = member @ (column[:, None] == seen) + self.smoothing
            self.feature_log_prob_.append(np.log(counts / counts.sum(axis=1, keepdims=True)))
        self.categories_ = [
            seen if levels is None else np.array(levels, dtype=object)[seen.astype(int)]
            for seen, levels in zip(self._codes, table.schema.levels, strict=True)
        ]
        self.classes_, self.schema_ = classes, table.schema
        return self

    def predict_log_proba(self, X) -> np.ndarray:
        """Log probability of each class given the observed cells.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and categories that were not there in `fit` are gaps.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False, schema=self.schema_)
        joint = np.tile(self.class_log_prior_, (len(table), 1))
        for column, seen, log_prob in zip(table.values.T, self._codes, self.feature_log_prob_, strict=True):
            if len(seen):
                place = np.searchsorted(seen, column).clip(max=len(seen) - 1)
                joint += np.where((seen[place] == column)[:, None], log_prob[:, place].T, 0.0)
        return joint - check_finite(logsumexp(joint, axis=1, keepdims=True), "A log probability")

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class given the observed cells.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and categories that were not there in `fit` are gaps.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X) -> np.ndarray:
        """The likeliest class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and categories that were not there in `fit` are gaps.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        log_probabilities = self.predict_log_proba(X)
        return self.classes_[log_probabilities.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags
