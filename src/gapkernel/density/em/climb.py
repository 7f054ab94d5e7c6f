"""The iteration that every expectation maximisation here runs, and what it says when it stops."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

ROUNDING = 1e-10
"""Relative change of the objective that is no more than rounding."""


@dataclass(frozen=True)
class Ascent:
    """Where an iteration ended, and how it went.

    Attributes
    ----------
    point : object
        The parameters.
    log_likelihood, objective : ndarray
        Before each iteration and after the last.
    n_iter : int
    converged : bool
    """

    point: Any
    log_likelihood: np.ndarray
    objective: np.ndarray
    n_iter: int
    converged: bool


def climb(
    expect: Callable,
    maximise: Callable,
    start: Any,
    n_cells: float,
    tol: float,
    max_iter: int,
    leap: Callable | None = None,
) -> Ascent:
    """Iterate from ``start`` until a step raises the objective by less than ``tol`` of its size.

    Parameters
    ----------
    expect : callable
        The E-step: log-likelihood, objective and expected statistics at a point.
    maximise : callable
        The M-step: the next point, from the point and its statistics.
    start : object
        The first point.
    n_cells : float
        Number of observed cells, the least size of an objective.
    tol : float
    max_iter : int
    leap : callable, default=None
        The point that two steps lead to when they are extrapolated, or None. It is kept only if it raises the
        objective, so the objective never falls.
    """
    history: list[tuple[float, float]] = []
    path, best, converged = [start], start, False
    while len(history) <= max_iter and not converged:
        point = path[-1]
        log_likelihood, objective, statistics = expect(point)
        if history:
            rise, size = objective - history[-1][1], max(abs(objective), n_cells)
            if rise < 0:
                if len(path) == 4:  # the leap went too far: go on from where the plain steps ended
                    path = [path[2]]
                    continue
                # a plain step falls by rounding only, or because a covariance has become singular
                converged = -rise <= max(tol, ROUNDING) * size
                break
            converged = rise <= tol * size and (leap is None or len(path) == 2)
        history.append((log_likelihood, objective))
        best, step = point, maximise(point, statistics)
        if leap is None or len(path) == 4:
            path = [step]
        elif len(path) == 2:
            far = leap(*path, step)
            path = [step] if far is None else [*path, step, far]
        else:
            path = [*path, step]
    log_likelihoods, objectives = np.array(history).T
    return Ascent(best, log_likelihoods, objectives, len(history) - 1, converged)


def warn_unless_converged(ascent: Ascent, max_iter: int) -> None:
    """Warn, on behalf of a `fit`, of an iteration that stopped before it converged."""
    if ascent.converged:
        return
    if ascent.n_iter < max_iter:
        reason = (
            f"the objective fell by more than rounding in iteration {ascent.n_iter + 1}, which is undone, as it does "
            f"where a covariance becomes singular. Raise ridge"
        )
    else:
        reason = f"max_iter={max_iter} was reached. Raise max_iter, or ridge if columns are nearly dependent"
    warnings.warn(f"EM stopped early: {reason}.", ConvergenceWarning, stacklevel=5)
