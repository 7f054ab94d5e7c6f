"""From laws to cones: what a robust machine is told about its rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, eigvalsh
from scipy.linalg.lapack import dpstrf

from gapkernel.estimators.base import Laws
from gapkernel.rows import GaussianRows
from gapkernel.solvers.socp import Cones

NEGLIGIBLE = 1e-10
"""Variances below this share of the largest one of a cone are dropped: they only make the program longer."""


class Program(NamedTuple):
    """The arrays of a robust machine: min 1/2 c'Qc + costs, margins of ``scores @ c + b`` widened by ``cones``."""

    quadratic: np.ndarray | sparse.sparray
    scores: np.ndarray | sparse.sparray
    cones: Cones


def kernel_program(laws: Laws, covariance: str, mean: str, radius: np.ndarray) -> Program:
    """One coefficient for each row; the cone of row i measures the covariance of column i of the kernel matrix."""
    gram = laws.kernel.gram(points(laws.rows, mean))
    _check_definite(gram, laws.kernel)
    return Program(gram, gram, _kernel_cones(laws, covariance, radius))


def primal_program(rows: GaussianRows, covariance: str, mean: str, radius: np.ndarray) -> Program:
    """One coefficient for each column; the cone of a row measures its own covariance, shared by its gap pattern.

    The same-draw diagonal m'm + tr Sigma of the expected linear kernel is a private coordinate sqrt(tr Sigma) of
    each uncertain row, so the machine with radius 0 is that of the kernel.
    """
    scores = sparse.csr_array(rows.means)
    if mean == "expected":
        uncertain = np.flatnonzero(rows.total_variance > 0)
        root = np.sqrt(rows.total_variance[uncertain])
        private = sparse.csr_array((root, (uncertain, np.arange(len(uncertain)))), shape=(len(rows), len(uncertain)))
        scores = sparse.hstack([scores, private], format="csr")
    width, group = scores.shape[1], np.where(rows.complete, -1, rows.law)
    if covariance == "identity":
        sphere = sparse.eye_array(rows.n_features, width)
        return Program(sparse.eye_array(width), scores, Cones([sphere], np.minimum(group, 0), radius))
    factors = [sparse.csr_array((0, width))] * len(rows.gaps)
    for members, gaps, block in rows.by_pattern():
        root = np.diag(np.sqrt(block.diagonal())) if covariance == "variance" else _low_rank_root(block)
        selection = sparse.csr_array((np.ones(len(gaps)), (np.arange(len(gaps)), gaps)), shape=(len(gaps), width))
        factors[rows.law[members[0]]] = sparse.csr_array(root) @ selection
    return Program(sparse.eye_array(width), scores, Cones(factors, group, radius))


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
            factors = [_diagonal_root(variances[:, i]) for i in range(n)]
        else:
            factors = [
                sparse.vstack([sparse.csr_array(_low_rank_root(shared)), _diagonal_root(own)], format="csr")
                for shared, own in laws.kernel.column_covariances(laws.rows)
            ]
    except NotImplementedError as error:
        raise ValueError(
            f"{error} With covariance={covariance!r} use kernel 'rbf', 'genrbf' or 'linear'; "
            f"covariance='identity' takes any kernel."
        ) from error
    return Cones(factors, np.arange(n), radius)


def _diagonal_root(variances: np.ndarray) -> sparse.csr_array:
    """R with R'R = diag(variances), without its zero rows."""
    kept = np.flatnonzero(variances > NEGLIGIBLE * max(variances.max(), np.finfo(float).tiny))
    return sparse.csr_array((np.sqrt(variances[kept]), (np.arange(len(kept)), kept)), shape=(len(kept), len(variances)))


def _low_rank_root(matrix: np.ndarray) -> np.ndarray:
    """R with R'R = matrix and as many rows as its rank, by a Cholesky factor with pivoting."""
    largest = matrix.diagonal().max(initial=0.0)
    if largest <= 0:
        return np.zeros((0, len(matrix)))
    factor, pivots, rank, _ = dpstrf(matrix, tol=NEGLIGIBLE * largest)
    root = np.zeros((rank, len(matrix)))
    root[:, pivots - 1] = np.triu(factor)[:rank]
    return root


def _check_definite(gram: np.ndarray, kernel) -> None:
    """Refuse an indefinite kernel matrix: its program is not convex."""
    try:
        cholesky(gram + 1e-8 * np.mean(gram.diagonal()) * np.eye(len(gram)))
    except LinAlgError:
        smallest = eigvalsh(gram, subset_by_index=[0, 0])[0]
        raise ValueError(
            f"The matrix of {kernel!r} is not positive semi-definite (smallest eigenvalue {smallest:.3g}), so the "
            f"cone program has no well-defined solution. Use kernel 'genrbf', 'rbf' or 'linear'."
        ) from None
