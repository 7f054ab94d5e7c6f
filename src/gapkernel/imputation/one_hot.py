"""Categories as columns of 0 and 1 with the gaps left in, for estimators that take NaN but no categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gapkernel.tables import read_table
from gapkernel.tables.takes_gaps import TakesGaps


@dataclass(eq=False, repr=False, kw_only=True)
class OneHotWithGaps(TakesGaps, TransformerMixin, BaseEstimator):
    """Numbers as they are, a 0/1 column for each level of a category, NaN in the gaps; columns empty at fit left out.

    Parameters
    ----------
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so; none; or their names, numbers or a mask.

    Attributes
    ----------
    schema_ : Schema
        What the columns held in `fit`.
    columns_ : list of int
        The coded columns that have a value.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from gapkernel.imputation import OneHotWithGaps
    >>> X = pd.DataFrame({"size": [1.0, None, 3.0], "kind": ["u", "v", None]})
    >>> OneHotWithGaps().fit_transform(X)
    array([[ 1.,  1.,  0.],
           [nan,  0.,  1.],
           [ 3., nan, nan]])
    """

    categorical_features: Any = "from_dtype"

    def fit(self, X, y=None) -> OneHotWithGaps:
        """Learn the levels.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : OneHotWithGaps
        """
        self._validate_params()
        table = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        self.schema_ = table.schema
        self.columns_ = np.flatnonzero(~np.isnan(table.one_hot()).all(axis=0)).tolist()
        return self

    def transform(self, X) -> np.ndarray:
        """Code rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            A level unknown at fit is a gap.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        return read_table(self, X, reset=False, schema=self.schema_).one_hot()[:, self.columns_]
