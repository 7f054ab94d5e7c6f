"""Rows as mixtures of laws: several explanations of what is missing, each with its probability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gapkernel.rows.gaussian import GaussianRows, _flatten


@dataclass(frozen=True, eq=False)
class MixtureRows:
    """An immutable batch of rows, each a weighted sum of Gaussian laws.

    Attributes
    ----------
    components : tuple of GaussianRows
        The laws of all rows under each component.
    weights : ndarray of shape (n_rows, n_components)
        How likely each component is for each row; 0 where it was pruned.
    """

    components: tuple[GaussianRows, ...]
    weights: np.ndarray

    kind = "mixture"

    def __post_init__(self) -> None:
        self.weights.flags.writeable = False

    def __setstate__(self, state) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.components[0].n_features

    @property
    def complete(self) -> np.ndarray:
        """True for rows without uncertainty."""
        return self.components[0].complete

    @cached_property
    def means(self) -> np.ndarray:
        """The mean of each law, all components together."""
        means = np.einsum("ia,aid->id", self.weights, np.array([rows.means for rows in self.components]))
        return np.where(self._certain, self.components[0].means, means)

    @cached_property
    def total_variance(self) -> np.ndarray:
        """Trace of each row's covariance: within the components and between their means."""
        total = np.zeros(len(self))
        for weight, rows in zip(self.weights.T, self.components, strict=True):
            total += weight * (rows.total_variance + np.sum((rows.means - self.means) ** 2, axis=1))
        return np.where(self.complete, 0.0, total)

    @cached_property
    def flat(self) -> tuple[GaussianRows, np.ndarray, np.ndarray]:
        """All components of positive weight as one batch, sorted by row; the row and the log weight of each."""
        owner, component = np.nonzero(self.weights)
        sizes = np.array([len(rows.gaps) for rows in self.components])
        offset = np.concatenate([[0], np.cumsum(sizes)])
        means = np.array([rows.means for rows in self.components])[component, owner]
        law = np.array([rows.law + offset[a] for a, rows in enumerate(self.components)])[component, owner]
        gaps = np.concatenate([rows.gaps for rows in self.components])
        batch = GaussianRows(means, law, gaps, _flatten(rows.covariance for rows in self.components))
        return batch, owner, np.log(self.weights[owner, component])

    def take(self, indices) -> MixtureRows:
        """The rows at ``indices`` (integers, a slice or a mask)."""
        if not isinstance(indices, slice):
            indices = np.atleast_1d(indices) if np.size(indices) else np.empty(0, np.int64)
        return MixtureRows(tuple(rows.take(indices) for rows in self.components), np.array(self.weights[indices]))

    def columns(self, indices) -> MixtureRows:
        """The marginal laws on some columns."""
        return MixtureRows(tuple(rows.columns(indices) for rows in self.components), self.weights)

    def map(self, matrix, offset=0.0) -> MixtureRows:
        """The laws of ``matrix @ x + offset``."""
        return MixtureRows(tuple(rows.map(matrix, offset) for rows in self.components), self.weights)

    @property
    def _certain(self) -> np.ndarray:
        return ~self.components[0].gaps[self.components[0].law]
