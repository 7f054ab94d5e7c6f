"""Columns without any value, for estimators that cannot do with them."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from gapkernel.tables import gaps_of, take_columns


class WithoutEmptyColumns(TransformerMixin, BaseEstimator):
    """Leaves out the columns that have no value in training: HistGradientBoosting cannot bin them."""

    def fit(self, X, y=None) -> WithoutEmptyColumns:
        """Find the columns that have a value."""
        self.columns_ = np.flatnonzero(~gaps_of(X).all(axis=0))
        return self

    def transform(self, X):
        """Those columns of other rows."""
        return take_columns(X, self.columns_)
