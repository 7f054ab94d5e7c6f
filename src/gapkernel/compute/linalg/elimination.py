"""Small linear systems inside compiled loops: one by its Cholesky factor, or many at once, one in each lane.

Arrays of many systems are laid out ``(row, column, lane)`` so that every innermost loop runs over lanes and
vectorises. Three habits keep it so: the number of lanes is read from an array (a constant would be
unrolled instead), each loop writes one array (with more, the compiler gives up proving that they do
not overlap), and elements are indexed directly (a slice costs an atomic reference count).

A lane whose system is smaller than its group's is padded with the identity, which changes no bit of
its result: it only adds zeros and multiplies by ones.
"""

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


@inner(reorder=True)
def invert_factored(factor, size, root, inverse):
    """Set ``inverse`` to that of a matrix that `factor_in_place` has factored, all pivots positive; ``root`` (size,
    size) is work memory."""
    for r in range(size):  # row r of `root` is L^-1 e_r, zero before place r
        for s in range(size):
            root[r, s] = 0.0
        root[r, r] = 1.0
        solve_in_place(factor, size, root[r])
    for r in range(size):
        for s in range(r + 1):
            total = 0.0
            for k in range(r, size):
                total += root[r, k] * root[s, k]
            inverse[r, s] = inverse[s, r] = total


LANES = 48
"""How many systems are solved side by side; no power of two, so that lanes spread over all cache sets."""

PIVOTS_PER_LOG = 4
"""Pivots multiplied together before taking a logarithm; 4 stay inside the range of a double
up to 1e75 each."""


@inner()
def eliminate(matrix, left, right, size, value, log_det):
    """Set ``value = left' matrix^-1 right`` and ``log_det = log |matrix|`` in each lane.

    Gaussian elimination without pivoting, for matrices whose symmetric part is positive definite:
    then every pivot is positive. The first three arrays are overwritten.
    """
    lanes = value.shape[0]
    determinant, reciprocal, factor = np.ones(lanes), np.empty(lanes), np.empty(lanes)
    value[:] = 0.0
    log_det[:] = 0.0
    for k in range(size):
        for lane in range(lanes):
            reciprocal[lane] = 1.0 / matrix[k, k, lane]
        for lane in range(lanes):
            value[lane] += left[k, lane] * right[k, lane] * reciprocal[lane]
        _multiply_pivot(matrix, k, determinant, log_det)
        for r in range(k + 1, size):
            for lane in range(lanes):
                factor[lane] = matrix[k, r, lane] * reciprocal[lane]
            for lane in range(lanes):
                left[r, lane] -= factor[lane] * left[k, lane]
            for lane in range(lanes):
                factor[lane] = matrix[r, k, lane] * reciprocal[lane]
            for lane in range(lanes):
                right[r, lane] -= factor[lane] * right[k, lane]
            for s in range(k + 1, size):
                for lane in range(lanes):
                    matrix[r, s, lane] -= factor[lane] * matrix[k, s, lane]
    for lane in range(lanes):
        log_det[lane] += np.log(determinant[lane])


@inner()
def factor(matrix, size, log_det):
    """Overwrite the upper triangle of a positive definite ``matrix`` by U with U'U = matrix, its diagonal inverted, and
    set ``log_det = log |matrix|``, in each lane: for many right-hand sides, see `add_solved`."""
    lanes = log_det.shape[0]
    determinant = np.ones(lanes)
    log_det[:] = 0.0
    for k in range(size):
        _multiply_pivot(matrix, k, determinant, log_det)
        for lane in range(lanes):
            matrix[k, k, lane] = 1.0 / np.sqrt(matrix[k, k, lane])
        for r in range(k + 1, size):
            for lane in range(lanes):
                matrix[k, r, lane] *= matrix[k, k, lane]
        for r in range(k + 1, size):
            for s in range(r, size):
                for lane in range(lanes):
                    matrix[r, s, lane] -= matrix[k, r, lane] * matrix[k, s, lane]
    for lane in range(lanes):
        log_det[lane] += np.log(determinant[lane])


@inner()
def add_solved(factored, right, size, value):
    """Add right' matrix^-1 right to ``value`` in each lane, for a matrix that `factor` has factored; ``right`` is
    overwritten."""
    lanes = value.shape[0]
    for k in range(size):
        for lane in range(lanes):
            right[k, lane] *= factored[k, k, lane]
        for lane in range(lanes):
            value[lane] += right[k, lane] * right[k, lane]
        for r in range(k + 1, size):
            for lane in range(lanes):
                right[r, lane] -= factored[k, r, lane] * right[k, lane]


@inner()
def sweep(matrix, right, size):
    """Overwrite the upper triangle of a positive definite ``matrix`` by that of -matrix^-1, and ``right`` by
    matrix^-1 right, in each lane: the sweep operator on every pivot in turn."""
    lanes = right.shape[1]
    reciprocal, factor = np.empty(lanes), np.empty(lanes)
    for k in range(size):
        for lane in range(lanes):
            reciprocal[lane] = 1.0 / matrix[k, k, lane]
        for r in range(size):
            if r == k:
                continue
            first, second = min(r, k), max(r, k)
            for lane in range(lanes):
                factor[lane] = matrix[first, second, lane] * reciprocal[lane]
            for lane in range(lanes):
                right[r, lane] -= factor[lane] * right[k, lane]
            for s in range(r, size):  # entries of the pivot's row lie in its column above the diagonal
                if s < k:
                    for lane in range(lanes):
                        matrix[r, s, lane] -= factor[lane] * matrix[s, k, lane]
                elif s > k:
                    for lane in range(lanes):
                        matrix[r, s, lane] -= factor[lane] * matrix[k, s, lane]
        for r in range(k):
            for lane in range(lanes):
                matrix[r, k, lane] *= reciprocal[lane]
        for s in range(k + 1, size):
            for lane in range(lanes):
                matrix[k, s, lane] *= reciprocal[lane]
        for lane in range(lanes):
            right[k, lane] *= reciprocal[lane]
        for lane in range(lanes):
            matrix[k, k, lane] = -reciprocal[lane]


@inner()
def _multiply_pivot(matrix, k, determinant, log_det):
    lanes = determinant.shape[0]
    for lane in range(lanes):
        determinant[lane] *= matrix[k, k, lane]
    if (k + 1) % PIVOTS_PER_LOG == 0:
        for lane in range(lanes):
            log_det[lane] += np.log(determinant[lane])
            determinant[lane] = 1.0
