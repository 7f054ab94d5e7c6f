"""Expectation maximisation for factor analysis with gaps, on standardised columns.

The factors of a row are what is missing; a gap is simply not part of its likelihood. Given the factors, every column
is a regression on them over the rows that have it, so no matrix is larger than the number of factors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.density.em.climb import Ascent, climb

ROWS_AT_ONCE = 2048
"""Rows of one part of the E-step; fixed, so that sums do not depend on memory or threads."""


@dataclass(frozen=True)
class Factors:
    """Parameters: x = mean + loadings z + noise."""

    mean: np.ndarray
    loadings: np.ndarray
    noise: np.ndarray


def posterior(X: np.ndarray, seen: np.ndarray, factors: Factors) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each row: the mean and the precision of its factors, and the log density of its observed part.

    ``X`` holds 0 in the gaps and ``seen`` 1 where it was observed; columns without noise count for nothing.
    """
    k = factors.loadings.shape[1]
    with np.errstate(divide="ignore"):
        weight = np.where(factors.noise > 0, 1.0 / factors.noise, 0.0)
        log_noise = np.where(factors.noise > 0, np.log(2.0 * np.pi * factors.noise), 0.0)
    scaled = factors.loadings * weight[:, None]
    outer = (scaled[:, :, None] * factors.loadings[:, None, :]).reshape(-1, k * k)
    precision = np.eye(k) + (seen @ outer).reshape(-1, k, k)  # G = I + F_O' Psi_O^-1 F_O
    away = np.where(seen > 0, X - factors.mean, 0.0)
    pull = away @ scaled
    roots = np.linalg.cholesky(precision)
    half = np.linalg.solve(roots, pull[:, :, None])[:, :, 0]
    means = np.linalg.solve(precision, pull[:, :, None])[:, :, 0]
    log_det = seen @ log_noise + 2.0 * np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    squared = away**2 @ weight - np.sum(half**2, axis=1)  # Woodbury
    return means, precision, -0.5 * (log_det + squared)


def start(X: np.ndarray, seen: np.ndarray, n_components: int) -> Factors:
    """The leading directions of the table with its gaps at the mean, with noise for the rest."""
    d = X.shape[1]
    if d == 0:
        return Factors(np.zeros(0), np.zeros((0, n_components)), np.zeros(0))
    _, values, directions = np.linalg.svd(X, full_matrices=False)
    kept = min(n_components, len(values))
    share = max(seen.mean(), np.finfo(float).tiny)  # gaps at the mean shrink all directions alike
    spread = np.minimum(values[:kept] ** 2 / (len(X) * share), d)
    loadings = np.zeros((d, n_components))
    loadings[:, :kept] = directions[:kept].T * np.sqrt(np.maximum(spread - 1.0, 0.1))
    own = np.sum(loadings**2, axis=1)
    loadings *= np.sqrt(np.minimum(1.0, 0.9 / np.maximum(own, 0.9)))[:, None]
    return Factors(np.zeros(d), loadings, np.maximum(1.0 - np.sum(loadings**2, axis=1), 0.1))


def maximise_factors(
    X: np.ndarray, weight: np.ndarray, n_components: int, ridge: float, tol: float, max_iter: int
) -> Ascent:
    """The `Factors` that EM reaches.

    The objective is the log-likelihood less ridge / 2 * sum of n_j / noise_j, n_j the rows that have column j.
    """
    seen = (~np.isnan(X)).astype(np.float64)
    filled = np.where(seen > 0, X, 0.0)
    counts = weight @ seen
    squared = (seen * weight[:, None] * filled**2).sum(axis=0)

    def expect(factors: Factors) -> tuple[float, float, _Sums]:
        log_likelihood, sums = _expectation(filled, seen, weight, factors)
        return log_likelihood, log_likelihood - 0.5 * ridge * float(np.sum(counts / factors.noise)), sums

    def maximise(_: Factors, sums: _Sums) -> Factors:
        return _maximisation(sums, squared, counts, ridge)

    return climb(expect, maximise, start(filled, seen, n_components), float(counts.sum()), tol, max_iter)


@dataclass(frozen=True)
class _Sums:
    """Sums of the E-step over the rows: E [z, 1][z, 1]' and x [z, 1] for each column, and E [z, 1][z, 1]' of all."""

    squares: np.ndarray
    products: np.ndarray
    moment: np.ndarray


def _expectation(X: np.ndarray, seen: np.ndarray, weight: np.ndarray, factors: Factors) -> tuple[float, _Sums]:
    """The log-likelihood at the current parameters, and the sums."""
    d, k = factors.loadings.shape
    squares, products = np.zeros((d, (k + 1) ** 2)), np.zeros((d, k + 1))
    moment, total = np.zeros((k + 1, k + 1)), 0.0
    for begin in range(0, len(X), ROWS_AT_ONCE):
        part = slice(begin, begin + ROWS_AT_ONCE)
        means, precision, log_density = posterior(X[part], seen[part], factors)
        total += float(weight[part] @ log_density)
        extended = np.column_stack([means, np.ones(len(means))])  # [z, 1]
        second = extended[:, :, None] * extended[:, None, :]
        second[:, :k, :k] += np.linalg.inv(precision)
        weighted = seen[part] * weight[part, None]
        squares += weighted.T @ second.reshape(len(means), -1)  # over the rows with a column
        products += (weighted * X[part]).T @ extended
        moment += np.einsum("i,iab->ab", weight[part], second)
    return total, _Sums(squares.reshape(d, k + 1, k + 1), products, moment)


def _maximisation(sums: _Sums, squared: np.ndarray, counts: np.ndarray, ridge: float) -> Factors:
    """The next parameters; ``squared`` are the sums of the squares of the columns."""
    k = len(sums.moment) - 1
    coefficients = np.linalg.solve(sums.squares, sums.products[:, :, None])[:, :, 0]
    residual = squared - np.sum(sums.products * coefficients, axis=1)
    noise = np.maximum(residual, 0.0) / counts + ridge  # the ridge is a prior on the noise
    # parameter expansion: the factors' own mean and covariance are estimated too, and put into mean and loadings
    centre = sums.moment[:k, k] / sums.moment[k, k]
    spread = sums.moment[:k, :k] / sums.moment[k, k] - np.outer(centre, centre)
    loadings = coefficients[:, :k]
    return Factors(coefficients[:, k] + loadings @ centre, loadings @ np.linalg.cholesky(spread), noise)


def canonical(factors: Factors) -> Factors:
    """The same density with F' Psi^-1 F diagonal and falling, and the largest loading of each factor positive."""
    if not len(factors.mean):
        return factors
    with np.errstate(divide="ignore"):
        weight = np.where(factors.noise > 0, 1.0 / factors.noise, 0.0)
    _, rotation = np.linalg.eigh(factors.loadings.T @ (weight[:, None] * factors.loadings))
    loadings = factors.loadings @ rotation[:, ::-1]
    largest = loadings[np.abs(loadings).argmax(axis=0), np.arange(loadings.shape[1])]
    return Factors(factors.mean, loadings * np.where(largest < 0, -1.0, 1.0), factors.noise)
