"""Rows that also remember which of their values were missing."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gapkernel.rows.base import Indices, Rows, row_indices


def _inside(name: str) -> Any:
    """What the laws inside have or do by this name."""
    return property(attrgetter(f"rows.{name}"), doc=f"`{name}` of the laws inside.")


@dataclass(frozen=True, eq=False)
class MaskedRows(Rows):
    """An immutable batch of laws with the gaps that they came from. As laws they are those inside.

    Attributes
    ----------
    rows : Rows
        The laws.
    missing : ndarray of shape (n_rows, n_columns), bool
        True where the table had a gap.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.rows import GaussianRows, MaskedRows
    >>> rows = MaskedRows(GaussianRows.certain([[1.0, 7.0]]), np.array([[False, True]]))
    >>> rows.uncertain, rows.mask()  # the second cell was missing in the table, and is known for certain
    (array([[False, False]]), array([[False,  True]]))
    """

    rows: Rows
    missing: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    kind = _inside("kind")
    n_features = _inside("n_features")
    means = _inside("means")
    total_variance = _inside("total_variance")
    uncertain = _inside("uncertain")
    dense = _inside("dense")
    draws = _inside("draws")
    cell_nodes = _inside("cell_nodes")
    components = _inside("components")
    quadratic = _inside("quadratic")
    covariance_of = _inside("covariance_of")
    by_pattern = _inside("by_pattern")

    @property
    def unmasked(self) -> Rows:
        """The laws alone."""
        return self.rows

    def mask(self) -> np.ndarray:
        """True where the table had a gap."""
        return self.missing

    def take(self, indices: Indices) -> MaskedRows:
        indices = row_indices(indices)
        return MaskedRows(self.rows.take(indices), np.array(self.missing[indices]))

    def columns(self, indices: ArrayLike) -> MaskedRows:
        """Some columns of the laws; the record of what was missing stays whole."""
        return MaskedRows(self.rows.columns(indices), self.missing)

    def beside(self, values: ArrayLike) -> MaskedRows:
        return MaskedRows(self.rows.beside(values), self.missing)

    def tilted(self, column: int, shift: np.ndarray) -> MaskedRows:
        return MaskedRows(self.rows.tilted(column, shift), self.missing)

    def scale(self, factors: ArrayLike) -> MaskedRows:
        return MaskedRows(self.rows.scale(factors), self.missing)

    def map(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> MaskedRows:
        return MaskedRows(self.rows.map(matrix, offset), self.missing)

    def atoms(self, n_atoms: int, method: str = "sobol", seed: int = 0) -> MaskedRows:
        return MaskedRows(self.rows.atoms(n_atoms, method, seed), self.missing)
