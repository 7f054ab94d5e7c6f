"""Many symmetric systems for many widths at once: one tridiagonal form of each serves them all.

With M = I + 2 gamma S for one gamma, M = Q T Q' and c between 0 and 1, the system at the width c gamma is
(1 - c) I + c M = Q ((1 - c) I + c T) Q'. Its determinant and quadratic form come from one pass along the diagonal.
Arrays are laid out as in `elimination`: ``(row, column, lane)``, and padding with the identity changes no bit.
"""

import numpy as np

from gapkernel.compute.compiled import inner
from gapkernel.compute.linalg.elimination import PIVOTS_PER_LOG


@inner()
def tridiagonalise(matrix, vector, size, off_diagonal, work):
    """Overwrite ``matrix`` (upper triangle) and ``vector`` by Q'MQ and Q'vector; only the diagonal of the first is
    left there, what stands beside it goes to ``off_diagonal``. ``work`` is of shape (2, size, lanes)."""
    lanes = vector.shape[1]
    mirror, image = work[0], work[1]
    norm, beta, factor = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for k in range(size - 1):
        for lane in range(lanes):
            norm[lane] = 0.0
        for s in range(k + 1, size):
            for lane in range(lanes):
                norm[lane] += matrix[k, s, lane] * matrix[k, s, lane]
        for lane in range(lanes):  # away from the first entry, so that nothing cancels
            off_diagonal[k, lane] = -np.copysign(np.sqrt(norm[lane]), matrix[k, k + 1, lane])
        for lane in range(lanes):
            half = norm[lane] - matrix[k, k + 1, lane] * off_diagonal[k, lane]
            beta[lane] = 1.0 / half if half > 0.0 else 0.0  # I - beta v v' with v = mirror
        for s in range(k + 1, size):
            for lane in range(lanes):
                mirror[s, lane] = matrix[k, s, lane]
        for lane in range(lanes):
            mirror[k + 1, lane] -= off_diagonal[k, lane]
        _multiply_symmetric(matrix, mirror, k + 1, size, image)
        _dot(image, mirror, k + 1, size, factor)
        for lane in range(lanes):
            factor[lane] *= 0.5 * beta[lane] * beta[lane]
        for r in range(k + 1, size):
            for lane in range(lanes):
                image[r, lane] = beta[lane] * image[r, lane] - factor[lane] * mirror[r, lane]
        for r in range(k + 1, size):
            for s in range(r, size):
                for lane in range(lanes):
                    matrix[r, s, lane] -= mirror[r, lane] * image[s, lane] + image[r, lane] * mirror[s, lane]
        _dot(vector, mirror, k + 1, size, factor)
        for r in range(k + 1, size):
            for lane in range(lanes):
                vector[r, lane] -= factor[lane] * beta[lane] * mirror[r, lane]


@inner()
def _multiply_symmetric(matrix, vector, begin, size, out):
    """out = matrix @ vector from row ``begin`` on, with the upper triangle only."""
    lanes = vector.shape[1]
    for r in range(begin, size):
        for lane in range(lanes):
            out[r, lane] = 0.0
    for r in range(begin, size):
        for lane in range(lanes):
            out[r, lane] += matrix[r, r, lane] * vector[r, lane]
        for s in range(r + 1, size):
            for lane in range(lanes):
                out[r, lane] += matrix[r, s, lane] * vector[s, lane]
            for lane in range(lanes):
                out[s, lane] += matrix[r, s, lane] * vector[r, lane]


@inner()
def _dot(left, right, begin, size, out):
    lanes = out.shape[0]
    for lane in range(lanes):
        out[lane] = 0.0
    for r in range(begin, size):
        for lane in range(lanes):
            out[lane] += left[r, lane] * right[r, lane]


@inner()
def solve_tridiagonal(matrix, off_diagonal, vector, size, share, value, log_det):
    """Set ``value = vector' A^-1 vector`` and ``log_det = log |A|`` with A = (1 - share) I + share * tridiagonal."""
    lanes = value.shape[0]
    pivot, entry, ratio, determinant = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.ones(lanes)
    for lane in range(lanes):
        pivot[lane] = (1.0 - share) + share * matrix[0, 0, lane]
    for lane in range(lanes):
        entry[lane] = vector[0, lane]
    for lane in range(lanes):
        value[lane] = entry[lane] * entry[lane] / pivot[lane]
    for lane in range(lanes):
        determinant[lane] = pivot[lane]
    log_det[:] = 0.0
    for k in range(1, size):
        for lane in range(lanes):
            ratio[lane] = share * off_diagonal[k - 1, lane] / pivot[lane]
        for lane in range(lanes):
            diagonal = (1.0 - share) + share * matrix[k, k, lane]
            pivot[lane] = diagonal - share * off_diagonal[k - 1, lane] * ratio[lane]
        for lane in range(lanes):
            entry[lane] = vector[k, lane] - ratio[lane] * entry[lane]
        for lane in range(lanes):
            value[lane] += entry[lane] * entry[lane] / pivot[lane]
        for lane in range(lanes):
            determinant[lane] *= pivot[lane]
        if (k + 1) % PIVOTS_PER_LOG == 0:
            for lane in range(lanes):
                log_det[lane] += np.log(determinant[lane])
            for lane in range(lanes):
                determinant[lane] = 1.0
    for lane in range(lanes):
        log_det[lane] += np.log(determinant[lane])
