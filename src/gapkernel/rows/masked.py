"""Rows that also remember which of their values were missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapkernel.rows.base import Rows, row_indices
from gapkernel.rows.gaussian import GaussianRows


@dataclass(frozen=True, eq=False)
class MaskedRows(Rows):
    """An immutable batch of laws with the gaps that they came from. As laws they are those inside.

    Attributes
    ----------
    rows : Rows
        The laws.
    missing : ndarray of shape (n_rows, n_columns), bool
        True where the table had a gap.
    """

    rows: Rows
    missing: np.ndarray

    _held: ClassVar[dict] = {"rows": (Rows, "n"), "missing": "bool n m"}

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The kind of the laws."""
        return self.rows.kind

    @property
    def n_features(self) -> int:
        """Number of columns of the laws."""
        return self.rows.n_features

    @property
    def means(self) -> np.ndarray:  # type: ignore[override]
        """The means of the laws."""
        return self.rows.means

    @property
    def total_variance(self) -> np.ndarray:  # type: ignore[override]
        """Trace of each law's covariance."""
        return self.rows.total_variance

    @property
    def uncertain(self) -> np.ndarray:
        """True for the cells that are not known for certain."""
        return self.rows.uncertain

    @property
    def unmasked(self) -> Rows:
        """The laws alone."""
        return self.rows

    @property
    def dense(self) -> GaussianRows:
        """The laws as `GaussianRows`."""
        return self.rows.dense

    def mask(self) -> np.ndarray:
        """True where the table had a gap."""
        return self.missing

    def take(self, indices) -> MaskedRows:
        indices = row_indices(indices)
        return MaskedRows(self.rows.take(indices), np.array(self.missing[indices]))

    def columns(self, indices) -> MaskedRows:
        """Some columns of the laws; the record of what was missing stays whole."""
        return MaskedRows(self.rows.columns(indices), self.missing)

    def beside(self, values) -> MaskedRows:
        return MaskedRows(self.rows.beside(values), self.missing)

    def tilted(self, column: int, shift: np.ndarray) -> MaskedRows:
        return MaskedRows(self.rows.tilted(column, shift), self.missing)

    def scale(self, factors) -> MaskedRows:
        return MaskedRows(self.rows.scale(factors), self.missing)

    def map(self, matrix, offset=0.0) -> MaskedRows:
        return MaskedRows(self.rows.map(matrix, offset), self.missing)

    def draws(self, n_draws: int, random_state=None) -> np.ndarray:
        return self.rows.draws(n_draws, random_state)

    def atoms(self, n_atoms: int, method: str = "sobol", seed: int = 0) -> MaskedRows:
        return MaskedRows(self.rows.atoms(n_atoms, method, seed), self.missing)

    def cell_nodes(self, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        return self.rows.cell_nodes(column, n_nodes)

    def components(self) -> tuple[tuple[np.ndarray, Rows], ...]:
        return self.rows.components()

    def quadratic(self, directions) -> np.ndarray:
        return self.rows.quadratic(directions)

    def covariance_of(self, i: int) -> np.ndarray:
        return self.rows.covariance_of(i)

    def by_pattern(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        return self.rows.by_pattern()
