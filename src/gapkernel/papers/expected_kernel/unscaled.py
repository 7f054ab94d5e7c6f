"""The expected RBF as the paper writes it, without its determinant."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np

from gapkernel.kernels import ExpectedRBF, Kernel
from gapkernel.rows import Moments, Rows


class UnscaledExpectedRBF(Kernel):
    """The expected RBF without its determinant (section 2.1 of the paper): not positive definite.

    For two independent rows N(m_i, Sigma_i), N(m_j, Sigma_j), with S = Sigma_i + Sigma_j::

        U = exp(-gamma (m_i - m_j)' (I + 2 gamma S)^-1 (m_i - m_j))

    The paper calls it positive definite; rows with equal means and different gaps are a counter-example.
    It is here for comparison. Use `GenRBF` for a unit diagonal.

    Parameters
    ----------
    gamma : float, "scale", "median" or "auto", default="scale"
        Inverse width. "scale" is 1 / the expected squared distance of a row from the centre, "median" 1 / the median
        squared distance between the rows' means, "auto" 1 / n_features.

    Examples
    --------
    >>> import warnings
    >>> from gapkernel.density import Gaussian
    >>> from gapkernel.papers.expected_kernel import UnscaledExpectedRBF
    >>> rows = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]).condition([[0.0, None], [0.0, 0.0]])
    >>> with warnings.catch_warnings(action="ignore"):  # it warns that it is not positive definite
    ...     UnscaledExpectedRBF(gamma=0.5).cross(rows, rows)
    array([[1., 1.],
           [1., 1.]])
    """

    one_width = True
    _parameter_constraints: ClassVar[dict] = ExpectedRBF._parameter_constraints

    def __init__(self, gamma="scale") -> None:
        self.gamma = gamma

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        self.gamma = ExpectedRBF(self.gamma).resolve(moments, rows).inverse_width()

    def _diag(self, rows: Rows) -> np.ndarray:
        return np.ones(len(rows))  # k(x, x) = 1, whatever x

    def _self_cross(self, rows: Rows) -> np.ndarray:
        return np.ones(len(rows))  # equal means: the exponent is 0

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        warnings.warn(
            "UnscaledExpectedRBF is not positive definite: a solver may fail or return a saddle point. Use GenRBF.",
            UserWarning,
            stacklevel=3,
        )
        left, right, gamma = left.dense, right.dense, ExpectedRBF(self.gamma).inverse_width()
        widened = 2.0 * gamma * np.array([right.covariance_of(j) for j in range(len(right))]) + np.eye(right.n_features)
        out = np.empty((len(left), len(right)))
        for i, mean in enumerate(left.means):
            apart = mean - right.means
            solved = np.linalg.solve(widened + 2.0 * gamma * left.covariance_of(i), apart[..., None])[..., 0]
            out[i] = np.exp(-gamma * np.sum(apart * solved, axis=1))
        return out
