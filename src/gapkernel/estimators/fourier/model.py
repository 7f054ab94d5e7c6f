"""What the linear models on Fourier features share: features, sums over the parts of a table, a small system."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted

from gapkernel.compute.runtime.config import check_fits
from gapkernel.estimators.fourier.features import FourierFeatures
from gapkernel.estimators.sampled_density import SampledDensity
from gapkernel.solvers.normal_equations import Sums
from gapkernel.tables import Table, read_table, read_weight
from gapkernel.tables.part_by_part import parts_of
from gapkernel.tables.table_in_parts import GROUPS, HeldTable, Part, TableInParts
from gapkernel.tables.takes_gaps import copy_columns


class FourierModel(SampledDensity):
    """A linear model on `FourierFeatures`, with its parameters and ``alpha``.

    A subclass says how targets are checked (`_check_targets`) and summed (`_sums_of`), and solves (`_solve`).
    """

    alpha: Any
    coef_: np.ndarray
    intercept_: np.ndarray

    _parameter_constraints: ClassVar[dict] = {
        **FourierFeatures._parameter_constraints,
        "alpha": [Interval(Real, 0, np.inf, closed="neither")],
    }
    _y_options: ClassVar[dict[str, Any]] = {}

    @staticmethod
    def _check_targets(y: np.ndarray) -> None:
        """Refuse targets of the wrong kind."""

    @staticmethod
    def _sums_of(z: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Sums:
        raise NotImplementedError

    def _solve(self, features: FourierFeatures, sums: Sums, parts: TableInParts | None = None) -> Self:
        """Find the coefficients, and keep everything."""
        raise NotImplementedError

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Fit density, features and coefficients.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,), or (n_samples, n_targets) where the estimator takes several targets
            Classes or values; None for `batches`, which bring theirs.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for, in the coefficients and in the density. A weight of zero leaves a row
            out.

        Returns
        -------
        self : object
        """
        self._validate_params()
        parts = self._labelled_parts(X, y, sample_weight)
        features = self._fit_features(parts)
        return self._solve(features, self._sums(parts, features), parts)

    def _labelled_parts(self, X, y, sample_weight, *, reset: bool = True) -> TableInParts:
        """The labelled table in parts; one in memory is checked at once, others part by part."""
        parts = parts_of(X, y, sample_weight)
        if parts is not None:
            return parts
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if reset:
            table = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        else:
            table = self._table(X)
        part = checked(type(self), Part(table, y, sample_weight))
        check_consistent_length(table, part.y)
        return HeldTable(part)

    def _fit_features(self, parts: TableInParts) -> FourierFeatures:
        check_fits((GROUPS, self.n_components, self.n_components), "Sums of the normal equations")
        features = FourierFeatures()
        features.set_params(**{name: getattr(self, name) for name in features.get_params(deep=False)})
        features._fit_parts(parts)
        if parts.checked:  # a table in memory, which was read for this estimator
            copy_columns(self, features)
        return features

    def _sums(self, parts: TableInParts, features: FourierFeatures) -> Sums:
        return parts.sum(partial(_part_sums, type(self), features), "normal equations")

    def _more_sums(self, X, y, sample_weight) -> tuple[FourierFeatures, Sums]:
        """The sums of some rows and of those that came before."""
        self._validate_params()
        if not hasattr(self, "_sums_so_far"):
            parts = self._labelled_parts(X, y, sample_weight)
            features = self._fit_features(parts)
            return features, self._sums(parts, features)
        parts = self._labelled_parts(X, y, sample_weight, reset=False)
        return self.features_, self._sums_so_far + self._sums(parts, self.features_)

    def _keep_model(self, features: FourierFeatures, sums: Sums, coefficients: np.ndarray) -> Self:
        """Fitted attributes that every loss has."""
        self.features_, self._sums_so_far = features, sums
        self.density_, self.kernel_ = features.density_, features.kernel_
        self.coef_, self.intercept_ = np.ascontiguousarray(coefficients[:-1].T), coefficients[-1]
        copy_columns(features, self)
        return self

    def _values(self, X) -> np.ndarray:
        check_is_fitted(self, "coef_")
        return self.features_._dot(self._table(X), self.coef_.T) + self.intercept_


def labelled_features(model: type[FourierModel], features: FourierFeatures, part: Part) -> tuple:
    """Features, targets and weights of the rows that count."""
    if not isinstance(part.X, Table):
        part = checked(model, part)
    if part.weight is None:
        return features._features(part.X), part.y, np.ones(len(part))
    counts = np.flatnonzero(part.weight)
    return features._features(part.X)[counts], part.y[counts], part.weight[counts]


def checked(model: type[FourierModel], part: Part) -> Part:
    """A part with its target and weights checked."""
    if part.y is None:
        raise ValueError(f"{model.__name__} needs targets, but there are none: gapkernel.batches(source, target).")
    y = _check_y(part.y, estimator=model.__name__, **model._y_options)
    model._check_targets(y)
    return Part(part.X, y, read_weight(part.weight, part.X))


def _part_sums(model: type[FourierModel], features: FourierFeatures, part: Part) -> Sums:
    return model._sums_of(*labelled_features(model, features, part))
