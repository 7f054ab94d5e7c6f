"""Support vector machines with second-order cones, by clarabel."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import clarabel
import numpy as np
from scipy import sparse

FEASIBILITY = 1e-8
"""Tolerance of the constraints. At the tip of a cone the solver cannot do much better, while the gap still falls."""

ALMOST = 1e-6
"""Tolerances that still count as almost solved, where rounding stops the solver."""

RIDGE = 1e-10
"""Curvature given to coefficients of rows, which else have none of their own: they need not be unique."""


@dataclass(frozen=True)
class ConicMachine:
    """A solved machine.

    Attributes
    ----------
    coef : ndarray of shape (n_coefficients,)
    norm : float
        ||w||, the inverse of the margin.
    intercept : float
    slack : ndarray of shape (n_rows,)
        What each margin constraint lacks.
    objective, dual_objective : float
        Equal at the optimum.
    residuals : dict
        How far the optimality conditions are from holding: "primal" and "dual" are the largest absolute entries
        of both feasibility equations, "complementarity" is the product of the slacks and their multipliers.
    status : str
        "Solved", "AlmostSolved" (within 1e-6), or why the solver stopped before.
    n_iter : int
    seconds : float
        Time in the solver.
    """

    coef: np.ndarray
    norm: float
    intercept: float
    slack: np.ndarray
    objective: float
    dual_objective: float
    residuals: dict
    status: str
    n_iter: int
    seconds: float


@dataclass(frozen=True)
class Cones:
    """Uncertainty of the rows: row i needs a margin larger by ``radius[i] * ||factors[group[i]] @ coef||``.

    Rows of one group share a cone.

    Attributes
    ----------
    factors : list of array of shape (rank, n_coefficients)
        Dense or sparse.
    group : ndarray of shape (n_rows,)
        Factor of each row, -1 for a certain row.
    radius : ndarray of shape (n_rows,)
    """

    factors: list
    group: np.ndarray
    radius: np.ndarray

    def used(self) -> Cones:
        """Without the cones that no row needs: no radius, or no uncertainty."""
        ranks = np.array([factor.shape[0] for factor in self.factors] + [0])
        needed = (self.radius > 0) & (ranks[self.group] > 0)
        kept, group = np.unique(self.group[needed], return_inverse=True)
        regrouped = np.full(len(self.group), -1)
        regrouped[needed] = group
        return Cones([self.factors[g] for g in kept], regrouped, self.radius)


def solve_robust(
    features, y, costs, cones: Cones, *, on_rows: bool, tol=1e-10, max_iter=200, verbose=False
) -> ConicMachine:
    """Train a machine whose margins leave room for uncertainty.

        min 1/2 w'w + sum_i cost_i xi_i
        s.t. y_i (feature_i'w + b) >= 1 - xi_i + radius_i ||factor_i c||,  xi_i >= 0                        (5)

    where c = w, or w = features'c with one coefficient for each row. With K = features features' the second is the
    program of the kernel K, but a singular K does no harm.

    Parameters
    ----------
    features : array of shape (n_rows, n_features)
        Dense or sparse.
    y : ndarray of shape (n_rows,)
        1 and -1.
    costs : ndarray of shape (n_rows,)
    cones : Cones
    on_rows : bool
        Whether c has one coefficient for each row.
    tol : float
        Tolerance of the gap between both objectives, absolute or as a share of them.
    max_iter : int
    verbose : bool

    Returns
    -------
    machine : ConicMachine
    """
    n, p = features.shape
    cones = cones.used()
    # z = (w, b, xi, t, c), with one t >= ||factor c|| for each cone, so that the margin rows stay linear
    n_cones, n_extra = len(cones.factors), n if on_rows and cones.factors else 0
    size = p + 1 + n + n_cones + n_extra
    curvature = np.concatenate([np.ones(p), np.zeros(1 + n + n_cones), np.full(n_extra, RIDGE)])
    P = sparse.diags_array(curvature, format="csc")
    q = np.concatenate([np.zeros(p + 1), costs, np.zeros(n_cones + n_extra)])
    A, b, sizes = _constraints(sparse.csr_array(features), y, cones, n_extra)
    blocks = [clarabel.ZeroConeT(p)] if n_extra else []
    blocks += [clarabel.NonnegativeConeT(2 * n), *map(clarabel.SecondOrderConeT, sizes)]
    solution, seconds = _run(P, q, A, b, blocks, tol, max_iter, verbose)
    z = np.array(solution.x)
    coef = z[size - n_extra :] if n_extra else z[:p]
    if on_rows and not n_extra:  # w = sum_i alpha_i y_i feature_i, with alpha the multipliers of the margin rows
        coef = np.array(solution.z)[n : 2 * n] * y
    return ConicMachine(
        coef=coef,
        norm=float(np.linalg.norm(z[:p])),
        intercept=float(z[p]),
        slack=np.maximum(z[p + 1 : p + 1 + n], 0.0),
        objective=float(solution.obj_val),
        dual_objective=float(solution.obj_val_dual),
        residuals=_residuals(P, q, A, b, solution),
        status=str(solution.status),
        n_iter=int(solution.iterations),
        seconds=seconds,
    )


def _constraints(features: sparse.csr_array, y, cones: Cones, n_extra: int):
    """A, b and the cone sizes of A z + s = b: s = 0 first (if c is a variable), then s >= 0, then the cones."""
    n, p = features.shape
    certain = cones.group < 0
    widths = sparse.coo_array(
        (cones.radius[~certain], (np.flatnonzero(~certain), cones.group[~certain])), shape=(n, len(cones.factors))
    )
    identity, label = sparse.eye_array(n), sparse.csr_array(y[:, None])
    tails, sizes = _stack(cones.factors, n_extra or p)
    tail, head = -tails[:, : n_extra or p], -tails[:, n_extra or p :]
    no_w = sparse.csr_array((tails.shape[0], p))
    rows = [
        [sparse.csr_array((n, p)), None, -identity, None],  # xi >= 0
        [-features.multiply(y[:, None]), -label, -identity, widths],  # the margins
        [no_w if n_extra else tail, None, None, head],  # ||factor c|| <= t
    ]
    if n_extra:
        equation = [sparse.eye_array(p), None, None, None, -features.T]  # w = features'c
        rows = [equation, *([*row, c] for row, c in zip(rows, (None, None, tail), strict=True))]
    A = sparse.block_array(rows, format="csc")
    return A, np.concatenate([np.zeros(A.shape[0] - n - tails.shape[0]), -np.ones(n), np.zeros(tails.shape[0])]), sizes


def separating_direction(signed_rows, supports, group, margin: float, *, tol=1e-8, max_iter=200) -> np.ndarray | None:
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
    tails, sizes = _stack(factors, d)
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
    blocks = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n), *map(clarabel.SecondOrderConeT, sizes)]
    empty = sparse.csc_array((d + len(factors), d + len(factors)))
    solution, _ = _run(empty, np.zeros(d + len(factors)), A, b, blocks, tol, max_iter, verbose=False)
    return np.array(solution.x)[:d] if solution.status == clarabel.SolverStatus.Solved else None


def _stack(factors, width: int) -> tuple[sparse.csr_array, list[int]]:
    """The rows t and factor @ c of each cone, one after another, over the variables (c, t); and the cone sizes."""
    sizes = [1 + factor.shape[0] for factor in factors]
    if not factors:
        return sparse.csr_array((0, width)), sizes
    tails = sparse.vstack([sparse.coo_array(factor) for factor in factors], format="coo")
    heads = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    cone_of = np.repeat(np.arange(len(factors)), np.subtract(sizes, 1))
    row, column = tails.coords
    rows = np.concatenate([row + cone_of[row] + 1, heads])  # every cone before a row adds one head
    columns = np.concatenate([column, width + np.arange(len(factors))])
    values = np.concatenate([tails.data, np.ones(len(factors))])
    return sparse.csr_array((values, (rows, columns)), shape=(sum(sizes), width + len(factors))), sizes


def _run(P, q, A, b, cones, tol, max_iter, verbose):
    settings = clarabel.DefaultSettings()
    settings.verbose = bool(verbose)
    settings.max_iter = int(max_iter)
    settings.tol_gap_abs = settings.tol_gap_rel = tol
    settings.tol_feas = max(FEASIBILITY, min(tol, 1e-4))
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = max(ALMOST, tol)
    settings.reduced_tol_feas = max(ALMOST, settings.tol_feas)
    settings.static_regularization_constant = 1e-7  # coefficients of rows may have next to no curvature
    settings.direct_solve_method = "qdldl"  # one thread; far faster than the default on thousands of thin cones
    begin = perf_counter()
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    return solution, perf_counter() - begin


def _residuals(P, q, A, b, solution) -> dict:
    """The optimality conditions: A z + s = b, P z + q + A'v = 0, s'v = 0; s and v lie in their cones throughout."""
    z, s, v = np.array(solution.x), np.array(solution.s), np.array(solution.z)
    return {
        "primal": float(np.abs(A @ z + s - b).max()),
        "dual": float(np.abs(P @ z + q + A.T @ v).max()),
        "complementarity": float(abs(s @ v)),
    }
