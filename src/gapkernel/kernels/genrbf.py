"""The generalised RBF kernel for incomplete rows (Smieja, Struski, Tabor: genRBF)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cholesky, pinvh
from sklearn.utils._param_validation import StrOptions

from gapkernel.kernels.expected_rbf import ExpectedRBF, log_norm
from gapkernel.kernels.width import gamma_of, unresolved
from gapkernel.rows import Moments, Rows


class GenRBF(ExpectedRBF):
    """The cosine of the angle between two laws under the RBF kernel.

    The expected RBF kernel divided by the norms of both mean embeddings: 1 on the diagonal, positive definite,
    and the ordinary RBF kernel where nothing is missing. A row and an independent copy of it also give 1, so
    `gram` and `cross` agree::

        K = |I + 4 gamma Sigma_i|^(1/4) |I + 4 gamma Sigma_j|^(1/4) * expected RBF

    Parameters
    ----------
    gamma : float, "scale", "median" or "auto", default="scale"
        Inverse width. "scale" is 1 / the expected squared distance of a row from the centre, measured in the metric:
        1 / (n_features * variance of the data) without one, as in scikit-learn, and 1 / n_features for "mahalanobis"
        (less if the covariance is singular). "median" is 1 / the median squared distance between the rows' means,
        "auto" 1 / n_features.
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

    is_expectation = False  # divided by norms that depend on the gaps
    _parameter_constraints: ClassVar[dict] = {
        **ExpectedRBF._parameter_constraints,
        "metric": [None, StrOptions({"mahalanobis"}), "array-like"],
    }

    def __init__(self, gamma: Any = "scale", metric: Any = None) -> None:
        super().__init__(gamma)
        self.metric = metric

    @property
    def one_width(self) -> bool:  # type: ignore[override]
        """Unless a metric weighs the columns."""
        return self.metric is None

    def metric_root(self, n_features: int) -> np.ndarray:
        return np.eye(n_features) if self.metric is None else _root(self.metric, n_features)

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        whiten = isinstance(self.metric, str)
        if whiten:
            if moments is None:
                raise unresolved("metric", self.metric)
            scale = np.sqrt(np.where(moments.variances > 0, moments.variances, 1.0))
            # in units of standard deviations, so that no column is cut off for its units
            self.metric = pinvh(moments.covariance / np.outer(scale, scale)) / np.outer(scale, scale)
            moments = Moments(moments.mean, moments.covariance.diagonal(), moments.covariance)
        mapped = self.in_metric(rows)
        metric = None if self.metric is None else np.asarray(self.metric)
        self.gamma = gamma_of(self.gamma, mapped, moments, metric, about_means=whiten)

    def _self_cross(self, rows: Rows) -> np.ndarray:
        return np.ones(len(rows))

    def _log_scale(self, rows: Rows) -> np.ndarray:
        return -0.5 * log_norm(rows, self.inverse_width())  # 1 / sqrt(kappa_i), equation 4 of docs/theory/kernels.md

    def in_metric(self, rows: Rows) -> Rows:
        if self.metric is None:
            return rows
        root = self.metric_root(rows.n_features)
        diagonal = root.diagonal()
        return rows.scale(diagonal) if np.array_equal(root, np.diag(diagonal)) else rows.map(root)


def _root(metric: Any, n_features: int) -> np.ndarray:
    """R with R'R = metric."""
    if isinstance(metric, str):
        raise unresolved("metric", metric)
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
