"""The expected linear kernel (Anderson, Gupta: expected kernel)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from gapkernel.kernels.base import Kernel
from gapkernel.kernels.column_covariance import ColumnCovariance, linear_columns
from gapkernel.kernels.kinds import ALL_KINDS
from gapkernel.rows import Rows


class ExpectedLinear(Kernel):
    """The scalar product of two rows, averaged over what is missing.

    E x'y = m_i'm_j for two rows, and m_i'm_i + tr Sigma_i for a row with itself. Only the means and
    covariances of the laws matter, whatever their kind, and so for the variance of two rows. That of a row with itself
    needs laws that are Gaussian, or sums of Gaussian laws or points.

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

    kinds = ALL_KINDS
    is_expectation = True
    linear_factor = 1.0

    def _diag(self, rows: Rows) -> np.ndarray:
        return np.einsum("ij,ij->i", rows.means, rows.means) + rows.total_variance  # same draw: (2)

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        return left.means @ right.means.T  # (2), i != j

    def _dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        return left.means @ (right.means.T @ coefficients)

    def _variance(self, left: Rows, right: Rows) -> np.ndarray:
        out = np.zeros((len(left), len(right)))
        for rows, columns, covariance in left.by_pattern():  # m_j' Sigma_i m_j: (6)
            out[rows] += _quadratic(right.means[:, columns], covariance)
        for rows, columns, covariance in right.by_pattern():  # m_i' Sigma_j m_i: (6)
            out[:, rows] += _quadratic(left.means[:, columns], covariance)[:, None]
        (covariances, first), (others, second) = _flat_covariances(left), _flat_covariances(right)
        return out + (covariances @ others.T).toarray()[np.ix_(first, second)]  # tr Sigma_i Sigma_j: (6)

    def _gram_variance(self, rows: Rows) -> np.ndarray:
        out = self._variance(rows, rows)
        mean = self._diag(rows)
        same = np.zeros(len(rows))
        for weight, laws in rows.components():  # Var x'x = E Var + Var E over the components
            within = np.zeros(len(rows))
            for members, columns, covariance in laws.by_pattern():  # 2 tr Sigma^2 + 4 m' Sigma m: (6), i = j
                slope = _quadratic(laws.means[np.ix_(members, columns)], covariance)
                within[members] = 2.0 * np.sum(covariance**2) + 4.0 * slope
            same += weight * (within + (self._diag(laws) - mean) ** 2)
        np.fill_diagonal(out, np.where(rows.complete, 0.0, same))
        return out

    def _column_covariances(self, rows: Rows) -> Iterator[ColumnCovariance]:
        return linear_columns(rows.dense, self._gram_variance(rows))


def _flat_covariances(rows: Rows) -> tuple[csr_array, np.ndarray]:
    """The covariance of each pattern as one sparse line of length d * d, and the line of each row."""
    d, line = rows.n_features, np.empty(len(rows), np.int64)
    cells, values, starts = [np.empty(0, np.int64)], [np.empty(0)], [0]
    for k, (members, columns, covariance) in enumerate(rows.by_pattern()):
        line[members] = k
        cells.append(np.add.outer(d * columns, columns).ravel())
        values.append(covariance.ravel())
        starts.append(starts[-1] + covariance.size)
    shape = len(starts) - 1, d * d
    return csr_array((np.concatenate(values), np.concatenate(cells), np.array(starts)), shape=shape), line


def _quadratic(vectors: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """v' M v for each row v."""
    return np.einsum("ij,ij->i", vectors @ matrix, vectors)
