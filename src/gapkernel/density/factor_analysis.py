"""Factor analysis: a Gaussian of few factors and independent noise, for tables with many columns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.standardise import Standard
from gapkernel.density.em.climb import Ascent
from gapkernel.density.em.factor_em import ROWS_AT_ONCE, Factors, canonical, maximise_factors, posterior
from gapkernel.density.em.gaussian_em import Observations
from gapkernel.density.iterated import IteratedDensity
from gapkernel.rows import FactorRows, Patterns
from gapkernel.tables import Table


@dataclass(eq=False, repr=False)
class FactorAnalysis(IteratedDensity):
    """A Gaussian density x = mean + loadings z + noise for rows with gaps, z a few normal factors.

    Its covariance has n_features * (n_components + 1) parameters instead of n_features * (n_features + 1) / 2, so it
    can be estimated from fewer rows than there are columns; and the law of a row with gaps is a diagonal plus a low
    rank, so that no kernel needs a matrix of the size of the gaps.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of factors. "auto" doubles it from 1 while the Bayesian information criterion falls.
    ridge : float or "auto", default="auto"
        Share of its own variance added to the noise of every column, as a prior inside the iteration. "auto" is
        n_features / n_rows**2, between 1e-6 and 1. It must be positive: without it the noise of a column can vanish.
    tol : float, default=1e-6
        Stop when the objective rises by less than this share of its size.
    max_iter : int, default=1000
        Maximum number of iterations.
    mean : array-like of shape (n_features,), default=None
        The mean of a known density: `fit` then checks the data and estimates nothing. See `from_parameters`.
    loadings : array-like of shape (n_features, n_components), default=None
        How each column of a known density depends on the factors.
    noise : array-like of shape (n_features,), default=None
        The variance of each column of a known density that no factor explains.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        The mean of each column.
    loadings_ : ndarray of shape (n_features, n_components)
        In the form where loadings' noise^-1 loadings is diagonal.
    noise_ : ndarray of shape (n_features,)
        The variance of each column that no factor explains.
    covariance_ : ndarray of shape (n_features, n_features)
        loadings loadings' + diag(noise), worked out when it is used.
    variances_ : ndarray of shape (n_features,)
        The variance of each column, without the ridge.
    n_components_ : int
        Number of factors.
    bic_ : dict
        The criterion for each number of factors tried, p log n - 2 log-likelihood: p parameters, n the sum of the
        weights or the number of rows, whichever is more.
    ridge_ : float
        The ridge used.
    log_likelihood_ : ndarray of shape (n_iterations + 1,)
        Log-likelihood of the observed values before each iteration and after the last.
    objective_ : ndarray of shape (n_iterations + 1,)
        What the iteration maximises: the log-likelihood plus the logarithm of the prior. It never falls.
    n_iter_ : int
        Number of iterations; 0 for a known density.
    converged_ : bool
        Whether the iteration stopped by itself.
    schema_ : Schema
        What the columns hold.
    columns_ : ndarray of shape (n_features,)
        The column of the table that each column of the laws belongs to: itself.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    Notes
    -----
    A row without any value is left out. A constant column has variance zero, so a gap in it is filled by the constant,
    with certainty. A column without any value carries no information: it becomes a constant 0, and values met there
    later are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import FactorAnalysis
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((50, 1)) * [1.0, 2.0, -1.0] + 0.1 * random.standard_normal((50, 3))
    >>> FactorAnalysis(1).fit(X).condition([[np.nan, 2.0, np.nan]]).means.round(1)
    array([[ 1.,  2., -1.]])
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    mean: Any = None
    loadings: Any = None
    noise: Any = None
    loadings_: np.ndarray = field(init=False)
    noise_: np.ndarray = field(init=False)

    _parameter_constraints: ClassVar[dict] = {
        "mean": ["array-like", None],
        "loadings": ["array-like", None],
        "noise": ["array-like", None],
    }
    known_names = ("mean", "loadings", "noise")
    least_ridge = 1e-6

    @classmethod
    def from_parameters(cls, mean: ArrayLike, loadings: ArrayLike, noise: ArrayLike) -> FactorAnalysis:
        """A known density, ready for use."""
        return cls._known(mean=mean, loadings=loadings, noise=noise)

    def _ascend(self, observations: Observations, standard: Standard) -> tuple[Ascent, float]:
        X, weight = standard.apply(observations.X), observations.weight
        ridge = self._ridge_for(len(standard.live), standard.count)
        n, d = X.shape

        def fit(k: int) -> Ascent:
            return maximise_factors(X, weight, k, ridge, self.tol, self.max_iter)

        counts = (2**i for i in range(max(1, min(n - 1, d - 1)).bit_length()))
        ascent = self._choose(
            self.n_components, fit, counts, max(1, d), lambda k: d * (k + 2) - k * (k - 1) / 2, standard
        )
        return ascent, ridge

    def _in_units(self, point: Factors, standard: Standard) -> tuple[np.ndarray, ...]:
        factors, live, scale = canonical(point), standard.live, standard.scale[standard.live]
        loadings, noise = np.zeros((len(live), factors.loadings.shape[1])), np.zeros(len(live))
        loadings[live], noise[live] = factors.loadings * scale[:, None], factors.noise * scale**2
        return standard.mean(factors.mean), loadings, noise

    @property  # type: ignore[misc]
    def covariance_(self) -> np.ndarray:  # type: ignore[override]
        """diag(noise) + loadings loadings'."""
        check_is_fitted(self, "loadings_")
        return self.loadings_ @ self.loadings_.T + np.diag(self.noise_)

    def _condition(self, table: Table) -> FactorRows:
        rows, seen, z, precision, _ = self._posterior(table)
        gaps = (seen == 0) & (self.noise_ > 0)
        filled = np.where(seen > 0, rows, self.mean_ + z @ self.loadings_.T)  # m_M = mu_M + F_M z
        patterns = Patterns.of(gaps)
        first = patterns.order[patterns.row_start[:-1]]
        return FactorRows(filled, patterns.index, patterns.gaps, precision[first], self.loadings_, self.noise_)

    def _log_density(self, table: Table) -> np.ndarray:
        return self._posterior(table)[4]

    def _posterior(self, table: Table) -> tuple[np.ndarray, ...]:
        """The rows with 0 in the gaps, where they were observed, and what `posterior` says of them."""
        rows = self._without_never_observed(table.values)
        seen = (~np.isnan(rows)).astype(np.float64)
        rows = np.where(seen > 0, rows, 0.0)
        factors = Factors(self.mean_, self.loadings_, self.noise_)
        parts = [slice(begin, begin + ROWS_AT_ONCE) for begin in range(0, max(len(rows), 1), ROWS_AT_ONCE)]
        results = [posterior(rows[part], seen[part], factors) for part in parts]
        return rows, seen, *(np.concatenate(pieces) for pieces in zip(*results, strict=True))

    def _checked(self, mean: np.ndarray, loadings: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, ...]:
        if mean.ndim != 1 or noise.shape != mean.shape or loadings.ndim != 2 or len(loadings) != len(mean):
            raise ValueError(
                f"A known density needs a mean (n,), loadings (n, k) and a noise (n,), "
                f"got {mean.shape}, {loadings.shape} and {noise.shape}."
            )
        if loadings.shape[1] == 0:
            raise ValueError("loadings must have a column for one factor or more; zeros make all columns independent.")
        if np.any(noise < 0) or np.any((noise == 0) & loadings.any(axis=1)):
            raise ValueError("noise must be positive wherever loadings are not zero.")
        return mean, loadings, noise

    def _set(self, mean: np.ndarray, loadings: np.ndarray, noise: np.ndarray) -> None:
        self.mean_, self.loadings_, self.noise_ = mean, loadings, noise
        self.variances_ = noise + np.sum(loadings**2, axis=1)
        self.n_components_ = loadings.shape[1]
