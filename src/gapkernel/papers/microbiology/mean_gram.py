"""The mean of the Gram matrices of several completions: multiple imputation inside a kernel."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gapkernel.imputation import ChainedEquations
from gapkernel.tables import TakesGaps, numbers_of, read_table


class MeanGram(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TakesGaps, BaseEstimator):
    """The mean of a kernel over the completions of rows with gaps, for estimators with ``kernel="precomputed"``.

    A mean of positive semi-definite matrices is one too, and a new row joins it completion by completion, so training
    and new rows together have a positive semi-definite matrix as well.

    Parameters
    ----------
    imputer : ChainedEquations, default=None
        What completes the rows, several times; None is ``ChainedEquations()``.
    kernel : str, default="rbf"
        A kernel on complete rows, by scikit-learn's name.
    gamma : float or "scale", default="scale"
        Width of "rbf", "poly", "sigmoid" and the like. "scale" is 1 / (n_features * variance of all completions).

    Attributes
    ----------
    imputer_ : ChainedEquations
        The fitted imputer.
    completed_ : ndarray of shape (n_imputations, n_samples, n_features)
        The completions of the training rows.
    gamma_ : float
        The width.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from gapkernel import ChainedEquations
    >>> from gapkernel.papers.microbiology import MeanGram
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [0.1, 0.3], [np.nan, 1.9], [2.1, 2.0], [1.8, 2.2]])
    >>> gram = MeanGram(ChainedEquations(n_imputations=5, random_state=0))
    >>> model = make_pipeline(gram, SVC(kernel="precomputed")).fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.1, np.nan], [2.0, 1.9]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict] = {
        "imputer": [HasMethods(["fit_transform_all", "transform_all"]), None],
        "kernel": [StrOptions(set(PAIRWISE_KERNEL_FUNCTIONS))],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, imputer=None, kernel="rbf", gamma="scale") -> None:
        self.imputer = imputer
        self.kernel = kernel
        self.gamma = gamma

    def fit(self, X, y=None) -> MeanGram:
        """Complete the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,), default=None
            The target, which an imputer may use for the training rows.

        Returns
        -------
        self : MeanGram
        """
        self._validate_params()
        values = numbers_of(read_table(self, X, reset=True), self)
        imputer = ChainedEquations() if self.imputer is None else clone(self.imputer)
        completed = np.asarray(imputer.fit_transform_all(values, y))
        spread = completed.shape[-1] * completed.var()
        self.gamma_ = (1.0 / spread if spread > 0.0 else 1.0) if self.gamma == "scale" else float(self.gamma)
        self.imputer_, self.completed_ = imputer, completed
        return self

    def fit_transform(self, X, y=None) -> Any:
        """The mean Gram matrix of the training rows, each completion meeting the others of the same table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None

        Returns
        -------
        gram : ndarray of shape (n_samples, n_samples)
        """
        self.fit(X, y)
        return self._mean_between(self.completed_)

    def transform(self, X) -> Any:
        """The mean kernel between new rows and the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        cross : ndarray of shape (n_samples, n_training_samples)
        """
        check_is_fitted(self)
        values = numbers_of(read_table(self, X, reset=False), self)
        return self._mean_between(np.asarray(self.imputer_.transform_all(values)))

    def _mean_between(self, new: np.ndarray) -> np.ndarray:
        total = np.zeros((new.shape[1], self.completed_.shape[1]))
        for here, there in zip(new, self.completed_, strict=True):  # one pair of completions at a time in memory
            total += pairwise_kernels(here, there, metric=self.kernel, filter_params=True, gamma=self.gamma_)
        return total / len(new)

    @property
    def _n_features_out(self) -> int:
        return self.completed_.shape[1]
