"""Calibration among rows that miss about as many cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.estimators.calibration.base import (
    Calibration,
    LeftOutScores,
    Limits,
    conformal_quantile,
    enough_rows,
)


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

    def limits(self, missing: np.ndarray, coverage: float, left_out: LeftOutScores | None = None) -> Limits:
        return Limits.by_one_rule("count", self.half_widths(missing, coverage))

    def group_ends(self, coverage: float) -> np.ndarray:
        """The largest gap count of each group, in rising order; a group has enough rows for the coverage."""
        least = enough_rows(coverage)
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
        """The highest score of each new row, of shape (n_rows,) or (n_rows, n_targets), each target by itself."""
        ends = self.group_ends(coverage)
        own, new = (np.searchsorted(ends[:-1], counts) for counts in (self.gap_counts, missing.sum(axis=1)))
        return np.array([conformal_quantile(self.scores[own == group], coverage) for group in range(len(ends))])[new]
