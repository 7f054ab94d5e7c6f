"""Rows as Gaussian laws of few factors: a diagonal and a low rank, whatever the gaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gapkernel.rows.gaussian import GaussianRows

LAWS_AT_ONCE = 256
"""Laws whose frequencies or covariances are worked out together."""


@dataclass(frozen=True, eq=False)
class FactorRows:
    """An immutable batch of rows, each a Gaussian law x = mean + P (F z + noise) with z normal and P the gaps.

    The covariance of a law is diag(noise) + F inverse(precision) F' on its gaps and zero elsewhere. It is kept in that
    form, and `covariance` writes it out only if someone asks.

    Attributes
    ----------
    means : ndarray of shape (n_rows, n_features)
        The observed values, and the conditional means in the gaps.
    law : ndarray of shape (n_rows,)
        Which gaps and precision each row has.
    gaps : ndarray of shape (n_laws, n_features), bool
        The columns on which a law is uncertain.
    precision : ndarray of shape (n_laws, n_factors, n_factors)
        The precision of the factors given what was observed.
    loadings : ndarray of shape (n_features, n_factors)
        F.
    noise : ndarray of shape (n_features,)
        The variance of each column that no factor explains.
    """

    means: np.ndarray
    law: np.ndarray
    gaps: np.ndarray
    precision: np.ndarray
    loadings: np.ndarray
    noise: np.ndarray

    kind = "gaussian"

    def __post_init__(self) -> None:
        for array in (self.means, self.law, self.gaps, self.precision, self.loadings, self.noise):
            array.flags.writeable = False

    def __setstate__(self, state) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.means)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.means.shape[1]

    @property
    def complete(self) -> np.ndarray:
        """True for rows without uncertainty."""
        return np.logical_not(self.gaps.any(axis=1))[self.law]

    @cached_property
    def total_variance(self) -> np.ndarray:
        """Trace of each row's covariance: how much is unknown about it."""
        rank = np.einsum("pab,pab->p", np.linalg.inv(self.precision), _products(self.gaps, self.loadings))
        return (self.gaps @ self.noise + rank)[self.law]

    def quadratic(self, frequencies: np.ndarray) -> np.ndarray:
        """w' Sigma_i w for each row i and each row w of ``frequencies``, (n_rows, n_frequencies)."""
        frequencies = np.asarray(frequencies, dtype=np.float64)
        out = self.gaps @ (self.noise * frequencies**2).T
        for begin in range(0, len(self.gaps), LAWS_AT_ONCE):
            part = slice(begin, begin + LAWS_AT_ONCE)
            masked = self.gaps[part, :, None] * self.loadings
            projected = np.einsum("fd,pdk->pkf", frequencies, masked, optimize=True)
            out[part] += np.einsum("pkf,pkf->pf", projected, np.linalg.solve(self.precision[part], projected))
        return out[self.law]

    @cached_property
    def dense(self) -> GaussianRows:
        """The same laws with their covariances written out."""
        blocks = [np.ravel(block) for _, block in self._blocks()]
        flat = np.concatenate(blocks) if blocks else np.empty(0)
        return GaussianRows(self.means.copy(), self.law.copy(), self.gaps.copy(), flat)

    @property
    def covariance(self) -> np.ndarray:
        """Covariances of all laws on their gaps, flattened one after another."""
        return self.dense.covariance

    def covariance_of(self, i: int) -> np.ndarray:
        """The covariance of row ``i`` over all columns, zero outside its gaps."""
        return self.take([i]).dense.covariance_of(0)

    def by_pattern(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each law in use: its rows, its gap columns, and its covariance on them."""
        return self.dense.by_pattern()

    def take(self, indices) -> FactorRows:
        """The rows at ``indices`` (integers, a slice or a mask), with the laws they need."""
        if not isinstance(indices, slice):
            indices = np.atleast_1d(indices) if np.size(indices) else np.empty(0, np.int64)
        kept, law = np.unique(self.law[indices], return_inverse=True)
        return FactorRows(
            np.array(self.means[indices]),
            law.reshape(-1),
            self.gaps[kept],
            self.precision[kept],
            self.loadings,
            self.noise,
        )

    def columns(self, indices) -> FactorRows:
        """The marginal laws on some columns."""
        picked = np.asarray(indices)
        return FactorRows(
            np.ascontiguousarray(self.means[:, picked]),
            self.law.copy(),
            np.ascontiguousarray(self.gaps[:, picked]),
            self.precision,
            self.loadings[picked],
            self.noise[picked],
        )

    def scale(self, factors) -> FactorRows:
        """The laws of the rows with every column multiplied by its factor; they have as few factors as before."""
        factors = np.asarray(factors, dtype=np.float64)
        if factors.shape != (self.n_features,):
            raise ValueError(f"factors must have one entry for each of {self.n_features} columns, got {factors.shape}.")
        return FactorRows(
            self.means * factors,
            self.law,
            self.gaps,
            self.precision,
            self.loadings * factors[:, None],
            self.noise * factors**2,
        )

    def draws(self, n_draws: int, random: np.random.RandomState) -> np.ndarray:
        """Completions of all rows drawn from their laws, (n_draws, n_rows, n_features)."""
        return self.dense.draws(n_draws, random)

    def map(self, matrix, offset=0.0) -> GaussianRows:
        """The laws of ``matrix @ x + offset``, which are no longer diagonal and low rank."""
        return self.dense.map(matrix, offset)

    def same_factors(self, other) -> bool:
        """Whether another batch has the same factors, so that a pair of laws needs no more than those."""
        return isinstance(other, FactorRows) and (
            (self.loadings is other.loadings and self.noise is other.noise)
            or (np.array_equal(self.loadings, other.loadings) and np.array_equal(self.noise, other.noise))
        )

    def _blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for gaps, precision in zip(self.gaps, self.precision, strict=True):
            columns = np.flatnonzero(gaps)
            loadings = self.loadings[columns]
            block = loadings @ np.linalg.solve(precision, loadings.T)
            block = 0.5 * (block + block.T)
            block[np.diag_indices(len(columns))] += self.noise[columns]
            yield columns, block


def _products(weights: np.ndarray, loadings: np.ndarray) -> np.ndarray:
    """The sums of weight_l F_l F_l' over the columns l, for each row of ``weights``, (n, k, k)."""
    k = loadings.shape[1]
    outer = (loadings[:, :, None] * loadings[:, None, :]).reshape(len(loadings), k * k)
    return (weights @ outer).reshape(len(weights), k, k)
