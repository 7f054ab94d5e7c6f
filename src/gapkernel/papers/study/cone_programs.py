"""Programs with second-order cones, by clarabel."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy import sparse

from gapkernel.compute import starts_of

FEASIBILITY = 1e-8
"""Tolerance of the constraints. At the tip of a cone the solver cannot do much better, while the gap still falls."""

ALMOST = 1e-6
"""Tolerances that still count as almost solved, where rounding stops the solver."""


def stacked(factors, width: int) -> tuple[sparse.csr_array, list[int]]:
    """The rows t and factor @ c of each cone, one after another, over the variables (c, t); and the cone sizes."""
    sizes = [1 + factor.shape[0] for factor in factors]
    if not factors:
        return sparse.csr_array((0, width)), sizes
    tails = sparse.vstack([sparse.coo_array(factor) for factor in factors], format="coo")
    heads = starts_of(sizes)[:-1]
    cone_of = np.repeat(np.arange(len(factors)), np.subtract(sizes, 1))
    row, column = tails.coords
    rows = np.concatenate([row + cone_of[row] + 1, heads])  # every cone before a row adds one head
    columns = np.concatenate([column, width + np.arange(len(factors))])
    values = np.concatenate([tails.data, np.ones(len(factors))])
    return sparse.csr_array((values, (rows, columns)), shape=(sum(sizes), width + len(factors))), sizes


def solved(P, q, A, b, n_equations, n_inequalities, cone_sizes, tol, max_iter, verbose):
    """clarabel's solution, and its seconds: equations come first, then inequalities, then cones of these sizes."""
    try:
        import clarabel  # here, because only those who solve a cone need it
    except ImportError as error:
        raise ImportError('Cone programs need clarabel: pip install "gapkernel[papers]".') from error

    cones = [clarabel.ZeroConeT(n_equations)] if n_equations else []
    cones += [clarabel.NonnegativeConeT(n_inequalities), *map(clarabel.SecondOrderConeT, cone_sizes)]
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
