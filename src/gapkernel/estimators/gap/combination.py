"""From the out-of-fold answers of members to probabilities, and to the weights by which members are averaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar, nnls
from scipy.special import log_softmax, softmax

SHRINKAGE = 0.5
"""How far the weights with the smallest out-of-fold loss are moved to equal ones."""

CLEARLY = 2.5
"""Standard errors by which a member's mean loss exceeds the smallest one if it is left out."""

STEPS = 200
"""Steps of the iteration for the weights of a mixture."""

DOUBT = 0.2
"""Rows' worth of even odds in every probability."""

POWER_DEVIATION = 0.3
"""Prior deviation of the logarithm of the power by which probabilities are made more or less sure."""

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


def sigmoid(scores: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> ToProbabilities:
    """A logistic regression on decision values (Platt's method), slightly shrunk."""
    from sklearn.linear_model import LogisticRegression  # slow to import

    unit = scores.std(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    model = LogisticRegression(C=10.0, max_iter=500).fit(scores / unit, y, sample_weight=weight)
    if len(model.classes_) == 2:
        slope, intercept = model.coef_[0][:, None], model.intercept_
        slopes = np.hstack([0.0 * slope, slope]) / unit[:, None]
        return ToProbabilities(slopes, np.array([0.0, intercept[0]]), DOUBT / len(y))
    return ToProbabilities(model.coef_.T / unit[:, None], model.intercept_, DOUBT / len(y))


def tempered(log_probabilities: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> ToProbabilities:
    """One power for all probabilities, which makes them as sure as they may be; 1 unless the rows say otherwise."""

    def loss(log_power: float) -> float:
        chances = np.exp(log_softmax(np.exp(log_power) * log_probabilities, axis=1))
        return log_loss(chances, y, weight) + 0.5 * (log_power / POWER_DEVIATION) ** 2 / len(y)

    power = np.exp(minimize_scalar(loss, bounds=(-1.5, 1.5), method="bounded").x)
    n_classes = log_probabilities.shape[1]
    return ToProbabilities(power * np.eye(n_classes), np.zeros(n_classes), DOUBT / len(y))


def log_loss(probabilities: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Mean of minus the log probability of the classes ``y`` (places)."""
    chances = np.maximum(probabilities[np.arange(len(y)), y], SMALLEST)
    return float(-np.average(np.log(chances), weights=weight))


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


def combined_weights(losses: np.ndarray, weight: np.ndarray | None, best: Callable[[np.ndarray], np.ndarray]):
    """The weights of members, from the loss of each on each row, (n, n_members).

    Members that are clearly worse than the one with the smallest mean loss are left out, by the standard error of the
    difference. ``best(places)`` gives the weights of the others with the smallest loss, which are moved half way to
    equal ones: to follow them all the way would be to believe in noise.
    """
    means = np.average(losses, axis=0, weights=weight)
    away = losses - losses[:, [means.argmin()]]
    behind = means - means.min()
    error = np.sqrt(np.average((away - behind) ** 2, axis=0, weights=weight) / len(losses))
    kept = np.flatnonzero(behind <= CLEARLY * error)
    weights = np.zeros(losses.shape[1])
    weights[kept] = (1.0 - SHRINKAGE) * best(kept) + SHRINKAGE / len(kept)
    return weights
