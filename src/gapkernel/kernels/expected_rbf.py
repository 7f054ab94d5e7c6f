"""The RBF kernel averaged over what is missing: the expected RBF and its unscaled variant."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.base import clone
from sklearn.metrics import pairwise_distances

from gapkernel.compute.pairs.expected_rbf import ExpectedRBFEngine
from gapkernel.compute.pairs.gamma_grid import ENOUGH, GammaGridEngine
from gapkernel.kernels.base import Kernel
from gapkernel.kernels.column_covariance import ColumnCovariance, rbf_columns
from gapkernel.kernels.engines import expected_rbf, log_norm
from gapkernel.rows import GaussianRows

MEDIAN_ROWS = 1000
"""Rows that the median heuristic looks at; beyond, they are drawn with a fixed seed."""


class ExpectedRBF(Kernel):
    """exp(-gamma ||x - y||^2), averaged over what is missing.

    For two independent rows N(m_i, Sigma_i), N(m_j, Sigma_j), with S = Sigma_i + Sigma_j:

        K = |I + 2 gamma S|^(-1/2) exp(-gamma (m_i - m_j)' (I + 2 gamma S)^-1 (m_i - m_j)).

    A row with itself gives 1. Where nothing is missing this is the ordinary RBF kernel.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Inverse width. "scale" is 1 / (n_features * variance of the data), from the density, as in scikit-learn;
        "median" is 1 / the median squared distance between the rows' means.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Gaussian
    >>> from gapkernel.kernels import ExpectedRBF
    >>> density = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> rows = density.condition([[0.0, np.nan], [0.0, 0.0]])
    >>> ExpectedRBF(gamma=0.5).gram(rows).round(4)
    array([[1.    , 0.7559],
           [0.7559, 1.    ]])
    """

    mixtures = True

    def __init__(self, gamma="scale"):
        self.gamma = gamma

    def resolve(self, density, rows: GaussianRows) -> ExpectedRBF:
        kernel = clone(self)
        if isinstance(self.gamma, str):
            kernel.gamma = _gamma_of(self.gamma, density, rows)
        kernel._number()
        return kernel

    def diag(self, rows: GaussianRows) -> np.ndarray:
        return np.ones(len(rows))  # k(x, x) = 1, whatever x

    def self_cross(self, rows: GaussianRows) -> np.ndarray:
        """E k(x_i, x_i') for an independent copy of each row, the diagonal of ``cross(rows, rows)``."""
        rows = self._in_metric(rows)
        return np.exp(self._log_norm(rows, self._number()) + 2.0 * self._log_scale(rows))

    def log_scale(self, rows: GaussianRows) -> np.ndarray:
        """Logarithm of the factor by which the kernel multiplies each row of the expected RBF."""
        return self._log_scale(self._in_metric(rows))

    def metric_root(self, n_features: int) -> np.ndarray:
        """R, the distance between x and y being the Euclidean one between Rx and Ry."""
        return np.eye(n_features)

    def over_widths(self, gammas, left: GaussianRows, right: GaussianRows | None = None) -> np.ndarray:
        if len(gammas) < ENOUGH or not all(isinstance(rows, GaussianRows | None) for rows in (left, right)):
            return super().over_widths(gammas, left, right)
        kernels = [clone(self).set_params(gamma=gamma) for gamma in gammas]
        widths = np.array([kernel._number() for kernel in kernels])
        left_side = self._in_metric(left)
        right_side = left_side if right is None else self._in_metric(right)
        scales = [np.array([kernel._log_scale(side) for kernel in kernels]) for side in (left_side, right_side)]
        matrices = GammaGridEngine(left_side, None if right is None else right_side, widths, *scales).matrices()
        if right is None:
            uncertain = np.flatnonzero(~left.complete)
            matrices[:, uncertain, uncertain] = self.diag(left)[uncertain]  # the same draw on both sides
        return matrices

    def _dot(self, left: GaussianRows, right: GaussianRows, coefficients: np.ndarray) -> np.ndarray:
        return self._engine(left, right).dot(coefficients)

    def _variance(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        narrow, wide = self._engine(left, right, 2.0).matrix(log=True), self._engine(left, right).matrix(log=True)
        return _variance_from_logs(narrow, wide)

    def _gram_variance(self, rows: GaussianRows) -> np.ndarray:
        narrow, wide = self._engine(rows, None, 2.0).matrix(log=True), self._engine(rows, None).matrix(log=True)
        out = _variance_from_logs(narrow, wide)
        np.fill_diagonal(out, 0.0)  # k(x, x) does not vary
        return out

    def column_covariances(self, rows: GaussianRows) -> Iterator[ColumnCovariance]:
        self._check_gaussian(rows)
        return rbf_columns(self._in_metric(rows), self._number(), self._log_scale(rows), self.gram_variance(rows))

    def _cross(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        return self._engine(left, right).matrix()

    def _gram(self, rows: GaussianRows) -> np.ndarray:
        return self._engine(rows, None).matrix()

    def _engine(self, left, right, power=1.0):
        """The engine for E k^power; k^2 at gamma is k at 2 gamma, and the scales are squared with it."""
        left = self._in_metric(left)
        scale_left = power * self._log_scale(left)
        if right is None:
            return expected_rbf(left, None, power * self._number(), scale_left, scale_left)
        right = self._in_metric(right)
        return expected_rbf(left, right, power * self._number(), scale_left, power * self._log_scale(right))

    def _log_scale(self, rows: GaussianRows) -> np.ndarray:
        """Logarithm of the factor of each row, given in the metric's coordinates."""
        return np.zeros(len(rows))

    def _in_metric(self, rows: GaussianRows) -> GaussianRows:
        """The rows in coordinates where the distance is Euclidean."""
        return rows

    @staticmethod
    def _log_norm(rows: GaussianRows, gamma: float) -> np.ndarray:
        """log kappa_i = -1/2 log |I + 4 gamma Sigma_i|, the squared norm of the mean embedding."""
        return log_norm(rows, gamma)

    def _number(self) -> float:
        if isinstance(self.gamma, str):
            raise ValueError(
                f"gamma={self.gamma!r} is found from data: use kernel.resolve(density, rows) first, or give a number."
            )
        if not isinstance(self.gamma, float | int | np.number) or not 0 < self.gamma < np.inf:
            raise ValueError(f"gamma must be a positive number, 'scale' or 'median', got {self.gamma!r}.")
        return float(self.gamma)


class UnscaledExpectedRBF(ExpectedRBF):
    """The expected RBF without its determinant (Anderson, Gupta, section 2.1). **Not positive definite.**

        U = exp(-gamma (m_i - m_j)' (I + 2 gamma S)^-1 (m_i - m_j))

    The paper calls it positive definite; rows with equal means and different gaps are a counter-example.
    It is here for comparison. Use `GenRBF` for a unit diagonal.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        As in `ExpectedRBF`.
    """

    mixtures = False  # it is no expectation, so it does not average over components

    def self_cross(self, rows: GaussianRows) -> np.ndarray:
        return np.ones(len(rows))  # equal means: the exponent is 0

    def over_widths(self, gammas, left: GaussianRows, right: GaussianRows | None = None) -> np.ndarray:
        return Kernel.over_widths(self, gammas, left, right)

    def _engine(self, left, right, power=1.0) -> ExpectedRBFEngine:
        if power != 1.0:
            raise NotImplementedError("The unscaled kernel is no expectation, so it has no variance; use ExpectedRBF.")
        warnings.warn(
            "UnscaledExpectedRBF is not positive definite: a solver may fail or return a saddle point. Use GenRBF.",
            UserWarning,
            stacklevel=4,
        )
        zeros = np.zeros(len(left)), np.zeros(len(left if right is None else right))
        there = None if right is None else right.dense
        return ExpectedRBFEngine(left.dense, there, self._number(), *zeros, determinant=False)


def median_rows(n_rows: int) -> np.ndarray:
    """Numbers of the rows that the median heuristic looks at, sorted."""
    if n_rows <= MEDIAN_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, MEDIAN_ROWS, replace=False))


def _variance_from_logs(log_of_square: np.ndarray, log_mean: np.ndarray) -> np.ndarray:
    """E k^2 - (E k)^2 = (E k)^2 (exp(log E k^2 - 2 log E k) - 1), without cancellation: (6), corrected (7)."""
    return np.exp(2.0 * log_mean) * np.maximum(np.expm1(log_of_square - 2.0 * log_mean), 0.0)


def _gamma_of(word: str, density, rows: GaussianRows) -> float:
    if word == "scale":
        # the variance over all cells, as scikit-learn computes it: within columns plus between their means
        spread = density.variances_.mean() + density.mean_.var()
        return float(1.0 / (rows.n_features * spread)) if spread > 0 else 1.0
    if word == "median":
        means = rows.means
        squared = pairwise_distances(means[median_rows(len(means))], metric="sqeuclidean")
        positive = squared[squared > 0]
        return float(1.0 / np.median(positive)) if positive.size else 1.0
    raise ValueError(f"gamma must be a positive number, 'scale' or 'median', got {word!r}.")
