"""From laws to cones: what a robust machine is told about its rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpstrf

from gapkernel.estimators.base import Laws
from gapkernel.kernels.column_covariance import ColumnCovariance
from gapkernel.rows import GaussianRows
from gapkernel.solvers.cones import Cones

NEGLIGIBLE = 1e-10
"""Variances below this share of the largest one of a cone are dropped: they only make the program longer."""

ROUNDING = 1e-13
"""What is left of a kernel matrix below this share of its largest entry is rounding."""


class Program(NamedTuple):
    """The arrays of a robust machine: features of the rows, and cones on coefficients of rows or of features."""

    features: np.ndarray | sparse.sparray
    cones: Cones
    on_rows: bool


def kernel_program(laws: Laws, covariance: str, mean: str, radius: np.ndarray) -> Program:
    """One coefficient for each row; the cone of row i measures the covariance of column i of the kernel matrix."""
    gram = laws.kernel.gram(points(laws.rows, mean))
    root = _low_rank_root(gram, ROUNDING * gram.diagonal().max())
    _check_definite(gram, root, laws.kernel)
    return Program(root.T, _kernel_cones(laws, covariance, radius), on_rows=True)


def primal_program(rows: GaussianRows, covariance: str, mean: str, radius: np.ndarray) -> Program:
    """One coefficient for each column; the cone of a row measures its own covariance, shared by its gap pattern.

    The same-draw diagonal m'm + tr Sigma of the expected linear kernel is a private coordinate sqrt(tr Sigma) of
    each uncertain row, so the machine with radius 0 is that of the kernel.
    """
    features = sparse.csr_array(rows.means)
    if mean == "expected":
        uncertain = np.flatnonzero(rows.total_variance > 0)
        root = np.sqrt(rows.total_variance[uncertain])
        private = sparse.csr_array((root, (uncertain, np.arange(len(uncertain)))), shape=(len(rows), len(uncertain)))
        features = sparse.hstack([features, private], format="csr")
    width, group = features.shape[1], np.where(rows.complete, -1, rows.law)
    if covariance == "identity":
        sphere = sparse.eye_array(rows.n_features, width)
        return Program(features, Cones([sphere], np.minimum(group, 0), radius), on_rows=False)
    factors = [sparse.csr_array((0, width))] * len(rows.gaps)
    for members, gaps, block in rows.by_pattern():
        root = np.diag(np.sqrt(block.diagonal())) if covariance == "variance" else _low_rank_root(block, 0.0)
        selection = sparse.csr_array((np.ones(len(gaps)), (np.arange(len(gaps)), gaps)), shape=(len(gaps), width))
        factors[rows.law[members[0]]] = sparse.csr_array(root) @ selection
    return Program(features, Cones(factors, group, radius), on_rows=False)


def points(rows: GaussianRows, mean: str) -> GaussianRows:
    """The rows that the kernel compares: their laws, or the imputed values as if they had been observed."""
    return rows if mean == "expected" else GaussianRows.certain(rows.means)


def _kernel_cones(laws: Laws, covariance: str, radius: np.ndarray) -> Cones:
    n = len(laws.rows)
    if covariance == "identity":  # all spheres are one: ||c||
        return Cones([sparse.eye_array(n)], np.where(laws.rows.complete, -1, 0), radius)
    try:
        if covariance == "variance":
            variances = laws.kernel.gram_variance(laws.rows)
            factors = [_diagonal_root(column, NEGLIGIBLE * column.max()) for column in variances.T]
        else:
            factors = [_column_root(column) for column in laws.kernel.column_covariances(laws.rows)]
    except NotImplementedError as error:
        raise ValueError(
            f"{error} With covariance={covariance!r} use kernel 'rbf', 'genrbf' or 'linear'; "
            f"covariance='identity' takes any kernel."
        ) from error
    return Cones(factors, np.arange(n), radius)


def _column_root(covariance: ColumnCovariance) -> sparse.csr_array:
    """R with R'R = the covariance: a few dense rows for what is shared, one entry a row for what is not."""
    floor = NEGLIGIBLE * np.max(covariance.shared.diagonal() + covariance.own)
    shared = sparse.csr_array(_low_rank_root(covariance.shared, floor))
    return sparse.vstack([shared, _diagonal_root(covariance.own, floor)], format="csr")


def _diagonal_root(variances: np.ndarray, floor: float) -> sparse.csr_array:
    """R with R'R = diag(variances), without its zero rows."""
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


def _check_definite(gram: np.ndarray, root: np.ndarray, kernel) -> None:
    """Refuse an indefinite kernel matrix, one that has no root: its program is not convex."""
    if np.abs(gram - root.T @ root).max() > 1e-8 * np.abs(gram).max():
        smallest = eigvalsh(gram, subset_by_index=[0, 0])[0]
        raise ValueError(
            f"The matrix of {kernel!r} is not positive semi-definite (smallest eigenvalue {smallest:.3g}), so the "
            f"cone program is not convex. Use kernel 'genrbf', 'rbf' or 'linear'."
        )
