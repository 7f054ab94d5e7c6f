"""What the linear machines on Fourier features share."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, _check_y, check_consistent_length, check_is_fitted

from gapkernel.compute.runtime.config import check_fits
from gapkernel.estimators.calibration import GapCountCalibration, check_enough
from gapkernel.estimators.fourier.features import FourierFeatures, checked_components
from gapkernel.estimators.sampled_density import sample_rows
from gapkernel.solvers.normal_equations import Moments, inverse, leave_one_out, ridge
from gapkernel.tables import Table, read_table
from gapkernel.tables.part_by_part import AnswersInParts
from gapkernel.tables.table_in_parts import GROUPS, HeldTable, Part, TableInParts, parts_of
from gapkernel.tables.takes_gaps import TakesGaps, copy_columns

FEATURE_PARAMETERS = (
    "n_components", "kernel", "gamma", "density", "density_samples", "orthogonal", "categorical_features",
    "random_state",
)  # fmt: skip

CALIBRATION_ROWS = 100_000
"""Most rows that intervals are calibrated by: enough for any quantile, few enough to be held in memory."""


class FourierMachine(AnswersInParts, TakesGaps, BaseEstimator):
    """Features, one pass over the parts of the table for sums, and a small linear system."""

    _y_options: ClassVar[dict[str, Any]] = {}

    @staticmethod
    def _check_targets(y: np.ndarray) -> None:
        """Complain about targets of the wrong kind."""

    @staticmethod
    def _moments_of(z: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Moments:
        raise NotImplementedError

    def _parts(self, X, y, sample_weight, *, reset: bool = True) -> TableInParts:
        """The labelled table in parts; one in memory is checked at once, others part by part."""
        parts = parts_of(X, y, sample_weight)
        if parts is not None:
            return parts
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        schema = None if reset else self.density_.schema_
        table = read_table(self, X, reset=reset, categorical_features=self.categorical_features, schema=schema)
        part = checked(type(self), Part(table, y, sample_weight))
        check_consistent_length(table, part.y)
        return HeldTable(part)

    def _fit_features(self, parts: TableInParts) -> FourierFeatures:
        if not (isinstance(self.alpha, Real) and 0 < float(self.alpha) < np.inf):
            raise ValueError(f"alpha must be a positive number, got {self.alpha!r}.")
        n = checked_components(self.n_components)
        check_fits((GROUPS, n, n), "Sums of the normal equations")
        features = FourierFeatures(**{name: getattr(self, name) for name in FEATURE_PARAMETERS})._fit_parts(parts)
        if parts.checked:  # a table in memory, which this machine has read
            copy_columns(self, features)
        return features

    def _learn(self, parts: TableInParts, features: FourierFeatures) -> Moments:
        return parts.sum(partial(_moments, type(self), features), "normal equations")

    def _learn_more(self, X, y, sample_weight) -> tuple[FourierFeatures, Moments]:
        """The sums of some rows, and of those that came before."""
        if not hasattr(self, "_moments"):
            parts = self._parts(X, y, sample_weight)
            features = self._fit_features(parts)
            return features, self._learn(parts, features)
        parts = self._parts(X, y, sample_weight, reset=False)
        return self.features_, self._moments + self._learn(parts, self.features_)

    def _keep(self, features: FourierFeatures, moments: Moments) -> None:
        """Fitted attributes that do not depend on the loss."""
        self.features_, self._moments = features, moments
        self.density_, self.kernel_ = features.density_, features.kernel_
        copy_columns(features, self)

    def _keep_coefficients(self, coefficients: np.ndarray) -> None:
        self.coef_, self.intercept_ = np.ascontiguousarray(coefficients[:-1].T), coefficients[-1]

    def _values(self, X) -> np.ndarray:
        check_is_fitted(self, "coef_")
        table = read_table(self, X, reset=False, schema=self.density_.schema_)
        return self.features_._dot(table, self.coef_.T) + self.intercept_


def labelled_features(machine: type[FourierMachine], features: FourierFeatures, part: Part) -> tuple:
    """Features, targets and weights of the rows that count."""
    if not isinstance(part.X, Table):
        part = checked(machine, part)
    if part.weight is None:
        return features._features(part.X), part.y, np.ones(len(part))
    counts = np.flatnonzero(part.weight)
    return features._features(part.X)[counts], part.y[counts], part.weight[counts]


def checked(machine: type[FourierMachine], part: Part) -> Part:
    """A part with its target and weights checked."""
    if part.y is None:
        raise ValueError(f"{machine.__name__} needs targets, but there are none: gapkernel.batches(source, target).")
    y = _check_y(part.y, estimator=machine.__name__, **machine._y_options)
    machine._check_targets(y)
    weight = part.weight
    if weight is not None:
        weight = _check_sample_weight(weight, part.X, dtype=np.float64, ensure_non_negative=True)
    return Part(part.X, y, weight)


def calibrated(
    machine: FourierMachine, parts: TableInParts, features: FourierFeatures, moments: Moments
) -> GapCountCalibration | None:
    """The errors of ridge regression on rows left out one by one, by their numbers of gaps; None if not asked for."""
    if not machine.conformal:
        return None
    check_enough(parts.n_rows)
    rows = sample_rows(parts.n_rows, CALIBRATION_ROWS, check_random_state(machine.random_state))
    solved = inverse(moments, machine.alpha), ridge(moments, machine.alpha)
    pieces = HeldTable(parts.take(rows)).sum(partial(_left_out, type(machine), features, *solved), "Calibrating")
    counts, errors = (np.concatenate(piece) for piece in zip(*pieces, strict=True))
    check_enough(len(counts))  # rows of weight zero do not count
    return GapCountCalibration(counts, np.abs(errors))


def adds_rows(machine: FourierMachine) -> bool:
    """Whether `partial_fit` is on offer."""
    if machine.conformal:  # earlier rows are gone, and what was left of them has changed
        raise AttributeError("partial_fit cannot calibrate: set conformal=False, or fit all rows at once.")
    return True


def _left_out(machine: type[FourierMachine], features: FourierFeatures, inverse, coefficients, part: Part) -> list:
    """Numbers of gaps, and errors, of the rows of a part that count: one pair, in a list so that parts can be added."""
    part = part if isinstance(part.X, Table) else checked(machine, part)
    table = features._table(part.X)
    z, y, weight = labelled_features(machine, features, Part(table, part.y, part.weight))
    counts = table.missing.sum(axis=1)[slice(None) if part.weight is None else np.flatnonzero(part.weight)]
    return [(counts, leave_one_out(inverse, coefficients, z, y, weight))]


def _moments(machine: type[FourierMachine], features: FourierFeatures, part: Part) -> Moments:
    return machine._moments_of(*labelled_features(machine, features, part))
