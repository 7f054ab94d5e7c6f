"""What the densities fitted by expectation maximisation have in common."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight


class IteratedDensity(DensityMixin, BaseEstimator):
    """A density with parameters ``ridge``, ``tol`` and ``max_iter``, and a `score_samples` of its own."""

    ridge: Any
    tol: float
    max_iter: int

    def score(self, X, y=None) -> float:
        """Mean log density of the observed parts."""
        return float(np.mean(self.score_samples(X)))

    def _check_iteration(self) -> None:
        if not self.tol >= 0:
            raise ValueError(f"tol must be 0 or more, got {self.tol}.")
        if self.max_iter < 1:
            raise ValueError(f"max_iter must be at least 1, got {self.max_iter}.")

    def _check_positive_ridge(self) -> None:
        if self.ridge != "auto" and not (isinstance(self.ridge, float | int | np.number) and 0 < self.ridge < np.inf):
            raise ValueError(f"ridge must be 'auto' or a positive number, got {self.ridge!r}.")

    def _keep_course(self, result, units: float) -> None:
        """Remember how the iteration went; ``units`` is what its standardised columns add to a log density."""
        self.log_likelihood_, self.objective_ = result.log_likelihood - units, result.objective - units
        self.n_iter_, self.converged_ = result.n_iter, result.converged

    def _forget_course(self) -> None:
        """There was no iteration: the density is known."""
        self.n_iter_, self.converged_ = 0, True
        for name in ("ridge_", "log_likelihood_", "objective_", "bic_"):
            self.__dict__.pop(name, None)  # of an earlier fit

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def rows_with_values(X: np.ndarray, sample_weight) -> tuple[np.ndarray, np.ndarray]:
    """The rows of positive weight that have a value, and their weights."""
    weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    used = (weight > 0) & ~np.isnan(X).all(axis=1)
    if not used.any():
        raise ValueError("X has no observed value in any row of positive weight, so no density can be fitted.")
    return X[used], weight[used]


def warn_unless_converged(result, max_iter: int) -> None:
    """Warn, on behalf of a `fit`, of the ``result`` of an expectation maximisation that did not converge."""
    if result.converged:
        return
    if result.n_iter < max_iter:
        reason = (
            f"the objective fell by more than rounding in iteration {result.n_iter + 1}, which is undone. Raise ridge"
        )
    else:
        reason = f"max_iter={max_iter} was reached. Raise max_iter, or ridge"
    warnings.warn(f"EM stopped early: {reason}.", ConvergenceWarning, stacklevel=3)
