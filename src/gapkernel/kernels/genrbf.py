"""The generalised RBF kernel for incomplete rows (Smieja, Struski, Tabor: genRBF)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, pinvh
from sklearn.base import clone

from gapkernel.kernels.expected_rbf import ExpectedRBF
from gapkernel.rows import GaussianRows


class GenRBF(ExpectedRBF):
    """The cosine of the angle between two laws under the RBF kernel.

    The expected RBF kernel divided by the norms of both mean embeddings: 1 on the diagonal, positive definite,
    and the ordinary RBF kernel where nothing is missing. A row and an independent copy of it also give 1, so
    `gram` and `cross` agree.

        K = |I + 4 gamma Sigma_i|^(1/4) |I + 4 gamma Sigma_j|^(1/4) * expected RBF

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Inverse width. "scale" is 1 / (n_features * variance of the data) as in scikit-learn, the variance measured
        in the metric; for "mahalanobis" that is 1 / n_features.
    metric : None, "mahalanobis" or ndarray of shape (n_features, n_features), default=None
        W in (x - y)' W (x - y), positive semi-definite. None is the identity, "mahalanobis" the inverse of
        the density's covariance (the whitened form of the paper's code).

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Gaussian
    >>> from gapkernel.kernels import GenRBF
    >>> density = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> rows = density.condition([[0.0, np.nan], [0.0, 0.0]])
    >>> GenRBF(gamma=0.5).gram(rows).round(4)
    array([[1.    , 0.9505],
           [0.9505, 1.    ]])
    """

    def __init__(self, gamma="scale", metric=None):
        super().__init__(gamma)
        self.metric = metric

    def resolve(self, density, rows: GaussianRows) -> GenRBF:
        metric, gamma = self.metric, self.gamma
        if isinstance(metric, str):
            if metric != "mahalanobis":
                raise ValueError(f"metric must be None, 'mahalanobis' or a matrix, got {metric!r}.")
            scale = np.sqrt(np.where(density.variances_ > 0, density.variances_, 1.0))
            # in units of standard deviations, so that no column is cut off for its units
            metric = pinvh(density.covariance_ / np.outer(scale, scale)) / np.outer(scale, scale)
        if metric is not None and gamma == "scale":
            gamma = _scale_in_metric(metric, self.metric, density)
        resolved = clone(self).set_params(gamma=gamma, metric=metric)
        words = ExpectedRBF(gamma).resolve(density, resolved._in_metric(rows))
        return resolved.set_params(gamma=words.gamma)

    def self_cross(self, rows: GaussianRows) -> np.ndarray:
        return np.ones(len(rows))

    def metric_root(self, n_features: int) -> np.ndarray:
        return np.eye(n_features) if self.metric is None else _root(self.metric, n_features)

    def _log_scale(self, rows: GaussianRows) -> np.ndarray:
        return -0.5 * self._log_norm(rows, self._number())  # / sqrt(kappa_i): (5)

    def _in_metric(self, rows: GaussianRows) -> GaussianRows:
        return rows if self.metric is None else rows.map(self.metric_root(rows.n_features))


def _scale_in_metric(metric: np.ndarray, given, density) -> float:
    """gamma="scale" with distances measured by the metric W: 1 / (tr W Sigma + m'Wm), m the means less their mean."""
    if isinstance(given, str):
        return 1.0 / len(density.mean_)
    covariance = density.covariance_ - np.diag(density.covariance_.diagonal() - density.variances_)
    between = density.mean_ - density.mean_.mean()
    spread = np.sum(metric * covariance) + between @ metric @ between
    return float(1.0 / spread) if spread > 0 else 1.0


def _root(metric, n_features: int) -> np.ndarray:
    """R with R'R = metric."""
    if isinstance(metric, str):
        raise ValueError(f"metric={metric!r} comes from the density: use kernel.resolve(density, rows) first.")
    metric = np.asarray(metric, dtype=np.float64)
    if metric.shape != (n_features, n_features):
        raise ValueError(f"metric must have shape {(n_features, n_features)}, got {metric.shape}.")
    if not np.allclose(metric, metric.T, rtol=0, atol=1e-8 * np.abs(metric).max()):
        raise ValueError("metric is not symmetric.")
    metric = 0.5 * (metric + metric.T)
    try:
        return cholesky(metric)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(metric)
        if values[0] < -1e-10 * abs(values[-1]):
            raise ValueError("metric is not positive semi-definite.") from None
        return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
