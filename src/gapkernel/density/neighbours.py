"""Values borrowed from similar rows, those of one row together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute.standardise import standard_of
from gapkernel.density.base import Density, rows_with_values, seed_of
from gapkernel.rows import AtomRows, Moments
from gapkernel.tables import Table


@dataclass(eq=False, repr=False)
class Neighbours(Density):
    """Gaps filled with values copied together from other rows, drawn by how near these are in what was observed.

    A donor weighs exp(-distance / (2 bandwidth)), the distance being the mean squared difference, in standard
    deviations, over the columns that both rows have (for a category 0 or 2), and the bandwidth its mean over the
    sqrt(n) nearest donors. Rows that have all the missing columns are donors; if there are none, those that have most
    of them, with column means, or most frequent levels, in place of the rest.

    Parameters
    ----------
    n_draws : int, default=50
        Donors drawn for each row with gaps.
    method : {"sobol", "random"}, default="sobol"
        Quasi-random or random draws. Either way those of a row depend on the row and ``random_state`` alone.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so; none; or their names, numbers or a mask.

    Attributes
    ----------
    donors_ : ndarray of shape (n_donors, n_features)
        The training rows, numbers or codes of categories, with means and most frequent levels in their gaps.
    schema_ : Schema
        What the columns hold.
    columns_ : ndarray of shape (n_features,)
        The column of the table that each column of the laws belongs to: itself.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Neighbours
    >>> X = np.array([[0.0, 1.0], [0.1, 1.2], [5.0, 9.0], [5.1, 9.3]])
    >>> Neighbours(random_state=0).fit(X).condition([[0.05, np.nan]]).means.round(1)
    array([[0. , 1.1]])
    """

    n_draws: int = 50
    _: KW_ONLY
    method: str = "sobol"
    random_state: Any = None
    categorical_features: Any = "from_dtype"

    _parameter_constraints: ClassVar[dict] = {
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"sobol", "random"})],
    }

    def _moments(self) -> Moments:
        """Mean and variance of each column over its observed values, as if columns were independent."""
        return Moments.independent(self._standard.location, self._standard.variances)

    def _fit(self, table: Table, sample_weight: ArrayLike | None) -> None:
        table, self._weight = rows_with_values(table, sample_weight)
        self._standard = standard_of(table.values, self._weight)
        self._weight = self._weight * (self._standard.count / self._weight.sum())  # shares of rows are weights, too
        self._seen = ~table.missing
        typical = self._standard.location.copy()
        for k in np.flatnonzero(table.schema.categorical & self._seen.any(axis=0)):
            seen = self._seen[:, k]
            typical[k] = np.bincount(table.values[seen, k].astype(np.int64), self._weight[seen]).argmax()
        self.donors_ = np.where(self._seen, table.values, typical)
        self._seed = seed_of(self.random_state)

    def _condition(self, table: Table) -> AtomRows:
        X, categorical = table.values, table.schema.categorical

        def fill(values: np.ndarray, starts: np.ndarray, cube: Callable[..., np.ndarray]) -> None:
            for i in np.flatnonzero(np.isnan(X).any(axis=1)):
                gaps = np.isnan(X[i])
                lacking = gaps.sum() - self._seen[:, gaps].sum(axis=1)
                donors = np.flatnonzero(lacking == lacking.min())
                share = self._shares(X[i], ~gaps, donors, categorical)
                place = np.searchsorted(np.cumsum(share), cube([i], 1)[0, :, 0])
                chosen = donors[np.minimum(place, len(donors) - 1)]
                values[starts[i] : starts[i + 1], gaps] = self.donors_[chosen][:, gaps]

        return AtomRows.drawn(X, fill, self.n_draws, self.method, self._seed)

    def _shares(self, row: np.ndarray, known: np.ndarray, donors: np.ndarray, categorical: np.ndarray) -> np.ndarray:
        """The probability of each donor, from the columns that are ``known``."""
        common = self._seen[donors][:, known]
        away = (self.donors_[donors][:, known] - row[known]) / self._standard.scale[known]
        squared = np.where(categorical[known], 2.0 * (away != 0), away**2)
        distance = (common * squared).sum(axis=1) / np.maximum(common.sum(axis=1), 1.0)
        weight, order = self._weight[donors], np.argsort(distance, kind="stable")
        before = np.cumsum(weight[order]) - weight[order]
        near = np.clip(max(1.0, np.floor(np.sqrt(weight.sum()))) - before, 0.0, weight[order])  # of sqrt(n) rows
        mean = np.average(distance, weights=weight)
        bandwidth = max(np.average(distance[order], weights=near), 1e-6 * mean) or 1.0
        share = weight * np.exp(-0.5 * (distance - distance[order[0]]) / bandwidth)
        return share / share.sum()
