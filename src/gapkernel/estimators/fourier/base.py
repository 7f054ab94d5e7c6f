"""What the linear models on Fourier features share: features, sums over the parts of a table, a small system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from gapkernel.compute.doors import check_finite
from gapkernel.compute.runtime.config import check_fits
from gapkernel.estimators.fourier.features import FourierFeatures
from gapkernel.estimators.sampled_density import SampledDensity
from gapkernel.kernels.width import POSITIVE
from gapkernel.solvers.normal_equations import Sums
from gapkernel.tables import Table, read_weight
from gapkernel.tables.table_in_parts import GROUPS, Part, TableInParts
from gapkernel.tables.takes_gaps import copy_columns


@dataclass(eq=False, repr=False, kw_only=True)
class FourierModel(SampledDensity):
    """A linear model on `FourierFeatures`.

    A subclass says how targets are checked (`_check_targets`) and summed (`_sums_of`), and solves (`_solve`).
    """

    alpha: float = 1.0
    orthogonal: bool = True
    coef_: np.ndarray = field(init=False)
    intercept_: np.ndarray = field(init=False)

    _parameter_constraints: ClassVar[dict] = {
        "orthogonal": ["boolean"],
        "alpha": [POSITIVE],
    }
    _check_targets: ClassVar[Callable[..., np.ndarray]]
    _sums_of: ClassVar[Callable[..., Sums]]

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
            Classes or values; None for `batches`, which contain y.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for, in the coefficients and in the density. A weight of zero leaves a row
            out.

        Returns
        -------
        self : object
        """
        self._validate_params()
        parts = self._parts(X, y, sample_weight)
        features = self._fit_features(parts)
        return self._solve(features, self._sums(parts, features), parts)

    @classmethod
    def _checked(cls, part: Part, of: str = "") -> Part:
        if part.y is None:
            raise ValueError(
                f"{cls.__name__} requires y to be passed, but the target y is None. Batches already contain y: "
                f"gapkernel.batches(source, target)."
            )
        y = cls._check_targets(part.y, of=of)
        check_consistent_length(part.X, y)
        return Part(part.X, y, read_weight(part.weight, part.X))

    def _fit_features(self, parts: TableInParts) -> FourierFeatures:
        check_fits((GROUPS, self.n_components, self.n_components), "Sums of the normal equations")
        shared = FourierFeatures().get_params(deep=False)
        features = FourierFeatures(**{name: getattr(self, name) for name in shared})._fit_parts(parts)
        if parts.checked:  # a table in memory, which was read for this estimator
            copy_columns(self, features)
        return features

    def _sums(self, parts: TableInParts, features: FourierFeatures) -> Sums:
        return parts.sum(partial(_part_sums, type(self), features), "normal equations")

    def _more_sums(self, X, y, sample_weight) -> tuple[FourierFeatures, Sums]:
        """The sums of some rows and of those that came before."""
        self._validate_params()
        first = not hasattr(self, "_sums_so_far")
        parts = self._parts(X, y, sample_weight, reset=first)
        features = self._fit_features(parts) if first else self.features_
        sums = self._sums(parts, features)
        return features, sums if first else self._sums_so_far + sums

    def _keep_model(self, features: FourierFeatures, sums: Sums, coefficients: np.ndarray) -> Self:
        """Fitted attributes that every loss has."""
        self.features_, self._sums_so_far = features, sums
        self.density_, self.kernel_ = features.density_, features.kernel_
        self.coef_, self.intercept_ = np.ascontiguousarray(coefficients[:-1].T), coefficients[-1]
        copy_columns(features, self)
        return self

    def _values(self, X) -> np.ndarray:
        check_is_fitted(self, "coef_")
        values = self.features_._dot(self.table_of(X), self.coef_.T) + self.intercept_
        return check_finite(values, type(self).__name__)


def labelled_rows(model: type[FourierModel], features: FourierFeatures, part: Part) -> tuple:
    """The table, the targets and the weights of the rows that count."""
    if not isinstance(part.X, Table):
        part = model._checked(part, of=" of a batch")
    table = features.table_of(part.X)
    if part.weight is None:
        return table, part.y, np.ones(len(table))
    counts = np.flatnonzero(part.weight)
    return table[counts], part.y[counts], part.weight[counts]


def _part_sums(model: type[FourierModel], features: FourierFeatures, part: Part) -> Sums:
    table, y, weight = labelled_rows(model, features, part)
    return model._sums_of(features._features(table), y, weight)
