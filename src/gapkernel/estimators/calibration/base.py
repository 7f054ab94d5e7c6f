"""From the scores of rows that were left out to the scores that are usual for new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import StrOptions
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

LeftOutScores = Callable[[np.ndarray, Table], np.ndarray]
"""From places of left-out rows, and these rows with more of their cells hidden, to their scores by models that have not
learned from them."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Up to which score a target is usual for each of n new rows.

    Most rows have a highest score. A row that was served by the rule "nested" has k of them, each for the row with
    other cells hidden as well: a target is unusual if ceil(coverage (k + 1)) of these scores are exceeded.

    Attributes
    ----------
    rules : ndarray of str, shape (n,)
        The rule that served each row.
    highest : ndarray of shape (n,) or (n, n_targets)
        Without meaning for rows of the rule "nested".
    rank : int
        ceil(coverage (k + 1)).
    masks : ndarray of bool, shape (n_nested, k, n_columns)
        For each row of the rule "nested", in their order, the masks under which it is to be scored.
    scores : ndarray of shape (n_nested, k) or (n_nested, k, n_targets)
        The scores not to be exceeded under them.
    """

    rules: np.ndarray
    highest: np.ndarray
    rank: int
    masks: np.ndarray
    scores: np.ndarray

    @classmethod
    def by_one_rule(cls, rule: str, highest: np.ndarray) -> Limits:
        """All rows served by one rule that is not "nested"."""
        return cls(np.full(len(highest), rule, dtype="<U6"), highest, 0, np.zeros((0, 0, 0), bool), np.zeros((0, 0)))

    @property
    def nested(self) -> np.ndarray:
        """The places of the rows that were served by the rule "nested"."""
        return np.flatnonzero(self.rules == "nested")

    def hidden(self, table: Table) -> Table:
        """These rows, each once under each of its masks."""
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

    n_asked: int = 0
    """The number of left-out rows that it asks the estimator about again; 0 if it asks about none."""


class Conformal(AnswersInParts):
    """An estimator with parameter ``conformal``, whose fit leaves ``calibration_``, or None."""

    _promises: ClassVar[str]
    _parameter_constraints: ClassVar[dict] = {"conformal": ["boolean", StrOptions({"count", "mask"})]}
    conformal: Any
    calibration_: Calibration | None
    table_of: Callable[..., Table]

    def _limits(self, table: Table, coverage: float) -> Limits:
        """What new rows may score."""
        if self.calibration_ is None:
            return Limits.by_one_rule("model", np.full(len(table), self._uncalibrated(coverage)))
        return self.calibration_.limits(self._masks(table), coverage, self._left_out_scores)

    def _masks(self, table: Table) -> np.ndarray:
        """The gaps of new rows that count."""
        return table.missing

    def _promised(self, X, coverage, return_rule: bool) -> Any:
        """The promises to new rows, and if asked the rules that served them.

        A row may be compared with many left-out rows, each with other cells hidden: blocks of rows bound the memory.
        """
        coverage = checked_coverage(coverage)
        check_is_fitted(self, "calibration_")
        table = self.table_of(X)
        step = max(1, get_config().memory_budget // (COPY_BYTES * table.shape[1] * MOST_COPIES))
        promises, rules = [], []
        for part in (table[some] for some in gen_batches(max(len(table), 1), step)):
            limits = self._limits(part, coverage)
            promises.append(self._promise(part, limits))
            rules.append(limits.rules)
        return (np.concatenate(promises), np.concatenate(rules)) if return_rule else np.concatenate(promises)

    def _promise(self, table: Table, limits: Limits) -> np.ndarray:
        """The intervals or sets of new rows by their limits."""
        raise NotImplementedError

    def _uncalibrated(self, coverage: float) -> float:
        """The limit without calibration: an error, unless the estimator has a law of its own."""
        raise NotCalibratedError(
            f"{type(self).__name__} was fitted without {self._promises}: fit it with conformal=True."
        )

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        """The scores of the left-out rows at ``places`` with the cells of ``table``, which may be fewer than at fit."""
        raise NotImplementedError


def check_asked(calibration: Calibration | None, n_rows: int) -> None:
    """Refuse a calibration from a file that asks about other rows than the ``n_rows`` that were left out."""
    if calibration is not None and calibration.n_asked not in (0, n_rows):
        raise ValueError("The calibration does not go with the rows that were left out.")


def check_scores(scores: np.ndarray, n_rows: int) -> None:
    """Refuse scores from a file that do not go with the rows; a score may be infinite."""
    if len(scores) != n_rows or not n_rows or scores.dtype != np.float64 or np.isnan(scores).any():
        raise ValueError("The scores do not go with the rows.")


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
        raise ValueError(
            f"conformal=True leaves rows out, which needs 2 or more of positive weight: n_samples={n_rows}."
        )


def checked_coverage(coverage) -> float:
    """A probability between 0 and 1, or an error."""
    if not isinstance(coverage, float | int | np.number) or not 0 < coverage < 1:
        raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}.")
    return float(coverage)
