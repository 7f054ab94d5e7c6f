"""The type of all densities: from a table to the laws of its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gapkernel.rows import Moments, Rows
from gapkernel.tables import Schema, Table, Tilt, read_table, read_weights
from gapkernel.tables.takes_gaps import TakesGaps


def _has_log_density(density: Density) -> bool:
    if not density.has_log_density:
        raise AttributeError(f"{type(density).__name__} has no log density. Use gapkernel.density.Gaussian().")
    return True


class Density(TakesGaps, DensityMixin, BaseEstimator, ABC):
    """Where the law of a gap comes from: `fit` learns from a table, `condition` turns its rows into laws.

    A kind writes `_fit`, `_condition`, `_moments` and, if it has one, `_log_density`. What all kinds share is here.

    Attributes
    ----------
    schema_ : Schema
        What `fit` learned about the columns of the table: numbers or categories, and their levels.
    columns_ : ndarray
        The column of the table that each column of the laws belongs to.
    """

    schema_: Schema
    categorical_features: Any = "from_dtype"
    """Which columns hold categories; a density that takes them has this as a parameter."""

    fits_in_parts: ClassVar[bool] = False
    """Whether `fit` takes a table in parts."""

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table with gaps.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN marks a gap.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : Density
        """
        self._validate_params()
        table = self._read(X, reset=True)
        self._fit(table, sample_weight)
        self.schema_ = table.schema
        return self

    def condition(self, X: Any) -> Rows:
        """The law of each row given what was observed of it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        rows : Rows
        """
        table = self._read(X)
        rows = self._condition(replace(table, tilt=None))
        return rows if table.tilt is None else self.tilted(rows, table.tilt)

    def tilted(self, rows: Rows, tilt: Tilt) -> Rows:
        """Laws of this density under an assumption about the gaps of a column.

        Parameters
        ----------
        rows : Rows
        tilt : Tilt
            In the units of the table.

        Returns
        -------
        rows : Rows
            `UnsupportedLaws` if they are not Gaussian.
        """
        return rows.tilted(tilt.column, tilt.shift)

    @property
    def has_log_density(self) -> bool:
        """Whether the density has `score_samples`."""
        return type(self)._log_density is not Density._log_density

    @available_if(_has_log_density)
    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of the observed part of each row (0 for a row with no value).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        return self._log_density(self._read(X))

    @available_if(_has_log_density)
    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the observed parts."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, X: Any, n_draws: int = 1, random_state: Any = None) -> np.ndarray:
        """Complete the rows of ``X`` by draws from their laws.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        n_draws : int, default=1
        random_state : int, RandomState or None, default=None

        Returns
        -------
        draws : ndarray of shape (n_draws, n_samples, n_codes)
            In the columns of the laws.
        """
        return self.condition(X).draws(n_draws, check_random_state(random_state))

    def moments(self) -> Moments:
        """Mean, variances and covariance of a row of which nothing was observed; the variances are without a ridge.

        Returns
        -------
        moments : Moments
        """
        check_is_fitted(self, "schema_")
        return self._moments()

    def vectors(self, values: np.ndarray) -> np.ndarray:
        """Points of the laws as vectors that any kernel on complete rows can compare: categories as one-hot codes.

        Parameters
        ----------
        values : ndarray of shape (n_points, n_codes)
            Draws or atoms of laws of this density.

        Returns
        -------
        vectors : ndarray of shape (n_points, n_codes)
            In the columns of `Table.one_hot`.
        """
        return Table(values, self.schema_).one_hot()

    def cell_nodes(self, X: Any, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values in the units of the table, and weights, of a quadrature over a missing cell of a single row."""
        return self.condition(X).cell_nodes(column, n_nodes)

    @property
    def columns_(self) -> np.ndarray:
        """The column of the table that each column of the laws belongs to."""
        return np.arange(len(self.schema_.levels))

    @abstractmethod
    def _fit(self, table: Table, sample_weight: ArrayLike | None) -> None:
        """Learn from a checked table."""

    @abstractmethod
    def _condition(self, table: Table) -> Rows:
        """`condition` of a checked table."""

    @abstractmethod
    def _moments(self) -> Moments:
        """`moments` of a fitted density."""

    def _log_density(self, table: Table) -> np.ndarray:
        """`score_samples` of a checked table."""
        raise NotImplementedError

    def _read(self, X: Any, *, reset: bool = False) -> Table:
        """``X`` as a checked table, at `fit` or afterwards."""
        if reset:
            return read_table(self, X, reset=True, categorical_features=self.categorical_features)
        check_is_fitted(self, "schema_")
        return read_table(self, X, reset=False, schema=self.schema_)


def rows_with_values(table: Table, sample_weight: ArrayLike | None) -> tuple[Table, np.ndarray]:
    """The rows of positive weight that have a value, and their weights."""
    weight = read_weights(sample_weight, table)
    used = (weight > 0) & ~table.missing.all(axis=1)
    if not used.any():
        raise no_observed_value()
    return (table, weight) if used.all() else (table[used], weight[used])


def seed_of(random_state: Any) -> int:
    """A seed for draws that belong to a row, drawn once, at fit; an int is the seed itself."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def no_observed_value() -> ValueError:
    """The error for a table without any value."""
    return ValueError("X has no observed value in any row of positive weight, so no density can be fitted.")
