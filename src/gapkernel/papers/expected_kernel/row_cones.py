"""From the laws of rows to the cones of a robust support vector machine."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from gapkernel.kernels import Kernel
from gapkernel.papers.expected_kernel.cone_solver import Cones, diagonal_root, low_rank_root
from gapkernel.papers.expected_kernel.variances import ColumnCovariance, column_covariances, gram_variance
from gapkernel.rows import Rows

NEGLIGIBLE = 1e-10
"""Variances below this share of the largest one of a cone are dropped: they only make the program longer."""


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
        root = np.diag(np.sqrt(block.diagonal())) if covariance == "variance" else low_rank_root(block, 0.0)
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
    shared = sparse.csr_array(low_rank_root(covariance.shared, floor))
    return sparse.vstack([shared, diagonal_root(covariance.own, floor)], format="csr")
