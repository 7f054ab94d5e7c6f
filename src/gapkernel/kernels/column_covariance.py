"""Covariances inside a column of a random kernel matrix, for the linear and the RBF kernel.

With rows of independent Gaussian laws, column j of the kernel matrix is the random vector
(k(x_1, x_j), ..., k(x_n, x_j)). Its covariance matrix is what a robust classifier needs of row j.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gapkernel.compute.linalg.blocks import root_of
from gapkernel.compute.moments.kernel_moments import base_and_pull, covariances, curvatures
from gapkernel.compute.pairs.side import lay_out
from gapkernel.rows import GaussianRows


class ColumnCovariance(NamedTuple):
    """The covariance of k(x_1, x_j), ..., k(x_n, x_j) in two parts: ``shared + diag(own)``.

    All entries share the draw of x_j, and each has a draw of its own besides: Cov = Cov[E(. | x_j)] + E[Var(. | x_j)],
    and the second term is diagonal. The first is smooth in the few gaps of row j, so its rank is low in practice.

    Attributes
    ----------
    shared : ndarray of shape (n, n)
    own : ndarray of shape (n,)
    """

    shared: np.ndarray
    own: np.ndarray

    def matrix(self) -> np.ndarray:
        """The covariance matrix."""
        return self.shared + np.diag(self.own)


def linear_columns(rows: GaussianRows, variances: np.ndarray) -> Iterator[ColumnCovariance]:
    """Covariances of x_1'x_j, ..., x_n'x_j for each row j in turn; column j of ``variances`` is the diagonal."""
    for j in range(len(rows)):
        slopes = rows.means.copy()
        slopes[j] *= 2.0  # x_j'x_j moves twice as fast with x_j
        shared = slopes @ rows.covariance_of(j) @ slopes.T  # m_i' Sigma_j m_l
        yield _completed(shared, variances[:, j])


def rbf_columns(rows: GaussianRows, gamma: float, log_scale, variances: np.ndarray) -> Iterator[ColumnCovariance]:
    """Covariances of k(x_1, x_j), ..., k(x_n, x_j) for the RBF kernel and each row j in turn.

    With B_i = (I + 2 gamma Sigma_i)^-1 and a fixed x, E k(x_i, x) = |B_i|^(1/2) exp(-gamma (m_i - x)'B_i(m_i - x)).
    What is left is the covariance over x = x_j, which moves on the gaps of row j only.
    """
    side, order, _ = lay_out(rows, gamma, 0.0)
    for j in range(len(rows)):
        shared = np.zeros((len(rows), len(rows)))
        gaps = np.flatnonzero(rows.uncertain[j])
        if len(gaps):  # else x_j is known: nothing is shared
            base, pull = base_and_pull(side, rows.means[j], gamma)
            root = np.ascontiguousarray(root_of(rows.covariance_of(j)[np.ix_(gaps, gaps)]))
            scaled, slope = base + log_scale[order] + log_scale[j], root.T @ pull[gaps]
            shared[np.ix_(order, order)] = covariances(scaled[None], slope[None], curvatures(side, gaps, root), gamma)
            shared[j], shared[:, j] = 0.0, 0.0  # k(x_j, x_j) does not vary
        yield _completed(shared, variances[:, j])


def _completed(shared: np.ndarray, variances: np.ndarray) -> ColumnCovariance:
    return ColumnCovariance(shared, np.maximum(variances - shared.diagonal(), 0.0))
