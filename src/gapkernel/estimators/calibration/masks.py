"""Which left-out rows a new row is compared with: those that miss as many cells, or those with the same cells hidden.

Let the mask m of a row be the set of its gaps. If gaps do not depend on the values of the row or its target, a left-out
row whose mask lies inside m, hidden down to m, is as good as a row that was found with mask m: its score there, by a
model that has not learned from it, is exchangeable with the new row's. Four rules follow, and a new row is served by
the first that has enough left-out rows:

    same     rows with mask m, at least `MANY` (or enough, if no other mask lies inside m): right even if gaps depend on
             values
    exact    rows whose mask lies inside m, each hidden down to m
    nested   the rows with the fewest gaps outside m, row i hidden down to the union of m and its own mask m_i; the new
             row is scored under the same union, and a target is unusual if ceil(coverage (k + 1)) of k rows score lower
    count    groups of rows that miss about as many cells: where "nested" would hide more than half of what is known

("exact" and "nested" are CP-MDA of Zaffran, Dieuleveut, Josse, Romano 2023, and "nested" on some rows that of 2024.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.estimators.calibration.base import (
    MOST_COPIES,
    Calibration,
    LeftOutScores,
    Limits,
    conformal_quantile,
    enough_rows,
    rank_of,
)
from gapkernel.tables import Table

MANY = 100
"""Rows of the same mask that are enough to go by alone."""


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
        return Limits.without_nested(self.half_widths(missing, coverage))

    def rules(self, missing: np.ndarray, coverage: float) -> np.ndarray:
        return np.full(len(missing), "count")

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


@dataclass(frozen=True, eq=False)
class MaskCalibration(Calibration):
    """Scores of left-out rows with the mask of each new row.

    Attributes
    ----------
    table : Table
        The left-out rows.
    missing : ndarray of shape (n, n_columns)
        Their masks.
    scores : ndarray of shape (n,) or (n, n_targets)
        Their scores with nothing more hidden.
    """

    table: Table
    missing: np.ndarray
    scores: np.ndarray

    @property
    def by_count(self) -> GapCountCalibration:
        """The rule "count"."""
        return GapCountCalibration(self.missing.sum(axis=1), self.scores)

    def as_asked(self, conformal) -> Calibration:
        """This, or the rule "count" in its place, as the parameter ``conformal`` says."""
        return self if conformal == "mask" else self.by_count

    def limits(self, missing: np.ndarray, coverage: float, left_out: LeftOutScores) -> Limits:
        enough = enough_rows(coverage)
        masks, group = np.unique(missing, axis=0, return_inverse=True)
        rules, places = zip(*(self._serving(mask, enough) for mask in masks), strict=True)
        unions = [self.missing[chosen] | mask for chosen, mask in zip(places, masks, strict=True)]
        ends = np.cumsum([len(chosen) for chosen in places])[:-1]
        scores = np.split(self._hidden_scores(np.concatenate(places), np.concatenate(unions), left_out), ends)

        highest = self.by_count.half_widths(masks, coverage)
        for k in np.flatnonzero(np.isin(rules, ("same", "exact"))):
            highest[k] = conformal_quantile(scores[k], coverage)
        nested = np.flatnonzero(np.equal(rules, "nested")[group])
        return Limits(
            highest[group],
            nested,
            rank_of(enough, coverage),
            np.array([unions[k] for k in group[nested]]).reshape(-1, enough, masks.shape[1]),
            np.array([scores[k] for k in group[nested]]).reshape(-1, enough, *self.scores.shape[1:]),
        )

    def rules(self, missing: np.ndarray, coverage: float) -> np.ndarray:
        masks, group = np.unique(missing, axis=0, return_inverse=True)
        return np.array([self._serving(mask, enough_rows(coverage))[0] for mask in masks])[group]

    def _serving(self, mask: np.ndarray, enough: int) -> tuple[str, np.ndarray]:
        """The rule that serves a mask, and the places of the rows it goes by (none for "count")."""
        outside = (self.missing & ~mask).sum(axis=1)
        to_hide = (mask & ~self.missing).sum(axis=1)
        same, inside = np.flatnonzero(outside + to_hide == 0), np.flatnonzero(outside == 0)
        if len(same) >= max(MANY, enough):
            return "same", same
        if len(inside) >= enough:
            nearest = inside[np.argsort(to_hide[inside], kind="stable")[: max(MOST_COPIES, enough)]]
            return ("same" if len(same) == len(inside) else "exact"), nearest
        nearest = np.lexsort((to_hide, outside))[:enough]
        if len(nearest) < enough or 2 * outside[nearest].max() > np.sum(~mask):
            return "count", inside[:0]
        return "nested", nearest

    def _hidden_scores(self, places: np.ndarray, masks: np.ndarray, left_out: LeftOutScores) -> np.ndarray:
        """The scores of left-out rows under masks that hold their own."""
        scores = self.scores[places]
        new = np.flatnonzero((masks != self.missing[places]).any(axis=1))
        if len(new):
            scores[new] = left_out(places[new], self.table[places[new]].hide(masks[new]))
        return scores
