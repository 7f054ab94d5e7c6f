"""The RBF kernel averaged over what is missing: the expected RBF."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions

from gapkernel.compute.pairs.factor_engine import FactorEngine, factor_log_det
from gapkernel.compute.pairs.gamma_grid import ENOUGH_WIDTHS, GammaGridEngine
from gapkernel.compute.pairs.mapped_engine import MappedEngine
from gapkernel.compute.pairs.mixture_engine import MixtureEngine, mixture_log_norm
from gapkernel.compute.pairs.side import row_log_det
from gapkernel.compute.pairs.tile_engine import ExpectedRBFEngine
from gapkernel.kernels.base import Kernel
from gapkernel.kernels.width import POSITIVE, gamma_of
from gapkernel.rows import MIXTURES, GaussianRows, Moments, Rows

ENGINES = {
    ("gaussian", "gaussian"): "dense",
    ("gaussian", "factor"): "dense",
    ("gaussian", "mapped"): "dense",
    ("factor", "factor"): "factor",
    ("factor", "mapped"): "dense",
    ("mapped", "mapped"): "mapped",
    **{(kind, "mixture"): "components" for kind in ("gaussian", "factor", "mapped", "mixture")},
    **{(kind, "atoms"): "components" for kind in ("gaussian", "factor", "mapped", "mixture", "atoms")},
}
"""The engine for two kinds of rows, in either order."""


def expected_rbf(
    left: Rows, right: Rows | None, gamma: float, scale_left: np.ndarray, scale_right: np.ndarray
) -> ExpectedRBFEngine | MixtureEngine:
    """The engine for the expected RBF of these laws; ``right=None`` pairs a batch with itself."""
    other = left if right is None else right
    name = ENGINES.get((left.kind, other.kind)) or ENGINES[other.kind, left.kind]
    if name == "components":
        there = None if right is None else components_of(right)
        return MixtureEngine(components_of(left), there, gamma, scale_left, scale_right)
    if name == "factor" and left.same_factors(other):  # type: ignore[attr-defined]
        return FactorEngine(left, right, gamma, scale_left, scale_right)
    engine = MappedEngine if name == "mapped" and MappedEngine.pays(left, other, gamma) else ExpectedRBFEngine
    return engine(left.dense, None if right is None else right.dense, gamma, scale_left, scale_right)


def log_norm(rows: Rows, gamma: float) -> np.ndarray:
    """log kappa_i = log E k(x_i, x_i') for an independent copy of a row; -1/2 log |I + 4 gamma Sigma_i| if Gaussian."""
    if rows.kind == "factor":
        return -0.5 * factor_log_det(rows, 2.0 * gamma)
    if rows.kind in ("gaussian", "mapped"):
        return -0.5 * row_log_det(rows, 2.0 * gamma)
    return mixture_log_norm([(weight, _gaussian(laws)) for weight, laws in rows.components()], gamma)


class Components(NamedTuple):
    """All components of a batch of mixtures as one batch of Gaussian laws, sorted by row."""

    batch: GaussianRows
    owner: np.ndarray  # the row of each component
    log_weight: np.ndarray  # of each component
    n_rows: int


def components_of(rows: Rows) -> Components:
    """All components of positive weight as one batch, sorted by row."""
    weights, batches = zip(*((weight, _gaussian(laws)) for weight, laws in rows.components()), strict=True)
    weights = np.column_stack(weights)
    owner, component = np.nonzero(weights)
    if len(batches) == 1:
        return Components(batches[0], owner, np.log(weights[:, 0]), len(rows))
    offset = np.cumsum([0, *(len(batch.gaps) for batch in batches)])
    means = np.array([batch.means for batch in batches])[component, owner]
    pattern = np.array([batch.pattern + offset[a] for a, batch in enumerate(batches)])[component, owner]
    gaps = np.concatenate([batch.gaps for batch in batches])
    covariance = np.concatenate([batch.covariance for batch in batches])
    batch = GaussianRows(means, pattern, gaps, covariance)
    return Components(batch, owner, np.log(weights[owner, component]), len(rows))


def _gaussian(rows: Rows) -> GaussianRows:
    return GaussianRows.certain(rows.means) if rows.kind == "atoms" else rows.dense


class ExpectedRBF(Kernel):
    """``exp(-gamma ||x - y||^2)``, averaged over what is missing.

    For two independent rows N(m_i, Sigma_i), N(m_j, Sigma_j), with S = Sigma_i + Sigma_j::

        K = |I + 2 gamma S|^(-1/2) exp(-gamma (m_i - m_j)' (I + 2 gamma S)^-1 (m_i - m_j)).

    A row with itself gives 1. Where nothing is missing this is the ordinary RBF kernel.

    Parameters
    ----------
    gamma : float, "scale", "median" or "auto", default="scale"
        Inverse width. "scale" is 1 / the expected squared distance of a row from the centre, from the density:
        1 / (n_features * variance of the data), as in scikit-learn. "median" is 1 / the median squared distance
        between the rows' means, "auto" 1 / n_features.

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

    kinds = MIXTURES
    is_expectation = one_width = True
    _parameter_constraints: ClassVar[dict] = {"gamma": [POSITIVE, StrOptions({"scale", "median", "auto"})]}

    def __init__(self, gamma: Any = "scale") -> None:
        self.gamma = gamma

    def inverse_width(self) -> float:
        """gamma as a number."""
        return self._number("gamma")

    def log_scale(self, rows: Rows) -> np.ndarray:
        """Logarithm of the factor by which the kernel multiplies each row of the expected RBF."""
        return self._log_scale(self.in_metric(self.accept(rows)))

    def metric_root(self, n_features: int) -> np.ndarray:
        """R, the distance between x and y being the Euclidean one between Rx and Ry."""
        return np.eye(n_features)

    def squared_mean(self, left: Rows, right: Rows) -> np.ndarray:
        """E k(x, y)^2 over independent draws of the two rows, (n_left, n_right)."""
        return self._engine(*self._pair(left, right), 2.0).matrix()

    def over_widths(self, gammas: Sequence[Any] | np.ndarray, left: Rows, right: Rows | None = None) -> np.ndarray:
        if len(gammas) < ENOUGH_WIDTHS or any(rows is not None and rows.kind != "gaussian" for rows in (left, right)):
            return super().over_widths(gammas, left, right)
        kernels = [clone(self).set_params(gamma=gamma) for gamma in gammas]
        widths = np.array([kernel.inverse_width() for kernel in kernels])
        left_side = self.in_metric(self.accept(left))
        right_side = left_side if right is None else self.in_metric(self.accept(right))
        scales = [np.array([kernel._log_scale(side) for kernel in kernels]) for side in (left_side, right_side)]
        matrices = GammaGridEngine(left_side, None if right is None else right_side, widths, *scales).matrices()
        return self._meeting_itself(matrices, left) if right is None else matrices

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        self.gamma = gamma_of(self.gamma, rows, moments)

    def _diag(self, rows: Rows) -> np.ndarray:
        return np.ones(len(rows))  # k(x, x) = 1, whatever x

    def _self_cross(self, rows: Rows) -> np.ndarray:
        rows = self.in_metric(rows)
        return np.exp(log_norm(rows, self.inverse_width()) + 2.0 * self._log_scale(rows))

    def _dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        return self._engine(left, right).dot(coefficients)

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        return self._engine(left, right).matrix()

    def _gram(self, rows: Rows) -> np.ndarray:
        return self._engine(rows, None).matrix()

    def _checked(self, matrix: np.ndarray) -> np.ndarray:
        return matrix  # the engine has looked at every tile

    def _engine(self, left: Rows, right: Rows | None, power: float = 1.0) -> Any:
        """The engine for E k^power; k^2 at gamma is k at 2 gamma, and the scales are squared with it."""
        left = self.in_metric(left)
        scale_left = power * self._log_scale(left)
        if right is None:
            return expected_rbf(left, None, power * self.inverse_width(), scale_left, scale_left)
        right = self.in_metric(right)
        return expected_rbf(left, right, power * self.inverse_width(), scale_left, power * self._log_scale(right))

    def _log_scale(self, rows: Rows) -> np.ndarray:
        """Logarithm of the factor of each row, given in the metric's coordinates."""
        return np.zeros(len(rows))

    def in_metric(self, rows: Rows) -> Rows:
        """The rows in coordinates where the distance is Euclidean."""
        return rows
