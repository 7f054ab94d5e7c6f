"""Members that have learned from all rows, or from those of a split, and the list of them that a user sees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gapkernel.compute.runtime.threads import run_tasks
from gapkernel.estimators.gap.combination import ToProbabilities, weighted_mean
from gapkernel.estimators.gap.preparation import View
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.tables import Schema, Table


@dataclass(frozen=True, eq=False)
class FittedMember:
    """A model that has learned from all rows, or from those of a split.

    Attributes
    ----------
    view : View
    estimator : estimator
    method : str
        What answers: "predict", "decision_function" or "predict_proba".
    to_probabilities : ToProbabilities or None
        For classes.
    schema : Schema
        Of the table that it has learned from, which may lack levels.
    n_classes : int
        0 for numbers.
    """

    view: View
    estimator: Any
    method: str
    to_probabilities: ToProbabilities | None
    schema: Schema
    n_classes: int

    @property
    def has_laws(self) -> bool:
        """Whether it has laws for gaps at all: trees do not."""
        return isinstance(self.estimator, Inspectable)

    @property
    def has_gaussian_laws(self) -> bool:
        """Whether it has Gaussian laws for gaps; what is assumed about gaps does not reach other members."""
        return self.has_laws and self.estimator.gaussian_share == 1.0

    def answers(self, table: Table) -> np.ndarray:
        """Probabilities (n, n_classes), or values (n,)."""
        if not self.has_gaussian_laws:
            table = replace(table, tilt=None)
        raw = raw_answers(self.estimator, self.view(table).recoded(self.schema), self.method, self.n_classes)
        return raw if self.to_probabilities is None else self.to_probabilities(as_scores(raw, self.method))


@dataclass(frozen=True, eq=False)
class LeftOutMembers:
    """The members that are used, each fitted anew to the rows that every split learns from.

    They have not learned from a row that their split leaves out, and can answer it again with more of its cells hidden.

    Attributes
    ----------
    y : ndarray of shape (n,)
        The targets of the training rows.
    split : ndarray of shape (n,)
        The split that leaves each row out.
    members : list of list of FittedMember
        For each split.
    """

    y: np.ndarray
    split: np.ndarray
    members: list[list[FittedMember]]

    def answers(self, places: np.ndarray, table: Table, weights: np.ndarray) -> np.ndarray:
        """The combined answers to prepared rows by the members that have not learned from the row at each place."""
        parts, order = [], []
        for k in np.unique(self.split[places]):
            own = np.flatnonzero(self.split[places] == k)
            parts.append(combined(self.members[k], weights, table[own]))
            order.append(own)
        return np.concatenate(parts)[np.argsort(np.concatenate(order))]


class MemberRow(NamedTuple):
    """A line of ``members_``.

    Attributes
    ----------
    member : str
    settings : dict
    score : float
        Out of fold; the higher the better.
    weight : float
        Its share in the answers; 0 for members that are not used.
    seconds : float
        What trying it took.
    """

    member: str
    settings: dict[str, Any]
    score: float
    weight: float
    seconds: float


class Members(tuple[MemberRow, ...]):
    """The members that were tried, the best first; printed as a table."""

    def __repr__(self) -> str:
        lines = [f"{'member':<24}{'score':>10}{'weight':>8}{'seconds':>9}  settings"]
        for row in self:
            settings = ", ".join(f"{name}={value}" for name, value in row.settings.items())
            lines.append(f"{row.member:<24}{row.score:>10.4f}{row.weight:>8.2f}{row.seconds:>9.1f}  {settings}")
        return "\n".join(lines)


def combined(members: list[FittedMember], weights: np.ndarray, table: Table) -> np.ndarray:
    """The weighted mean of the members' answers to a prepared table."""
    return weighted_mean(run_tasks(lambda member: member.answers(table), members), weights)


def as_scores(raw: np.ndarray, method: str) -> np.ndarray:
    """Decision values or log probabilities as columns."""
    if method == "predict_proba":
        return np.log(np.maximum(raw, 1e-9))
    return raw.reshape(len(raw), -1)


def raw_answers(model, rows, method: str, n_classes: int) -> np.ndarray:
    """What a model answers to rows, with a column for each class, also for those that it has not seen.

    Their probability is 0, and their decision value the last; two classes may have one decision value.
    """
    raw = getattr(model, method)(rows)
    if raw.shape[1:] == (n_classes,) or (n_classes <= 2 and method != "predict_proba"):
        return raw
    seen = np.column_stack([-raw, raw]) if raw.ndim == 1 else raw
    unseen = np.zeros((len(raw), 1)) if method == "predict_proba" else seen.min(axis=1, keepdims=True) - 1.0
    out = np.repeat(unseen, n_classes, axis=1)
    out[:, model.classes_] = seen
    return out
