"""Naive Bayes for categories, which passes over gaps."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gapkernel.tables import numbers_of, read_labelled, read_table
from gapkernel.tables.part_by_part import AnswersInParts


class CategoricalNaiveBayes(ClassifierMixin, AnswersInParts, BaseEstimator):
    """Naive Bayes on categories: columns are independent given the class, so a gap is simply left out.

    The baseline of the microbiology papers. Every different number in a column is a category.

    Parameters
    ----------
    alpha : float, default=1.0
        Rows added to every category of every class (Laplace's smoothing).

    Attributes
    ----------
    classes_ : ndarray
    class_log_prior_ : ndarray of shape (n_classes,)
    categories_ : list of ndarray
        The categories of each column.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        Log probability of each category given the class, among the observed cells.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    A category that `fit` did not see is a gap.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.estimators import CategoricalNaiveBayes
    >>> X = np.array([[0.0, 1.0], [0.0, np.nan], [1.0, 0.0], [np.nan, 0.0]])
    >>> CategoricalNaiveBayes().fit(X, ["cow", "cow", "hen", "hen"]).predict([[0.0, np.nan], [np.nan, 0.0]])
    array(['cow', 'hen'], dtype='<U3')
    """

    def __init__(self, *, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, sample_weight=None) -> CategoricalNaiveBayes:
        """Count the categories of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks a gap.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : CategoricalNaiveBayes
        """
        if not (isinstance(self.alpha, Real) and float(self.alpha) > 0):
            raise ValueError(f"alpha must be a positive number, got {self.alpha!r}.")
        X, y = read_labelled(self, X, y, categorical_features=None)
        X = X.values
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        member = (codes == np.arange(len(self.classes_))[:, None]) * weight  # (n_classes, n_samples)
        with np.errstate(divide="ignore"):  # a class of weight 0 has prior 0
            self.class_log_prior_ = np.log(member.sum(axis=1) / member.sum())
        self.categories_, self.feature_log_prob_ = [], []
        for column in X.T:
            categories = np.unique(column[~np.isnan(column) & (weight > 0)])
            counts = member @ (column[:, None] == categories) + self.alpha
            self.categories_.append(categories)
            self.feature_log_prob_.append(np.log(counts / counts.sum(axis=1, keepdims=True)))
        return self

    def predict_log_proba(self, X) -> np.ndarray:
        """Log probability of each class given the observed cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = numbers_of(read_table(self, X, reset=False), self)
        joint = np.tile(self.class_log_prior_, (len(X), 1))
        for column, categories, log_prob in zip(X.T, self.categories_, self.feature_log_prob_, strict=True):
            if len(categories):
                place = np.searchsorted(categories, column).clip(max=len(categories) - 1)
                joint += np.where((categories[place] == column)[:, None], log_prob[:, place].T, 0.0)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class given the observed cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X) -> np.ndarray:
        """The likeliest class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        log_probabilities = self.predict_log_proba(X)
        return self.classes_[log_probabilities.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
