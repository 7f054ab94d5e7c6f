"""What every kind of rows can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from gapkernel.compute.record import Record
from gapkernel.compute.standardise import standard_of

if TYPE_CHECKING:
    from gapkernel.rows.gaussian_rows import GaussianRows


GAUSSIAN = frozenset({"gaussian", "factor", "mapped"})
MIXTURES = GAUSSIAN | {"mixture", "atoms"}
ALL_KINDS = MIXTURES | {"marginal"}
"""Kinds of rows: those with one Gaussian law each, with those that are sums of such laws or points, and all."""


Indices = int | slice | ArrayLike
"""Which rows: a number, numbers, a slice or a mask."""


class UnsupportedLaws(ValueError):
    """Rows of this kind cannot do what a kernel or an estimator needs; the message says what to use instead."""


class Moments:
    """Means and variances of the columns, from which words such as ``gamma="scale"`` become numbers.

    Parameters
    ----------
    mean, variances : ndarray of shape (n_features,)
        ``variances`` are those of the data: the diagonal of the covariance without any ridge.
    covariance : ndarray of shape (n_features, n_features) or function
        A function is called when the covariance is first used: for many columns it is large.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.rows import Moments
    >>> moments = Moments.of(np.array([[1.0, np.nan], [3.0, 5.0]]))
    >>> moments.mean, moments.variances
    (array([2., 5.]), array([1., 0.]))
    """

    def __init__(
        self, mean: np.ndarray, variances: np.ndarray, covariance: np.ndarray | Callable[[], np.ndarray]
    ) -> None:
        self.mean, self.variances = np.asarray(mean), np.asarray(variances)
        self._covariance = covariance

    @classmethod
    def of(cls, X: np.ndarray, weight: np.ndarray | None = None) -> Moments:
        """Those of the observed values of each column of ``X``, as if columns were independent; 0 without a value."""
        standard = standard_of(X, weight)
        return cls.independent(standard.location, standard.variances)

    @classmethod
    def independent(cls, mean: np.ndarray, variances: np.ndarray) -> Moments:
        """Those of columns that are independent."""
        return cls(mean, variances, lambda: np.diag(variances))

    @cached_property
    def covariance(self) -> np.ndarray:
        """The covariance of the columns."""
        return self._covariance() if callable(self._covariance) else np.asarray(self._covariance)

    def take(self, columns: np.ndarray) -> Moments:
        """The moments of some columns."""
        return Moments(self.mean[columns], self.variances[columns], lambda: self.covariance[np.ix_(columns, columns)])


class Rows(Record, ABC):
    """An immutable batch of rows, each a law: the distribution of its cells given the observed ones.

    A kind that has no answer to a question below raises `UnsupportedLaws`.
    """

    kind: ClassVar[str]
    """"gaussian", "factor", "mapped", "mixture", "marginal" or "atoms"."""

    means: np.ndarray
    """The mean of each law, (n_rows, n_features): the observed values, and the expected ones in the gaps."""

    total_variance: np.ndarray
    """Trace of each law's covariance, (n_rows,): how much is unknown about the row."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns."""

    @property
    @abstractmethod
    def uncertain(self) -> np.ndarray:
        """True for the cells that are not known for certain, (n_rows, n_features)."""

    @property
    def complete(self) -> np.ndarray:
        """True for rows without uncertainty, (n_rows,)."""
        return np.logical_not(self.uncertain.any(axis=1))

    @property
    def unmasked(self) -> Rows:
        """The laws alone, without a record of what was missing in the table."""
        return self

    @property
    def dense(self) -> GaussianRows:
        """The same laws as `GaussianRows`, with their covariances written out."""
        raise self._unsupported("are not Gaussian")

    def mask(self) -> np.ndarray:
        """True where the table had a gap, (n_rows, n_columns)."""
        raise UnsupportedLaws("These rows do not say what was missing in the table: wrap them in MaskedRows first.")

    @abstractmethod
    def take(self, indices: Indices) -> Self:
        """The rows at ``indices`` (integers, a slice or a mask)."""

    @abstractmethod
    def columns(self, indices: ArrayLike) -> Self:
        """The laws of some columns."""

    @abstractmethod
    def draws(self, n_draws: int, random_state: Any = None) -> np.ndarray:
        """Complete rows drawn from the laws, (n_draws, n_rows, n_features)."""

    @abstractmethod
    def atoms(self, n_atoms: int, method: str = "sobol", seed: int = 0) -> Rows:
        """The laws as `AtomRows`: ``n_atoms`` points for each uncertain row, which depend on row and seed alone.

        ``method`` is "sobol" or "random"; "exact" lists all values of laws that have at most ``n_atoms`` of them.
        """

    def cell_nodes(self, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values and weights of a quadrature over one cell of the only row of this batch."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
        values, shares = [], []
        for weight, rows in self.components():
            deviation = np.sqrt(max(rows.covariance_of(0)[column, column], 0.0))
            values.append(rows.means[0, column] + deviation * nodes)
            shares.append(weight[0] * weights / weights.sum())
        return np.concatenate(values), np.concatenate(shares)

    def components(self) -> tuple[tuple[np.ndarray, Rows], ...]:
        """The laws as mixtures of Gaussian ones: pairs of a weight for each row, (n_rows,), and a batch of rows."""
        raise self._unsupported("are not mixtures of Gaussian laws")

    def beside(self, values: ArrayLike) -> Rows:
        """The laws followed by columns of known ``values``, (n_rows, n_new)."""
        return self.dense.beside(values)

    def tilted(self, column: int, shift: np.ndarray) -> Rows:
        """The laws tilted by exp(delta x_column), so that the mean of that cell moves by ``shift`` (n_rows,).

        N(m, S) becomes N(m + S delta, S): the other gaps of a row move with the cell as its law says. Rows that know
        the cell stay as they are.
        """
        raise self._unsupported("cannot be tilted")

    def scale(self, factors: ArrayLike) -> Rows:
        """The laws of the rows with every column multiplied by its factor."""
        raise self._unsupported("cannot be rescaled")

    def map(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> Rows:
        """The laws of ``matrix @ x + offset``."""
        raise self._unsupported("cannot be mapped")

    def quadratic(self, directions: ArrayLike) -> np.ndarray:
        """The variance of w'x for each row x and each of the ``directions`` w (n_directions, d): (n, n_directions)."""
        directions = self._lines(directions, "directions")
        return np.array(
            [np.einsum("fi,ij,fj->f", directions, self.covariance_of(i), directions) for i in range(len(self))]
        )

    @abstractmethod
    def covariance_of(self, i: int) -> np.ndarray:
        """The covariance of row ``i`` over all columns, zero outside its gaps."""

    def by_pattern(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each covariance in use: its rows, the columns that are uncertain, and the covariance on them."""
        complete = np.flatnonzero(self.complete)
        if len(complete):
            yield complete, np.empty(0, np.int64), np.empty((0, 0))
        for i in np.flatnonzero(~self.complete).tolist():
            columns = np.flatnonzero(self.uncertain[i])
            yield np.array([i]), columns, self.covariance_of(i)[np.ix_(columns, columns)]

    def _unsupported(self, what: str) -> UnsupportedLaws:
        return UnsupportedLaws(
            f"These rows have {self.kind} laws, which {what}. Use a density with Gaussian laws, such as "
            f"density.Gaussian(), or kernels.MonteCarlo, which takes laws of any kind."
        )

    def _factors(self, factors: ArrayLike) -> np.ndarray:
        factors = np.asarray(factors, dtype=np.float64)
        if factors.shape != (self.n_features,):
            raise ValueError(f"factors must have one entry for each of {self.n_features} columns, got {factors.shape}.")
        return factors

    def _lines(self, table: ArrayLike, name: str) -> np.ndarray:
        """A table with a column for each of the rows', which came as the parameter ``name``."""
        table = np.asarray(table, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != self.n_features:
            raise ValueError(f"{name} must have {self.n_features} columns, one per feature, got shape {table.shape}.")
        return table


def row_indices(indices: Indices) -> slice | np.ndarray:
    """``indices`` as a slice or an array, for a number and an empty list too."""
    if isinstance(indices, slice):
        return indices
    return np.atleast_1d(indices) if np.size(indices) else np.empty(0, np.int64)
