"""Leaving out columns that have no value in the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gapkernel.tables import gaps_of, take_columns
from gapkernel.tables.takes_gaps import TakesGaps


class WithoutEmptyColumns(TakesGaps, TransformerMixin, BaseEstimator):
    """Leaves out the columns that have no value at fit, which HistGradientBoosting cannot take.

    Attributes
    ----------
    columns_ : list of int
        The columns that stay.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.imputation import WithoutEmptyColumns
    >>> WithoutEmptyColumns().fit_transform(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    array([[ 1.],
           [nan]])
    """

    def fit(self, X, y=None) -> WithoutEmptyColumns:
        """Find the columns that have a value.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : WithoutEmptyColumns
        """
        self.columns_ = np.flatnonzero(~gaps_of(X).all(axis=0)).tolist()
        return self

    def transform(self, X) -> Any:
        """The columns that had a value at fit.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        X : array or frame
        """
        check_is_fitted(self)
        n_columns = gaps_of(X).shape[1]
        if self.columns_ and n_columns <= max(self.columns_):
            raise ValueError(f"X has {n_columns} columns, fewer than at fit.")
        return take_columns(X, self.columns_)
