"""A mixture of Gaussians, for data that are not one ellipsoid."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from gapkernel.compute.runtime.threads import one_openmp_thread
from gapkernel.compute.standardise import Standard
from gapkernel.density.em.climb import Ascent, climb
from gapkernel.density.em.gaussian_em import (
    GappyTable,
    Observations,
    Point,
    expectation_at,
    log_prior,
    maximisation,
    maximise_gaussian,
)
from gapkernel.density.gaussian import Gaussian, gaussian_laws
from gapkernel.density.iterated import IteratedDensity
from gapkernel.rows import GaussianRows, MixtureRows
from gapkernel.tables import Table

NEGLIGIBLE = 1e-8
"""A component that explains less than this share of the rows is left as it is."""


@dataclass(frozen=True)
class MixtureParameters:
    """Parameters: the shares of the components, and the mean and covariance of each."""

    shares: np.ndarray
    points: list[Point]


def clusters(
    table: GappyTable, weight: np.ndarray, whole: Point, n_components: int, random: np.random.RandomState
) -> np.ndarray:
    """Memberships (n, n_components) from k-means on the rows completed by one Gaussian."""
    completed = table.conditioned(whole)[0]
    with one_openmp_thread():
        labels = KMeans(n_components, n_init=5, random_state=random).fit(completed, sample_weight=weight).labels_
    return (labels[:, None] == np.arange(n_components)).astype(np.float64)


def maximise_mixture(
    table: GappyTable, weight: np.ndarray, memberships: np.ndarray, scatter: float, tol: float, max_iter: int
) -> Ascent:
    """The `MixtureParameters` that EM reaches from ``memberships``."""
    d = table.filled.shape[1]

    def expect(components: MixtureParameters) -> tuple[float, float, np.ndarray]:
        log_likelihood, memberships = _memberships(table, weight, components)
        of_points = sum(log_prior(point.covariance, scatter) for point in components.points)
        return log_likelihood, log_likelihood + of_points, memberships

    def maximise(components: MixtureParameters, memberships: np.ndarray) -> MixtureParameters:
        return _maximised(table, weight, memberships, components.points, scatter)

    start = _maximised(table, weight, memberships, [Point(np.zeros(d), np.eye(d))] * memberships.shape[1], scatter)
    return climb(expect, maximise, start, table.weighted(weight).n_cells, tol, max_iter)


def _memberships(table: GappyTable, weight: np.ndarray, components: MixtureParameters) -> tuple[float, np.ndarray]:
    """The log-likelihood, and how likely each component is for each row."""
    with np.errstate(divide="ignore"):
        logs = np.column_stack([table.conditioned(point)[1] for point in components.points])
        logs += np.log(components.shares)
    total = logsumexp(logs, axis=1)
    return float(weight @ total), np.exp(logs - total[:, None])


def _maximised(
    table: GappyTable, weight: np.ndarray, memberships: np.ndarray, points: list[Point], scatter: float
) -> MixtureParameters:
    """The components for given memberships; ``points`` complete the rows."""
    counts = weight @ memberships
    new = []
    for count, member, point in zip(counts, memberships.T, points, strict=True):
        if count <= NEGLIGIBLE * counts.sum():
            new.append(point)
            continue
        _, moments = expectation_at(table.weighted(weight * member), point)
        new.append(maximisation(moments, scatter))
    return MixtureParameters(counts / counts.sum(), new)


PRUNED = 1e-8
"""A component less likely than this for a row is left out of its law."""


@dataclass(eq=False, repr=False)
class GaussianMixture(IteratedDensity):
    """A mixture of Gaussian densities for rows with gaps.

    Fitted to incomplete rows by expectation maximisation. The law of a row with gaps is again a mixture: what was
    observed says how likely each component is, and each component has its own law of the gaps. Components less likely
    than 1e-8 for a row are left out of its law. A complete row has a single component.

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
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Where k-means, which makes the first guess, begins.
    weights : array-like of shape (n_components,), default=None
        The shares of the components of a known density: `fit` then checks the data and estimates nothing. See
        `from_parameters`.
    means : array-like of shape (n_components, n_features), default=None
        The means of the components of a known density.
    covariances : array-like of shape (n_components, n_features, n_features), default=None
        The covariances of the components of a known density.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        The share of each component.
    means_ : ndarray of shape (n_components, n_features)
        The mean of each component.
    covariances_ : ndarray of shape (n_components, n_features, n_features)
        The covariance of each component, ridge included.
    mean_, covariance_ : ndarray
        Of all components together.
    variances_ : ndarray of shape (n_features,)
        The variance of each column, without the ridge.
    n_components_ : int
        Number of components.
    bic_ : dict
        The criterion for each number of components tried.
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
    >>> from gapkernel.density import GaussianMixture
    >>> random = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0.0], [5.0, 9.0]], 40, axis=0) + 0.1 * random.standard_normal((80, 2))
    >>> density = GaussianMixture(random_state=0).fit(X)
    >>> density.n_components_, density.condition([[5.0, np.nan]]).means.round(0)
    (2, array([[5., 9.]]))
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    max_components: int = 5
    random_state: Any = None
    weights: Any = None
    means: Any = None
    covariances: Any = None

    _parameter_constraints: ClassVar[dict] = {
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "weights": ["array-like", None],
        "means": ["array-like", None],
        "covariances": ["array-like", None],
    }
    known_names = ("weights", "means", "covariances")
    least_ridge = 1e-4

    @classmethod
    def from_parameters(cls, weights: ArrayLike, means: ArrayLike, covariances: ArrayLike) -> GaussianMixture:
        """A known density, ready for use."""
        return cls._known(weights=weights, means=means, covariances=covariances)

    def _ascend(self, observations: Observations, standard: Standard) -> tuple[Ascent, float]:
        X, weight = standard.apply(observations.X), observations.weight
        n, d = X.shape
        random, table = check_random_state(self.random_state), GappyTable(X)

        def ridge_of(k: int) -> float:
            return self._ridge_for(d, standard.count / k)

        def scatter_of(k: int) -> float:
            """What the ridge, a share of the variance of an average component, adds to its scatter."""
            return ridge_of(k) * weight.sum() / k

        whole = maximise_gaussian(table.compressed(weight), scatter_of(1), 1e-4, 100).point

        def fit(k: int) -> Ascent:
            memberships = clusters(table, weight, whole, k, random) if k > 1 else np.ones((n, 1))
            return maximise_mixture(table, weight, memberships, scatter_of(k), self.tol, self.max_iter)

        distinct = len(np.unique(table.conditioned(whole)[0], axis=0))
        counts = range(1, min(self.max_components, distinct) + 1)
        ascent = self._choose(self.n_components, fit, counts, distinct, lambda k: k - 1 + k * d * (d + 3) / 2, standard)
        return ascent, ridge_of(len(ascent.point.shares))

    def _in_units(self, point: MixtureParameters, standard: Standard) -> tuple[np.ndarray, ...]:
        means = np.array([standard.mean(component.mean) for component in point.points])
        return point.shares, means, np.array([standard.covariance(component.covariance) for component in point.points])

    def _condition(self, table: Table) -> MixtureRows:
        rows, logs = self._conditioned(table)
        weights = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        weights[weights < PRUNED] = 0.0
        weights /= weights.sum(axis=1, keepdims=True)
        weights[rows[0].complete] = np.arange(len(rows)) == 0  # all components agree on a complete row
        return MixtureRows(rows, weights)

    def _log_density(self, table: Table) -> np.ndarray:
        return logsumexp(self._conditioned(table)[1], axis=1)

    def _conditioned(self, table: Table) -> tuple[tuple[GaussianRows, ...], np.ndarray]:
        """The laws under each component, and the logs of weight times density of each row and component."""
        X = self._without_never_observed(table.values)
        pairs = [gaussian_laws(X, *moments) for moments in zip(self.means_, self.covariances_, strict=True)]
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights_) + np.column_stack([log_density for _, log_density in pairs])
        return tuple(rows for rows, _ in pairs), logs

    def _set(self, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> None:
        self.weights_, self.means_, self.covariances_ = weights, means, covariances
        self.n_components_ = len(weights)
        self.mean_ = weights @ means
        away = means - self.mean_
        self.covariance_ = np.einsum("a,aij->ij", weights, covariances) + np.einsum("a,ai,aj->ij", weights, away, away)
        self.variances_ = self.covariance_.diagonal().copy()

    def _checked(self, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, ...]:
        if weights.ndim != 1 or means.ndim != 2 or covariances.shape != (*means.shape, means.shape[-1]):
            raise ValueError(
                f"A known density needs weights (k,), means (k, n) and covariances (k, n, n), "
                f"got {weights.shape}, {means.shape} and {covariances.shape}."
            )
        if len(weights) != len(means) or not np.all(weights > 0) or not np.isclose(weights.sum(), 1.0):
            raise ValueError("weights must be positive and sum to 1, one for each of the means.")
        gaussians = [Gaussian.from_moments(*moments) for moments in zip(means, covariances, strict=True)]
        constant = np.array([gaussian.variances_ == 0 for gaussian in gaussians])
        if np.any(constant != constant[0]):
            raise ValueError("A column must be constant in all components or in none.")
        return weights / weights.sum(), means, np.array([gaussian.covariance_ for gaussian in gaussians])
