"""Which density suits a table: the one that "auto" means, or the one under which rows left out are likely."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state

from gapkernel.density.base import Density, rows_with_values
from gapkernel.density.factor_analysis import FactorAnalysis
from gapkernel.density.gaussian import Gaussian
from gapkernel.density.gaussian_mixture import GaussianMixture
from gapkernel.density.joint_gaussian import JointGaussian
from gapkernel.density.marginals import Marginals
from gapkernel.density.neighbours import Neighbours
from gapkernel.rows import Moments, Rows
from gapkernel.tables import Schema, Table, Tilt, read_splits, read_weights

EXPENSIVE = 1e9
"""Operations of one pass of EM beyond which a full covariance is slow: every row may have a gap pattern of its own,
which costs the number of columns cubed."""

ROWS_PER_COLUMN = 10
"""Rows for each column from which a full covariance is estimated well enough for what it costs."""


class ComparesLaws(Protocol):
    """What a density must know of a kernel: which kinds of rows it compares."""

    def compares(self, kind: str) -> bool:
        """Whether the kernel compares rows of this kind."""


def density_for(n_rows: int, n_columns: int) -> Gaussian | FactorAnalysis:
    """The density that ``density="auto"`` means for a table of numbers.

    One `Gaussian`, unless a pass of its EM over ``n_rows`` gap patterns would take more than 1e9 operations and there
    are fewer than 10 rows for each column. Then a full covariance is slow and mostly noise, and it is `FactorAnalysis`.

    Parameters
    ----------
    n_rows, n_columns : int
        The size of the table.

    Returns
    -------
    density : Gaussian or FactorAnalysis
        Not fitted yet.

    Examples
    --------
    >>> from gapkernel.density import density_for
    >>> density_for(500, 20), density_for(200, 300)
    (Gaussian(), FactorAnalysis())
    """
    wide = n_rows * n_columns**3 > EXPENSIVE and n_rows < ROWS_PER_COLUMN * n_columns
    return FactorAnalysis() if wide else Gaussian()


def make_density(density: object, kernel: ComparesLaws, schema: Schema, n_rows: int) -> Density:
    """A density that is not fitted yet, from "auto" or from a density, of which a clone is made.

    "auto" is `Marginals` for a kernel that compares column by column, `JointGaussian` for a table with categories, and
    `density_for` for numbers.

    Parameters
    ----------
    density : "auto" or Density
        What the caller asked for.
    kernel : Kernel
        What will compare the laws.
    schema : Schema
        What the columns of the table hold.
    n_rows : int
        Rows of the table.

    Returns
    -------
    density : Density

    Examples
    --------
    >>> from gapkernel.density import FactorAnalysis, Gaussian, make_density
    >>> from gapkernel.kernels import GenRBF, HeterogeneousKernel
    >>> schema = Gaussian().fit([[0.0, 1.0], [1.0, None], [2.0, 0.5]]).schema_
    >>> make_density("auto", GenRBF(), schema, 3), make_density("auto", HeterogeneousKernel(), schema, 3)
    (Gaussian(), Marginals())
    >>> make_density(FactorAnalysis(2), GenRBF(), schema, 3)
    FactorAnalysis(n_components=2)
    """
    if isinstance(density, Density):
        return clone(density)
    if not isinstance(density, str) or density != "auto":
        raise ValueError(f"density must be 'auto' or a density such as gapkernel.density.Gaussian(), got {density!r}.")
    if not kernel.compares("gaussian"):
        return Marginals() if kernel.compares("marginal") else Neighbours()
    return JointGaussian() if schema.categorical.any() else density_for(n_rows, len(schema.levels))


@dataclass(eq=False, repr=False)
class BestDensity(Density):
    """The density, of several, under which rows left out of the fit are most likely.

    Each candidate is fitted to the training rows of each split, and scored by the log density of what was observed of
    the others. The best one is fitted to all rows.

    Parameters
    ----------
    candidates : list of densities, default=None
        By default ``[Gaussian(), FactorAnalysis(), GaussianMixture()]`` for numbers, and `JointGaussian` where there
        are categories. Log densities must be comparable: `JointGaussian` scores one-hot codes, `Marginals` levels.
    cv : int, splitter or iterable of splits, default=3
        An int is the number of folds over shuffled rows, and None means 5. Also a splitter such as
        `sklearn.model_selection.KFold`, or pairs of training and test rows. Rows of weight 0 belong to no split.
    random_state : int, RandomState or None, default=None
        Shuffles the rows, and seeds the mixture among the default candidates.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so; none; or their names, numbers or a mask.

    Attributes
    ----------
    best_density_ : Density
        The one chosen, fitted to all rows.
    best_index_ : int
        Its place among the candidates.
    scores_ : ndarray of shape (n_candidates, n_splits)
        Mean log densities of held-out rows.
    schema_ : Schema
        What the columns hold.
    columns_ : ndarray
        The column of the table that each column of the laws belongs to.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import BestDensity
    >>> random = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0.0], [5.0, 9.0]], 40, axis=0) + random.standard_normal((80, 2))
    >>> type(BestDensity(random_state=0).fit(random.permutation(X)).best_density_).__name__
    'GaussianMixture'
    """

    candidates: Any = None
    _: KW_ONLY
    cv: Any = 3
    random_state: Any = None
    categorical_features: Any = "from_dtype"

    _parameter_constraints: ClassVar[dict] = {"candidates": [list, tuple, None], "cv": ["cv_object"]}

    def _moments(self) -> Moments:
        return self.best_density_.moments()

    def cell_nodes(self, X: Any, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values in the units of the table, and weights, of a quadrature over a missing cell of a single row."""
        return self.best_density_.cell_nodes(self._read(X), column, n_nodes)

    def tilted(self, rows: Rows, tilt: Tilt) -> Rows:
        return self.best_density_.tilted(rows, tilt)

    @property
    def columns_(self) -> np.ndarray:
        """The column of the table that each column of the laws belongs to."""
        return self.best_density_.columns_

    def vectors(self, values: np.ndarray) -> np.ndarray:
        """Points of the laws as vectors, by the density chosen."""
        return self.best_density_.vectors(values)

    def _fit(self, table: Table, sample_weight: ArrayLike | None) -> None:
        rows_with_values(table, sample_weight)  # which refuses a table without any value
        weight = read_weights(sample_weight, table)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        candidates = self._candidates(table, seed)
        splits = _splits(self.cv, table, weight, seed)
        scores = np.array([[_held_out(c, table, weight, *split) for split in splits] for c in candidates])
        self.scores_, self.best_index_ = scores, int(scores.mean(axis=1).argmax())
        self.best_density_ = clone(candidates[self.best_index_]).fit(table, sample_weight=sample_weight)

    def _condition(self, table: Table) -> Rows:
        return self.best_density_.condition(table)

    def _log_density(self, table: Table) -> np.ndarray:
        return self.best_density_.score_samples(table)

    def _candidates(self, table: Table, seed: int) -> list[Density]:
        if self.candidates is None:
            if table.schema.categorical.any():
                return [JointGaussian()]
            return [Gaussian(), FactorAnalysis(), GaussianMixture(random_state=seed)]
        if not self.candidates or not all(isinstance(candidate, Density) for candidate in self.candidates):
            raise ValueError(
                f"candidates must hold at least one density, such as gapkernel.density.Gaussian(), and nothing else; "
                f"got {self.candidates!r}."
            )
        for candidate in self.candidates:
            if not candidate.has_log_density:
                raise ValueError(
                    f"candidates: {candidate!r} has no log density, by which densities are compared. Leave it out."
                )
        return [clone(candidate) for candidate in self.candidates]


def _splits(cv: Any, table: Table, weight: np.ndarray, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each split, all of positive weight."""
    kept = np.flatnonzero(weight > 0)
    if cv is None or isinstance(cv, Integral):
        cv = KFold(cv or 5, shuffle=True, random_state=seed)
    if isinstance(cv, Iterable):  # of rows among all
        splits = read_splits(cv, len(weight))
        return [(train[weight[train] > 0], test[weight[test] > 0]) for train, test in splits]
    return [(kept[train], kept[test]) for train, test in check_cv(cv).split(table.values[kept])]


def _held_out(density: Density, table: Table, weight: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """Mean log density of the test rows, in the same units for every candidate."""
    fitted = clone(density).fit(table[train], sample_weight=weight[train])
    return float(np.average(fitted.score_samples(table[test]), weights=weight[test]))
