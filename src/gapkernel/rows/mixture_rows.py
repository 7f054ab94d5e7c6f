"""Rows as mixtures of laws: several explanations of what is missing, each with its probability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from gapkernel.compute.draws import normal_draws
from gapkernel.rows.atom_rows import AtomRows
from gapkernel.rows.base import Indices, Rows, row_indices
from gapkernel.rows.gaussian_rows import GaussianRows


@dataclass(frozen=True, eq=False)
class MixtureRows(Rows):
    """An immutable batch of rows, each a weighted sum of Gaussian laws.

    Attributes
    ----------
    laws : tuple of GaussianRows
        The laws of all rows under each component; all of them have the same gaps.
    weights : ndarray of shape (n_rows, n_components)
        How likely each component is for each row; 0 where it was pruned.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import GaussianMixture
    >>> covariances = [np.eye(2), np.eye(2)]
    >>> density = GaussianMixture.from_parameters([0.5, 0.5], [[-1.0, -1.0], [1.0, 1.0]], covariances)
    >>> rows = density.condition([[0.0, np.nan]])
    >>> rows.weights, rows.means, rows.total_variance
    (array([[0.5, 0.5]]), array([[0., 0.]]), array([2.]))
    """

    laws: tuple[GaussianRows, ...]
    weights: np.ndarray

    kind: ClassVar[str] = "mixture"

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.laws[0].n_features

    @property
    def uncertain(self) -> np.ndarray:
        """True for the cells that are not known for certain."""
        return self.laws[0].uncertain

    @cached_property
    def means(self) -> np.ndarray:  # type: ignore[override]
        """The mean of each law, all components together."""
        means = np.einsum("ia,aid->id", self.weights, np.array([rows.means for rows in self.laws]))
        return np.where(self.uncertain, means, self.laws[0].means)

    @cached_property
    def total_variance(self) -> np.ndarray:  # type: ignore[override]
        """Trace of each law's covariance: within the components and between their means."""
        total = np.zeros(len(self))
        for weight, rows in self.components():
            total += weight * (rows.total_variance + np.sum((rows.means - self.means) ** 2, axis=1))
        return np.where(self.complete, 0.0, total)

    def components(self) -> tuple[tuple[np.ndarray, GaussianRows], ...]:
        return tuple(zip(self.weights.T, self.laws, strict=True))

    def covariance_of(self, i: int) -> np.ndarray:
        full = np.zeros((self.n_features, self.n_features))
        for weight, rows in self.components():
            away = np.where(self.uncertain[i], rows.means[i] - self.means[i], 0.0)
            full += weight[i] * (rows.covariance_of(i) + np.outer(away, away))
        return full

    def take(self, indices: Indices) -> MixtureRows:
        indices = row_indices(indices)
        return MixtureRows(tuple(rows.take(indices) for rows in self.laws), np.array(self.weights[indices]))

    def columns(self, indices: ArrayLike) -> MixtureRows:
        return MixtureRows(tuple(rows.columns(indices) for rows in self.laws), self.weights)

    def beside(self, values: ArrayLike) -> MixtureRows:
        return MixtureRows(tuple(rows.beside(values) for rows in self.laws), self.weights)

    def scale(self, factors: ArrayLike) -> MixtureRows:
        return MixtureRows(tuple(rows.scale(factors) for rows in self.laws), self.weights)

    def map(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> MixtureRows:
        return MixtureRows(tuple(rows.map(matrix, offset) for rows in self.laws), self.weights)

    def draws(self, n_draws: int, random_state: Any = None) -> np.ndarray:
        random = check_random_state(random_state)
        chosen = _component(self.weights, random.random((n_draws, len(self))))
        draws = np.repeat(self.means[None], n_draws, axis=0)
        for a, rows in enumerate(self.laws):
            if np.any(chosen == a):
                draws = np.where((chosen == a)[:, :, None], rows.draws(n_draws, random), draws)
        return draws

    def atoms(self, n_atoms: int, method: str = "sobol", seed: int = 0) -> AtomRows:
        """As for Gaussian rows; the first coordinate of a point chooses the component."""

        def fill(values: np.ndarray, starts: np.ndarray, cube: Callable[..., np.ndarray]) -> None:
            for a, rows in enumerate(self.laws):
                for members, columns, covariance in rows.by_pattern():
                    if len(columns):
                        points = cube(members, len(columns) + 1)
                        chosen = _component(self.weights[members], points[:, :, 0].T).T
                        row, atom = np.nonzero(chosen == a)
                        around = normal_draws(points[row, atom, 1:], covariance)
                        places = starts[members[row]] + atom
                        values[places[:, None], columns] = rows.means[np.ix_(members[row], columns)] + around

        return AtomRows.drawn(np.where(self.uncertain, np.nan, self.means), fill, n_atoms, method, seed, extra=1)


def _component(weights: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The component of each row, (n_draws, n_rows), at a ``share`` between 0 and 1 of its weights."""
    chosen = (share[:, :, None] > np.cumsum(weights, axis=1)).sum(axis=2)
    return np.minimum(chosen, weights.shape[1] - 1)  # weights may sum to a little less than 1
