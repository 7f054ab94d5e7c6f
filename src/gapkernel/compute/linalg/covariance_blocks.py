"""Covariance blocks of many laws, kept one after another in a flat array."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from gapkernel.compute.compiled import compiled
from gapkernel.compute.doors import check_array, check_numbers


def starts_of(sizes: ArrayLike) -> np.ndarray:
    """Where things of these sizes begin when they are listed one after another; one entry more than there are."""
    return np.concatenate([[0], np.cumsum(sizes)])


def places_of(starts: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Where the entries of some things lie among those of all, one thing after another; ``starts`` as `starts_of`."""
    sizes = starts[kept + 1] - starts[kept]
    return np.repeat(starts[kept] - starts_of(sizes)[:-1], sizes) + np.arange(sizes.sum())


def check_blocks(rows) -> None:
    """Refuse Gaussian rows whose covariances are not those of the gaps of each pattern."""
    check_array("The gaps of the patterns", rows.gaps, np.bool_, len(rows.gaps), rows.n_features)
    sizes = rows.gaps.sum(axis=1)
    if not (np.array_equal(rows.gap_start, starts_of(sizes)) and np.array_equal(rows.block_start, starts_of(sizes**2))):
        raise ValueError("The patterns do not begin where their gaps do.")
    check_numbers("A covariance", rows.covariance, rows.block_start[-1])


def flat(blocks: Iterable[np.ndarray]) -> np.ndarray:
    """Matrices written one after another."""
    pieces = [np.ravel(block) for block in blocks]
    return np.concatenate(pieces) if pieces else np.empty(0)


def spectrum(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The variances along the eigenvectors, rising and none below 0, and the eigenvectors, one in each column."""
    variances, directions = np.linalg.eigh(covariance)
    return np.maximum(variances, 0.0), directions


def root_of(covariance: np.ndarray) -> np.ndarray:
    """R with R R' = covariance, which may be singular; in units of deviations, so that no column loses its digits."""
    unit = np.sqrt(covariance.diagonal())
    unit = np.where(unit > 0, unit, 1.0)
    variances, directions = spectrum(covariance / np.outer(unit, unit))
    return unit[:, None] * directions * np.sqrt(variances)


@compiled()
def scale_blocks(covariance, gap_start, gaps, factors):
    """Multiply entry (r, s) of every block by the factors of its two columns, in place."""
    at = 0
    for p in range(gap_start.shape[0] - 1):
        for r in range(gap_start[p], gap_start[p + 1]):
            for s in range(gap_start[p], gap_start[p + 1]):
                covariance[at] *= factors[gaps[r]] * factors[gaps[s]]
                at += 1


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
