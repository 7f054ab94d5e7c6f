"""Classifiers with one decision value for two classes, and one for each class against the rest for more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import ClassifierMixin

from gapkernel.tables.part_by_part import AnswersInParts


class OneAgainstRest(ClassifierMixin, AnswersInParts):
    """Gives `decision_function` and `predict` to a classifier whose `_values` are of shape (n_rows, n_outputs)."""

    classes_: np.ndarray
    intercept_: np.ndarray
    _values: Callable[..., np.ndarray]

    def _check_held(self) -> None:
        super()._check_held()  # type: ignore[misc]
        if "classes_" in self.__dict__:
            n_classes = len(self.classes_)
            if np.shape(self.intercept_) != (n_classes if n_classes > 2 else 1,):
                raise ValueError("The decision values do not go with the classes.")

    def decision_function(self, X) -> np.ndarray:
        """The decision values of each row: the class is that of the largest, or with two classes given by the sign.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes give one value, positive for ``classes_[1]``.
        """
        values = self._values(X)
        return values.ravel() if len(self.classes_) == 2 else values

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        values = self._values(X)
        return self.classes_[values.argmax(axis=1) if len(self.classes_) > 2 else (values.ravel() >= 0).astype(int)]
