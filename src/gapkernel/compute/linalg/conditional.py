"""Conditioning a Gaussian on what was observed, pattern by pattern, inside compiled loops."""

from typing import NamedTuple

import numpy as np

from gapkernel.compute.compiled import compiled, inner
from gapkernel.compute.linalg.elimination import factor_in_place, invert_factored, solve_in_place

SINGULAR = 1e-11
"""A pivot below this share of its variance belongs to a column that the others determine."""


class Workspace(NamedTuple):
    """Arrays reused from pattern to pattern; allocating them anew would cost more than the arithmetic."""

    columns: np.ndarray  # (d,) the observed columns, then the gaps
    factor: np.ndarray  # (d, d) a Cholesky factor
    solved: np.ndarray  # (d, d) a gap in each row
    conditional: np.ndarray  # (d, d) conditional covariance of the gaps
    vector: np.ndarray  # (d,)


def workspace(d: int) -> Workspace:
    """A workspace for ``d`` columns."""
    square = (d, d)
    return Workspace(np.empty(d, np.int64), np.empty(square), np.empty(square), np.empty(square), np.empty(d))


@inner()
def _split_columns(missing, columns):
    """List the observed columns, then the gaps; returns how many are observed."""
    n_observed = 0
    for k in range(missing.shape[0]):
        if not missing[k]:
            columns[n_observed] = k
            n_observed += 1
    at = n_observed
    for k in range(missing.shape[0]):
        if missing[k]:
            columns[at] = k
            at += 1
    return n_observed


@inner(reorder=True)
def regress(covariance, missing, work):
    """What the observed columns say about the gaps of one pattern.

    Writes L with L L' = Sigma_OO into ``factor``, (L^-1 Sigma_OM)' into ``solved`` and the conditional covariance
    Sigma_MM - Sigma_MO Sigma_OO^-1 Sigma_OM into ``conditional``; returns the number of observed columns and
    log |Sigma_OO|. Columns that others determine are passed over (`factor_in_place`).
    """
    columns, factor, solved, conditional = work.columns, work.factor, work.solved, work.conditional
    n = _split_columns(missing, columns)
    for r in range(n):
        for s in range(r + 1):
            factor[r, s] = covariance[columns[r], columns[s]]
    log_det = factor_in_place(factor, n, SINGULAR)
    for a in range(columns.shape[0] - n):
        gap = columns[n + a]
        for r in range(n):
            solved[a, r] = covariance[gap, columns[r]]
        solve_in_place(factor, n, solved[a])
        for b in range(a + 1):
            total = 0.0
            for r in range(n):
                total += solved[a, r] * solved[b, r]
            conditional[a, b] = conditional[b, a] = covariance[gap, columns[n + b]] - total
        if conditional[a, a] <= SINGULAR * covariance[gap, gap]:
            conditional[a, a] = 0.0  # the observed columns determine this gap
    _clear_determined(conditional, columns.shape[0] - n)
    return n, log_det


@inner()
def _clear_determined(conditional, size):
    """Zero the rows and columns of gaps without variance."""
    for a in range(size):
        if conditional[a, a] == 0.0:
            for b in range(size):
                conditional[a, b] = conditional[b, a] = 0.0


@inner(reorder=True)
def fill_gaps(row, weight, mean, n, work):
    """Fill the gaps of ``row`` by weight * mu_M + solved z, z = L^-1 (x_O - weight * mu_O); returns z'z."""
    columns, solved, z = work.columns, work.solved, work.vector
    for r in range(n):
        z[r] = row[columns[r]] - weight * mean[columns[r]]
    solve_in_place(work.factor, n, z)
    for a in range(columns.shape[0] - n):
        total = 0.0
        for r in range(n):
            total += solved[a, r] * z[r]
        row[columns[n + a]] = weight * mean[columns[n + a]] + total
    squared = 0.0
    for r in range(n):
        squared += z[r] * z[r]
    return squared


@inner(reorder=True)
def regress_by_precision(precision, missing, work):
    """`regress` from the precision matrix, cheaper when there are fewer gaps than observed columns.

    Writes the conditional covariance Lambda_MM^-1; returns the number of observed columns and log |Lambda_MM|.
    """
    columns, factor, root, conditional = work.columns, work.factor, work.solved, work.conditional
    n = _split_columns(missing, columns)
    size = columns.shape[0] - n
    for a in range(size):
        for b in range(a + 1):
            factor[a, b] = precision[columns[n + a], columns[n + b]]
    log_det = factor_in_place(factor, size, 0.0)
    invert_factored(factor, size, root, conditional)
    return n, log_det


@inner(reorder=True)
def fill_gaps_by_precision(row, weight, mean, precision, n, work):
    """Fill the gaps of ``row`` by weight * mu_M - Lambda_MM^-1 Lambda_MO (x_O - weight * mu_O)."""
    columns, conditional, pull = work.columns, work.conditional, work.vector
    size = columns.shape[0] - n
    for a in range(size):
        total = 0.0
        for r in range(n):
            total += precision[columns[n + a], columns[r]] * (row[columns[r]] - weight * mean[columns[r]])
        pull[a] = total
    for a in range(size):
        total = 0.0
        for b in range(size):
            total += conditional[a, b] * pull[b]
        row[columns[n + a]] = weight * mean[columns[n + a]] - total


@compiled(reorder=True)
def condition_patterns(missing, row_start, order, mean, covariance, block_start, work, rows, blocks, log_density):
    """Fill the gaps of ``rows`` with conditional means, ``blocks`` with the conditional covariances and
    ``log_density`` with the log density of the observed part, less the columns that others determine."""
    for p in range(missing.shape[0]):
        n, log_det = regress(covariance, missing[p], work)
        size = missing.shape[1] - n
        for a in range(size):
            for b in range(size):
                blocks[block_start[p] + a * size + b] = work.conditional[a, b]
        rank = 0
        for k in range(n):
            rank += work.factor[k, k] > 0.0
        for at in range(row_start[p], row_start[p + 1]):
            squared = fill_gaps(rows[order[at]], 1.0, mean, n, work)
            log_density[order[at]] = -0.5 * (squared + log_det + rank * np.log(2.0 * np.pi))


@compiled(reorder=True)
def expectation(
    missing, counts, row_start, rows, first, last, mean, covariance, precision, log_det, work, moments, spread
):
    """The E-step for patterns first..last; returns the sum of log |Sigma_OO| over the rows.

    ``rows`` are homogeneous, [values, weight]: a batch of rows and its triangular factor then give the same
    sums. ``moments`` collects the outer products of the completed rows, [x, 1][x, 1]' (its lower triangle), and
    ``spread`` the conditional covariances. ``log_det`` is log |Sigma|; an empty ``precision`` means that Sigma
    is singular and every pattern is conditioned through the covariance.
    """
    d = mean.shape[0]
    total_log_det = 0.0
    columns, conditional = work.columns, work.conditional
    full = np.empty(d + 1)
    for p in range(first, last):
        n_gaps = 0
        for k in range(d):
            n_gaps += missing[p, k]
        by_precision = precision.shape[0] > 0 and 2 * n_gaps <= d
        if by_precision:
            n, gap_log_det = regress_by_precision(precision, missing[p], work)
            total_log_det += counts[p] * (log_det + gap_log_det)
        else:
            n, observed_log_det = regress(covariance, missing[p], work)
            total_log_det += counts[p] * observed_log_det
        for a in range(d - n):
            for b in range(d - n):
                spread[columns[n + a], columns[n + b]] += counts[p] * conditional[a, b]
        for i in range(row_start[p], row_start[p + 1]):
            for k in range(d + 1):
                full[k] = rows[i, k]
            if by_precision:
                fill_gaps_by_precision(full, full[d], mean, precision, n, work)
            else:
                fill_gaps(full, full[d], mean, n, work)
            for r in range(d + 1):
                value = full[r]
                for s in range(r + 1):
                    moments[r, s] += value * full[s]
    return total_log_det
