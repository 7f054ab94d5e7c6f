"""Rows whose gaps follow the law of their column, each independent of the rest of the row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.rows.column_law import Atoms, Law


@dataclass(frozen=True, eq=False)
class Feature:
    """What a fit learned about one column.

    Attributes
    ----------
    law : Law or None
        The law of a missing value; None if no value was ever seen.
    levels : tuple or None
        The levels of a category; None for numbers.
    ordered : bool
        Whether the levels have an order.
    low, high : float
        The smallest and largest number seen.
    label : str
        How a complaint names the column.
    """

    law: Law | None
    levels: tuple | None
    ordered: bool
    low: float
    high: float
    label: str

    @property
    def is_category(self) -> bool:
        """Whether the column holds categories."""
        return self.levels is not None

    @property
    def probabilities(self) -> np.ndarray:
        """How likely each level is in a gap; empty for a category that was never seen."""
        return self.law.probabilities if isinstance(self.law, Atoms) else np.empty(0)


@dataclass(frozen=True, eq=False)
class MarginalRows:
    """An immutable batch of rows, each the observed values and the columns' laws in the gaps.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features)
        Numbers, or the codes of categories; NaN in the gaps.
    features : tuple of Feature
        The columns, shared by all batches of one density.
    """

    values: np.ndarray
    features: tuple[Feature, ...]

    kind = "marginal"

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def __setstate__(self, state) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.values.shape[1]

    @property
    def complete(self) -> np.ndarray:
        """True for rows without gaps."""
        return ~np.isnan(self.values).any(axis=1)

    def take(self, indices) -> MarginalRows:
        """The rows at ``indices`` (integers, a slice or a mask)."""
        return MarginalRows(self.values[indices].copy(), self.features)

    def columns(self, indices) -> MarginalRows:
        """Some columns only."""
        indices = np.asarray(indices)
        return MarginalRows(self.values[:, indices].copy(), tuple(self.features[k] for k in indices))
