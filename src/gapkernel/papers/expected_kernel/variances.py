"""How far kernel values vary over independent draws of the rows: pair by pair, and together within a column.

With rows of independent Gaussian laws, column j of the kernel matrix is the random vector
(k(x_1, x_j), ..., k(x_n, x_j)). Its covariance matrix is what a robust classifier needs of row j.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from gapkernel.compute import base_and_pull, covariances, curvatures, lay_out, root_of
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, Kernel, Masked, OnColumns, Scaled
from gapkernel.rows import Rows


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


@singledispatch
def variance(kernel: Kernel, left: Rows, right: Rows) -> np.ndarray:
    """Var k(x, y) over independent draws of the two rows, (n_left, n_right)."""
    raise _no_closed_form("variance", kernel)


@singledispatch
def gram_variance(kernel: Kernel, rows: Rows) -> np.ndarray:
    """`variance` of one batch, a row meeting itself in the same draw on the diagonal, (n, n)."""
    raise _no_closed_form("variance", kernel)


@singledispatch
def column_covariances(kernel: Kernel, rows: Rows) -> Iterator[ColumnCovariance]:
    """For each row j in turn: the covariance of the kernel values k(x_1, x_j), ..., k(x_n, x_j)."""
    raise _no_closed_form("covariance of the columns", kernel)


def _no_closed_form(what: str, kernel: Kernel) -> ValueError:
    return ValueError(
        f"The {what} of {kernel!r} has no closed form here. Use a single kernel 'rbf', 'genrbf' or 'linear', or "
        f"covariance='identity', which takes any kernel."
    )


@variance.register
def _(kernel: ExpectedRBF, left: Rows, right: Rows) -> np.ndarray:
    """E k^2 (1 - exp(2 log E k - log E k^2)): the difference of the squares without cancellation."""
    square, mean = kernel.squared_mean(left, right), kernel.cross(left, right)
    with np.errstate(divide="ignore", invalid="ignore"):  # where both are zero, so is the variance
        fall = np.minimum(2.0 * np.log(mean) - np.log(square), 0.0)
    out = np.where(mean > 0.0, square * -np.expm1(fall), 0.0)
    out[np.ix_(left.complete, right.complete)] = 0.0
    return out


@gram_variance.register
def _(kernel: ExpectedRBF, rows: Rows) -> np.ndarray:
    out = variance(kernel, rows, rows)
    np.fill_diagonal(out, 0.0)  # k(x, x) does not vary
    return out


@column_covariances.register
def _(kernel: ExpectedRBF, rows: Rows) -> Iterator[ColumnCovariance]:
    """With B_i = (I + 2 gamma Sigma_i)^-1 and a fixed x, E k(x_i, x) = |B_i|^(1/2) exp(-gamma (m_i - x)'B_i(m_i - x)).

    What is left is the covariance over x = x_j, which moves on the gaps of row j only.
    """
    gamma, log_scale, variances = kernel.inverse_width(), kernel.log_scale(rows), gram_variance(kernel, rows)
    rows = kernel.in_metric(rows).dense
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


@variance.register
def _(kernel: ExpectedLinear, left: Rows, right: Rows) -> np.ndarray:
    """m_j' Sigma_i m_j + m_i' Sigma_j m_i + tr Sigma_i Sigma_j, whatever the kind of the laws."""
    out = np.zeros((len(left), len(right)))
    for rows, columns, covariance in left.by_pattern():
        out[rows] += _quadratic(right.means[:, columns], covariance)
    for rows, columns, covariance in right.by_pattern():
        out[:, rows] += _quadratic(left.means[:, columns], covariance)[:, None]
    (flat, first), (others, second) = _flat_covariances(left), _flat_covariances(right)
    return out + (flat @ others.T).toarray()[np.ix_(first, second)]


@gram_variance.register
def _(kernel: ExpectedLinear, rows: Rows) -> np.ndarray:
    """Var x'x = E Var + Var E over the components of a law: 2 tr Sigma^2 + 4 m' Sigma m for a Gaussian one."""
    out, mean, same = variance(kernel, rows, rows), kernel.diag(rows), np.zeros(len(rows))
    for weight, laws in rows.components():
        within = np.zeros(len(rows))
        for members, columns, covariance in laws.by_pattern():
            slope = _quadratic(laws.means[np.ix_(members, columns)], covariance)
            within[members] = 2.0 * np.sum(covariance**2) + 4.0 * slope
        same += weight * (within + (kernel.diag(laws) - mean) ** 2)
    np.fill_diagonal(out, np.where(rows.complete, 0.0, same))
    return out


@column_covariances.register
def _(kernel: ExpectedLinear, rows: Rows) -> Iterator[ColumnCovariance]:
    variances, rows = gram_variance(kernel, rows), rows.dense
    for j in range(len(rows)):
        slopes = rows.means.copy()
        slopes[j] *= 2.0  # x_j'x_j moves twice as fast with x_j
        shared = slopes @ rows.covariance_of(j) @ slopes.T  # m_i' Sigma_j m_l
        yield _completed(shared, variances[:, j])


@singledispatch
def _inside(kernel: Scaled, left: Rows, right: Rows) -> tuple[Kernel, Rows, Rows, np.ndarray | float]:
    """The kernel that varies, the rows that it sees, and what its variation is multiplied by."""
    return kernel.kernel, left, right, kernel.factor


@_inside.register
def _(kernel: OnColumns, left: Rows, right: Rows):
    return kernel.kernel, left.columns(kernel.columns), right.columns(kernel.columns), 1.0


@_inside.register
def _(kernel: Masked, left: Rows, right: Rows):
    """Which cells are gaps is known, so the kernel on the gaps does not vary: it is a factor, or adds nothing."""
    factor = kernel.alike(left, right) if kernel.indicator.rule == "product" else 1.0
    return kernel.kernel, left.unmasked, right.unmasked, factor


@variance.register(Scaled | OnColumns | Masked)
def _(kernel, left: Rows, right: Rows) -> np.ndarray:
    kernel, left, right, factor = _inside(kernel, left, right)
    return factor**2 * variance(kernel, left, right)


@gram_variance.register(Scaled | OnColumns | Masked)
def _(kernel, rows: Rows) -> np.ndarray:
    kernel, rows, _, factor = _inside(kernel, rows, rows)
    return factor**2 * gram_variance(kernel, rows)


@column_covariances.register(Scaled | OnColumns | Masked)
def _(kernel, rows: Rows) -> Iterator[ColumnCovariance]:
    kernel, inner, _, factor = _inside(kernel, rows, rows)
    slopes = np.broadcast_to(factor, (len(rows), len(rows))).T
    for slope, (shared, own) in zip(slopes, column_covariances(kernel, inner), strict=True):
        yield ColumnCovariance(np.outer(slope, slope) * shared, slope**2 * own)


def _completed(shared: np.ndarray, variances: np.ndarray) -> ColumnCovariance:
    return ColumnCovariance(shared, np.maximum(variances - shared.diagonal(), 0.0))


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
