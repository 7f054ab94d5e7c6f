"""Intervals around a regressor's predictions, from its errors on rows that it had not learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.runtime.progress import tracked
from gapkernel.estimators.base import Training
from gapkernel.solvers.conformal import GapCountCalibration
from gapkernel.tables import read_table
from gapkernel.tables.part_by_part import AnswersInParts

FOLDS = 5
"""Parts of the rows that are left out in turn where there is no closed form for single rows."""


class ConformalIntervals(AnswersInParts):
    """Gives intervals to a regressor with parameter ``conformal``, whose fit leaves ``calibration_``, or None."""

    conformal: Any
    calibration_: GapCountCalibration | None
    density_: Any
    predict: Callable[..., np.ndarray]

    def predict_interval(self, X, coverage=0.9) -> np.ndarray:
        """An interval for the target of each row, after a fit with ``conformal=True``.

        Prediction plus and minus a quantile of the errors on left-out rows that miss about as many cells; all rows of
        such a group have intervals of the same width.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
            Lower and upper ends, of each target by itself. Infinite if there are too few rows for the coverage.

        Notes
        -----
        If rows that miss about as many cells are exchangeable, and leaving some out changes the machine little, the
        interval covers about as often as it says. There is no guarantee in finite samples: the machine that predicts
        has learned from all rows, and left-out rows have still taken part in the density and in chosen settings.

        Examples
        --------
        >>> import numpy as np
        >>> from gapkernel import KernelRidge
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((200, 2))
        >>> y = X.sum(axis=1)
        >>> X[:100, 0] = np.nan
        >>> model = KernelRidge(alpha=0.1, conformal=True).fit(X, y)
        >>> known, unknown = np.diff(model.predict_interval([[0.5, 0.0], [np.nan, 0.0]]))
        >>> bool(unknown > 10 * known)
        True
        """
        coverage = checked_coverage(coverage)
        check_is_fitted(self, "calibration_")
        if self.calibration_ is None:
            raise ValueError(f"{type(self).__name__} was fitted without intervals: fit it with conformal=True.")
        centre = self.predict(X)
        half = self.calibration_.half_widths(self._gap_counts(X), coverage)
        return np.stack([centre - half, centre + half], axis=1)

    def _gap_counts(self, X) -> np.ndarray:
        return read_table(self, X, reset=False, schema=self.density_.schema_).missing.sum(axis=1)

    def _check_conformal(self) -> None:
        if not isinstance(self.conformal, bool | np.bool_):
            raise ValueError(f"conformal must be False or True, got {self.conformal!r}.")


class ChosenIntervals(AnswersInParts):
    """Gives a search the intervals of the machine that it chose."""

    best_estimator_: Any

    @property
    def calibration_(self) -> GapCountCalibration | None:
        """The errors that the intervals come from; None without ``conformal``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.calibration_

    def predict_interval(self, X, coverage=0.9) -> np.ndarray:
        """An interval for the target of each row, after a fit with ``conformal=True``.

        The errors are those on the test rows of the splits, at the settings that were chosen and the density of all
        rows. See the best machine's method for what they promise.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_interval(X, coverage)

    def _gap_counts(self, X) -> np.ndarray:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_._gap_counts(X)


def calibrated(
    machine, training: Training, gram: np.ndarray, leave_one_out: Callable | None = None
) -> GapCountCalibration | None:
    """The errors of a machine on left-out rows, by their numbers of gaps; None if it is not to be calibrated.

    Rows of weight zero are no rows, and all others count alike. They are left out by the splits of a search, or else
    one by one if ``leave_one_out(solver, gram, y, weight)`` gives these errors, or else in `FOLDS` random parts.
    """
    if not machine.conformal:
        return None
    rows = np.arange(len(gram)) if training.weight is None else np.flatnonzero(training.weight)
    check_enough(len(rows))
    if len(rows) < len(gram):
        gram = gram[np.ix_(rows, rows)]
    y, weight = training.y[rows], None if training.weight is None else training.weight[rows]
    solver = machine._solver()
    if training.splits is None and leave_one_out is not None:
        errors = leave_one_out(solver, gram, y, weight)
    else:
        errors = y - _cross_fitted(solver, gram, y, weight, _folds(training, rows))
    return GapCountCalibration(training.table.missing[rows].sum(axis=1), np.abs(errors))


def _folds(training: Training, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The places among ``rows`` of the rows to learn from, and of those that are left out for it."""
    if training.splits is None:
        return list(KFold(min(FOLDS, len(rows)), shuffle=True, random_state=0).split(rows))
    places = training.kept[rows]  # in what the user gave, as the splits count

    def among(numbers):
        return np.flatnonzero(np.isin(places, numbers))

    return [(among(train), among(test)) for train, test in training.splits]


def _cross_fitted(solver, gram: np.ndarray, y: np.ndarray, weight, folds: list) -> np.ndarray:
    """The predictions for the test rows of each fold by a machine that learned from its training rows."""
    predictions = np.empty(y.shape)
    for train, test in tracked(folds, len(folds), "Calibrating"):
        part = None if weight is None else weight[train]
        if len(test):
            learned = clone(solver).fit(gram[np.ix_(train, train)], y[train], part)
            predictions[test] = learned.predict(gram[np.ix_(test, train)])
    return predictions


def checked_partition(splits: list, n_rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The places of the training and test rows of splits that test every row once, also where these are masks."""
    places = np.arange(n_rows)
    splits = [(places[train], places[test]) for train, test in splits]
    if not np.array_equal(np.sort(np.concatenate([test for _, test in splits])), places):
        raise ValueError("conformal=True needs a cv that tests every row once, such as KFold: change cv.")
    return splits


def check_enough(n_rows: int) -> None:
    """Complain if leaving one row out leaves none."""
    if n_rows < 2:
        raise ValueError(
            f"conformal=True leaves rows out, which needs 2 or more of positive weight: n_samples={n_rows}."
        )


def checked_coverage(coverage) -> float:
    """A coverage, if it is one."""
    if not isinstance(coverage, float | int | np.number) or not 0 < coverage < 1:
        raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}.")
    return float(coverage)
