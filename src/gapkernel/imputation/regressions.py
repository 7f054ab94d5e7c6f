"""One column given the others: regressions with a posterior draw of their parameters.

Each ``fit_*`` takes a design, (n_places, n_rows) with the intercept first, and returns a model with parameters
drawn from their posterior (or at its mode). A model then turns uniform numbers, one for each row, into values
of the column; without numbers it gives the expected value, or the likeliest level.

The slopes have a normal prior around zero, worth ``ridge`` rows of evidence, and the intercept a flat one. It
keeps the models finite where classes are separated, columns dependent, or rows fewer than columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit, ndtri, softmax

from gapkernel.compute.doors import check_finite
from gapkernel.compute.linalg.regression import logistic_terms, scores, weighted_gram, weighted_sum

_FEWEST_DOF = 3.0  # below this, a draw of the residual variance has no mean
_FLAT = 1e-8  # the prior precision of an intercept: as good as none
_MAX_NEWTON = 50


class ColumnModel(ABC):
    """A column given the others, with parameters that were drawn."""

    @abstractmethod
    def draw(self, design: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        """Values of the column, or the numbers of levels, for each row of a design."""


@dataclass(frozen=True)
class Linear(ColumnModel):
    """A normal law around a linear predictor."""

    beta: np.ndarray
    deviation: float

    def draw(self, design: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        mean = _scores(design, self.beta[None])[0]
        return mean if uniform is None else mean + self.deviation * ndtri(uniform)


@dataclass(frozen=True)
class MeanMatching(ColumnModel):
    """The value of an observed row whose prediction is among the nearest.

    Observed rows are predicted at the posterior mode and rows with a gap at a posterior draw (type 1 matching).
    All rows as near as the last of the ``n_donors`` nearest are donors, so that ties have the same chance.
    """

    beta: np.ndarray
    predictions: np.ndarray
    values: np.ndarray
    n_donors: int

    def draw(self, design: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        target = _scores(design, self.beta[None])[0]
        first, end = self._donors(target)
        if uniform is None:
            total = np.concatenate([[0.0], np.cumsum(self.values)])
            return (total[end] - total[first]) / (end - first)
        return self.values[first + ((end - first) * uniform).astype(int)]

    def _donors(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the donors of each target begin and end among the sorted predictions."""
        padded = np.concatenate([[-np.inf], self.predictions, [np.inf]])
        below = np.searchsorted(self.predictions, target)  # the nearest prediction to the left, in `padded`
        above, radius = below + 1, np.zeros(len(target))
        for _ in range(min(self.n_donors, len(self.predictions))):
            left, right = target - padded[below], padded[above] - target
            radius = np.minimum(left, right)
            below, above = below - (left <= right), above + (left > right)
        slack = 1e-12 * (1.0 + np.abs(target))
        first = np.searchsorted(self.predictions, target - radius - slack, side="left")
        end = np.searchsorted(self.predictions, target + radius + slack, side="right")
        return first, end


@dataclass(frozen=True)
class Logistic(ColumnModel):
    """Level 1 with the logistic probability, else level 0."""

    beta: np.ndarray

    def draw(self, design: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        eta = _scores(design, self.beta[None])[0]
        return (eta > 0).astype(float) if uniform is None else (uniform < expit(eta)).astype(float)


@dataclass(frozen=True)
class Multinomial(ColumnModel):
    """One level of several; level 0 has score 0, each other level its own coefficients."""

    beta: np.ndarray

    def draw(self, design: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        return _pick(_probabilities(_scores(design, self.beta)), uniform)


def fit_linear(design, y, ridge, random: np.random.Generator | None) -> Linear:
    """Bayesian linear regression."""
    _, drawn, deviation = _linear_posterior(design, y, ridge, random)
    return Linear(drawn, deviation)


def fit_mean_matching(design, y, ridge, random: np.random.Generator | None, n_donors: int) -> MeanMatching:
    """Predictive mean matching."""
    mode, drawn, _ = _linear_posterior(design, y, ridge, random)
    predictions = scores(design, mode[None])[0]
    order = np.argsort(predictions, kind="stable")
    return MeanMatching(drawn, predictions[order], y[order], n_donors)


def _linear_posterior(design, y, ridge, random):
    """Mode and draw of the coefficients, and a draw of the residual deviation.

    sigma*^2 = s^2 nu / chi2_nu and beta* ~ N(mode, sigma*^2 (A'A + ridge)^-1), with s^2 = (RSS + ridge |beta|^2) / nu
    and nu the number of rows less the effective number of coefficients.
    """
    gram = weighted_gram(design, np.ones(len(y)))
    precision = gram + np.diag(_prior(len(gram), ridge))
    mode = np.linalg.solve(precision, weighted_sum(design, y))
    residual = y - scores(design, mode[None])[0]
    scatter = np.sum(residual**2) + ridge * np.sum(mode[1:] ** 2)
    dof = len(y) - np.trace(np.linalg.solve(precision, gram))
    variance = min(scatter / max(dof, 1e-3), np.var(y))  # no worse than without predictors
    if random is None:
        return mode, mode, np.sqrt(variance)
    dof = max(dof, _FEWEST_DOF)
    deviation = np.sqrt(variance * dof / random.chisquare(dof))
    return mode, mode + deviation * _normal_draw(precision, random), deviation


def fit_logistic(design, y, ridge, random: np.random.Generator | None, start=None) -> Logistic:
    """Logistic regression."""
    if start is None:
        share = (y.sum() + 0.5) / (len(y) + 1.0)
        start = np.zeros(len(design))
        start[0] = np.log(share / (1.0 - share))
    terms = partial(logistic_terms, design, y)
    return Logistic(_coefficients(terms, _prior(len(design), ridge), start, random))


def fit_multinomial(design, y, n_levels, ridge, random: np.random.Generator | None) -> Multinomial:
    """Multinomial logistic regression."""
    p = design.shape[0]
    chosen = (y == np.arange(1, n_levels)[:, None]).astype(float)
    rest = len(y) - chosen.sum()
    beta = np.zeros((n_levels - 1, p))
    beta[:, 0] = np.log((chosen.sum(axis=1) + 0.5) / (rest + 0.5))  # start at the frequencies, near the mode

    def terms(flat):
        coefficients = flat.reshape(n_levels - 1, p)
        probability = _probabilities(scores(design, coefficients))
        own = np.take_along_axis(probability, y.astype(int)[None], axis=0)
        probability = probability[1:]
        gradient = np.concatenate([weighted_sum(design, level) for level in chosen - probability])
        information = np.empty((n_levels - 1, p, n_levels - 1, p))
        for a in range(n_levels - 1):
            for b in range(a, n_levels - 1):
                block = weighted_gram(design, probability[a] * ((a == b) - probability[b]))
                information[a, :, b, :] = information[b, :, a, :] = block
        return np.log(np.maximum(own, 1e-300)).sum(), gradient, information.reshape(flat.size, flat.size)

    penalty = np.tile(_prior(p, ridge), n_levels - 1)
    return Multinomial(_coefficients(terms, penalty, beta.ravel(), random).reshape(n_levels - 1, p))


def _scores(design: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """What a column is predicted by, (n_outputs, n_rows), if it is finite: a level can be picked by NaN too."""
    return check_finite(scores(design, coefficients), "A prediction of a gap")


def _prior(n_coefficients: int, ridge: float) -> np.ndarray:
    """Prior precision of each coefficient; the first is the intercept."""
    return np.where(np.arange(n_coefficients) == 0, _FLAT, ridge)


def _coefficients(terms, penalty: np.ndarray, start: np.ndarray, random: np.random.Generator | None) -> np.ndarray:
    """The mode, or a draw from the posterior, which is taken as normal around the mode."""
    mode, precision = _newton(terms, penalty, start)
    return mode if random is None else mode + _normal_draw(precision, random)


def _newton(terms, penalty: np.ndarray, start: np.ndarray):
    """Mode and precision of a penalised likelihood: Newton steps (IRLS), halved until the objective rises."""

    def penalised(beta):
        log_likelihood, gradient, information = terms(beta)
        objective = log_likelihood - 0.5 * np.sum(penalty * beta**2)
        return objective, gradient - penalty * beta, information + np.diag(penalty)

    beta = start
    objective, gradient, precision = penalised(beta)
    for _ in range(_MAX_NEWTON):
        step = np.linalg.solve(precision, gradient)
        if gradient @ step < 1e-4:  # within a hundredth of a posterior deviation: this step ends far below that
            return beta + step, precision
        for _ in range(20):
            proposal = penalised(beta + step)
            if proposal[0] >= objective:
                break
            step = 0.5 * step
        beta = beta + step
        objective, gradient, precision = proposal
    return beta, precision


def _normal_draw(precision: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A draw of N(0, precision^-1)."""
    factor = np.linalg.cholesky(precision)
    return np.linalg.solve(factor.T, random.standard_normal(len(precision)))


def _probabilities(free: np.ndarray) -> np.ndarray:
    """Probabilities of all levels, (n_levels, n_rows), level 0 with score 0."""
    return softmax(np.vstack([np.zeros((1, free.shape[1])), free]), axis=0)


def _pick(probability: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
    """The level in whose share of (0, 1) the uniform number falls."""
    if uniform is None:
        return probability.argmax(axis=0).astype(float)
    passed = uniform > np.cumsum(probability, axis=0)[:-1]
    return passed.sum(axis=0).astype(float)
