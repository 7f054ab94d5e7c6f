"""Support vector machines with second-order cones, by clarabel, and the cones of rows with gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpstrf

from gapkernel.kernels import Kernel
from gapkernel.papers.expected_kernel.variances import ColumnCovariance, column_covariances, gram_variance
from gapkernel.papers.study import solved, stacked
from gapkernel.rows import Rows
from gapkernel.solvers import Solution, Solver

RIDGE = 1e-10
"""Curvature given to coefficients of rows, which have none of their own: they need not be unique."""

NEGLIGIBLE = 1e-10
"""Variances below this share of the largest one of a cone are dropped: they only make the program longer."""

ROUNDING = 1e-13
"""What is left of a kernel matrix below this share of its largest entry is rounding."""


@dataclass(frozen=True)
class Cones:
    """Uncertainty of the rows: row i needs a margin larger by ``radius[i] * ||factors[group[i]] @ c||``.

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


@dataclass(frozen=True, eq=False)
class ConeSolution(Solution):
    """Coefficients of one output for two classes, else of one for each class against the rest.

    Attributes
    ----------
    norm : ndarray of shape (n_outputs,)
        ||w||, the inverse of the margin.
    slack : ndarray of shape (n_outputs, n_rows)
        What each margin constraint lacks.
    objective : ndarray of shape (n_outputs,)
    residuals : list of dict
        How far the optimality conditions are from holding: "primal" and "dual" are the largest absolute entries
        of both feasibility equations, "complementarity" is the product of the slacks and their multipliers.
    status : list of str
        "Solved", "AlmostSolved" (within 1e-6), or why the solver stopped before.
    seconds : float
        Time in clarabel.
    """

    n_iter: np.ndarray
    norm: np.ndarray
    slack: np.ndarray
    objective: np.ndarray
    residuals: list
    status: list
    seconds: float


@dataclass(frozen=True, eq=False)
class ConeSolver(Solver):
    """A support vector machine whose margins leave room for uncertainty.

        min 1/2 w'w + sum_i cost_i xi_i
        s.t. y_i (feature_i'w + b) >= 1 - xi_i + radius_i ||factor_i c||,  xi_i >= 0

    where c = w, or w = features'c with one coefficient for each row. With K = features features' the second is the
    program of the kernel K, but a singular K does no harm.

    Parameters
    ----------
    on_rows : bool
        Whether c has one coefficient for each row. `solve` then takes a Gram matrix, else features, dense or sparse.
    cones : Cones or None
        None leaves no room.
    C : float
        Cost of a slack; weights multiply it.
    tol : float
        Tolerance of the gap between both objectives, absolute or as a share of them.
    max_iter : int
    verbose : bool
        Whether clarabel prints its progress.
    """

    on_rows: bool
    cones: Cones | None = None
    C: float = 1.0
    tol: float = 1e-10
    max_iter: int = 200
    verbose: bool = False

    def solve(self, gram, y, weight=None) -> ConeSolution:
        """The coefficients for classes ``y``, numbers 0, 1, ...; ``gram`` holds features unless ``on_rows``."""
        costs = self.C * (np.ones(len(y)) if weight is None else weight)
        features = sparse.csr_array(_definite_root(gram).T if self.on_rows else gram)
        cones = (self.cones or Cones([], np.full(len(y), -1), np.zeros(len(y)))).used()
        n_classes = int(y.max()) + 1
        positive = [1] if n_classes == 2 else range(n_classes)
        outputs = [self._output(features, np.where(y == k, 1.0, -1.0), costs, cones) for k in positive]
        joined: dict[str, Any] = {name: [output[name] for output in outputs] for name in outputs[0]}
        arrays: dict[str, Any] = {
            name: np.array(joined.pop(name)) for name in ("intercept", "n_iter", "norm", "slack", "objective")
        }
        weights, seconds = np.column_stack(joined.pop("coefficients")), sum(joined.pop("seconds"))
        return ConeSolution(kept=np.arange(len(y)), weights=weights, seconds=seconds, **arrays, **joined)

    def _output(self, features: sparse.csr_array, y: np.ndarray, costs: np.ndarray, cones: Cones) -> dict:
        """The program of one output, for ``y`` of 1 and -1."""
        n, p = features.shape
        # z = (w, b, xi, t, c), with one t >= ||factor c|| for each cone, so that the margin rows stay linear
        n_cones, n_extra = len(cones.factors), n if self.on_rows and cones.factors else 0
        curvature = np.concatenate([np.ones(p), np.zeros(1 + n + n_cones), np.full(n_extra, RIDGE)])
        P = sparse.diags_array(curvature, format="csc")
        q = np.concatenate([np.zeros(p + 1), costs, np.zeros(n_cones + n_extra)])
        A, b, sizes = _constraints(features, y, cones, n_extra)
        solution, seconds = solved(P, q, A, b, p if n_extra else 0, 2 * n, sizes, self.tol, self.max_iter, self.verbose)
        z = np.array(solution.x)
        coefficients = z[len(z) - n_extra :] if n_extra else z[:p]
        if self.on_rows and not n_extra:  # w = sum_i alpha_i y_i feature_i, alpha the multipliers of the margin rows
            coefficients = np.array(solution.z)[n : 2 * n] * y
        return {
            "coefficients": coefficients,
            "intercept": float(z[p]),
            "norm": float(np.linalg.norm(z[:p])),
            "slack": np.maximum(z[p + 1 : p + 1 + n], 0.0),
            "objective": float(solution.obj_val),
            "residuals": _residuals(P, q, A, b, solution),
            "status": str(solution.status),
            "n_iter": int(solution.iterations),
            "seconds": seconds,
        }


def cones_on_rows(kernel: Kernel, rows: Rows, covariance: str, radius: np.ndarray) -> Cones:
    """One coefficient for each row; the cone of row i measures the covariance of column i of the kernel matrix."""
    n = len(rows)
    if covariance == "identity":  # all spheres are one: ||c||
        return Cones([sparse.eye_array(n)], np.where(rows.complete, -1, 0), radius)
    if covariance == "variance":
        factors = [diagonal_root(column, NEGLIGIBLE * column.max()) for column in gram_variance(kernel, rows).T]
    else:
        factors = [_column_root(column) for column in column_covariances(kernel, rows)]
    return Cones(factors, np.arange(n), radius)


def cones_on_columns(rows: Rows, covariance: str, radius: np.ndarray, width: int) -> Cones:
    """One coefficient for each of ``width`` features, the columns first; rows of equal covariance share their cone."""
    if covariance == "identity":
        return Cones([sparse.eye_array(rows.n_features, width)], np.where(rows.complete, -1, 0), radius)
    factors: list[sparse.csr_array] = []
    group = np.full(len(rows), -1)
    for members, gaps, block in rows.by_pattern():
        root = np.diag(np.sqrt(block.diagonal())) if covariance == "variance" else _low_rank_root(block, 0.0)
        selection = sparse.csr_array((np.ones(len(gaps)), (np.arange(len(gaps)), gaps)), shape=(len(gaps), width))
        group[members] = len(factors)
        factors.append(sparse.csr_array(root) @ selection)
    return Cones(factors, group, radius)


def primal_features(rows: Rows, *, expected: bool) -> sparse.csr_array:
    """The features of rows under the linear kernel.

    The same-draw diagonal m'm + tr Sigma of the expected linear kernel is a private coordinate sqrt(tr Sigma) of
    each uncertain row, so without room the solution is that of the kernel.
    """
    features = sparse.csr_array(rows.means)
    if not expected:
        return features
    uncertain = np.flatnonzero(rows.total_variance > 0)
    root = np.sqrt(rows.total_variance[uncertain])
    private = sparse.csr_array((root, (uncertain, np.arange(len(uncertain)))), shape=(len(rows), len(uncertain)))
    return sparse.hstack([features, private], format="csr")


def _column_root(covariance: ColumnCovariance) -> sparse.csr_array:
    """R with R'R = the covariance: a few dense rows for what is shared, one entry a row for what is not."""
    floor = NEGLIGIBLE * np.max(covariance.shared.diagonal() + covariance.own)
    shared = sparse.csr_array(_low_rank_root(covariance.shared, floor))
    return sparse.vstack([shared, diagonal_root(covariance.own, floor)], format="csr")


def diagonal_root(variances: np.ndarray, floor: float) -> sparse.csr_array:
    """R with R'R = diag(variances), without its rows below the ``floor``."""
    if np.isnan(variances).any():
        raise ValueError("A variance of the kernel is NaN, so there is no cone: check what `gram_variance` returns.")
    kept = np.flatnonzero(variances > floor)
    return sparse.csr_array((np.sqrt(variances[kept]), (np.arange(len(kept)), kept)), shape=(len(kept), len(variances)))


def _low_rank_root(matrix: np.ndarray, floor: float) -> np.ndarray:
    """R with R'R = matrix and as many rows as its rank, by a Cholesky factor with pivoting down to ``floor``."""
    if not matrix.diagonal().max(initial=0.0) > floor:
        return np.zeros((0, len(matrix)))
    factor, pivots, rank, _ = dpstrf(matrix, tol=floor)
    root = np.zeros((rank, len(matrix)))
    root[:, pivots - 1] = np.triu(factor)[:rank]
    return root


def _definite_root(gram: np.ndarray) -> np.ndarray:
    """The root of a Gram matrix; ValueError if it has none, because its program is then not convex."""
    root = _low_rank_root(gram, ROUNDING * gram.diagonal().max())
    if np.abs(gram - root.T @ root).max() > 1e-8 * np.abs(gram).max():
        smallest = eigvalsh(gram, subset_by_index=[0, 0])[0]
        raise ValueError(
            f"The kernel matrix is not positive semi-definite (smallest eigenvalue {smallest:.3g}), so the cone "
            f"program is not convex. Use kernel 'genrbf', 'rbf' or 'linear'."
        )
    return root


def _constraints(features: sparse.csr_array, y, cones: Cones, n_extra: int):
    """A, b and the cone sizes of A z + s = b: s = 0 first (if c is a variable), then s >= 0, then the cones."""
    n, p = features.shape
    certain = cones.group < 0
    widths = sparse.coo_array(
        (cones.radius[~certain], (np.flatnonzero(~certain), cones.group[~certain])), shape=(n, len(cones.factors))
    )
    identity, label = sparse.eye_array(n), sparse.csr_array(y[:, None])
    tails, sizes = stacked(cones.factors, n_extra or p)
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


def _residuals(P, q, A, b, solution) -> dict:
    """The optimality conditions: A z + s = b, P z + q + A'v = 0, s'v = 0; s and v lie in their cones throughout."""
    z, s, v = np.array(solution.x), np.array(solution.s), np.array(solution.z)
    return {
        "primal": float(np.abs(A @ z + s - b).max()),
        "dual": float(np.abs(P @ z + q + A.T @ v).max()),
        "complementarity": float(abs(s @ v)),
    }
