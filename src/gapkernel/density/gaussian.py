"""One Gaussian over all columns, fitted to incomplete rows by expectation maximisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space, pinvh
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute.standardise import Standard
from gapkernel.density.em.climb import Ascent
from gapkernel.density.em.gaussian_em import ObservationsInParts, Point, conditioned, maximise_gaussian
from gapkernel.density.iterated import IteratedDensity
from gapkernel.rows import GaussianRows, Patterns
from gapkernel.tables import Table
from gapkernel.tables.part_by_part import parts_of


@dataclass(eq=False, repr=False, kw_only=True)
class Gaussian(IteratedDensity):
    """A Gaussian density for rows with gaps.

    Maximum likelihood from incomplete rows by expectation maximisation, with a small ridge.
    `condition` then turns a row with gaps into its law: the observed values, and the normal law of the
    missing ones given them.

    Parameters
    ----------
    ridge : float or "auto", default="auto"
        Share of its own variance added to the variance of every column, as a prior inside the iteration (so
        that the objective still never falls). It keeps the covariance invertible with few rows or dependent
        columns. "auto" is n_features / n_rows**2, between 1e-8 and 1: strong when rows are few, and soon far
        below the sampling error of the covariance. 0 is plain maximum likelihood.
    tol : float, default=1e-6
        Stop when the objective rises by less than this share of its size.
    max_iter : int, default=1000
        Maximum number of iterations.
    mean : array-like of shape (n_features,), default=None
        The mean of a known density: `fit` then checks the data and estimates nothing. See `from_moments`.
    covariance : array-like of shape (n_features, n_features), default=None
        The covariance of a known density.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        The mean of each column.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance of the columns, ridge included.
    variances_ : ndarray of shape (n_features,)
        The variance of each column, without the ridge.
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
    >>> from gapkernel.density import Gaussian
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 6.0], [np.nan, 1.0]])
    >>> density = Gaussian().fit(X)
    >>> rows = density.condition([[2.5, np.nan]])
    >>> rows.means.round(1)
    array([[2.5, 4.4]])
    """

    mean: Any = None
    covariance: Any = None

    fits_in_parts = True
    _parameter_constraints: ClassVar[dict] = {
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "mean": ["array-like", None],
        "covariance": ["array-like", None],
    }
    known_names = ("mean", "covariance")
    least_ridge = 1e-8

    @classmethod
    def from_moments(cls, mean: ArrayLike, covariance: ArrayLike) -> Gaussian:
        """A known density, ready for use."""
        return cls._known(mean=mean, covariance=covariance)

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate mean and covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), dask collection or `batches`
            NaN marks a gap. Each iteration goes over all blocks or batches; dask keeps compressed rows on its workers.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : Gaussian
        """
        parts = parts_of(X, weight=sample_weight)
        if parts is None:
            return super().fit(X, sample_weight=sample_weight)
        self._validate_params()
        table = self._read(parts.take(np.arange(1)).X, reset=True)
        if not self._fit_known(table.shape[1]):
            self._estimate(ObservationsInParts(parts, self))
        self.schema_ = table.schema
        return self

    def _ascend(self, observations: Any, standard: Standard) -> tuple[Ascent, float]:
        ridge = self._ridge_for(len(standard.scale), standard.count)
        scatter = ridge * standard.weight
        return maximise_gaussian(observations.compressed(standard), scatter, self.tol, self.max_iter), ridge

    def _in_units(self, point: Point, standard: Standard) -> tuple[np.ndarray, ...]:
        return standard.mean(point.mean), standard.covariance(point.covariance)

    def condition_subspaces(self, points: ArrayLike, bases: Sequence[ArrayLike]) -> GaussianRows:
        """The laws of affine subspaces ``point + span(basis)``: gaps in any direction, not only along columns.

        Parameters
        ----------
        points : array-like of shape (n, n_features)
            A point of each subspace.
        bases : sequence of array-like of shape (n_features, k)
            Any basis of each subspace's directions, k from 0 to n_features.

        Returns
        -------
        rows : GaussianRows
        """
        points = self._read(points).values
        if np.isnan(points).any() or len(points) != len(bases):
            raise ValueError("points must be complete rows, one for each of bases.")
        means, covariances = np.empty_like(points), np.empty((*points.shape, points.shape[1]))
        scale = np.sqrt(np.where(self.variances_ > 0, self.variances_, 1.0))
        units = np.outer(scale, scale)
        for i, (point, basis) in enumerate(zip(points, bases, strict=True)):
            # in units of standard deviations, so that no direction is cut off for its units
            basis = np.asarray(basis, dtype=np.float64)
            if basis.ndim not in (1, 2) or len(basis) != len(scale) or not np.isfinite(basis).all():
                raise ValueError(f"bases[{i}] must be finite, with {len(scale)} rows, got shape {basis.shape}.")
            directions = basis.reshape(len(scale), -1) / scale[:, None]
            normal = null_space(directions.T) if directions.size else np.eye(len(scale))
            across = (self.covariance_ / units) @ normal
            gain = across @ pinvh(normal.T @ across)
            means[i] = self.mean_ + scale * (gain @ (normal.T @ ((point - self.mean_) / scale)))
            covariance = self.covariance_ - (gain @ across.T) * units
            touched = directions.any(axis=1)  # elsewhere the subspace is a point: remove rounding
            means[i, ~touched] = point[~touched]
            covariances[i] = 0.5 * (covariance + covariance.T) * np.outer(touched, touched)
        return GaussianRows.from_moments(means, covariances)

    def _condition(self, table: Table) -> GaussianRows:
        return self._conditioned(table)[0]

    def _log_density(self, table: Table) -> np.ndarray:
        return self._conditioned(table)[1]

    def _conditioned(self, table: Table) -> tuple[GaussianRows, np.ndarray]:
        return gaussian_laws(self._without_never_observed(table.values), self.mean_, self.covariance_)

    def _checked(self, mean: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, ...]:
        if mean.ndim != 1 or covariance.shape != (len(mean), len(mean)):
            raise ValueError(
                f"A known density needs a mean (n,) and a covariance (n, n), got {mean.shape} and {covariance.shape}."
            )
        if not np.allclose(covariance, covariance.T, rtol=0, atol=1e-8 * np.abs(covariance).max(initial=0)):
            raise ValueError("covariance is not symmetric.")
        if np.linalg.eigvalsh(covariance)[0] < -1e-10 * max(np.abs(covariance).max(), np.finfo(float).tiny):
            raise ValueError("covariance is not positive semi-definite.")
        return mean, 0.5 * (covariance + covariance.T)

    def _set(self, mean: np.ndarray, covariance: np.ndarray) -> None:
        self.mean_, self.covariance_, self.variances_ = mean, covariance, covariance.diagonal().copy()


def gaussian_laws(X: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> tuple[GaussianRows, np.ndarray]:
    """The laws of rows with gaps under one Gaussian, and the log densities of what was observed of them."""
    missing, certain = np.isnan(X), covariance.diagonal() == 0
    patterns = Patterns.of(missing & ~certain)
    rows, blocks, log_density = conditioned(patterns, np.where(missing & certain, mean, X), mean, covariance)
    return GaussianRows(rows, patterns.index, patterns.gaps, blocks), log_density
