"""Cholesky factors of small positive semi-definite matrices, inside compiled loops."""

import numpy as np

from gapkernel.compute.compiled import inner


@inner(reorder=True)
def factor_in_place(matrix, size, tolerance):
    """Overwrite the lower triangle of the first ``size`` rows with its Cholesky factor; returns the log determinant.

    A pivot not above ``tolerance`` times its diagonal entry belongs to a variable that the earlier ones
    determine. Its column becomes zero, which makes `solve_in_place` ignore it: the inverse is then a
    generalised inverse and the determinant that of the remaining variables.
    """
    log_det = 0.0
    for k in range(size):
        pivot = matrix[k, k]
        floor = tolerance * pivot
        for s in range(k):
            pivot -= matrix[k, s] * matrix[k, s]
        if not pivot > floor:
            for r in range(k, size):
                matrix[r, k] = 0.0
            continue
        log_det += np.log(pivot)
        root = np.sqrt(pivot)
        matrix[k, k] = root
        for r in range(k + 1, size):
            total = matrix[r, k]
            for s in range(k):
                total -= matrix[r, s] * matrix[k, s]
            matrix[r, k] = total / root
    return log_det


@inner(reorder=True)
def solve_in_place(factor, size, vector):
    """Overwrite ``vector`` with the solution z of ``factor z = vector`` (zero where a pivot is zero)."""
    for k in range(size):
        total = vector[k]
        for s in range(k):
            total -= factor[k, s] * vector[s]
        vector[k] = total / factor[k, k] if factor[k, k] > 0.0 else 0.0
