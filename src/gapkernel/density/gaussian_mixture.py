"""A mixture of Gaussians, for data that are not one ellipsoid."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gapkernel.density.base import IteratedDensity, rows_with_values, warn_unless_converged
from gapkernel.density.em.gaussian import Prior, compress, maximise
from gapkernel.density.em.mixture import GappyTable, MixtureFit, clusters, maximise_mixture
from gapkernel.density.em.standardise import standardise
from gapkernel.density.gaussian import Gaussian
from gapkernel.rows import MixtureRows
from gapkernel.tables import numbers_of, read_table

PRUNED = 1e-8
"""A component less likely than this for a row is left out of its law."""


class GaussianMixture(IteratedDensity):
    """A mixture of Gaussian densities for rows with gaps.

    Fitted to incomplete rows by expectation maximisation. The law of a row with gaps is again a mixture: what was
    observed says how likely each component is, and each component has its own law of the gaps.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components. "auto" adds one while the Bayesian information criterion falls.
    max_components : int, default=5
        The most that "auto" tries.
    ridge : float or "auto", default="auto"
        Share of its own variance added to the variance of every column of an average component, as a prior inside the
        iteration. "auto" is n_features / (rows per component)**2, between 1e-4 and 1. It must be positive: without it
        a component can shrink to a point.
    tol : float, default=1e-6
        Stop when the objective rises by less than this share of its size.
    max_iter : int, default=1000
        Most iterations.
    random_state : int, RandomState or None, default=None
        Where k-means, which makes the first guess, begins.
    weights, means, covariances : array-like, default=None
        A known density: `fit` then checks the data and estimates nothing. See `from_parameters`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray of shape (n_components, n_features, n_features)
    mean_, covariance_ : ndarray
        Of all components together.
    variances_ : ndarray of shape (n_features,)
        The variance of each column, without the ridge.
    n_components_ : int
    bic_ : dict
        The criterion for each number of components tried.
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
    >>> from gapkernel.density import GaussianMixture
    >>> random = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0.0], [5.0, 9.0]], 40, axis=0) + 0.1 * random.standard_normal((80, 2))
    >>> density = GaussianMixture(random_state=0).fit(X)
    >>> density.n_components_, density.condition([[5.0, np.nan]]).means.round(0)
    (2, array([[5., 9.]]))
    """

    def __init__(
        self,
        n_components="auto",
        *,
        max_components=5,
        ridge="auto",
        tol=1e-6,
        max_iter=1000,
        random_state=None,
        weights=None,
        means=None,
        covariances=None,
    ):
        self.n_components = n_components
        self.max_components = max_components
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.weights = weights
        self.means = means
        self.covariances = covariances

    @classmethod
    def from_parameters(cls, weights, means, covariances) -> GaussianMixture:
        """A known density, ready for use."""
        density = cls(weights=weights, means=means, covariances=covariances)
        density._set_known()
        density.n_features_in_ = density.means_.shape[1]
        return density

    def fit(self, X, y=None, sample_weight=None) -> GaussianMixture:
        """Estimate weights, means and covariances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks a gap.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : GaussianMixture
        """
        self._check_parameters()
        X = numbers_of(read_table(self, X, reset=True, categorical_features=None), self)
        if any(known is not None for known in (self.weights, self.means, self.covariances)):
            self._set_known()
            if self.means_.shape[1] != X.shape[1]:
                raise ValueError(f"X has {X.shape[1]} columns, but the known means have {self.means_.shape[1]}.")
            return self
        X, weight = rows_with_values(X, sample_weight)
        location, scale, live, *_ = standardise(lambda sums: sums(X, weight))
        result, ridge, bic = self._best_fit((X[:, live] - location[live]) / scale[live], weight)
        warn_unless_converged(result, self.max_iter)
        k, d = len(result.weights), len(scale)
        means, covariances = np.tile(location, (k, 1)), np.zeros((k, d, d))
        for a, point in enumerate(result.points):
            means[a, live] += scale[live] * point.mean
            covariances[a][np.ix_(live, live)] = point.covariance * np.outer(scale[live], scale[live])
        self._set(result.weights, means, covariances, np.isnan(X).all(axis=0) & ~live)
        self.variances_ = self.covariance_.diagonal() - ridge * scale**2 * live
        units = np.sum(weight[:, None] * ~np.isnan(X[:, live]) * np.log(scale[live]))
        self._keep_course(result, units)
        self.bic_ = {count: value + 2.0 * units for count, value in bic.items()}
        self.ridge_ = ridge
        return self

    def condition(self, X) -> MixtureRows:
        """The law of each row given what was observed of it.

        Components less likely than 1e-8 for a row are left out of its law. A complete row is certain whatever its
        component, and has a single one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        rows : MixtureRows
        """
        rows, logs = self._conditioned(X)
        weights = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        weights[weights < PRUNED] = 0.0
        weights /= weights.sum(axis=1, keepdims=True)
        weights[rows[0].complete] = np.arange(len(rows)) == 0
        return MixtureRows(rows, weights)

    def score_samples(self, X) -> np.ndarray:
        """Log density of the observed part of each row (0 for a row with no value)."""
        return logsumexp(self._conditioned(X)[1], axis=1)

    def sample(self, X, n_draws: int = 1, random_state=None) -> np.ndarray:
        """Complete the rows of ``X`` by draws from their laws.

        Returns
        -------
        completions : ndarray of shape (n_draws, n_samples, n_features)
        """
        random = check_random_state(random_state)
        rows = self.condition(X)
        chosen = (random.random((n_draws, len(rows), 1)) > np.cumsum(rows.weights, axis=1)).sum(axis=2)
        chosen = np.minimum(chosen, len(self._gaussians) - 1)  # weights may sum to a little less than 1
        draws = np.repeat(rows.means[None], n_draws, axis=0)
        for a, gaussian in enumerate(self._gaussians):
            if np.any(chosen == a):
                draws = np.where((chosen == a)[:, :, None], gaussian.sample(X, n_draws, random), draws)
        return draws

    def marginal(self, columns) -> GaussianMixture:
        """The density of some columns."""
        check_is_fitted(self, "means_")
        part = GaussianMixture.from_parameters(
            self.weights_, self.means_[:, columns], np.array([c[np.ix_(columns, columns)] for c in self.covariances_])
        )
        part.variances_ = self.variances_[columns]
        return part

    def _conditioned(self, X):
        """The laws under each component, and the logs of weight times density of each row and component."""
        check_is_fitted(self, "means_")
        X = numbers_of(read_table(self, X, reset=False), self)
        pairs = [gaussian._conditioned(X) for gaussian in self._gaussians]
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights_) + np.column_stack([log_density for _, log_density in pairs])
        return tuple(rows for rows, _ in pairs), logs

    def _best_fit(self, standard: np.ndarray, weight: np.ndarray) -> tuple[MixtureFit, float, dict[int, float]]:
        """The fit with the number of components asked for, or with the one of the lowest criterion; and its ridge."""
        n, d = standard.shape
        random, table = check_random_state(self.random_state), GappyTable(standard)
        n_rows = max(weight.sum(), n)
        whole = maximise(compress(standard, weight), _ridge(self._ridge(1, n_rows, d), weight, d, 1), 1e-4, 100)
        distinct = len(np.unique(table.conditioned(whole)[0], axis=0))  # type: ignore[arg-type]

        def fit(k: int) -> MixtureFit:
            memberships = clusters(table, weight, whole, k, random) if k > 1 else np.ones((n, 1))  # type: ignore[arg-type]
            prior = _ridge(self._ridge(k, n_rows, d), weight, d, k)
            return maximise_mixture(table, weight, memberships, prior, self.tol, self.max_iter)

        if self.n_components != "auto":
            k = min(int(self.n_components), distinct)
            return fit(k), self._ridge(k, n_rows, d), {}
        bic: dict[int, float] = {}
        best, chosen = fit(1), 1
        for k in range(1, min(self.max_components, distinct) + 1):
            candidate = best if k == 1 else fit(k)
            n_parameters = k - 1 + k * d * (d + 3) / 2
            bic[k] = float(n_parameters * np.log(max(n_rows, 2.0)) - 2.0 * candidate.log_likelihood[-1])
            if bic[k] > bic[chosen]:
                break
            best, chosen = candidate, k
        return best, self._ridge(chosen, n_rows, d), bic

    def _ridge(self, k: int, n_rows: float, d: int) -> float:
        return float(np.clip(d * (k / n_rows) ** 2, 1e-4, 1.0)) if self.ridge == "auto" else float(self.ridge)

    def _set(self, weights, means, covariances, never_observed) -> None:
        self.weights_, self.means_, self.covariances_ = weights, means, covariances
        self.n_components_ = len(weights)
        self._gaussians = [Gaussian.from_moments(*moments) for moments in zip(means, covariances, strict=True)]
        for gaussian in self._gaussians:
            gaussian._never_observed = never_observed
        self.mean_ = weights @ means
        away = means - self.mean_
        self.covariance_ = np.einsum("a,aij->ij", weights, covariances) + np.einsum("a,ai,aj->ij", weights, away, away)
        self.variances_ = self.covariance_.diagonal().copy()

    def _check_parameters(self) -> None:
        for name in ("n_components", "max_components"):
            value = getattr(self, name)
            if value == "auto" and name == "n_components":
                continue
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be an integer from 1 up, got {value!r}.")
        self._check_positive_ridge()
        self._check_iteration()

    def _set_known(self) -> None:
        if any(known is None for known in (self.weights, self.means, self.covariances)):
            raise ValueError("A known density needs all of weights, means and covariances.")
        weights, means, covariances = (np.array(a, np.float64) for a in (self.weights, self.means, self.covariances))
        if weights.ndim != 1 or means.ndim != 2 or covariances.shape != (*means.shape, means.shape[-1]):
            raise ValueError(
                f"A known density needs weights (k,), means (k, n) and covariances (k, n, n), "
                f"got {weights.shape}, {means.shape} and {covariances.shape}."
            )
        if len(weights) != len(means) or not np.all(weights > 0) or not np.isclose(weights.sum(), 1.0):
            raise ValueError("weights must be positive and sum to 1, one for each of the means.")
        variances = covariances.diagonal(axis1=1, axis2=2)
        if np.any((variances > 0) != (variances[0] > 0)):
            raise ValueError("A column must be constant in all components or in none.")
        self._set(weights / weights.sum(), means, covariances, np.zeros(means.shape[1], bool))
        self._forget_course()


def _ridge(share: float, weight: np.ndarray, d: int, n_components: int) -> Prior:
    """The ridge as a prior on each component: ``share`` of the variance of an average one."""
    return Prior(np.zeros(d), 0.0, share * weight.sum() / n_components * np.eye(d), 0.0)
