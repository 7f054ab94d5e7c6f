"""Conformal calibration within groups of rows that miss about as many cells (Mondrian conformal prediction)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LEAST_ROWS = 30
"""Fewest calibration rows of a group; neighbouring gap counts are merged until they have so many."""


@dataclass(frozen=True, eq=False)
class GapCountCalibration:
    """Scores of calibration rows, by their numbers of missing cells.

    Attributes
    ----------
    gap_counts : ndarray of shape (n,)
        Missing cells of each calibration row.
    scores : ndarray of shape (n,) or (n, n_targets)
        How far off the prediction was, in units of the interval's half-width: |y - mean| / deviation.
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

    def half_widths(self, gap_counts: np.ndarray, coverage: float) -> np.ndarray:
        """The score below which a new row of each gap count stays with probability ``coverage``.

        The ceil((n + 1) coverage)-th smallest score of the row's group, of each target by itself; infinite where a
        group has too few.
        """
        ends = self.group_ends(coverage)
        own = np.minimum(np.searchsorted(ends, self.gap_counts), len(ends) - 1)
        quantiles = np.empty((len(ends), *self.scores.shape[1:]))
        for group in range(len(ends)):
            scores = np.sort(self.scores[own == group], axis=0)
            rank = int(np.ceil((len(scores) + 1) * coverage - 1e-12))
            quantiles[group] = scores[rank - 1] if rank <= len(scores) else np.inf
        return quantiles[np.minimum(np.searchsorted(ends, gap_counts), len(ends) - 1)]
