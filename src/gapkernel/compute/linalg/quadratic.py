"""Quadratic forms of the covariances of many patterns."""

import numpy as np

from gapkernel.compute.compiled import compiled


@compiled()
def quadratic_forms(gaps, gap_start, block_start, covariance, directions, out):
    """Fill ``out`` (patterns, directions) with w' Sigma w, over the gaps of each pattern only.

    ``directions`` is (columns, directions), so that every inner loop runs along memory. Half of the products are
    saved by symmetry: w' Sigma w = sum_a w_a (Sigma_aa w_a + 2 sum_{b<a} Sigma_ab w_b).
    """
    n_directions = directions.shape[1]
    inner, total = np.empty(n_directions), np.empty(n_directions)
    for p in range(out.shape[0]):
        size = gap_start[p + 1] - gap_start[p]
        total[:] = 0.0
        for a in range(size):
            row = gaps[gap_start[p] + a]
            at = block_start[p] + a * size
            value = covariance[at + a]
            for k in range(n_directions):
                inner[k] = value * directions[row, k]
            for b in range(a):
                column = gaps[gap_start[p] + b]
                value = 2.0 * covariance[at + b]
                for k in range(n_directions):
                    inner[k] += value * directions[column, k]
            for k in range(n_directions):
                total[k] += inner[k] * directions[row, k]
        for k in range(n_directions):
            out[p, k] = max(total[k], 0.0)  # less is the rounding of a direction without variance


def weighted_products(weights: np.ndarray, loadings: np.ndarray) -> np.ndarray:
    """The sums of weight_l F_l F_l' over the columns l, for each row of ``weights``, (n, k, k)."""
    k = loadings.shape[1]
    outer = (loadings[:, :, None] * loadings[:, None, :]).reshape(len(loadings), k * k)
    return (weights @ outer).reshape(len(weights), k, k)
