"""The expected linear kernel (Anderson, Gupta: expected kernel)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from gapkernel.kernels.base import Kernel
from gapkernel.kernels.column_covariance import ColumnCovariance, linear_columns
from gapkernel.rows import GaussianRows


class ExpectedLinear(Kernel):
    """The scalar product of two rows, averaged over what is missing.

    E x'y = m_i'm_j for two rows, and m_i'm_i + tr Sigma_i for a row with itself. Only the means and
    covariances of the laws matter, not that they are Gaussian; the variances do assume it.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Gaussian
    >>> from gapkernel.kernels import ExpectedLinear
    >>> density = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> rows = density.condition([[2.0, np.nan], [1.0, 1.0]])
    >>> ExpectedLinear().gram(rows)
    array([[5.75, 3.  ],
           [3.  , 2.  ]])
    """

    mixtures = True

    def diag(self, rows: GaussianRows) -> np.ndarray:
        return np.einsum("ij,ij->i", rows.means, rows.means) + rows.total_variance  # same draw: (2)

    def _cross(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        return left.means @ right.means.T  # (2), i != j

    def _dot(self, left: GaussianRows, right: GaussianRows, coefficients: np.ndarray) -> np.ndarray:
        return left.means @ (right.means.T @ coefficients)

    def _variance(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        self._check_gaussian(left)
        self._check_gaussian(right)
        out = np.zeros((len(left), len(right)))
        for rows, columns, covariance in left.by_pattern():  # m_j' Sigma_i m_j: (6)
            out[rows] += _quadratic(right.means[:, columns], covariance)
        for rows, columns, covariance in right.by_pattern():  # m_i' Sigma_j m_i: (6)
            out[:, rows] += _quadratic(left.means[:, columns], covariance)[:, None]
        traces = (_flat_covariances(left.dense) @ _flat_covariances(right.dense).T).toarray()  # tr Sigma_i Sigma_j: (6)
        return out + traces[np.ix_(left.law, right.law)]

    def _gram_variance(self, rows: GaussianRows) -> np.ndarray:
        out = self._variance(rows, rows)
        for members, columns, covariance in rows.by_pattern():  # 2 tr Sigma_i^2 + 4 m_i' Sigma_i m_i: (6), i = j
            same = 2.0 * np.sum(covariance**2) + 4.0 * _quadratic(rows.means[np.ix_(members, columns)], covariance)
            out[members, members] = same
        return out

    def column_covariances(self, rows: GaussianRows) -> Iterator[ColumnCovariance]:
        return linear_columns(rows, self.gram_variance(rows))


def _flat_covariances(rows: GaussianRows) -> csr_array:
    """The covariance of each law as one sparse line of length d * d."""
    d = rows.n_features
    cells = [np.add.outer(d * columns, columns).ravel() for columns in map(np.flatnonzero, rows.gaps)]
    indices = np.concatenate(cells) if cells else np.empty(0, np.int64)
    return csr_array((rows.covariance, indices, rows.block_start), shape=(len(rows.gaps), d * d))


def _quadratic(vectors: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """v' M v for each row v."""
    return np.einsum("ij,ij->i", vectors @ matrix, vectors)
