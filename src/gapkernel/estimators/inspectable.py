"""What `gapkernel.inspection` asks of a fitted estimator, and what the estimator remembers of its training table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.standardise import standard_of
from gapkernel.rows import Patterns
from gapkernel.tables import Schema, Table, read_table

MOST_MASKS = 1000
"""Training rows whose masks are kept."""


@dataclass(frozen=True, eq=False)
class TrainingSummary:
    """What a fitted estimator remembers of its training table: small, whatever the number of rows.

    Attributes
    ----------
    n_rows : int
    gap_counts : ndarray of shape (n_columns,)
        Gaps in each column.
    deviations : ndarray of shape (n_columns,)
        Standard deviation of the observed values of each column; NaN for categories without an order.
    patterns : ndarray of shape (n_patterns, n_columns), bool
        The distinct gap patterns of at most `MOST_MASKS` rows, drawn at random but always the same.
    pattern_counts : ndarray of shape (n_patterns,)
        How many of these rows have each pattern.
    """

    n_rows: int
    gap_counts: np.ndarray
    deviations: np.ndarray
    patterns: np.ndarray
    pattern_counts: np.ndarray

    @classmethod
    def of(cls, table: Table) -> TrainingSummary:
        """The summary of a checked table."""
        schema, missing = table.schema, table.missing
        nominal = schema.categorical & ~np.array(schema.ordered, dtype=bool)
        deviations = np.where(nominal, np.nan, np.sqrt(standard_of(table.values).variances))
        some = np.random.default_rng(0).permutation(len(table))[:MOST_MASKS]
        patterns = Patterns.of(missing[some])
        return cls(len(table), missing.sum(axis=0), deviations, patterns.gaps, patterns.counts)


class Inspectable(ABC):
    """A fitted estimator that `gapkernel.inspection` can ask how it came to its answers.

    Attributes
    ----------
    training_summary_ : TrainingSummary
        What it remembers of its training table.
    """

    training_summary_: TrainingSummary
    schema_: Schema

    def table_of(self, X) -> Table:
        """New rows, read as those of the fit were.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        table : Table
            A level that was never seen is a gap. All verbs of the estimator take it in place of ``X``.
        """
        check_is_fitted(self, "schema_")
        return read_table(self, X, reset=False, schema=self.schema_)

    @abstractmethod
    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values in the units of the table, and weights, of a quadrature over a missing cell of a single row.

        Parameters
        ----------
        X : array-like, frame or Table of one row
        column : int
        n_nodes : int

        Returns
        -------
        values, weights : ndarray of shape (n_values,)
            A category has its levels as values.
        """

    @property
    def averages_gaps(self) -> bool:
        """Whether the decision value (or latent mean, or value) of a row is its exact average over the row's law."""
        return False

    @property
    def gaussian_share(self) -> float:
        """The share of the answers that rests on Gaussian laws of the gaps, from 0 to 1."""
        return 0.0
