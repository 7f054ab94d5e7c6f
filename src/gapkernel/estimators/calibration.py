"""Intervals around a regressor's predictions, from its errors on rows that it had not learned from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.base import Training
from gapkernel.solvers.base import Solver
from gapkernel.tables.part_by_part import AnswersInParts

LEAST_ROWS = 30
"""Fewest calibration rows of a group; neighbouring gap counts are merged until a group has this many."""


class Calibration(ABC):
    """A rule from the scores of left-out rows to what new rows may score.

    A score says how far off a prediction was, in units of the half-width of an interval: |y - mean|, or that divided by
    the deviation which the estimator itself predicts.
    """

    @abstractmethod
    def half_widths(self, missing: np.ndarray, coverage: float) -> np.ndarray:
        """The score below which each new row stays with probability ``coverage``, from its gaps (n_rows, n_columns).

        Of shape (n_rows,) or (n_rows, n_targets), each target by itself; infinite where too few rows were left out.
        """


@dataclass(frozen=True, eq=False)
class GapCountCalibration(Calibration):
    """Scores within groups of rows that miss about as many cells (Mondrian conformal prediction).

    Attributes
    ----------
    gap_counts : ndarray of shape (n,)
        Missing cells of each left-out row.
    scores : ndarray of shape (n,) or (n, n_targets)
    """

    gap_counts: np.ndarray
    scores: np.ndarray

    def group_ends(self, coverage: float) -> np.ndarray:
        """The largest gap count of each group, in rising order.

        A group has at least `LEAST_ROWS` rows, and enough for its quantile to be a score rather than infinity.
        """
        least = max(LEAST_ROWS, int(np.ceil(coverage / (1.0 - coverage))))
        values, counts = np.unique(self.gap_counts, return_counts=True)
        ends, rows = [], 0
        for value, count in zip(values, counts, strict=True):
            rows += count
            if rows >= least:
                ends.append(value)
                rows = 0
        if rows and ends:  # the rest joins the last group
            ends[-1] = values[-1]
        return np.array(ends or values[-1:])

    def half_widths(self, missing: np.ndarray, coverage: float) -> np.ndarray:
        ends = self.group_ends(coverage)
        own, new = (np.searchsorted(ends[:-1], counts) for counts in (self.gap_counts, missing.sum(axis=1)))
        return np.array([conformal_quantile(self.scores[own == group], coverage) for group in range(len(ends))])[new]


def conformal_quantile(scores: np.ndarray, coverage: float) -> np.ndarray:
    """The ceil((n + 1) coverage)-th smallest of n scores, of each target by itself; infinite if there are too few."""
    rank = int(np.ceil((len(scores) + 1) * coverage - 1e-12))
    return np.sort(scores, axis=0)[rank - 1] if rank <= len(scores) else np.full(scores.shape[1:], np.inf)


class ConformalIntervals(AnswersInParts):
    """Gives intervals to a regressor with parameter ``conformal``, whose fit leaves ``calibration_``, or None."""

    conformal: Any
    calibration_: Calibration | None
    predict: Callable[..., np.ndarray]
    gaps: Callable[..., np.ndarray]

    def predict_interval(self, X, coverage=0.9) -> np.ndarray:
        """An interval for the target of each row.

        The prediction plus and minus a quantile of the errors on left-out rows that miss about as many cells, so all
        rows of such a group have intervals of the same width (a Gaussian process takes the quantile in units of its
        deviation). An estimator with a parameter ``conformal`` must be fitted with it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            The probability with which an interval shall hold the target.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
            Lower and upper ends, of each target by itself. Infinite if there are too few rows for the coverage.

        Notes
        -----
        If rows that miss about as many cells are exchangeable, and leaving some out changes the estimator little, the
        interval covers about as often as it promises. There is no guarantee in finite samples: the estimator that
        predicts has learned from all rows, and left-out rows have still taken part in the density and in chosen
        settings.

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
        centre, unit = self._centre_and_unit(X)
        half = unit * self._half_widths(X, coverage)
        return np.stack([centre - half, centre + half], axis=1)

    def _centre_and_unit(self, X) -> tuple[np.ndarray, Any]:
        """The middle of each interval, and the unit of its half-width."""
        return self.predict(X), 1.0

    def _half_widths(self, X, coverage: float) -> np.ndarray | float:
        """Half-widths in units."""
        if self.calibration_ is None:
            return self._uncalibrated(coverage)
        return self.calibration_.half_widths(self.gaps(X), coverage)

    def _uncalibrated(self, coverage: float) -> float:
        """The half-width without calibration, in units: an error, unless the estimator has a law of its own."""
        raise ValueError(f"{type(self).__name__} was fitted without intervals: fit it with conformal=True.")

    def _calibrate(self, training: Training, solver: Solver, gram: np.ndarray) -> None:
        """Calibrate by the errors of the solver on left-out rows, all rows counting alike."""
        self.calibration_ = None
        if self.conformal:
            check_enough(len(gram))
            errors = training.y - solver.left_out(gram, training.y, training.weight, training.folds)
            self.calibration_ = GapCountCalibration(training.table.missing.sum(axis=1), np.abs(errors))


def check_enough(n_rows: int) -> None:
    """Refuse a number of rows of which none is left if one is left out."""
    if n_rows < 2:
        raise ValueError(
            f"conformal=True leaves rows out, which needs 2 or more of positive weight: n_samples={n_rows}."
        )


def checked_coverage(coverage) -> float:
    """A probability between 0 and 1, or an error."""
    if not isinstance(coverage, float | int | np.number) or not 0 < coverage < 1:
        raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}.")
    return float(coverage)
