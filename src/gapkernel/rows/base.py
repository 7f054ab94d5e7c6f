"""What every kind of rows has in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and variance of each column of the laws of a density, all rows together.

    Attributes
    ----------
    mean, variances : ndarray of shape (n_features,)
    whole : ndarray of shape (n_features, n_features), or a function that gives it
        The covariance; a function where it is large and seldom needed.
    """

    mean: np.ndarray
    variances: np.ndarray
    whole: np.ndarray | Callable[[], np.ndarray]

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of the columns."""
        return self.whole() if callable(self.whole) else self.whole

    def take(self, columns) -> Moments:
        """The moments of some columns."""
        columns = np.asarray(columns)
        return Moments(self.mean[columns], self.variances[columns], lambda: self.covariance[np.ix_(columns, columns)])
