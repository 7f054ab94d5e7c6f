"""Factor analysis: a Gaussian of few factors and independent noise, for tables with many columns."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gapkernel.density.base import IteratedDensity, rows_with_values, warn_unless_converged
from gapkernel.density.em.factor import ROWS_AT_ONCE, FactorFit, Factors, canonical, maximise_factors, posterior
from gapkernel.density.em.standardise import standardise
from gapkernel.density.quadrature import normal_nodes
from gapkernel.rows import FactorRows, Patterns
from gapkernel.tables import numbers_of, read_table


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
        Most iterations.
    mean, loadings, noise : array-like, default=None
        A known density: `fit` then checks the data and estimates nothing. See `from_parameters`.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
    loadings_ : ndarray of shape (n_features, n_components)
        In the form where loadings' noise^-1 loadings is diagonal.
    noise_ : ndarray of shape (n_features,)
    covariance_ : ndarray of shape (n_features, n_features)
    variances_ : ndarray of shape (n_features,)
        The variance of each column, without the ridge.
    n_components_ : int
    bic_ : dict
        The criterion for each number of factors tried, p log n - 2 log-likelihood: p parameters, n the sum of the
        weights or the number of rows, whichever is more.
    ridge_ : float
    log_likelihood_, objective_ : ndarray
        Before each iteration and after the last; the objective never falls.
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    What happens at the edges is as in `Gaussian`: an empty row is passed over, a constant column is certain, a column
    with no value at all becomes a constant 0 and is ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import FactorAnalysis
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((50, 1)) * [1.0, 2.0, -1.0] + 0.1 * random.standard_normal((50, 3))
    >>> FactorAnalysis(1).fit(X).condition([[np.nan, 2.0, np.nan]]).means.round(1)
    array([[ 1.,  2., -1.]])
    """

    mean_: np.ndarray
    loadings_: np.ndarray
    noise_: np.ndarray

    def __init__(
        self, n_components="auto", *, ridge="auto", tol=1e-6, max_iter=1000, mean=None, loadings=None, noise=None
    ):
        self.n_components = n_components
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter
        self.mean = mean
        self.loadings = loadings
        self.noise = noise

    @classmethod
    def from_parameters(cls, mean, loadings, noise) -> FactorAnalysis:
        """A known density, ready for use."""
        density = cls(mean=mean, loadings=loadings, noise=noise)
        density._set_known()
        density.n_features_in_ = len(density.mean_)
        return density

    def fit(self, X, y=None, sample_weight=None) -> FactorAnalysis:
        """Estimate mean, loadings and noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks a gap.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : FactorAnalysis
        """
        self._check_parameters()
        X = numbers_of(read_table(self, X, reset=True, categorical_features=None), self)
        if any(known is not None for known in (self.mean, self.loadings, self.noise)):
            self._set_known()
            if len(self.mean_) != X.shape[1]:
                raise ValueError(f"X has {X.shape[1]} columns, but the known mean has {len(self.mean_)}.")
            return self
        X, weight = rows_with_values(X, sample_weight)
        n_rows = max(weight.sum(), len(X))
        self.ridge_ = float(np.clip(X.shape[1] / n_rows**2, 1e-6, 1.0)) if self.ridge == "auto" else float(self.ridge)
        location, scale, live, *_ = standardise(lambda sums: sums(X, weight))
        standard = (X[:, live] - location[live]) / scale[live]
        result, bic = self._best_fit(standard, weight, n_rows)
        warn_unless_converged(result, self.max_iter)
        d, k = len(scale), result.factors.loadings.shape[1]
        factors = canonical(result.factors)
        self.mean_, self.loadings_, self.noise_ = location.copy(), np.zeros((d, k)), np.zeros(d)
        self.mean_[live] += scale[live] * factors.mean
        self.loadings_[live] = factors.loadings * scale[live, None]
        self.noise_[live] = factors.noise * scale[live] ** 2
        self.variances_ = self.noise_ + np.sum(self.loadings_**2, axis=1) - self.ridge_ * scale**2 * live
        self._never_observed = np.isnan(X).all(axis=0) & ~live
        units = np.sum(weight[:, None] * ~np.isnan(X[:, live]) * np.log(scale[live]))
        self._keep_course(result, units)
        self.bic_ = {count: value + 2.0 * units for count, value in bic.items()}
        self.n_components_ = k
        return self

    @property
    def covariance_(self) -> np.ndarray:
        """diag(noise) + loadings loadings'."""
        check_is_fitted(self, "loadings_")
        return self.loadings_ @ self.loadings_.T + np.diag(self.noise_)

    def condition(self, X) -> FactorRows:
        """The law of each row given what was observed of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        rows : FactorRows
        """
        rows, seen, z, precision, _ = self._posterior(X)
        gaps = (seen == 0) & (self.noise_ > 0)
        filled = np.where(seen > 0, rows, self.mean_ + z @ self.loadings_.T)  # m_M = mu_M + F_M z
        patterns = Patterns.of(gaps)
        first = patterns.order[patterns.row_start[:-1]]
        return FactorRows(filled, patterns.index, patterns.gaps, precision[first], self.loadings_, self.noise_)

    def score_samples(self, X) -> np.ndarray:
        """Log density of the observed part of each row (0 for a row with no value)."""
        return self._posterior(X)[4]

    def sample(self, X, n_draws: int = 1, random_state=None) -> np.ndarray:
        """Complete the rows of ``X`` by draws from their laws.

        Returns
        -------
        completions : ndarray of shape (n_draws, n_samples, n_features)
        """
        random = check_random_state(random_state)
        rows, seen, z, precision, _ = self._posterior(X)
        roots = np.linalg.inv(np.linalg.cholesky(precision))  # G^-1 = R'R
        factors = z + np.einsum("iab,nia->nib", roots, random.standard_normal((n_draws, *z.shape)))
        draws = self.mean_ + factors @ self.loadings_.T
        draws += np.sqrt(self.noise_) * random.standard_normal(draws.shape)
        return np.where(seen > 0, rows, draws)

    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values and weights of a quadrature over the law of a missing cell of the one row of ``X`` (Gauss-Hermite)."""
        return normal_nodes(self.condition(X), column, n_nodes)

    def marginal(self, columns) -> FactorAnalysis:
        """The density of some columns."""
        check_is_fitted(self, "loadings_")
        part = FactorAnalysis.from_parameters(self.mean_[columns], self.loadings_[columns], self.noise_[columns])
        part.variances_ = self.variances_[columns]
        return part

    def _posterior(self, X):
        """The rows with 0 in the gaps, where they were observed, and what `posterior` says of them."""
        check_is_fitted(self, "loadings_")
        X = numbers_of(read_table(self, X, reset=False), self)
        rows = np.array(X, order="C")
        rows[:, self._never_observed] = self.mean_[self._never_observed]
        seen = (~np.isnan(rows)).astype(np.float64)
        rows = np.where(seen > 0, rows, 0.0)
        factors = Factors(self.mean_, self.loadings_, self.noise_)
        parts = [slice(begin, begin + ROWS_AT_ONCE) for begin in range(0, max(len(rows), 1), ROWS_AT_ONCE)]
        results = [posterior(rows[part], seen[part], factors) for part in parts]
        return rows, seen, *(np.concatenate(pieces) for pieces in zip(*results, strict=True))

    def _best_fit(self, standard: np.ndarray, weight: np.ndarray, n_rows: float) -> tuple[FactorFit, dict[int, float]]:
        """The fit with the number of factors asked for, or with the one of the lowest criterion; and the criteria."""
        n, d = standard.shape
        most = max(1, min(n - 1, d - 1))

        def fit(k: int) -> FactorFit:
            return maximise_factors(standard, weight, k, self.ridge_, self.tol, self.max_iter)

        if self.n_components != "auto":
            return fit(min(int(self.n_components), max(1, d))), {}
        bic: dict[int, float] = {}
        best, k = None, 1
        while k <= most:
            candidate = fit(k)
            n_parameters = d * (k + 2) - k * (k - 1) / 2
            bic[k] = float(n_parameters * np.log(max(n_rows, 2.0)) - 2.0 * candidate.log_likelihood[-1])
            if best is not None and bic[k] >= min(list(bic.values())[:-1]):
                break
            best, k = candidate, 2 * k
        assert best is not None
        return best, bic

    def _check_parameters(self) -> None:
        k = self.n_components
        if k != "auto" and not (isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 1):
            raise ValueError(f"n_components must be 'auto' or an integer from 1 up, got {k!r}.")
        self._check_positive_ridge()
        self._check_iteration()

    def _set_known(self) -> None:
        if any(known is None for known in (self.mean, self.loadings, self.noise)):
            raise ValueError("A known density needs all of mean, loadings and noise.")
        mean, loadings, noise = (np.array(a, np.float64) for a in (self.mean, self.loadings, self.noise))
        if mean.ndim != 1 or noise.shape != mean.shape or loadings.ndim != 2 or len(loadings) != len(mean):
            raise ValueError(
                f"A known density needs a mean (n,), loadings (n, k) and a noise (n,), "
                f"got {mean.shape}, {loadings.shape} and {noise.shape}."
            )
        if loadings.shape[1] == 0:
            raise ValueError("loadings must have a column for one factor or more; zeros make all columns independent.")
        if not all(np.isfinite(a).all() for a in (mean, loadings, noise)):
            raise ValueError("mean, loadings and noise of a known density must be finite.")
        if np.any(noise < 0) or np.any((noise == 0) & loadings.any(axis=1)):
            raise ValueError("noise must be positive wherever loadings are not zero.")
        self.mean_, self.loadings_, self.noise_ = mean, loadings, noise
        self.variances_ = noise + np.sum(loadings**2, axis=1)
        self._never_observed = np.zeros(len(mean), bool)
        self.n_components_ = loadings.shape[1]
        self._forget_course()
