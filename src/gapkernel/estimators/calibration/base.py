"""From the scores of rows that were left out to the scores that are usual for new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.runtime.config import get_config
from gapkernel.tables import Table
from gapkernel.tables.part_by_part import AnswersInParts

LEAST_ROWS = 30
"""Fewest left-out rows that a rule goes by."""

MOST_COPIES = 200
"""Left-out rows that one new row is compared with at most; more make a quantile hardly better."""

COPY_BYTES = 32
"""Memory of a cell of such a row, with what is computed from it."""

NO = Options(bool, {False})
"""The value of ``conformal`` for an estimator without calibration."""

LeftOutScores = Callable[[np.ndarray, Table], np.ndarray]
"""From places of left-out rows, and these rows with more of their cells hidden, to their scores by models that have not
learned from them."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Up to which score a target is usual for each of n new rows.

    Most rows have a highest score. A row that is served by the rule "nested" has k of them, each for the row with
    other cells hidden as well: a target is unusual if ceil(coverage (k + 1)) of these scores are exceeded.

    Attributes
    ----------
    highest : ndarray of shape (n,) or (n, n_targets)
        Without meaning for rows of the rule "nested".
    nested : ndarray of shape (n_nested,)
        The places of the rows that are served by the rule "nested".
    rank : int
        ceil(coverage (k + 1)).
    masks : ndarray of bool, shape (n_nested, k, n_columns)
        For each of these rows the masks under which it is to be scored.
    scores : ndarray of shape (n_nested, k) or (n_nested, k, n_targets)
        The scores not to be exceeded under them.
    """

    highest: np.ndarray
    nested: np.ndarray
    rank: int
    masks: np.ndarray
    scores: np.ndarray

    @classmethod
    def without_nested(cls, highest: np.ndarray) -> Limits:
        """One highest score for each row."""
        return cls(highest, np.empty(0, int), 0, np.zeros((0, 0, 0), bool), np.zeros((0, 0)))

    def hidden(self, table: Table) -> Table:
        """The rows of the rule "nested", each once under each of its masks."""
        n_rows, k, n_columns = self.masks.shape
        return table[np.repeat(self.nested, k)].hide(self.masks.reshape(n_rows * k, n_columns))


class NotCalibratedError(ValueError):
    """An interval or a set was asked of an estimator that was fitted without."""


class Calibration(ABC):
    """A rule from the scores of left-out rows to what new rows may score.

    A score says how far off an answer was: for intervals |y - mean|, or that divided by the deviation which the
    estimator itself predicts; for sets how improbable the class was.
    """

    @abstractmethod
    def limits(self, missing: np.ndarray, coverage: float, left_out: LeftOutScores) -> Limits:
        """The score below which each new row stays with probability ``coverage``, from its gaps (n_rows, n_columns).

        Infinite where too few rows were left out.
        """

    @abstractmethod
    def rules(self, missing: np.ndarray, coverage: float) -> np.ndarray:
        """The name of the rule that serves each new row, from its gaps."""


class Conformal(AnswersInParts):
    """An estimator with parameter ``conformal``, whose fit leaves ``calibration_``, or None."""

    _promises: ClassVar[str]
    _parameter_constraints: ClassVar[dict] = {"conformal": [NO, StrOptions({"count", "mask"})]}
    conformal: Any
    calibration_: Calibration | None
    table_of: Callable[..., Table]

    def conformal_rules(self, X, coverage=0.9) -> np.ndarray:
        """Which left-out rows an interval or a set of each row goes by.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            The probability that the interval or set is to hold the target.

        Returns
        -------
        rules : ndarray of str, shape (n_samples,)
            "count": rows that miss about as many cells. With ``conformal="mask"`` also "same": rows that miss the same
            cells; "exact": rows that miss no others, hidden down to the same cells; "nested": rows that miss few
            others, and the new row hidden where they are. "model": none, but what the estimator itself predicts.
        """
        coverage = checked_coverage(coverage)
        check_is_fitted(self, "calibration_")
        table = self.table_of(X)
        if self.calibration_ is None:
            self._uncalibrated(coverage)  # an error, unless it predicts more than a value or a class
            return np.full(len(table), "model")
        return self.calibration_.rules(self._masks(table), coverage)

    def _promised(self, X, coverage) -> np.ndarray:
        """The intervals or sets of new rows.

        A row may be compared with many left-out rows, each with other cells hidden: blocks of rows bound the memory.
        """
        coverage = checked_coverage(coverage)
        check_is_fitted(self, "calibration_")
        table = self.table_of(X)
        step = max(1, get_config().memory_budget // (COPY_BYTES * table.shape[1] * MOST_COPIES))
        blocks = [table[some] for some in gen_batches(max(len(table), 1), step)]
        return np.concatenate([self._promise(block, self._limits(block, coverage)) for block in blocks])

    def _limits(self, table: Table, coverage: float) -> Limits:
        """What new rows may score."""
        if self.calibration_ is None:
            return Limits.without_nested(np.full(len(table), self._uncalibrated(coverage)))
        return self.calibration_.limits(self._masks(table), coverage, self._left_out_scores)

    def _masks(self, table: Table) -> np.ndarray:
        """The gaps of new rows that count."""
        return table.missing

    def _promise(self, table: Table, limits: Limits) -> np.ndarray:
        """The intervals or sets of new rows by their limits."""
        raise NotImplementedError

    def _uncalibrated(self, coverage: float) -> float:
        """The limit without calibration: an error, unless the estimator predicts how far off it may be."""
        raise NotCalibratedError(
            f'{type(self).__name__} was fitted without {self._promises}: fit it with conformal="count".'
        )

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        """The scores of the left-out rows at ``places`` with the cells of ``table``, which may be fewer than at fit."""
        raise NotImplementedError


def conformal_quantile(scores: np.ndarray, coverage: float) -> np.ndarray:
    """The ceil((n + 1) coverage)-th smallest of n scores, of each target by itself; infinite if there are too few."""
    rank = rank_of(len(scores), coverage)
    return np.sort(scores, axis=0)[rank - 1] if rank <= len(scores) else np.full(scores.shape[1:], np.inf)


def rank_of(n_scores: int, coverage: float) -> int:
    """ceil((n + 1) coverage)."""
    return int(np.ceil((n_scores + 1) * coverage - 1e-12))


def enough_rows(coverage: float) -> int:
    """Rows that a rule needs: `LEAST_ROWS`, and enough for its quantile to be a score rather than infinity."""
    return max(LEAST_ROWS, int(np.ceil(coverage / (1.0 - coverage))))


def check_enough(n_rows: int) -> None:
    """Refuse a number of rows of which none is left if one is left out."""
    if n_rows < 2:
        raise ValueError(f"conformal leaves rows out, which needs 2 or more of positive weight: n_samples={n_rows}.")


def checked_coverage(coverage) -> float:
    """A probability between 0 and 1, or an error."""
    if not isinstance(coverage, float | int | np.number) or not 0 < coverage < 1:
        raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}.")
    return float(coverage)
