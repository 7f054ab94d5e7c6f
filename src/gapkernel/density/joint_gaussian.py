"""One Gaussian over numbers and categories together, so that each informs the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from gapkernel.compute.standardise import standard_of
from gapkernel.density.base import Density, rows_with_values
from gapkernel.density.gaussian import Gaussian
from gapkernel.rows import Moments, Rows
from gapkernel.tables import Table, Tilt


@dataclass(eq=False, repr=False, kw_only=True)
class JointGaussian(Density):
    """A Gaussian density over standardised numbers and centred one-hot codes of categories.

    An observed category is certain; a missing one leaves its whole block of codes as a gap, whose law follows from
    the other columns, as that of a missing number follows from the categories. Ordered categories count as numbers,
    their places. The rows are Gaussian laws, so every Gaussian kernel works on them unchanged.

    Parameters
    ----------
    gaussian : Density, default=None
        The density of the codes, `Gaussian` or `FactorAnalysis`; None is ``Gaussian(ridge=0.1, tol=1e-4)``, because
        one-hot codes are many and dependent.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so; none; or their names, numbers or a mask.

    Attributes
    ----------
    gaussian_ : Density
        The density fitted to the codes.
    schema_ : Schema
        What the columns hold: numbers, or categories with their levels.
    columns_ : ndarray of shape (n_codes,)
        The column of the table that each code belongs to.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from gapkernel.density import JointGaussian
    >>> X = pd.DataFrame({"size": [1.0, 1.2, 3.0, 3.1, None], "kind": ["a", "a", "b", "b", "b"]})
    >>> rows = JointGaussian().fit(X).condition(X)
    >>> rows.means.shape, bool(rows.means[4, 0] > 0.5)
    ((5, 3), True)
    """

    gaussian: Density | None = None
    categorical_features: Any = "from_dtype"

    _parameter_constraints: ClassVar[dict] = {
        "gaussian": [Density, None],
    }

    def cell_nodes(self, X: Any, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values in the units of the table, and weights, of a quadrature over a missing cell of a single row.

        A category has its levels as values, weighted by the conditional means of their codes, where these are
        positive.
        """
        rows, codes = self.condition(X), np.flatnonzero(self.columns_ == column)
        if self.schema_.one_hot[codes[0]]:
            shares = np.maximum(self._location[codes] + self._scale[codes] * rows.means[0, codes], 0.0)
            return np.arange(len(codes), dtype=np.float64), shares / shares.sum()
        nodes, weights = rows.cell_nodes(codes[0], n_nodes)
        return self._location[codes[0]] + self._scale[codes[0]] * nodes, weights

    def tilted(self, rows: Rows, tilt: Tilt) -> Rows:
        codes = np.flatnonzero(self.columns_ == tilt.column)
        if self.schema_.one_hot[codes[0]]:
            raise ValueError(f"Column {self.schema_.label(tilt.column)} holds categories, which cannot be tilted.")
        return rows.tilted(codes[0], tilt.shift / self._scale[codes[0]])

    def _moments(self) -> Moments:
        return self.gaussian_.moments()

    @property
    def columns_(self) -> np.ndarray:
        """The column of the table that each code belongs to."""
        return self.schema_.code_columns

    def vectors(self, values: np.ndarray) -> np.ndarray:
        """Points of the laws in the units of the table, with the level of the largest code in place of codes."""
        return Table.from_one_hot(self._location + self._scale * values, self.schema_).one_hot()

    def _fit(self, table: Table, sample_weight: ArrayLike | None) -> None:
        table, weight = rows_with_values(table, sample_weight)
        codes = table.one_hot()
        standard = standard_of(codes, weight)
        self._location = standard.location
        self._scale = np.where(table.schema.one_hot, 1.0, standard.scale)
        gaussian = clone(self.gaussian) if self.gaussian is not None else Gaussian(ridge=0.1, tol=1e-4)
        self.gaussian_ = gaussian.fit(self._standardised(codes), sample_weight=weight)

    def _condition(self, table: Table) -> Rows:
        return self.gaussian_.condition(self._standardised(table.one_hot()))

    def _log_density(self, table: Table) -> np.ndarray:
        codes = table.one_hot()
        units = ~np.isnan(codes) @ np.log(self._scale)
        return self.gaussian_.score_samples(self._standardised(codes)) - units

    def _standardised(self, codes: np.ndarray) -> np.ndarray:
        return (codes - self._location) / self._scale
