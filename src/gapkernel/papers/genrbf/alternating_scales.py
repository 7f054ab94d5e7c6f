"""Margins measured in the columns that each row has: one SVM after another, or the widest one by cone programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from gapkernel.papers.study import solved, stacked
from gapkernel.solvers import Solution, Solver


@dataclass(frozen=True, eq=False)
class ScaledSolution(Solution):
    """Coefficients of w = sum_j weights_j phi(row_j), with the scale of each row's score.

    Attributes
    ----------
    scales : ndarray of shape (n_rows,)
        s_i = ||w^(i)|| / ||w|| in the margin constraints of the last round.
    """

    scales: np.ndarray


class AlternatingScales(Solver):
    """Solve with fixed scales, measure the scales again, and so on.

        min 1/2 ||w||^2 + C sum_i xi_i   s.t.   y_i (w'x_i / s_i + b) >= 1 - xi_i,   then s_i = ||w^(i)|| / ||w||

    Parameters
    ----------
    solver : Solver
        Of an SVM with two classes, 0 and 1.
    scales_of : callable
        From (places, weights) of the rows with a coefficient to the scale of every row.
    max_iter : int
        Most rounds. Nothing ensures that they converge; they end early when the scales stay as they are.
    """

    def __init__(self, solver: Solver, scales_of: Callable, max_iter: int):
        self.solver, self.scales_of, self.max_iter = solver, scales_of, max_iter

    def solve(self, gram, y, weight=None) -> ScaledSolution:
        scales = np.ones(len(gram))
        for round_ in range(1, self.max_iter + 1):
            solved = self.solver.solve(gram / np.outer(scales, scales), y, weight)
            weights = solved.weights / scales[solved.kept, None]
            solution = ScaledSolution(solved.kept, weights, solved.intercept, round_, scales)
            scales = self.scales_of(solved.kept, weights[:, 0])
            if np.allclose(scales, solution.scales, rtol=1e-6, atol=0.0):
                break
        return solution


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


def separating_direction(signed_rows, supports, group, margin: float) -> np.ndarray | None:
    """A direction w with ``signed_row_i @ w >= margin * ||w[supports[group[i]]]||`` for all rows; None if none exists.

    The sum of the left sides is fixed at the number of rows, since w = 0 would satisfy any margin.

    Parameters
    ----------
    signed_rows : ndarray of shape (n_rows, n_features)
        Rows times their labels, with 0 in the gaps.
    supports : ndarray of shape (n_groups, n_features), bool
        The columns that a group of rows has.
    group : ndarray of shape (n_rows,)
    margin : float

    Returns
    -------
    direction : ndarray of shape (n_features,) or None
    """
    n, d = signed_rows.shape
    factors = [sparse.eye_array(d, format="csr")[support] for support in supports]
    tails, sizes = stacked(factors, d)
    norms = sparse.coo_array((np.full(n, margin), (np.arange(n), group)), shape=(n, len(factors)))
    A = sparse.block_array(
        [
            [sparse.csr_array(signed_rows.sum(axis=0, keepdims=True)), None],
            [-sparse.csr_array(signed_rows), norms],
            [-tails[:, :d], -tails[:, d:]],
        ],
        format="csc",
    )
    b = np.concatenate([[float(n)], np.zeros(n + tails.shape[0])])
    empty = sparse.csc_array((d + len(factors), d + len(factors)))
    solution, _ = solved(empty, np.zeros(d + len(factors)), A, b, 1, n, sizes, tol=1e-8, max_iter=200, verbose=False)
    return np.array(solution.x)[:d] if str(solution.status) == "Solved" else None
