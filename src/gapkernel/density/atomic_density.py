"""Any density with its laws replaced by finitely many weighted points: integrals over gaps become sums."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute.runtime.config import get_config
from gapkernel.density.base import Density, seed_of
from gapkernel.density.gaussian import Gaussian
from gapkernel.density.joint_gaussian import JointGaussian
from gapkernel.density.marginals import Marginals
from gapkernel.density.neighbours import Neighbours
from gapkernel.rows import AtomRows, Moments
from gapkernel.tables import Table

MOST_LISTED = 4096
"""Most completions of one row that may be listed."""

MEANS_BYTES = 64 << 20
"""Size of the completions that are held at a time where only their means are used."""


@dataclass(eq=False, repr=False)
class AtomicDensity(Density):
    """A density whose law of a row is a few complete rows with weights, drawn from or listed by another density.

    The completions are vectors that any kernel on complete rows can compare: numbers as they are, and categories as
    one-hot codes (those of `Table.one_hot`). Those of a row depend on the row and ``random_state`` alone.

    Parameters
    ----------
    density : Density, default=None
        Where the laws come from; None is `Gaussian` for numbers and `JointGaussian` where there are categories.
    n_atoms : int, default=50
        Completions of each row with gaps; with method="exact" the most that may be listed.
    method : {"sobol", "random", "exact"}, default="sobol"
        Quasi-random draws, random draws, or all values that the laws have, with their probabilities. `Neighbours` draws
        by its own parameters.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so; none; or their names, numbers or a mask.

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
    >>> from gapkernel.density import AtomicDensity, Marginals
    >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [1.0, np.nan]])
    >>> density = AtomicDensity(Marginals(numeric="levels"), n_atoms=10, method="exact").fit(X)
    >>> density.condition([[0.5, np.nan]]).values
    array([[0.5, 1. ],
           [0.5, 2. ]])
    """

    density: Density | None = None
    _: KW_ONLY
    n_atoms: int = 50
    method: str = "sobol"
    random_state: Any = None
    categorical_features: Any = "from_dtype"

    _parameter_constraints: ClassVar[dict] = {
        "density": [Density, None],
        "n_atoms": [Interval(Integral, 1, None, closed="left")],
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
            return np.where(table.missing.any(axis=1), self.n_atoms, 1)
        try:
            return self.density_.condition(table).listed_counts(self.n_atoms)
        except ValueError as error:
            raise ValueError(
                f"{error} Draw them instead: completions='density', 'uniform' or 'empirical', or method='sobol'."
            ) from error

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

    def _fit(self, table: Table, sample_weight) -> None:
        density = self.density
        if density is None:
            density = JointGaussian() if table.schema.categorical.any() else Gaussian()
        if self.method == "exact" and not isinstance(density, Marginals):
            raise ValueError(f"method='exact' lists the values of density.Marginals, got density={density!r}.")
        self._seed = seed_of(self.random_state)
        self.density_ = clone(density).fit(table, sample_weight=sample_weight)

    def _condition(self, table: Table) -> AtomRows:
        rows = self.density_.condition(table).atoms(self.n_atoms, self.method, self._seed)
        return AtomRows(self.density_.vectors(rows.values), rows.log_weight, rows.counts)

    @property
    def has_log_density(self) -> bool:
        """Whether the density inside has `score_samples`."""
        return self.density is None or self.density.has_log_density

    def _log_density(self, table: Table) -> np.ndarray:
        return self.density_.score_samples(table)


def base_measure(
    word: str, density="auto", n_atoms: int = 50, method: str = "sobol", random_state=None
) -> AtomicDensity:
    """The density that a word for a base measure of the gaps names.

    Parameters
    ----------
    word : {"density", "uniform", "empirical", "exact"}
        Draws from a density; from the box that the observed values of each column span, every level of a category
        alike; from similar rows; or every combination of the values that the missing columns have shown.
    density : "auto" or Density, default="auto"
        Of "density"; "auto" is `Gaussian` for numbers and `JointGaussian` where there are categories.
    n_atoms : int, default=50
        Completions of each row with gaps; "exact" lists all, up to 4,096.
    method : {"sobol", "random"}, default="sobol"
        Quasi-random or random draws.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    density : AtomicDensity
        Not fitted yet.

    Examples
    --------
    >>> from gapkernel.density import base_measure
    >>> base_measure("exact").fit([[0.0, 1.0], [1.0, None]]).condition([[None, 1.0]]).values
    array([[0., 1.],
           [1., 1.]])
    """
    options = {"n_atoms": n_atoms, "method": method, "random_state": random_state}
    if word == "uniform":
        return AtomicDensity(Marginals(numeric="uniform", categorical="uniform"), **options)
    if word == "empirical":
        return AtomicDensity(Neighbours(n_atoms, method=method, random_state=random_state), **options)
    if word == "exact":
        options |= {"n_atoms": MOST_LISTED, "method": "exact"}
        return AtomicDensity(Marginals(numeric="levels", categorical="uniform"), **options)
    return AtomicDensity(None if isinstance(density, str) else density, **options)


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
