"""Rows as Gaussian laws of few factors: a diagonal and a low rank, with any gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from gapkernel.compute.linalg.covariance_blocks import flat, weighted_products
from gapkernel.rows.atom_rows import AtomRows
from gapkernel.rows.base import Indices, row_indices
from gapkernel.rows.gaussian_rows import GaussianRows, MappedRows
from gapkernel.rows.pattern_rows import PatternRows

PATTERNS_AT_ONCE = 256
"""Patterns whose variances are worked out together."""


@dataclass(frozen=True, eq=False)
class FactorRows(PatternRows):
    """An immutable batch of rows, each a Gaussian law x = mean + P (F z + noise) with z normal and P the gaps.

    The covariance of a law is diag(noise) + F inverse(precision) F' on its gaps and zero elsewhere. It is kept in that
    form, and `dense` writes it out.

    Attributes
    ----------
    means : ndarray of shape (n_rows, n_features)
        The observed values, and the conditional means in the gaps.
    pattern : ndarray of shape (n_rows,)
        Which gaps and precision each row has.
    gaps : ndarray of shape (n_patterns, n_features), bool
        The columns on which a pattern is uncertain.
    precision : ndarray of shape (n_patterns, n_factors, n_factors)
        The precision of the factors given what was observed.
    loadings : ndarray of shape (n_features, n_factors)
        F.
    noise : ndarray of shape (n_features,)
        The variance of each column that no factor explains.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import FactorAnalysis
    >>> density = FactorAnalysis.from_parameters(np.zeros(2), np.ones((2, 1)), np.ones(2))
    >>> rows = density.condition([[2.0, np.nan]])
    >>> rows.means, rows.total_variance
    (array([[2., 1.]]), array([1.5]))
    """

    precision: np.ndarray
    loadings: np.ndarray
    noise: np.ndarray

    kind: ClassVar[str] = "factor"

    @cached_property
    def total_variance(self) -> np.ndarray:  # type: ignore[override]
        """Trace of each row's covariance: how much is unknown about it."""
        rank = np.einsum("pab,pab->p", np.linalg.inv(self.precision), weighted_products(self.gaps, self.loadings))
        return (self.gaps @ self.noise + rank)[self.pattern]

    def quadratic(self, directions: ArrayLike) -> np.ndarray:
        """The variance of w'x for each row x and each of the ``directions`` w (n_directions, d): (n, n_directions)."""
        directions = self._lines(directions, "directions")
        out = self.gaps @ (self.noise * directions**2).T
        for begin in range(0, len(self.gaps), PATTERNS_AT_ONCE):
            part = slice(begin, begin + PATTERNS_AT_ONCE)
            masked = self.gaps[part, :, None] * self.loadings
            projected = np.einsum("fd,pdk->pkf", directions, masked, optimize=True)
            out[part] += np.einsum("pkf,pkf->pf", projected, np.linalg.solve(self.precision[part], projected))
        return out[self.pattern]

    @cached_property
    def dense(self) -> GaussianRows:
        """The same laws with their covariances written out."""
        return GaussianRows(self.means, self.pattern, self.gaps, flat(block for _, block in self._blocks()))

    def take(self, indices: Indices) -> FactorRows:
        """The rows at ``indices`` (integers, a slice or a mask), with the patterns they need."""
        means, pattern, kept = self._taken(row_indices(indices))
        return FactorRows(means, pattern, self.gaps[kept], self.precision[kept], self.loadings, self.noise)

    def columns(self, indices: ArrayLike) -> FactorRows:
        """The marginal laws on some columns."""
        picked = np.asarray(indices)
        means, gaps = (np.ascontiguousarray(part[:, picked]) for part in (self.means, self.gaps))
        return replace(self, means=means, gaps=gaps, loadings=self.loadings[picked], noise=self.noise[picked])

    def scale(self, factors: ArrayLike) -> FactorRows:
        """The laws of the rows with every column multiplied by its factor; they have as few factors as before."""
        factors = self._factors(factors)
        loadings, noise = self.loadings * factors[:, None], self.noise * factors**2
        return replace(self, means=self.means * factors, loadings=loadings, noise=noise)

    def draws(self, n_draws: int, random_state: Any = None) -> np.ndarray:
        """Complete rows drawn from the laws, by their factors: (n_draws, n_rows, n_features)."""
        random = check_random_state(random_state)
        roots = np.linalg.inv(np.linalg.cholesky(self.precision))[self.pattern]  # G^-1 = R'R
        factors = np.einsum("iab,nia->nib", roots, random.standard_normal((n_draws, *roots.shape[:2])))
        away = factors @ self.loadings.T
        away += np.sqrt(self.noise) * random.standard_normal(away.shape)
        return self.means + np.where(self.uncertain, away, 0.0)

    def atoms(self, n_atoms: int, method: str = "sobol", seed: int = 0) -> AtomRows:
        return self.dense.atoms(n_atoms, method, seed)

    def map(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> MappedRows:
        """The laws of ``matrix @ x + offset``, which are no longer diagonal and low rank."""
        return self.dense.map(matrix, offset)

    def same_factors(self, other: object) -> bool:
        """Whether another batch has the same factors, so that a pair of laws needs no more than those."""
        return isinstance(other, FactorRows) and (
            (self.loadings is other.loadings and self.noise is other.noise)
            or (np.array_equal(self.loadings, other.loadings) and np.array_equal(self.noise, other.noise))
        )

    def _block(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        columns = np.flatnonzero(self.gaps[k])
        loadings = self.loadings[columns]
        block = loadings @ np.linalg.solve(self.precision[k], loadings.T)
        block = 0.5 * (block + block.T)
        block[np.diag_indices(len(columns))] += self.noise[columns]
        return columns, block
