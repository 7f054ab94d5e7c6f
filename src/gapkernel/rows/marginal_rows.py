"""Rows whose gaps follow the law of their column, each independent of the rest of the row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from gapkernel.compute.linalg.covariance_blocks import starts_of
from gapkernel.rows.atom_rows import AtomRows
from gapkernel.rows.base import Indices, Rows, UnsupportedLaws, row_indices
from gapkernel.rows.column_law import ZERO, Atoms, Law


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
        The name of the column in messages.

    Examples
    --------
    >>> from gapkernel.density import Marginals
    >>> feature = Marginals().fit([[1.0], [2.0], [2.0]]).condition([[None]]).features[0]
    >>> feature.is_category, feature.low, feature.high
    (False, 1.0, 2.0)
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
        """How likely each level is in a gap; a category that was never seen counts as one level."""
        return self.law.probabilities if isinstance(self.law, Atoms) else np.ones(1)


@dataclass(frozen=True, eq=False)
class MarginalRows(Rows):
    """An immutable batch of rows, each the observed values and the columns' laws in the gaps.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features)
        Numbers, or the codes of categories; NaN in the gaps.
    features : tuple of Feature
        The columns, shared by all batches of one density.

    Examples
    --------
    >>> from gapkernel.density import Marginals
    >>> density = Marginals(numeric="empirical").fit([[1.0, 0.0], [3.0, 4.0]])
    >>> rows = density.condition([[None, 4.0]])
    >>> rows.means, rows.total_variance
    (array([[2., 4.]]), array([1.]))
    """

    values: np.ndarray
    features: tuple[Feature, ...]

    kind: ClassVar[str] = "marginal"

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.values.shape[1]

    @property
    def uncertain(self) -> np.ndarray:
        """True for the cells that are not known for certain."""
        return np.isnan(self.values)

    @cached_property
    def means(self) -> np.ndarray:  # type: ignore[override]
        """The values, with the means of the laws in the gaps; for numbers only."""
        return np.where(self.uncertain, self._numbers("mean"), self.values)

    @cached_property
    def total_variance(self) -> np.ndarray:  # type: ignore[override]
        """Trace of each law's covariance; for numbers only."""
        return self.uncertain @ self._numbers("variance")

    def covariance_of(self, i: int) -> np.ndarray:
        return np.diag(self.uncertain[i] * self._numbers("variance"))

    def take(self, indices: Indices) -> MarginalRows:
        return MarginalRows(np.array(self.values[row_indices(indices)]), self.features)

    def columns(self, indices: ArrayLike) -> MarginalRows:
        indices = np.asarray(indices)
        return MarginalRows(self.values[:, indices].copy(), tuple(self.features[k] for k in indices))

    def draws(self, n_draws: int, random_state: Any = None) -> np.ndarray:
        """Complete rows drawn from the laws; categories are codes, and a column that was never seen stays NaN."""
        random = check_random_state(random_state)
        draws = np.repeat(self.values[None], n_draws, axis=0)
        for k, feature in enumerate(self.features):
            gaps = np.isnan(draws[:, :, k])
            if feature.law is not None and gaps.any():
                draws[:, :, k][gaps] = feature.law.ppf(random.random(int(gaps.sum())))
        return draws

    def atoms(self, n_atoms: int, method: str = "sobol", seed: int = 0) -> AtomRows:
        """The laws as points; categories are codes, and 0 is the only value of a column that was never seen."""
        if method == "exact":
            return self._listed(n_atoms)

        def fill(values: np.ndarray, starts: np.ndarray, cube: Callable[..., np.ndarray]) -> None:
            for i in np.flatnonzero(~self.complete):
                gaps = np.flatnonzero(self.uncertain[i])
                values[starts[i] : starts[i + 1], gaps] = cube([i], len(gaps))[0]
            uncertain = np.repeat(self.uncertain, np.diff(starts), axis=0)
            for k in range(self.n_features):  # the law of a column, once for all rows
                values[uncertain[:, k], k] = self._law(k).ppf(values[uncertain[:, k], k])

        return AtomRows.drawn(self.values, fill, n_atoms, method, seed)

    def cell_nodes(self, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        return self._law(column).nodes(n_nodes)

    def with_uniform_levels(self) -> MarginalRows:
        """The same rows with all levels of a category equally likely in a gap."""
        features = []
        for feature in self.features:
            levels = np.arange(float(max(1, len(feature.levels)))) if feature.levels is not None else None
            law = feature.law if levels is None else Atoms(levels, np.full(len(levels), 1.0 / len(levels)))
            features.append(replace(feature, law=law))
        return MarginalRows(self.values, tuple(features))

    def listed_counts(self, most: int) -> np.ndarray:
        """How many complete rows ``atoms(most, "exact")`` lists for each row; more than ``most`` are refused."""
        exact = np.array([self._law(k).exact for k in range(self.n_features)])
        endless = np.flatnonzero(self.uncertain.any(axis=0) & ~exact)
        if len(endless):
            raise UnsupportedLaws(
                f"The law of column {self.features[endless[0]].label} has infinitely many values, which cannot be "
                f"listed. Use Marginals(numeric='empirical')."
            )
        sizes = [len(self._law(k).nodes(0)[0]) if exact[k] else 1 for k in range(self.n_features)]
        logs = self.uncertain @ np.log(sizes)
        worst = int(logs.argmax()) if len(logs) else 0
        if len(logs) and logs[worst] > np.log(most) + 1e-9:
            raise ValueError(
                f"Row {worst}, which has {int(self.uncertain[worst].sum())} gaps, has {np.exp(logs[worst]):.3g} exact "
                f"completions; at most {most} are allowed."
            )
        return np.rint(np.exp(logs)).astype(np.int64)

    def _listed(self, most: int) -> AtomRows:
        """Every combination of the values in the gaps, with its probability; those without any are left out."""
        counts = self.listed_counts(most)
        values, chances = np.repeat(self.values, counts, axis=0), np.ones(counts.sum())
        for i, begin in enumerate(starts_of(counts)[:-1]):
            mine, gaps = slice(begin, begin + counts[i]), np.flatnonzero(self.uncertain[i]).tolist()
            if len(gaps):
                nodes, weights = zip(*(self._law(k).nodes(0) for k in gaps), strict=True)
                values[mine, gaps] = list(product(*nodes))
                chances[mine] = np.prod(list(product(*weights)), axis=1)
        likely, owner = chances > 0, np.repeat(np.arange(len(self)), counts)
        return AtomRows(values[likely], np.log(chances[likely]), np.bincount(owner[likely], minlength=len(self)))

    def _law(self, column: int) -> Law:
        return self.features[column].law or ZERO

    def _numbers(self, what: str) -> np.ndarray:
        """The mean or variance of each column's law."""
        categories = [feature.label for feature in self.features if feature.is_category]
        if categories:
            raise UnsupportedLaws(
                f"Column {categories[0]} holds categories, which have no mean. Use density='auto' or "
                f"density.JointGaussian(), which codes them as numbers, or kernel 'ehk'."
            )
        return np.array([getattr(self._law(k), what) for k in range(self.n_features)])
