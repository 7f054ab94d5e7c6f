"""Kernel machines: fit and predict, written once. Read the table, find the laws of its rows, solve, keep."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.doors import check_finite
from gapkernel.compute.runtime.config import check_fits
from gapkernel.density import Density, make_density
from gapkernel.estimators.inspectable import Inspectable, TrainingSummary
from gapkernel.kernels import Kernel, Missingness, make_kernel
from gapkernel.kernels.missingness import Masked
from gapkernel.kernels.on_vectors import Precomputed
from gapkernel.rows import GAUSSIAN, MaskedRows, Rows
from gapkernel.solvers.base import Folds, Solution, Solver
from gapkernel.tables import Schema, Table, read_classes, read_labelled, read_table, read_weight
from gapkernel.tables.part_by_part import AnswersInParts
from gapkernel.tables.takes_gaps import TakesGaps

TARGETS: dict[str, dict[str, Any]] = {
    "classes": {},
    "number": {"y_numeric": True},
    "numbers": {"y_numeric": True, "multi_output": True},
}
"""The kinds of targets, and scikit-learn's options for checking them."""

ANSWERS = ("predict", "predict_proba", "decision_function", "score")
"""The methods of a kernel machine that take new rows and need their decision values only."""

APART = 100.0
"""How many times the deviation of a column another one must have to drown it."""

ENOUGH_ROWS = 50
"""Fewest rows whose deviations are compared."""

MOST_NAMES = 5
"""Columns that a warning names."""


@dataclass(frozen=True, eq=False)
class Training:
    """What a kernel machine learns from, after every check.

    Attributes
    ----------
    table : Table
    y : ndarray or None
        The targets as the solver takes them: numbers, the places of the classes, or None without targets.
    weight : ndarray or None
        Positive weights; rows of weight zero are left out.
    kept : ndarray
        The places of these rows in what the user gave.
    classes : ndarray or None
    folds : list or None
        Pairs of places among these rows, to learn from and to leave out. A search calibrates intervals by its splits.
    """

    table: Table
    y: Any
    weight: np.ndarray | None
    kept: np.ndarray
    classes: np.ndarray | None = None
    folds: Folds | None = None

    @classmethod
    def of(cls, table: Table, y: Any, weight: np.ndarray | None, *, classes: bool) -> Training:
        """Leave out rows of weight zero; with ``classes`` the targets become places among the sorted classes."""
        table, y, weight, kept = left_in(table, y, weight)
        labels, y = read_classes(y) if classes else (None, y)
        return cls(table, y, weight, kept, labels)

    def class_weighted(self, class_weight) -> np.ndarray:
        """The weights of the rows times those of their classes."""
        return class_weighted(class_weight, np.take(self.classes, self.y), self.weight)  # type: ignore[arg-type]

    @cached_property
    def summary(self) -> TrainingSummary:
        """What a fitted estimator remembers of the table; all candidates of a search share it."""
        return TrainingSummary.of(self.table)


class Laws(NamedTuple):
    """A fitted density, the kernel with numbers in place of words, and the laws of the training rows."""

    density: Density
    kernel: Kernel
    rows: Rows


@dataclass(eq=False, repr=False, kw_only=True)
class KernelEstimator(AnswersInParts, Inspectable, TakesGaps, BaseEstimator):
    """An estimator with a kernel and a density, which turns rows into laws.

    The fields of this class and of its subclasses are their parameters: `dataclass` writes ``__init__``, which stores
    them and does nothing else.
    """

    kernel: str | Kernel = "genrbf"
    gamma: float | str = "scale"
    density: str | Density = "auto"
    categorical_features: Any = "from_dtype"
    indicator: bool | Missingness = False
    density_: Density = field(init=False)

    _learns_widths: ClassVar[bool] = False
    """Whether the estimator finds how much each column counts."""

    _parameter_constraints: ClassVar[dict] = {"indicator": ["boolean", Missingness]}

    def _fit_laws(self, table: Table, weight: np.ndarray | None = None) -> Laws:
        """Density and kernel of a checked table, and the laws of its rows; nothing is kept yet."""
        kernel = self._kernel()
        density, rows = self._fit_density(table, weight, kernel)
        if not self._learns_widths:
            warn_of_units(kernel, density, len(table))
        return Laws(density, kernel.resolve(density.moments(), rows), rows)

    def _fit_density(self, table: Table, weight: np.ndarray | None, kernel: Kernel) -> tuple[Density, Rows]:
        """The density that suits a kernel, fitted, and the laws of the rows."""
        density = make_density(self.density, kernel, table.schema, len(table)).fit(table, sample_weight=weight)
        return density, self._condition(density, table)

    def _kernel(self) -> Kernel:
        """The kernel object; words such as "scale" become numbers when there is a density."""
        kernel = make_kernel(self.kernel, self.gamma)
        if not self.indicator:
            return kernel
        return Masked(kernel, clone(self.indicator) if isinstance(self.indicator, Missingness) else Missingness())

    @property
    def schema_(self) -> Schema:  # type: ignore[override]
        """What the columns held in `fit`: numbers, or categories and their levels."""
        return self.density_.schema_

    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        table = self.table_of(X)  # which refuses an estimator that is not fitted
        return self.density_.cell_nodes(table, column, n_nodes)

    @property
    def gaussian_share(self) -> float:
        """1 for Gaussian laws of the gaps, 0 for others."""
        check_is_fitted(self, "density_")
        nothing = Table(np.full((1, len(self.schema_.levels)), np.nan), self.schema_)
        return float(self.density_.condition(nothing).kind in GAUSSIAN)

    def _laws(self, X) -> Rows:
        """The laws of new rows."""
        check_is_fitted(self, "density_")
        return self._condition(self.density_, X)

    def _condition(self, density, X) -> Rows:
        """The laws of rows under a density."""
        table = read_table(self, X, reset=False, schema=density.schema_)
        rows = density.condition(table)
        return MaskedRows(rows, table.missing) if self.indicator else rows


class KernelMachine(KernelEstimator, ABC):
    """An estimator that learns by a kernel on laws.

    A subclass says which target it takes (`_target`), makes its solver (`_solver`), and may learn more from the Gram
    matrix than the solver does (`_calibrate`) and keep more of the solution (`_keep`).
    """

    _target: ClassVar[str | None] = None
    """One of `TARGETS`; None for an estimator without targets."""

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Fit density, kernel and coefficients.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,), or (n_samples, n_targets) where the estimator takes several targets
            Classes or values; ignored by an estimator without targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the coefficients, and in the density (and so in gamma="scale"). A weight of zero
            leaves a row out.

        Returns
        -------
        self : object
        """
        self._validate_params()
        training = self._training(*self._read(X, y, sample_weight))
        solver = self._solver(training)  # refuses wrong parameters before any work is done
        check_fits((len(training.kept), len(training.kept)), "The Gram matrix")  # before the density takes its time
        laws = self._fit_laws(training.table, training.weight)
        if self._pairwise:
            laws = laws._replace(kernel=Precomputed(training.kept))
        return self._learn(training, laws, solver)

    def _learn(self, training: Training, laws: Laws, solver: Solver) -> Self:
        """Solve, and keep what was learned."""
        gram = laws.kernel.gram(laws.rows)
        solution = solver.solve(gram, training.y, training.weight)
        self._calibrate(training, laws, solver, gram)
        return self._keep(training, laws, solution)

    @abstractmethod
    def _solver(self, training: Training) -> Solver:
        """The solver with this estimator's parameters, which it checks."""

    def _calibrate(self, training: Training, laws: Laws, solver: Solver, gram: np.ndarray) -> None:
        """Learn what else the Gram matrix tells: nothing, unless the machine has intervals."""

    def _keep(self, training: Training, laws: Laws, solution: Solution) -> Self:
        """Fitted attributes; of the training rows only those with a coefficient stay."""
        if training.classes is not None:
            self.classes_ = training.classes
        self.density_, self.kernel_, self.rows_ = laws.density, laws.kernel, laws.rows
        if not np.array_equal(solution.kept, np.arange(len(laws.rows))):  # a copy would be the same
            self.rows_ = laws.rows.take(solution.kept)
        if self._pairwise:
            self.kernel_ = Precomputed(training.kept[solution.kept])
        self._weights, self._intercept = solution.weights, solution.intercept
        self.training_summary_ = training.summary
        return self

    def _read(self, X, y, sample_weight) -> tuple[Table, Any, np.ndarray | None]:
        """The table, its targets and its weights, checked."""
        options = {"categorical_features": self.categorical_features}
        if self._target is None:
            table, y = read_table(self, X, reset=True, **options), None
        else:
            table, y = read_labelled(self, X, y, **options, **TARGETS[self._target])
        if self._pairwise and (table.shape[0] != table.shape[1] or self.indicator):
            raise ValueError(
                f"kernel='precomputed' needs a square matrix of all pairs of training rows and indicator=False, got "
                f"shape {table.shape} and indicator={self.indicator!r}."
            )
        return table, y, read_weight(sample_weight, table)

    def _training(self, table: Table, y, weight: np.ndarray | None) -> Training:
        """What is learned from, of a checked table."""
        return Training.of(table, y, weight, classes=self._target == "classes")

    @property
    def _pairwise(self) -> bool:
        """Whether a row holds its kernel values with the training rows."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        return tags

    @property
    def averages_gaps(self) -> bool:
        """Whether the decision value of a row is its exact average over the row's law."""
        check_is_fitted(self, "kernel_")
        return self.kernel_.is_expectation and not self.indicator

    def _values(self, X) -> np.ndarray:
        """Decision values, (n_rows, n_outputs), of new rows, or those that were computed already."""
        if isinstance(X, DecisionValues):
            return X.values
        rows = self._laws(X)
        values = self.kernel_.dot(rows, self.rows_, self._weights) + self._intercept
        return check_finite(values, type(self).__name__)


@dataclass(frozen=True, eq=False)
class DecisionValues:
    """Decision values of some rows, which all methods of a kernel machine take in place of the rows.

    A search computes them for many machines at once.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_outputs)
    """

    values: np.ndarray


@dataclass(frozen=True, eq=False)
class OnTestRows:
    """A fitted candidate, as a scorer gets it, with the decision values of the test rows, which are computed already.

    It has all attributes and methods of the candidate, which answers any other rows itself.
    """

    machine: KernelMachine
    X_test: Any
    values: DecisionValues

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(object.__getattribute__(self, "machine"), name)  # which a copy in the making has not yet
        if name not in ANSWERS:
            return attribute

        @wraps(attribute)  # scorers look at its name
        def answer(X, *args, **options):
            return attribute(self.values if X is self.X_test else X, *args, **options)

        return answer

    def __sklearn_is_fitted__(self) -> bool:
        return True


def warn_of_units(kernel: Kernel, density: Density, n_rows: int) -> None:
    """Warn of columns that a kernel with one width hardly sees, because another column varies a hundred times more.

    What counts is the units of the laws: a density may standardise the columns of the table.
    """
    if not kernel.one_width or n_rows < ENOUGH_ROWS:
        return
    schema, columns = density.schema_, density.columns_
    deviations = np.where(schema.categorical[columns], 0.0, np.sqrt(density.moments().variances))
    largest = int(np.argmax(deviations))
    drowned = np.flatnonzero((deviations > 0) & (deviations * APART < deviations[largest]))
    if not drowned.size:
        return
    names = [f"{schema.label(columns[k])} ({deviations[k]:.2g})" for k in drowned[:MOST_NAMES].tolist()]
    more = f" and {drowned.size - MOST_NAMES} more" if drowned.size > MOST_NAMES else ""
    warnings.warn(
        f"An RBF kernel has one width for all columns: next to column {schema.label(columns[largest])} "
        f"(standard deviation {deviations[largest]:.2g}) it hardly sees {', '.join(names)}{more}. Standardise the "
        f"columns first: sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), ...) keeps the gaps.",
        UserWarning,
        stacklevel=4,
    )


def class_weighted(class_weight, labels: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """The weight of each row times that of its class; None stands for equal weights."""
    by_class = compute_sample_weight(class_weight, labels)
    return by_class if weight is None else by_class * weight


def part_of(weight: np.ndarray | None, rows) -> np.ndarray | None:
    """The weights of the given rows; None, which stands for equal weights, stays None."""
    return None if weight is None else weight[rows]


def left_in(table, y, weight: np.ndarray | None) -> tuple:
    """The rows of positive weight, their targets (or None) and weights, and their places among all rows."""
    if weight is None:
        return table, y, None, np.arange(len(table))
    kept = np.flatnonzero(weight)
    if not len(kept):
        raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
    return table[kept], part_of(y, kept), weight[kept], kept


def splits_among(splits: Folds, kept: np.ndarray) -> Folds:
    """Splits of all rows as places among the rows that are ``kept`` (sorted), without splits that test none of them."""

    def places(part: np.ndarray) -> np.ndarray:
        return np.searchsorted(kept, part[np.isin(part, kept)])

    inside = [(places(train), places(test)) for train, test in splits]
    for k, (train, test) in enumerate(inside):
        if len(test) and not len(train):
            raise ValueError(f"Split {k} of cv has no row of positive weight to learn from.")
    return [(train, test) for train, test in inside if len(test)]
