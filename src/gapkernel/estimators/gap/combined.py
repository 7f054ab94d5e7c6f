"""The fitted members of a Gap estimator, their weights, and the probabilities that their answers become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar, nnls
from scipy.special import log_softmax, softmax

from gapkernel.compute.runtime.threads import run_tasks
from gapkernel.estimators.gap.preparation import View
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.tables import Schema, Table

SHRINKAGE = 0.75
"""How far the weights with the smallest out-of-fold loss are moved to those that treat all families alike."""

CLEARLY = 2.5
"""Standard errors by which a member's mean loss exceeds the smallest one if it is left out."""

STEPS = 200
"""Steps of the iteration for the weights of a mixture."""

DOUBT = 0.2
"""How many rows of even odds are mixed into every probability."""

POWER_DEVIATION, SLOPE_DEVIATION = 0.3, 2.0
"""Prior deviations of the logarithm of the power by which probabilities are made more or less sure, and of the slope of
decision values, about which little is known beforehand."""

SMALLEST = 1e-9
"""Probabilities are kept this far from 0, so that no single row decides."""


@dataclass(frozen=True, eq=False)
class ToProbabilities:
    """Probabilities as the softmax of an affine map of scores.

    Attributes
    ----------
    slope : ndarray of shape (n_scores, n_classes)
    intercept : ndarray of shape (n_classes,)
    doubt : float
        The share of even odds that is mixed in: n rows cannot tell that something never happens.
    """

    slope: np.ndarray
    intercept: np.ndarray
    doubt: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, (n, n_classes)."""
        chances = softmax(scores @ self.slope + self.intercept, axis=1)
        return (1.0 - self.doubt) * chances + self.doubt / len(self.intercept)

    def scaled(self, unit: float) -> ToProbabilities:
        """The same for scores in other units: those of this map times ``unit``."""
        return replace(self, slope=self.slope / unit)


def sigmoid(scores: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> ToProbabilities:
    """A logistic regression on decision values (Platt's method), slightly shrunk; one slope for more than two classes.

    A slope for every pair of a score and a class would follow the noise of the rows that are left out.
    """
    unit = float(scores.std()) or 1.0
    if scores.shape[1] > 1:
        return _with_one_slope(scores / unit, y, weight, bounds=(-3.0, 3.0), prior=SLOPE_DEVIATION).scaled(unit)
    from sklearn.linear_model import LogisticRegression  # slow to import

    model = LogisticRegression(C=10.0, max_iter=500).fit(scores / unit, y, sample_weight=weight)
    slope, intercept = np.array([[0.0, model.coef_[0, 0]]]), np.array([0.0, model.intercept_[0]])
    return ToProbabilities(slope, intercept, DOUBT / len(y)).scaled(unit)


def tempered(log_probabilities: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> ToProbabilities:
    """One power for all probabilities that makes them neither too bold nor too cautious; close to 1 with few rows."""
    return _with_one_slope(log_probabilities, y, weight, bounds=(-1.5, 1.5), prior=POWER_DEVIATION)


def _with_one_slope(scores: np.ndarray, y: np.ndarray, weight: np.ndarray | None, bounds, prior) -> ToProbabilities:
    """The softmax of all scores times one number, whose logarithm has a normal prior around 0."""

    def loss(log_slope: float) -> float:
        chances = np.exp(log_softmax(np.exp(log_slope) * scores, axis=1))
        return log_loss(chances, y, weight) + 0.5 * (log_slope / prior) ** 2 / len(y)

    slope, n_classes = np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x), scores.shape[1]
    return ToProbabilities(slope * np.eye(n_classes), np.zeros(n_classes), DOUBT / len(y))


def log_loss(probabilities: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Mean of minus the log probability of the classes ``y`` (places)."""
    chances = np.maximum(probabilities[np.arange(len(y)), y], SMALLEST)
    return float(-np.average(np.log(chances), weights=weight))


def weighted_mean(answers: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """The mean of members' answers; summed member by member, so that a row has the same bits alone and in a batch."""
    return np.sum([weight * answer for weight, answer in zip(weights, answers, strict=True)], axis=0)


def mixture_weights(chances: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """The mixture of members with the highest likelihood, from the probability (n, n_members) each gave to the truth.

    The EM steps for known components: a member's weight becomes the mean share that it has in the mixture.
    """
    weights = np.full(chances.shape[1], 1.0 / chances.shape[1])
    for _ in range(STEPS):
        shares = weights * np.maximum(chances, SMALLEST)
        shares /= shares.sum(axis=1, keepdims=True)
        weights = np.average(shares, axis=0, weights=weight)
    return weights


def mean_weights(values: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """The average of members' values (n, n_members) with the smallest squared error, weights at least 0 with sum 1."""
    root = np.ones(len(y)) if weight is None else np.sqrt(weight)
    errors = root[:, None] * (values - y[:, None])
    heavy = 1e3 * np.linalg.norm(errors) + 1.0  # the sum of the weights: errors weigh nothing against it
    system = np.vstack([errors, np.full(values.shape[1], heavy)])
    weights, _ = nnls(system, np.append(np.zeros(len(y)), heavy))
    return weights / weights.sum()


def equal_by_family(families: list[str]) -> np.ndarray:
    """Weights of members: the same for each family, and within a family for each member."""
    members = Counter(families)
    return np.array([1.0 / (len(members) * members[family]) for family in families])


def combined_weights(
    losses: np.ndarray,
    weight: np.ndarray | None,
    families: list[str],
    best: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """The weights of members, from the loss of each on each row, (n, n_members).

    Members that are clearly worse than the one with the smallest mean loss are left out, by the standard error of the
    difference. ``best(places)`` gives the weights of the others with the smallest loss, which are moved three
    quarters of the way to those that treat ``families`` alike: the best weights out of fold follow noise. Members of
    one family err alike, so their number does not count.
    """
    means = np.average(losses, axis=0, weights=weight)
    away = losses - losses[:, [means.argmin()]]
    behind = means - means.min()
    share = np.full(len(losses), 1.0 / len(losses)) if weight is None else weight / weight.sum()
    error = np.sqrt(share**2 @ (away - behind) ** 2)
    kept = np.flatnonzero(behind <= CLEARLY * error)
    weights = np.zeros(losses.shape[1])
    weights[kept] = (1.0 - SHRINKAGE) * best(kept) + SHRINKAGE * equal_by_family([families[k] for k in kept])
    return weights


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
