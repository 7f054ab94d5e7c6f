"""Column by column: the law of a missing value is that of its column."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.density.bandwidth import sheather_jones
from gapkernel.density.base import Density, rows_with_values
from gapkernel.rows import Moments
from gapkernel.rows.column_law import ZERO, Atoms, Law, Normal, UniformWindows
from gapkernel.rows.marginal_rows import Feature, MarginalRows
from gapkernel.tables import Schema, Table

NUMERIC = ("kde", "gaussian", "empirical", "uniform", "levels")
CATEGORICAL = ("frequency", "uniform")
NARROWEST = 1e-5
"""Windows narrower than this share of the range lose their digits; they are taken as points."""


@dataclass(eq=False, repr=False, kw_only=True)
class Marginals(Density):
    """One law for each column, numbers or categories; gaps of a row are independent.

    Parameters
    ----------
    numeric : {"kde", "gaussian", "empirical", "uniform", "levels"}, default="kde"
        Law of a missing number. "kde": each value seen, spread evenly over a window; "gaussian": normal; "empirical":
        the values seen, as often as they were; "uniform": from the smallest to the largest value seen; "levels": the
        values seen, all alike.
    categorical : {"frequency", "uniform"}, default="frequency"
        Law of a missing category: as frequent as it was, or all levels alike.
    bandwidth : {"ste", "dpi"} or float, default="ste"
        How the windows are made: of the deviation that `sheather_jones` finds, or a number for the half-width of all
        of them. Weights say how much each window counts, not how wide it is.
    laws : dict, default=None
        Laws of some columns, by name or number: a word from above, or the law itself for a column of numbers
        (`rows.Atoms`, `rows.Normal`, `rows.UniformWindows`, or a `rows.Law` of your own).
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so; none; or their names, numbers or a mask.

    Attributes
    ----------
    features_ : tuple of Feature
        The law, the levels and the range of each column.
    bandwidths_ : ndarray of shape (n_features,)
        Half-width of the windows of each column, NaN for other laws.
    schema_ : Schema
        What the columns hold.
    columns_ : ndarray of shape (n_features,)
        The column of the table that each column of the laws belongs to: itself.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    Notes
    -----
    Half-widths are held below half the range of a column, so that the kernels of `HeterogeneousKernel` stay
    positive definite. A column with no value at all carries no information.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Marginals
    >>> density = Marginals(bandwidth=0.5).fit(np.array([[0.0], [1.0], [3.0], [np.nan]]))
    >>> density.features_[0].law.mean_distance([0.7]).round(4)
    array([1.1133])
    """

    numeric: str = "kde"
    categorical: str = "frequency"
    bandwidth: float | str = "ste"
    laws: dict | None = None
    categorical_features: Any = "from_dtype"

    _parameter_constraints: ClassVar[dict] = {
        "numeric": [StrOptions(set(NUMERIC))],
        "categorical": [StrOptions(set(CATEGORICAL))],
        "bandwidth": [StrOptions({"ste", "dpi"}), Interval(Real, 0, 1e30, closed="left")],
        "laws": [dict, None],
    }

    def _moments(self) -> Moments:
        """Mean and variance of each column, of the codes for categories; columns are independent."""
        laws = [feature.law or ZERO for feature in self.features_]
        return Moments.independent(np.array([law.mean for law in laws]), np.array([law.variance for law in laws]))

    def _fit(self, table: Table, sample_weight: ArrayLike | None) -> None:
        table, weight = rows_with_values(table, sample_weight)
        laws = self.laws or {}
        chosen = dict(zip(table.schema.places(list(laws), "laws"), laws.values(), strict=True))
        self.bandwidths_ = np.full(table.shape[1], np.nan)
        self.features_ = tuple(self._feature(table, k, weight, chosen.get(k)) for k in range(table.shape[1]))

    def _condition(self, table: Table) -> MarginalRows:
        values = np.array(table.values)
        values[:, [feature.law is None for feature in self.features_]] = np.nan  # never seen at fit: nothing to say
        return MarginalRows(values, self.features_)

    def _log_density(self, table: Table) -> np.ndarray:
        total = np.zeros(len(table))
        for feature, values in zip(self.features_, table.values.T, strict=True):
            if feature.law is not None:
                seen = ~np.isnan(values)
                total[seen] += feature.law.log_density(values[seen])
        return total

    def _feature(self, table: Table, column: int, weight: np.ndarray, chosen: Any) -> Feature:
        values, schema = table.values[:, column], table.schema
        seen = ~np.isnan(values)
        levels = schema.levels[column]
        low, high = (float(values[seen].min()), float(values[seen].max())) if seen.any() else (np.nan, np.nan)
        law: Law | None = None
        if seen.any():
            find = self._law_of_category if levels is not None else self._law_of_number
            law = find(values[seen], weight[seen], column, schema, chosen)
        return Feature(law, levels, schema.ordered[column], low, high, schema.label(column))

    def _law_of_category(self, codes: np.ndarray, weight: np.ndarray, column: int, schema: Schema, chosen: Any) -> Law:
        word = chosen or self.categorical
        if not isinstance(word, str) or word not in CATEGORICAL:
            raise ValueError(f"laws: column {schema.label(column)} holds categories, so {word!r} cannot be its law.")
        n_levels = len(schema.levels[column])  # type: ignore[arg-type]
        counts = np.ones(n_levels) if word == "uniform" else np.bincount(codes.astype(np.int64), weight, n_levels)
        return Atoms(np.arange(n_levels, dtype=np.float64), counts / counts.sum())

    def _law_of_number(self, values: np.ndarray, weight: np.ndarray, column: int, schema: Schema, chosen: Any) -> Law:
        word = self.numeric if chosen is None else chosen
        if isinstance(word, Law):
            return word
        if not isinstance(word, str) or word not in NUMERIC:
            raise ValueError(
                f"laws: the law of column {schema.label(column)} must be one of {NUMERIC} or a law of "
                f"gapkernel.rows, got {word!r}."
            )
        spread = values.max() - values.min()
        if word == "empirical" or spread == 0:
            return Atoms.empirical(values, weight)
        if word == "levels":
            return Atoms.empirical(np.unique(values))
        if word == "uniform":
            return UniformWindows.around([0.5 * values.min() + 0.5 * values.max()], 0.5 * spread)
        if word == "gaussian":
            mean = np.average(values, weights=weight)
            return Normal(float(mean), float(np.sqrt(np.average((values - mean) ** 2, weights=weight))))
        half_width = min(self._half_width(values), 0.5 * spread)  # beyond, 1 - |x - z| / range is not a kernel
        if half_width < NARROWEST * spread:
            return Atoms.empirical(values, weight)
        self.bandwidths_[column] = half_width
        return UniformWindows.around(values, half_width, weight)

    def _half_width(self, values: np.ndarray) -> float:
        if isinstance(self.bandwidth, str):
            return 3**0.5 * sheather_jones(values, self.bandwidth)  # a window of that deviation
        return float(self.bandwidth)
