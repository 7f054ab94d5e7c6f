"""Machines whose margins are measured in the columns that each row has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapkernel.solvers.cones import separating_direction


@dataclass(frozen=True)
class GeometricMachine:
    """A solved machine.

    Attributes
    ----------
    support : ndarray of shape (n_support,)
        Rows with a coefficient.
    weights : ndarray of shape (n_support,)
        w = sum_j weights_j phi(row_j).
    intercept : float
    scales : ndarray of shape (n_rows,)
        s_i = ||w^(i)|| / ||w|| in the margin constraints of the last round.
    n_iter : int
        Rounds done.
    """

    support: np.ndarray
    weights: np.ndarray
    intercept: float
    scales: np.ndarray
    n_iter: int


def alternate(solver, gram, y, scales_of: Callable, max_iter: int) -> GeometricMachine:
    """Train with fixed scales, measure the scales again, and so on.

        min 1/2 ||w||^2 + C sum_i xi_i   s.t.   y_i (w'x_i / s_i + b) >= 1 - xi_i,   then s_i = ||w^(i)|| / ||w||

    Parameters
    ----------
    solver : libsvm machine
    gram : ndarray of shape (n_rows, n_rows)
    y : ndarray of shape (n_rows,)
        0 and 1.
    scales_of : callable
        From (support, weights) to the scale of every row.
    max_iter : int
        Most rounds. Nothing ensures that they converge; they end early when the scales stay as they are.

    Returns
    -------
    machine : GeometricMachine
    """
    scales = np.ones(len(gram))
    for round_ in range(1, max_iter + 1):
        solution = solver.solve(gram / np.outer(scales, scales), y)
        weights = solution.weights[:, 0] / scales[solution.kept]
        found = GeometricMachine(solution.kept, weights, float(solution.intercept[0]), scales, round_)
        scales = scales_of(solution.kept, weights)
        if np.allclose(scales, found.scales, rtol=1e-6, atol=0.0):
            break
    return found


def largest_margin(signed_rows, supports, group, *, tol: float) -> tuple[np.ndarray | None, float]:
    """The direction w whose smallest margin ``signed_row_i @ w / ||w[supports[group[i]]]||`` is largest.

    For a given margin the directions that reach it form a convex cone, so the largest one is found by bisection.

    Parameters
    ----------
    signed_rows : ndarray of shape (n_rows, n_features)
        Rows times their labels, with 0 in the gaps.
    supports : ndarray of shape (n_groups, n_features), bool
    group : ndarray of shape (n_rows,)
    tol : float
        Precision of the margin, as a share of the largest one possible.

    Returns
    -------
    direction : ndarray of shape (n_features,) or None
        None if no direction separates the rows.
    margin : float
        The smallest margin of ``direction``.
    """
    largest = np.linalg.norm(signed_rows, axis=1).min()  # no margin is longer than its row
    low, high, best = 0.0, largest, None
    while high - low > tol * largest:
        middle = 0.5 * (low + high)
        direction = separating_direction(signed_rows, supports, group, middle)
        if direction is None:
            high = middle
            continue
        norms = np.sqrt(supports @ direction**2)[group]
        margin = np.min(signed_rows @ direction / np.maximum(norms, np.finfo(float).tiny))
        low, best = max(middle, min(margin, high)), direction  # the direction may do better than asked
    return best, low
