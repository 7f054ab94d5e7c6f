"""Laws of gaps replaced by a few weighted complete rows, so that integrals over gaps become sums."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute import get_config
from gapkernel.density import Density, Gaussian, JointGaussian, Marginals, Neighbours, seed_of
from gapkernel.rows import AtomRows, MarginalRows, Moments
from gapkernel.tables import Table

DRAWN, MOST_LISTED = 50, 4096
"""Completions of a row where the caller names no number: so many are drawn, and at most so many are listed."""

MEANS_BYTES = 64 << 20
"""Size of the completions that are held at a time where only their means are used."""


@dataclass(eq=False, repr=False)
class AtomicDensity(Density):
    """A density whose law of a row is a few complete rows with weights, drawn from or listed by another density.

    The completions are vectors that any kernel on complete rows can compare: numbers as they are, and categories as
    one-hot codes (those of `Table.one_hot`). Those of a row depend on the row and ``random_state`` alone.

    Parameters
    ----------
    density : {"auto", "uniform", "levels", "neighbours"} or Density, default="auto"
        Where completions come from. "auto": the law of the gaps given the observed values, by `density.Gaussian`, or by
        `density.JointGaussian` where there are categories. "uniform": the box that the observed values of each column
        span, and all levels of a category alike; the paper's. "levels": the values that each column has shown, all
        alike. "neighbours": values copied together from similar rows, by `density.Neighbours`. Or any density.
    n_atoms : int, default=None
        Completions of each row with gaps; with method="exact" the most that a row may have. None is 50, or 4096 with
        "exact". With "sobol" prefer powers of two.
    method : {"sobol", "random", "exact"}, default="sobol"
        Quasi-random draws, random draws, or all values that the laws have, with their probabilities ("levels" or
        `density.Marginals` only). A `density.Neighbours` object draws by its own parameters.
    random_state : int, RandomState or None, default=None
        Seed of the draws. Where it is None, `CCCPClassifier` gives a seed of its own.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so; none; or their names, numbers or a mask.
        `CCCPClassifier` has this parameter itself.

    Attributes
    ----------
    density_ : Density
        The fitted density.
    schema_ : Schema
        What the columns hold.
    columns_ : ndarray
        The column of the table that each column of the completions belongs to.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.papers.missing_variables import AtomicDensity
    >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [1.0, np.nan]])
    >>> AtomicDensity("levels", method="exact").fit(X).condition([[0.5, np.nan]]).values
    array([[0.5, 1. ],
           [0.5, 2. ]])
    """

    density: str | Density = "auto"
    _: KW_ONLY
    n_atoms: int | None = None
    method: str = "sobol"
    random_state: Any = None
    categorical_features: Any = "from_dtype"

    _parameter_constraints: ClassVar[dict] = {
        "density": [StrOptions({"auto", "uniform", "levels", "neighbours"}), Density],
        "n_atoms": [Interval(Integral, 1, None, closed="left"), None],
        "method": [StrOptions({"sobol", "random", "exact"})],
    }

    def _moments(self) -> Moments:
        return self.density_.moments()

    @property
    def columns_(self) -> np.ndarray:
        """The column of the table that each column of the completions belongs to."""
        return self.schema_.code_columns

    def counts(self, X) -> np.ndarray:
        """How many completions each row has, without making them.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        counts : ndarray of shape (n_samples,)
        """
        table = self._read(X)
        if self.method != "exact":
            return np.where(table.missing.any(axis=1), self._size, 1)
        try:
            return cast(MarginalRows, self.density_.condition(table)).listed_counts(self._size)
        except ValueError as error:
            raise ValueError(f"{error} Draw them instead: AtomicDensity(method='sobol').") from error

    def means(self, X) -> np.ndarray:
        """The mean of each row's completions, a block of rows at a time.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        means : ndarray of shape (n_samples, n_codes)
        """
        table = self._read(X)
        width = len(self.columns_)
        most = min(MEANS_BYTES, get_config().memory_budget) // (8 * max(width, 1))
        exact = not self.schema_.categorical.any() and len(self.density_.columns_) == width
        means = np.empty((len(table), width))
        for rows in row_blocks(np.maximum(self.counts(table), width), most):
            laws = self.density_.condition(table[rows]) if exact else self._condition(table[rows])
            means[rows] = laws.means
        return means

    def vectors(self, values: np.ndarray) -> np.ndarray:
        """Completions as vectors, which they are."""
        return values

    @property
    def _size(self) -> int:
        return self.n_atoms or (MOST_LISTED if self.method == "exact" else DRAWN)

    def _fit(self, table: Table, sample_weight) -> None:
        self._seed = seed_of(self.random_state)
        density = self._density_for(table)
        if self.method == "exact" and not isinstance(density, Marginals):
            raise ValueError(f"method='exact' lists the values of density.Marginals, got density={density!r}.")
        self.density_ = density.fit(table, sample_weight=sample_weight)

    def _density_for(self, table: Table) -> Density:
        if self.density == "auto":
            return JointGaussian() if table.schema.categorical.any() else Gaussian()
        if self.density == "neighbours":
            return Neighbours(self._size, method=self.method, random_state=self._seed)
        if isinstance(self.density, str):
            return Marginals(numeric=self.density, categorical="uniform")
        return clone(self.density)

    def _condition(self, table: Table) -> AtomRows:
        rows = cast(AtomRows, self.density_.condition(table).atoms(self._size, self.method, self._seed))
        return AtomRows(self.density_.vectors(rows.values), rows.log_weight, rows.counts)


def row_blocks(counts: np.ndarray, most: int) -> list[slice]:
    """Runs of rows with at most ``most`` completions together, but at least one row."""
    slices, begin, total = [], 0, 0
    for i, count in enumerate(counts):
        if i > begin and total + count > most:
            slices.append(slice(begin, i))
            begin, total = i, 0
        total += int(count)
    if len(counts):
        slices.append(slice(begin, len(counts)))
    return slices
