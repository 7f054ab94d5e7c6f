"""A finite basis for a kernel: rows picked by pivoted incomplete Cholesky, and the features they give.

    phi(x) = L^-1 k(B, x),    K_BB = L L',    so that <phi(x), phi(y)> = k(x, B) K_BB^-1 k(B, y) is close to k(x, y)

for rows B picked one at a time, each the one that the basis explains worst so far (Fine, Scheinberg).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

KernelFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Basis:
    """Landmarks and the map from kernel values to features.

    Attributes
    ----------
    rows : ndarray of shape (n_basis, n_columns)
        B.
    pivots : ndarray of shape (n_basis,)
        Their places among the rows they were picked from.
    whitening : ndarray of shape (n_basis, n_basis)
        The inverse of L, transposed: features are k(x, B) @ whitening.
    residual : float
        The largest k(x, x) - ||phi(x)||^2 among the rows picked from.
    """

    rows: np.ndarray
    pivots: np.ndarray
    whitening: np.ndarray
    residual: float


def pivoted_cholesky(rows: np.ndarray, kernel: KernelFunction, diagonal: np.ndarray, size: int, tol: float) -> Basis:
    """Pick a basis of at most ``size`` rows, fewer if the largest residual falls below ``tol`` of the largest diagonal.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
    kernel : callable
    diagonal : ndarray of shape (n_rows,)
        k(x, x).
    size : int
    tol : float

    Returns
    -------
    basis : Basis
    """
    residual = np.array(diagonal, dtype=np.float64)
    if not residual.max(initial=0.0) > 0:
        raise ValueError("The kernel is 0 or negative on the diagonal for every row, so it gives no basis.")
    floor = max(tol, len(rows) * np.finfo(np.float64).eps) * residual.max()  # what is below is rounding
    factor = np.empty((size, len(rows)))  # a row for each pivot: k(B, x) whitened
    pivots: list[int] = []
    while len(pivots) < size:
        p = int(residual.argmax())
        if residual[p] <= floor:
            break
        m = len(pivots)
        column = kernel(rows, rows[p : p + 1])[:, 0] - factor[:m, p] @ factor[:m]
        factor[m] = column / np.sqrt(residual[p])
        residual = np.maximum(residual - factor[m] ** 2, 0.0)
        pivots.append(p)
        residual[pivots] = 0.0
    lower = factor[: len(pivots), pivots].T  # L: row b holds the factor of landmark b
    whitening = solve_triangular(lower, np.eye(len(pivots)), lower=True).T
    return Basis(rows[pivots].copy(), np.array(pivots), whitening, float(residual.max(initial=0.0)))
