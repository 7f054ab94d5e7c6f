"""Which density suits a table: by rule, or by how likely it makes rows that it has not seen."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gapkernel.density.factor_analysis import FactorAnalysis
from gapkernel.density.gaussian import Gaussian
from gapkernel.density.gaussian_mixture import GaussianMixture
from gapkernel.rows import FactorRows, GaussianRows, MixtureRows
from gapkernel.tables import numbers_of, read_table

MANY_COLUMNS = 64
"""Columns beyond which a full covariance is dear: every gap pattern costs their number cubed."""

ROWS_PER_COLUMN = 10
"""Rows for each column from which a full covariance is worth its price."""


def density_for(n_rows: int, n_columns: int) -> Gaussian | FactorAnalysis:
    """The density that ``density="auto"`` means for a table of numbers.

    `FactorAnalysis` for more than 64 columns with fewer than 10 rows for each of them, else one `Gaussian`: with so
    many columns and so few rows a full covariance is mostly noise, and it makes every kernel slow.
    """
    wide = n_columns > MANY_COLUMNS and n_rows < ROWS_PER_COLUMN * n_columns
    return FactorAnalysis() if wide else Gaussian()


class BestDensity(DensityMixin, BaseEstimator):
    """The density, of several, under which rows left out of the fit are most likely.

    Each candidate is fitted to the training rows of each split, and scored by the log density of what was observed of
    the others. The best one is fitted to all rows.

    Parameters
    ----------
    candidates : list of densities, default=None
        None is ``[Gaussian(), FactorAnalysis(), GaussianMixture(random_state=0)]``.
    cv : int, splitter or iterable of splits, default=3
        As in `sklearn.model_selection.cross_val_score`, but an int shuffles the rows, in the same way each time: their
        order says nothing. Rows of weight 0 belong to no split.

    Attributes
    ----------
    best_density_ : density
        The one chosen, fitted to all rows.
    best_index_ : int
        Its place among the candidates.
    scores_ : ndarray of shape (n_candidates, n_splits)
        Mean log densities of held-out rows.
    mean_, covariance_, variances_ : ndarray
        Those of the density chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import BestDensity
    >>> random = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0.0], [5.0, 9.0]], 40, axis=0) + random.standard_normal((80, 2))
    >>> BestDensity().fit(random.permutation(X)).best_density_
    GaussianMixture(random_state=0)
    """

    def __init__(self, candidates=None, *, cv=3):
        self.candidates = candidates
        self.cv = cv

    def fit(self, X, y=None, sample_weight=None) -> BestDensity:
        """Choose a density and fit it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks a gap.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for, in the fits and in the scores.

        Returns
        -------
        self : BestDensity
        """
        X = numbers_of(read_table(self, X, reset=True, categorical_features=None), self)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        candidates = [Gaussian(), FactorAnalysis(), GaussianMixture(random_state=0)]
        if self.candidates is not None:
            candidates = [clone(candidate) for candidate in self.candidates]
        if not candidates:
            raise ValueError("candidates is empty: give at least one density.")
        splits = _splits(self.cv, X, weight)
        scores = np.array([[_held_out(c, X, weight, *split) for split in splits] for c in candidates])
        self.scores_, self.best_index_ = scores, int(scores.mean(axis=1).argmax())
        self.best_density_ = clone(candidates[self.best_index_]).fit(X, sample_weight=sample_weight)
        self.mean_, self.variances_ = self.best_density_.mean_, self.best_density_.variances_
        self.covariance_ = self.best_density_.covariance_
        return self

    def condition(self, X) -> GaussianRows | FactorRows | MixtureRows:
        """The law of each row given what was observed of it, under the density chosen."""
        return self.best_density_.condition(self._checked(X))

    def score_samples(self, X) -> np.ndarray:
        """Log density of the observed part of each row (0 for a row with no value)."""
        return self.best_density_.score_samples(self._checked(X))

    def score(self, X, y=None) -> float:
        """Mean log density of the observed parts."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, X, n_draws: int = 1, random_state=None) -> np.ndarray:
        """Complete the rows of ``X`` by draws from their laws, (n_draws, n_samples, n_features)."""
        return self.best_density_.sample(self._checked(X), n_draws, random_state)

    @available_if(lambda self: hasattr(getattr(self, "best_density_", None), "cell_nodes"))
    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values and weights of a quadrature over the law of a missing cell of the one row of ``X``, where the density
        chosen has them."""
        return self.best_density_.cell_nodes(self._checked(X), column, n_nodes)

    def marginal(self, columns):
        """The density of some columns."""
        check_is_fitted(self, "best_density_")
        return self.best_density_.marginal(columns)

    def _checked(self, X) -> np.ndarray:
        check_is_fitted(self, "best_density_")
        return numbers_of(read_table(self, X, reset=False), self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _splits(cv, X: np.ndarray, weight: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each split, all of positive weight."""
    kept = np.flatnonzero(weight > 0)
    if cv is None or isinstance(cv, int | np.integer):
        cv = KFold(5 if cv is None else cv, shuffle=True, random_state=0)
    if hasattr(cv, "split"):
        return [(kept[train], kept[test]) for train, test in cv.split(X[kept])]
    splits = check_cv(cv).split(X)  # numbers among all rows
    return [(train[weight[train] > 0], test[weight[test] > 0]) for train, test in splits]


def _held_out(density, X: np.ndarray, weight: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """Mean log density of the test rows, in the same units for every candidate."""
    fitted = clone(density).fit(X[train], sample_weight=weight[train])
    return float(np.average(fitted.score_samples(X[test]), weights=weight[test]))
