"""Rows that also remember which of their values were missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.rows.gaussian import GaussianRows
from gapkernel.rows.marginal import MarginalRows


@dataclass(frozen=True, eq=False)
class MaskedRows:
    """An immutable batch of laws with the gaps that they came from.

    Attributes
    ----------
    rows : GaussianRows or MarginalRows
    missing : ndarray of shape (n_rows, n_columns), bool
        True where the table had a gap.
    """

    rows: GaussianRows | MarginalRows
    missing: np.ndarray

    def __post_init__(self) -> None:
        self.missing.flags.writeable = False

    def __setstate__(self, state) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def kind(self) -> str:
        """The kind of the laws."""
        return self.rows.kind

    @property
    def n_features(self) -> int:
        """Number of columns of the laws."""
        return self.rows.n_features

    @property
    def complete(self) -> np.ndarray:
        """True for rows without uncertainty."""
        return self.rows.complete

    def take(self, indices) -> MaskedRows:
        """The rows at ``indices`` (integers, a slice or a mask)."""
        return MaskedRows(self.rows.take(indices), self.missing[indices].copy())
