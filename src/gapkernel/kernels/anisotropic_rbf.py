"""The expected RBF kernel with a length scale for each column (automatic relevance determination)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions

from gapkernel.compute.moments.covariance_sums import covariance_sums, point_covariance_sums
from gapkernel.compute.pairs.scattered_gradient import length_scale_sums
from gapkernel.kernels.expected_rbf import ExpectedRBF
from gapkernel.kernels.width import POSITIVE, scale_gamma, unresolved
from gapkernel.rows import Moments, Rows


class AnisotropicRBF(ExpectedRBF):
    """exp(-1/2 sum_k (x_k - y_k)^2 / l_k^2), averaged over what is missing.

    The expected RBF kernel in units of the length scales: columns with a large one hardly count. Where nothing is
    missing this is `sklearn.gaussian_process.kernels.RBF`.

    Parameters
    ----------
    length_scale : float, array-like of shape (n_features,) or "scale", default="scale"
        One for all columns or one for each. "scale" is that of ``ExpectedRBF(gamma="scale")``.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Gaussian
    >>> from gapkernel.kernels import AnisotropicRBF
    >>> rows = Gaussian.from_moments([0.0, 0.0], np.eye(2)).condition([[0.0, np.nan], [0.0, 0.0]])
    >>> AnisotropicRBF([1.0, 10.0]).gram(rows).round(4)  # the gap is in a column that hardly counts
    array([[1.   , 0.995],
           [0.995, 1.   ]])
    """

    _parameter_constraints: ClassVar[dict] = {"length_scale": [POSITIVE, StrOptions({"scale"}), "array-like"]}

    def __init__(self, length_scale: float | ArrayLike | str = "scale") -> None:
        self.length_scale = length_scale

    @property
    def one_width(self) -> bool:  # type: ignore[override]
        """Unless each column has a length scale of its own."""
        return np.ndim(self.length_scale) == 0

    def inverse_width(self) -> float:
        """1/2: the width is in the length scales."""
        return 0.5

    def metric_root(self, n_features: int) -> np.ndarray:
        return np.diag(self._factors(n_features))

    def gram_and_sums(self, rows: Rows) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """The Gram matrix, and a function from weights to the sums that a gradient in the length scales needs.

        For symmetric weights W the function gives sum_ij W_ij dK_ij / d log l_k for each column k.
        """
        engine = self._engine(self.accept(rows).dense, None)
        gram = engine.matrix()
        np.fill_diagonal(gram, 1.0)  # the same draw on both sides, whatever the length scales
        return gram, lambda weights: length_scale_sums(engine, weights * gram)

    def covariance_sums(
        self, left: Rows, right: Rows, vectors: Callable[[int], np.ndarray], matrix: np.ndarray
    ) -> np.ndarray:
        """For each row x of ``left``: sum_ij (v_i'v_j - matrix_ij) Cov(e_i, e_j).

        e_i = E[k(x_i, x) | x] for the rows of ``right`` varies with what is missing in x. ``vectors`` is a function
        that returns the v of a row of ``left``, one v_i in each column.
        """
        left, right = self.in_metric(left.dense), self.in_metric(right.dense)
        return covariance_sums(left, right, self.inverse_width(), vectors, matrix)

    def point_covariance_sums(
        self, left: Rows, points: np.ndarray, vectors: Callable[[int], np.ndarray], matrix: np.ndarray
    ) -> np.ndarray:
        """The same for complete ``points`` z in place of ``right``: Cov(k(z_a, x), k(z_b, x))."""
        factors = self._factors(left.n_features)
        return point_covariance_sums(left.dense.scale(factors), points * factors, self.inverse_width(), vectors, matrix)

    def in_metric(self, rows: Rows) -> Rows:
        return rows.scale(self._factors(rows.n_features))

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        if isinstance(self.length_scale, str):
            self.length_scale = float((2.0 * scale_gamma(moments)) ** -0.5)
        self._factors(rows.n_features)

    def _factors(self, n_features: int) -> np.ndarray:
        if isinstance(self.length_scale, str):
            raise unresolved("length_scale", self.length_scale)
        scales = np.asarray(self.length_scale, dtype=np.float64)
        if scales.shape not in ((), (n_features,)) or not (np.all(scales > 0) and np.isfinite(scales).all()):
            raise ValueError(
                f"length_scale must be 'scale', a positive number or {n_features} of them, got {self.length_scale!r}."
            )
        return np.broadcast_to(1.0 / scales, (n_features,))
