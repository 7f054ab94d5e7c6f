"""Inner loops of small regressions: sums over rows, in an order that no thread or batch can change.

Designs are stored one design column after the other, (n_places, n_rows), so that the loops run along rows. Each
function refuses arrays whose shapes do not agree: the loops look at no bounds.
"""

import numpy as np

from gapkernel.compute.compiled import compiled
from gapkernel.compute.doors import check_array

_BLOCK = 256  # rows at a time, so that a block of the design stays in the fast cache


def scores(design, coefficients):
    """``coefficients @ design``, (n_outputs, n_rows).

    Compiled without leave to reorder: the score of a row is the same, to the last bit, in every batch.
    """
    check_array("The coefficients of a regression", coefficients, np.float64, len(coefficients), len(design))
    return _scores(design, coefficients)


@compiled()
def _scores(design, coefficients):
    out = np.zeros((coefficients.shape[0], design.shape[1]))
    for c in range(coefficients.shape[0]):
        for k in range(design.shape[0]):
            factor = coefficients[c, k]
            for i in range(design.shape[1]):
                out[c, i] += factor * design[k, i]
    return out


@compiled(reorder=True)
def weighted_gram(design, weight):
    """``design @ diag(weight) @ design.T``."""
    p, n = design.shape
    if weight.shape[0] != n:
        raise ValueError("The weights do not go with the design.")
    out = np.zeros((p, p))
    for start in range(0, n, _BLOCK):
        stop = min(n, start + _BLOCK)
        for a in range(p):
            scaled = weight[start:stop] * design[a, start:stop]
            for b in range(a, p):
                other = design[b, start:stop]  # a view: through indices of the whole, the loop is not vectorised
                total = 0.0
                for i in range(len(scaled)):
                    total += scaled[i] * other[i]
                out[a, b] += total
    for a in range(p):
        for b in range(a):
            out[a, b] = out[b, a]
    return out


@compiled(reorder=True)
def weighted_sum(design, weight):
    """``design @ weight``."""
    if weight.shape[0] != design.shape[1]:
        raise ValueError("The weights do not go with the design.")
    out = np.zeros(design.shape[0])
    for a in range(design.shape[0]):
        total = 0.0
        for i in range(design.shape[1]):
            total += weight[i] * design[a, i]
        out[a] = total
    return out


@compiled(reorder=True)
def logistic_terms(design, y, beta):
    """Log-likelihood of a logistic regression, its gradient and its information."""
    n = design.shape[1]
    if len(beta) != design.shape[0] or len(y) != n:
        raise ValueError("The coefficients do not go with the design.")
    eta, residual, weight = np.zeros(n), np.empty(n), np.empty(n)
    for k in range(len(beta)):
        for i in range(n):
            eta[i] += beta[k] * design[k, i]
    log_likelihood = 0.0
    for start in range(0, n, _BLOCK):
        product = 1.0  # of factors from 1 to 2: one logarithm for a whole block, and no overflow before 1000 rows
        for i in range(start, min(n, start + _BLOCK)):
            tail = np.exp(-abs(eta[i]))
            larger = 1.0 / (1.0 + tail)
            residual[i] = y[i] - (larger if eta[i] >= 0 else tail * larger)
            weight[i] = tail * larger * larger
            log_likelihood += y[i] * eta[i] - max(eta[i], 0.0)
            product *= 1.0 + tail
        log_likelihood -= np.log(product)
    return log_likelihood, weighted_sum(design, residual), weighted_gram(design, weight)
