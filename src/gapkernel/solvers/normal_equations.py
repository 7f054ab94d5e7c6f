"""Linear models from sums over rows: one pass gives ridge regression, a few passes the other losses.

Everything that a pass learns is a sum over rows, so rows may come in any parts, on any computer, and the parts are
added. With z the features of a row and a constant 1 for the intercept, t its target, and a penalty on all but the
intercept:

    squared_error   sum (t - z'c)^2 / 2          + alpha |c|^2 / 2      solved by one linear system
    log_loss        sum log(1 + exp(-t z'c))     + alpha |c|^2 / 2      Newton's method; t = +-1
    squared_hinge   sum max(0, 1 - t z'c)^2 / 2  + alpha |c|^2 / 2      Newton's method on the rows inside the margin
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit


@dataclass(frozen=True)
class Sums:
    """Weighted sums over rows of [z, 1][z, 1]' and, for each target or class, of [z, 1] t."""

    second: np.ndarray
    targets: np.ndarray
    classes: np.ndarray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of_values(cls, z: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Sums:
        """Sums for numbers to be predicted, (n_rows,) or (n_rows, n_targets)."""
        root = np.sqrt(weight)
        scaled = root[:, None] * with_constant(z)
        return cls(scaled.T @ scaled, scaled.T @ (root * y.T).T)

    @classmethod
    def of_classes(cls, z: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Sums:
        """Sums for classes: of 1 for the rows of each class."""
        classes, codes = np.unique(y, return_inverse=True)
        sums = cls.of_values(z, np.eye(len(classes))[codes.reshape(-1)], weight)
        return cls(sums.second, sums.targets, classes)

    def __add__(self, other: Sums) -> Sums:
        if not len(self.classes):
            return Sums(self.second + other.second, self.targets + other.targets)
        classes = np.union1d(self.classes, other.classes)
        targets = np.zeros((len(self.second), len(classes)))
        for sums in (self, other):
            targets[:, np.searchsorted(classes, sums.classes)] += sums.targets
        return Sums(self.second + other.second, targets, classes)

    def signs(self) -> Sums:
        """Sums for targets +-1: one for two classes, else one for each class against the rest."""
        signed = 2.0 * self.targets - self.second[:, -1:]  # 2 sum z [class] - sum z
        return Sums(self.second, signed[:, 1:] if signed.shape[1] == 2 else signed, self.classes)


@dataclass(frozen=True)
class Slope:
    """Loss, gradient and curvature over rows at some coefficients, for each output."""

    loss: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray

    def __add__(self, other: Slope) -> Slope:
        return Slope(self.loss + other.loss, self.gradient + other.gradient, self.curvature + other.curvature)


def with_constant(z: np.ndarray) -> np.ndarray:
    """Features and a column of ones."""
    return np.column_stack([z, np.ones(len(z))])


def ridge(sums: Sums, alpha: float) -> np.ndarray:
    """Coefficients of ridge regression, (n_features + 1,) or (n_features + 1, n_targets), the intercept last."""
    right = sums.targets.reshape(len(sums.second), -1)
    return _solve(sums.second, right, alpha).reshape(sums.targets.shape)


def leave_one_out(
    inverse: np.ndarray, coefficients: np.ndarray, z: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """What ridge regression on all other rows leaves of each target.

    It is (t - z'c) / (1 - h) with the leverage h = w z'M^-1 z of a row of weight w, M being the sum of w zz' and the
    penalty: `inverse`.
    """
    z = with_constant(z)
    left = 1.0 - weight * np.einsum("ij,ij->i", z @ inverse, z)
    if np.any(left < np.sqrt(np.finfo(float).eps)):
        raise ValueError(
            "conformal cannot leave rows out: the model fits some row whatever its target. Raise alpha, or give "
            "more rows."
        )
    return ((y - z @ coefficients).T / left).T


def inverse(sums: Sums, alpha: float) -> np.ndarray:
    """The inverse of the matrix of the normal equations, the intercept last."""
    return _solve(sums.second, np.eye(len(sums.second)), alpha)


def slope(loss: str, z: np.ndarray, signs: np.ndarray, weight: np.ndarray, coefficients: np.ndarray) -> Slope:
    """The sums of one Newton pass, for targets +-1 (n_rows, n_outputs)."""
    z = with_constant(z)
    value, first, second = LOSSES[loss](signs * (z @ coefficients))
    gradient = z.T @ (weight[:, None] * signs * first)
    scaled = (z * np.sqrt(weight * s)[:, None] for s in second.T)
    return Slope(weight @ value, gradient, np.stack([part.T @ part for part in scaled]))


def newton(
    loss: str, sums: Sums, one_pass: Callable[[np.ndarray], Slope], alpha: float, tol: float, max_iter: int
) -> tuple[np.ndarray, int, bool]:
    """Coefficients, passes and whether they converged.

    ``sums`` hold the signs' sums: at coefficients 0 every row has the same slope and curvature, so the first step
    needs no pass. A step that raises the objective is halved.
    """
    _, first, second = (values[0] for values in LOSSES[loss](np.zeros(1)))
    step = ridge(Sums(second * sums.second, -first * sums.targets), alpha)
    best, lowest = np.zeros_like(step), np.full(step.shape[1], LOSSES[loss](np.zeros(1))[0][0] * sums.second[-1, -1])
    for iteration in range(1, max_iter + 1):
        trial = best + step
        here = one_pass(trial)
        objective = here.loss + 0.5 * alpha * np.sum(trial[:-1] ** 2, axis=0)
        better = objective <= lowest * (1.0 + 1e-13)
        step[:, ~better] *= 0.5
        decrement = np.full(len(better), np.inf)
        for k in np.flatnonzero(better):
            best[:, k], lowest[k] = trial[:, k], objective[k]
            downhill = here.gradient[:, k] + alpha * np.append(trial[:-1, k], 0.0)
            step[:, k] = -_solve(here.curvature[k], downhill[:, None], alpha)[:, 0]
            decrement[k] = -0.5 * downhill @ step[:, k]
        if np.all(decrement <= tol * lowest):
            return best + step, iteration, True
    return best, max_iter, False


def _solve(second: np.ndarray, right: np.ndarray, alpha: float) -> np.ndarray:
    """(second + alpha I)^-1 right, with no penalty on the last, the intercept."""
    n = max(second[-1, -1], np.finfo(float).tiny)
    centre = second[:-1, -1] / n
    inner = second[:-1, :-1] - n * np.outer(centre, centre)  # the intercept eliminated: deviations from the mean
    inner[np.diag_indices_from(inner)] += alpha
    try:
        factor = cho_factor(inner, lower=True)
    except np.linalg.LinAlgError:
        raise ValueError(f"alpha={alpha} is too small: the normal equations are singular. Raise it.") from None
    slopes = cho_solve(factor, right[:-1] - np.outer(centre, right[-1]))
    return np.vstack([slopes, right[-1] / n - centre @ slopes])


def _log_loss(margin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    wrong = expit(-margin)
    return np.logaddexp(0.0, -margin), -wrong, wrong * (1.0 - wrong)


def _squared_hinge(margin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    short = np.maximum(1.0 - margin, 0.0)
    return 0.5 * short**2, -short, (short > 0).astype(np.float64)


LOSSES = {"log_loss": _log_loss, "squared_hinge": _squared_hinge}
"""Value, first and second derivative in the margin t z'c."""
