"""Chained equations (fully conditional specification) that can be applied to new rows.

Each column with gaps has a regression on the other columns. A chain starts with gaps filled by observed values
drawn at random, and sweeps over the columns: draw the parameters of the column's regression from their
posterior, then draw its gaps given them. After some sweeps the gaps are a draw from their joint law, and m
independent chains give m completed tables.

New rows can be completed too. Each chain keeps its last parameters, a draw from their posterior,
and completes new rows by sweeping over them with these. A new row's random numbers are a hash of the seed and of
the row itself, so its completion does not depend on the rows that come with it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.doors import check_finite
from gapkernel.compute.draws import row_keys
from gapkernel.compute.runtime.progress import tracked
from gapkernel.imputation import sweeps
from gapkernel.imputation.coding import Coding
from gapkernel.imputation.predictors import LEAST_CORRELATION, association, select_predictors
from gapkernel.tables import Schema, Table, fill_gaps, read_labelled, read_table
from gapkernel.tables.takes_gaps import TakesGaps


@dataclass(eq=False, repr=False, kw_only=True)
class ChainedEquations(TakesGaps, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Multiple imputation by chained equations, for training rows and for new ones.

    Parameters
    ----------
    n_imputations : int, default=10
        Number of chains, each of which gives one completed table.
    n_sweeps : int, default=5
        Sweeps over the columns in each chain.
    numeric : {"linear", "pmm"}, default="linear"
        Model of numeric columns: Bayesian linear regression with normal noise, or predictive mean matching,
        which fills in values that were observed and so respects bounds, skewness and rounding, but is biased where
        gaps are many and donors few.
    n_donors : int, default=5
        Number of nearest rows among which predictive mean matching chooses.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so (category, text, booleans); none; or their names,
        numbers or a mask. They get a multinomial regression, or a logistic one if they have two levels, as do columns
        of numbers whose observed values are exactly 0 and 1.
    use_target : bool, default=False
        Whether the target predicts the gaps in `fit`. In new rows it is one more gap, so they need no target.
    predictors : {"all", "selected"} or array-like of bool of shape (n_features, n_features), default="all"
        Which columns (of the matrix) predict which (its rows). "selected" is what `select_predictors` chooses; pass its
        matrix for other thresholds.
    ridge : float or "auto", default="auto"
        Weight of the prior that slopes are zero, counted in rows of evidence, with predictors standardised. It
        keeps the models finite where classes are separated, columns dependent, or rows fewer than columns. "auto"
        is n_slopes**2 / n_rows, but at least 0.1: strong when rows are few, and soon far below the sampling error.
    draws : {"proper", "expected"}, default="proper"
        "proper" draws parameters and noise. "expected" draws nothing, which makes intervals too narrow; it is there
        for comparison.
    n_jobs : int, default=None
        Chains at the same time, in threads. None is 1 unless in a `joblib.parallel_config`, -1 is all processors. The
        number never changes a result.
    verbose : bool or int, default=False
        Show the progress of `fit`, as ``gapkernel.set_config(progress=True)`` does too.
    random_state : int, RandomState or None, default=None
        Seed of all draws. It is drawn once in `fit`, so that `transform` always repeats itself.

    Attributes
    ----------
    kinds_ : list of str
        What each column was taken for: "numeric", "binary", "categorical", "constant" or "empty".
    predictors_ : ndarray of bool of shape (n_features, n_features)
        Row j marks the predictors of column j. (One more row and column for the target with ``use_target``.)
    chain_means_, chain_variances_ : ndarray of shape (n_imputations, n_sweeps, n_features)
        Mean and variance of the imputed values after each sweep, NaN where a column has no gap. `ChainDisplay`
        plots them.
    schema_ : Schema
        What the columns held in `fit`: numbers, or categories and their levels.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    See Also
    --------
    MultipleImputationClassifier : One classifier from all completed tables.
    gapkernel.imputation.pool_scalar : One estimate and its standard error from all completed tables.

    Notes
    -----
    `fit_transform` and `fit_transform_all` give the final states of the chains, in which training rows have
    independent draws, as inference needs. `transform` and `transform_all` treat every row as new. Its
    draws are determined by the seed, the chain and the row's own values, so a row gets the same completion
    alone, in any batch and in any order, and two equal rows, gaps included, get equal draws.

    Special cases: a column with no observed value is filled with 0, predicts nothing, and a warning
    names it. A column with one observed value is filled with it and predicts nothing. A value that a discrete
    column did not have in `fit` is a gap. A column without gaps in `fit` has a model too, for gaps in new rows.

    References
    ----------
    S. van Buuren, K. Groothuis-Oudshoorn (2011). mice: Multivariate Imputation by Chained Equations in R.
    Journal of Statistical Software 45(3).

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import ChainedEquations
    >>> X = np.array([[1.0, 2.1], [2.0, np.nan], [3.0, 6.2], [np.nan, 7.8], [5.0, 9.9]])
    >>> imputer = ChainedEquations(n_imputations=3, random_state=0).fit(X)
    >>> imputer.transform_all([[4.0, np.nan], [4.0, 8.0]]).shape
    (3, 2, 2)
    """

    n_imputations: int = 10
    n_sweeps: int = 5
    numeric: str = "linear"
    n_donors: int = 5
    categorical_features: Any = "from_dtype"
    use_target: bool = False
    predictors: Any = "all"
    ridge: float | str = "auto"
    draws: str = "proper"
    n_jobs: int | None = None
    verbose: bool | int = False
    random_state: Any = None

    _parameter_constraints: ClassVar[dict] = {
        "n_imputations": [Interval(Integral, 1, None, closed="left")],
        "n_sweeps": [Interval(Integral, 1, None, closed="left")],
        "numeric": [StrOptions({"linear", "pmm"})],
        "n_donors": [Interval(Integral, 1, None, closed="left")],
        "use_target": ["boolean"],
        "predictors": [StrOptions({"all", "selected"}), "array-like"],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "draws": [StrOptions({"proper", "expected"})],
    }

    def fit(self, X, y=None) -> ChainedEquations:
        """Run the chains on the training rows and keep their parameters.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,), default=None
            The target, used only with ``use_target``.

        Returns
        -------
        self : ChainedEquations
        """
        self._run(X, y)
        return self

    def fit_transform(self, X, y=None) -> Any:
        """Fit, and complete the training rows by the final state of the first chain.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,), default=None
            The target, used only with ``use_target``.

        Returns
        -------
        completed : ndarray or frame of shape (n_samples, n_features)
            In the form of ``X``.
        """
        table, states = self._run(X, y)
        return fill_gaps(X, table, self._filled(table.values, states[0]))

    def fit_transform_all(self, X, y=None) -> Any:
        """Fit, and complete the training rows by the final state of each chain.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,), default=None
            The target, used only with ``use_target``.

        Returns
        -------
        completed : ndarray of shape (n_imputations, n_samples, n_features), or list of frames
            One table for each chain, in the form of ``X``.
        """
        table, states = self._run(X, y)
        return _in_form_of(X, table, [self._filled(table.values, state) for state in states])

    def transform(self, X) -> Any:
        """Complete new rows by the first chain.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap; a level unknown at fit is one too.

        Returns
        -------
        completed : ndarray or frame of shape (n_samples, n_features)
            In the form of ``X``.
        """
        table = self._new_table(X)
        return fill_gaps(X, table, self._completed(table.values, self._chains[:1])[0])

    def transform_all(self, X) -> Any:
        """Complete new rows by every chain.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap; a level unknown at fit is one too.

        Returns
        -------
        completed : ndarray of shape (n_imputations, n_samples, n_features), or list of frames
            One table for each chain, in the form of ``X``, whatever `set_output` was called with.
        """
        table = self._new_table(X)
        return _in_form_of(X, table, self._completed(table.values, self._chains))

    def _new_table(self, X) -> Table:
        check_is_fitted(self)
        return read_table(self, X, reset=False, schema=self.schema_)

    def _run(self, X, y) -> tuple[Table, list[np.ndarray]]:
        """Fit all chains; the table as it was read, and the final codes of each chain."""
        self._validate_params()
        if self.use_target:
            table, y = read_labelled(self, X, y, categorical_features=self.categorical_features)
            joint = _with_target(table, y)
        else:
            table = joint = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        if table.missing.all():
            raise ValueError("X has no observed value in any row, so nothing can be learned from it.")
        n_columns = table.shape[1]
        coding = Coding.learn(joint)
        _warn_of_empty(coding.kinds, table.schema)
        codes = coding.encode(joint.values)
        predictors = self._resolve_predictors(joint.values, n_columns)
        plan = sweeps.Plan(
            coding=coding,
            observed=[np.sort(column[~np.isnan(column)]) for column in codes.T],
            places=[coding.places(np.flatnonzero(row)) for row in predictors],
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_sweeps=self.n_sweeps,
            numeric=self.numeric,
            n_donors=self.n_donors,
            ridge=self.ridge,
            draws=self.draws,
        )
        jobs = (delayed(sweeps.run)(plan, codes, number) for number in range(self.n_imputations))
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        ended = list(tracked(parallel(jobs), self.n_imputations, "chains", self.verbose))

        self._plan, self._chains = plan, [chain for chain, _ in ended]
        self.schema_, self.kinds_, self.predictors_ = table.schema, coding.kinds[:n_columns], predictors
        self.chain_means_ = np.stack([chain.means[:, :n_columns] for chain in self._chains])
        self.chain_variances_ = np.stack([chain.variances[:, :n_columns] for chain in self._chains])
        return table, [state for _, state in ended]

    def _resolve_predictors(self, table: np.ndarray, d: int) -> np.ndarray:
        """Which columns predict which, the target included."""
        chosen = np.ones((table.shape[1], table.shape[1]), bool)
        if isinstance(self.predictors, str) and self.predictors == "selected":
            chosen = select_predictors(table)
            complete = ~np.isnan(table).any(axis=0)  # gaps may come later, so these need predictors too
            chosen[complete] = association(table, "kendall")[complete] > LEAST_CORRELATION
        elif not isinstance(self.predictors, str):
            matrix = np.asarray(self.predictors, dtype=bool)
            if matrix.shape != (d, d):
                raise ValueError(
                    f"predictors must be 'all', 'selected' or a matrix with a row and a column for each of the {d} "
                    f"columns of X, got {self.predictors!r}."
                )
            chosen[:d, :d] = matrix
        np.fill_diagonal(chosen, False)
        return chosen

    def _completed(self, X: np.ndarray, wanted) -> np.ndarray:
        """Completions of new rows by some chains."""
        coding = self._plan.coding
        codes = coding.encode(X)
        rows = np.flatnonzero(np.isnan(codes).any(axis=1))
        unknown = np.full((len(rows), len(coding.kinds) - X.shape[1]), np.nan)  # new rows have no target
        codes, keys = np.column_stack([codes[rows], unknown]), row_keys(X[rows])
        jobs = (delayed(sweeps.replay)(self._plan, chain, codes, keys) for chain in wanted)
        out = np.repeat(X[None], len(wanted), axis=0)
        for k, state in enumerate(Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs)):
            out[k, rows] = self._filled(X[rows], state)
        return out

    def _filled(self, X: np.ndarray, state: np.ndarray) -> np.ndarray:
        """``X`` with its gaps filled from codes; observed cells stay exactly what they were."""
        coding = self._plan.coding
        gaps = np.isnan(coding.encode(X))
        out = X.copy()
        for j in np.flatnonzero(gaps.any(axis=0)).tolist():
            rows = gaps[:, j]
            out[rows, j] = coding.columns[j].decode(state[rows, j])
        return check_finite(out, "A chain of imputations")


def _with_target(table: Table, y: np.ndarray) -> Table:
    """The table with the target as its last column; classes are levels."""
    levels = None
    if not type_of_target(y).startswith("continuous"):
        classes, y = np.unique(y, return_inverse=True)
        levels = tuple(classes.tolist())
    schema = table.schema
    names = None if schema.names is None else (*schema.names, "y")
    extended = Schema((*schema.levels, levels), (*schema.ordered, False), names)
    return Table(np.column_stack([table.values, y]), extended)


def _in_form_of(X, table: Table, completed):
    """Completed cells as the caller passed the rows: one array, or a list of frames or tables."""
    tables = [fill_gaps(X, table, values) for values in completed]
    return np.stack(tables) if isinstance(tables[0], np.ndarray) else tables


def _warn_of_empty(kinds, schema: Schema) -> None:
    empty = [schema.label(j) for j in range(len(schema.levels)) if kinds[j] == "empty"]
    if empty:
        warnings.warn(
            f"No value was observed in column {', '.join(empty)} of X: its gaps are filled with 0 and it predicts "
            f"nothing. Leave the column out to avoid this warning.",
            UserWarning,
            stacklevel=4,
        )
