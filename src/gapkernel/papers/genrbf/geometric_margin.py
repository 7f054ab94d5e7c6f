"""Margins measured in the columns that a row has (Chechik, Heitz, Elidan, Abbeel, Koller)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute import check_finite, check_fits, tracked
from gapkernel.estimators import OneAgainstRest, class_weighted, part_of
from gapkernel.kernels import POSITIVE, scale_gamma
from gapkernel.papers.genrbf.alternating_scales import AlternatingScales, ScaledSolution, largest_margin
from gapkernel.rows import Moments, Patterns
from gapkernel.solvers import Classification
from gapkernel.tables import (
    Table,
    TakesGaps,
    read_classes,
    read_labelled,
    read_table,
    read_weight,
    set_or_forget,
)

FLOOR = 0.1
"""Least scale s_i of a row."""


@dataclass(frozen=True)
class ObservedColumnsKernel:
    """A kernel over the columns that both rows have.

    Rows come as values with 0 in the gaps, and a mask of what is there. For scalar products leaving a column out
    and filling it with 0 is the same, so "linear" and "poly" are positive semi-definite. "rbf" is not: two
    distant rows can both be at distance 0 from a third that shares no column with them.

    Attributes
    ----------
    name : {"linear", "poly", "rbf"}
        x'y, (gamma x'y + coef0)^degree or exp(-gamma ||x - y||^2).
    gamma, coef0, degree : float
    """

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: float = 3

    def cross(self, left, left_seen, right, right_seen) -> np.ndarray:
        """Kernel matrix of two tables."""
        products = left @ right.T
        if self.name == "linear":
            return products
        if self.name == "poly":
            return (self.gamma * products + self.coef0) ** self.degree
        squared = left**2 @ right_seen.T + left_seen @ (right**2).T - 2.0 * products
        return np.exp(-self.gamma * np.maximum(squared, 0.0))

    def squared_norms(self, values, seen, weights, masks) -> np.ndarray:
        """||w||^2 of w = sum_j weights_j phi(row_j) from the columns of each mask alone."""
        if self.name == "linear":
            return masks @ (weights @ values) ** 2
        norms = np.empty(len(masks))
        for k, mask in enumerate(masks):  # one matrix for each pattern
            part, there = values * mask, seen * mask
            norms[k] = weights @ self.cross(part, there, part, there) @ weights
        return norms


@dataclass(frozen=True, eq=False)
class SupportRows:
    """The rows that a direction w = sum_j weights_j phi(row_j) is made of.

    Attributes
    ----------
    values, seen : ndarray of shape (n, n_columns)
        0 in the gaps, and 1 elsewhere.
    weights : ndarray of shape (n,)
    """

    values: np.ndarray
    seen: np.ndarray
    weights: np.ndarray


@dataclass(eq=False, repr=False, kw_only=True)
class GeometricMarginSVC(OneAgainstRest, TakesGaps, BaseEstimator):
    """Classification of rows that lack columns because there is nothing to observe ("geom").

    A gap here is not an unknown value: the column does not apply to the row. So nothing is filled in and there is
    no density. A row is judged in its own columns, and so is its margin: with w^(i) the weights of the columns
    that row i has, the margin is y_i w^(i)'x_i / ||w^(i)||. On complete data it is a linear SVM (or one with the
    given kernel).

    Parameters
    ----------
    C : float, default=1.0
        Penalty of a margin violation.
    kernel : {"linear", "poly", "rbf"}, default="linear"
        Evaluated over the columns that both rows have. "rbf" is then not positive semi-definite: negative
        eigenvalues of the training matrix are set to zero, with a warning.
    degree, coef0 : float, default=3 and 1.0
        Of the polynomial kernel (gamma x'y + coef0)^degree.
    gamma : float or "scale", default="scale"
        Of "poly" and "rbf". "scale" is 1 / (n_features * variance of all cells), by the means and variances of the
        observed values of each column.
    method : {"alternating", "average", "separable"}, default="alternating"
        "alternating" divides the score of row i by s_i = ||w^(i)|| / ||w||, trains with the s_i fixed, measures
        them again, and so on. "average" puts the common norm ||w|| in place of ||w^(i)||: one ordinary SVM. "separable"
        maximises the smallest margin itself, for linear separation through the origin without violations.
    max_iter : int, default=5
        Maximum number of rounds of "alternating".
    tol : float, default=1e-3
        Tolerance of the SVM solver; of "separable", precision of the margin as a share of the norm of the shortest row.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A category is a 0/1 column for each level, and a gap lacks all of them; so does
        a level unknown at fit. Ordered categories count as numbers, their places.
    indicator : bool, default=False
        Whether the model also uses which columns a row lacks: each row has a further 0/1 column for each column, 1 in
        its gaps.
    class_weight : dict or "balanced", default=None
        Multiplies C for the rows of each class; "balanced" makes all classes count the same.
    n_jobs : int, default=None
        Outputs solved at the same time, in threads, where there are more than two classes.
    verbose : bool or int, default=False
        Whether to show progress over the outputs.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    intercept_ : ndarray of shape (n_outputs,)
        Two classes have one output; more have one for each class against the rest.
    coef_ : ndarray of shape (n_outputs, n_codes)
        w, for the linear kernel: a weight for each column of numbers and each 0/1 code.
    dual_coef_ : list of ndarray
        Weights of the support rows of each output, but for "separable".
    support_ : list of ndarray
        Indices of the support rows of each output, empty for "separable".
    scales_ : ndarray of shape (n_outputs, n_used_rows)
        s_i in the last round.
    margin_ : ndarray of shape (n_outputs,)
        The smallest margin, for "separable".
    n_iter_ : ndarray of shape (n_outputs,)
        Rounds of "alternating".
    schema_ : Schema
        What the columns held in `fit`: numbers, or categories and their levels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they have names.

    Notes
    -----
    The paper states the margin, the separable problem as a bisection over cone programs, and the alternating scheme,
    which need not converge (a few rounds are customary; choose ``max_iter`` by validation). It leaves open, and we
    chose: the intercept is not divided by s_i (as in the Shark library); which norm "average" means; how an RBF kernel
    is used. We added a least s_i of 0.1, without which a row whose columns carry no weight grows without bound, and
    the normalisation sum_i y_i w'x_i = n that excludes w = 0 from the cone programs.

    A row with no column at all is left out of the training, and its decision value is the intercept.

    References
    ----------
    Chechik, Heitz, Elidan, Abbeel, Koller (2008), Max-margin classification of data with absent features, JMLR 9.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.papers.genrbf import GeometricMarginSVC
    >>> X = np.array([[-1.0, -0.8], [-1.2, np.nan], [np.nan, 0.9], [1.1, 1.0]])
    >>> y = [0, 0, 1, 1]
    >>> GeometricMarginSVC().fit(X, y).predict([[np.nan, -0.7], [0.8, np.nan]])
    array([0, 1])
    """

    C: float = 1.0
    kernel: str = "linear"
    degree: float = 3
    gamma: float | str = "scale"
    coef0: float = 1.0
    method: str = "alternating"
    max_iter: int = 5
    tol: float = 1e-3
    categorical_features: Any = "from_dtype"
    indicator: bool = False
    class_weight: dict | str | None = None
    n_jobs: int | None = None
    verbose: bool | int = False

    _parameter_constraints: ClassVar[dict] = {
        "C": [POSITIVE],
        "kernel": [StrOptions({"linear", "poly", "rbf"})],
        "degree": [Interval(Real, 0, None, closed="left")],
        "gamma": [StrOptions({"scale"}), POSITIVE],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "method": [StrOptions({"alternating", "average", "separable"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "indicator": ["boolean"],
    }

    def fit(self, X, y, sample_weight=None) -> GeometricMarginSVC:
        """Find the weights of the columns.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a column that the row does not have.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C; "separable" allows no violation, so only a weight of 0 changes it. Weight zero leaves a row
            out.

        Returns
        -------
        self : GeometricMarginSVC
        """
        self._validate_params()
        if self.method == "separable" and self.kernel != "linear":
            raise ValueError(f"method='separable' is for kernel='linear', got kernel={self.kernel!r}.")
        table, y = read_labelled(self, X, y, categorical_features=self.categorical_features)
        weight = read_weight(sample_weight, table)
        used = ~table.missing.all(axis=1) & (True if weight is None else weight > 0)
        classes, codes = read_classes(y[used], among=" among the rows with a value")
        weight = class_weighted(self.class_weight, y[used], part_of(weight, used))
        targets = [codes == k for k in ([1] if len(classes) == 2 else range(len(classes)))]
        columns = self._columns(table[used])
        values, seen = _zero_filled(columns)
        if self.method == "separable":
            self._kernel, outputs, margins = self._separate(values, seen, targets)
        else:
            self._kernel, outputs, margins = self._alternate(values, seen, targets, weight, columns)
        self._fits = [SupportRows(rows, rows_seen, solution.weights[:, 0]) for solution, rows, rows_seen in outputs]
        self.classes_, self.schema_ = classes, table.schema
        places = np.flatnonzero(used)
        self.support_ = [places[solution.kept] for solution, *_ in outputs]
        self.intercept_ = np.concatenate([solution.intercept for solution, *_ in outputs])
        self.scales_ = np.array([solution.scales for solution, *_ in outputs])
        self.n_iter_ = np.array([solution.n_iter for solution, *_ in outputs])
        linear = self.kernel == "linear"
        set_or_forget(
            self,
            coef_=np.array([fit.weights @ fit.values for fit in self._fits]) if linear else None,
            dual_coef_=[fit.weights for fit in self._fits] if margins is None else None,
            margin_=margins,
        )
        return self

    def _values(self, X) -> np.ndarray:
        """The margin of each row in its own columns, for each output."""
        check_is_fitted(self, "classes_")
        table = read_table(self, X, reset=False, schema=self.schema_)
        values, seen = _zero_filled(self._columns(table))
        patterns = Patterns.of(seen == 0)
        out = np.empty((len(table), len(self.intercept_)))
        for k, fit in enumerate(self._fits):
            rows, rows_seen, weights = fit.values, fit.seen, fit.weights
            scores, scales = self._kernel.cross(values, seen, rows, rows_seen) @ weights, np.ones(len(table))
            if self.method != "average":
                floor = FLOOR if self.method == "alternating" else 0.0
                scales = _scales(self._kernel, rows, rows_seen, weights, patterns, floor)
            out[:, k] = np.divide(scores, scales, out=np.zeros(len(table)), where=scales > 0) + self.intercept_[k]
        out[table.missing.all(axis=1)] = self.intercept_
        return check_finite(out, "The margin")

    def _columns(self, table: Table) -> np.ndarray:
        """Numbers and 0/1 codes, NaN where the row does not have them, and the indicator."""
        return table.with_indicator(table.one_hot(), self.indicator)

    def _alternate(self, values, seen, targets, weight, columns):
        """Solve by SVMs: the alternating scheme, or one round of it."""
        gamma = scale_gamma(Moments.of(columns, weight)) if self.gamma == "scale" else float(self.gamma)
        kernel = ObservedColumnsKernel(self.kernel, gamma, self.coef0, self.degree)
        check_fits((len(values), len(values)), "The Gram matrix")
        gram = kernel.cross(values, seen, values, seen)
        if self.kernel == "rbf":
            gram = _without_negative_eigenvalues(gram)
        patterns = Patterns.of(seen == 0)

        def scales_of(kept, weights):
            return _scales(kernel, values[kept], seen[kept], weights, patterns, FLOOR)

        rounds = self.max_iter if self.method == "alternating" else 1
        solver = AlternatingScales(Classification(C=self.C, tol=self.tol), scales_of, rounds)
        jobs = (delayed(solver.solve)(gram, target.astype(int), weight) for target in targets)
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        solved = list(tracked(parallel(jobs), len(targets), "outputs", self.verbose))
        return kernel, [(one, values[one.kept], seen[one.kept]) for one in solved], None

    def _separate(self, values, seen, targets):
        """Solve by cone programs: the direction with the largest smallest margin."""
        patterns = Patterns.of(seen == 0)
        outputs, margins = [], []
        for target in tracked(targets, len(targets), "outputs", self.verbose):
            signed = np.where(target[:, None], values, -values)
            direction, margin = largest_margin(signed, ~patterns.gaps, patterns.index, tol=self.tol)
            if direction is None:
                raise ValueError(
                    "No direction separates the classes through the origin. "
                    "Use method='alternating', which allows violations, and centre the columns."
                )
            direction = direction / np.linalg.norm(direction)
            scales = np.sqrt(np.square(direction) @ (seen.T > 0))
            solution = ScaledSolution(np.empty(0, int), np.ones((1, 1)), np.zeros(1), 1, scales)
            outputs.append((solution, direction[None], np.ones((1, len(direction)))))
            margins.append(margin)
        return ObservedColumnsKernel("linear"), outputs, np.array(margins)


def _scales(kernel: ObservedColumnsKernel, rows, rows_seen, weights, patterns: Patterns, floor: float) -> np.ndarray:
    """s_i = ||w^(i)|| / ||w|| of rows with these patterns, not below the floor."""
    masks = np.vstack([~patterns.gaps, np.ones((1, rows.shape[1]), bool)])  # the last is ||w|| itself
    norms = np.sqrt(np.maximum(kernel.squared_norms(rows, rows_seen, weights, masks), 0.0))
    if norms[-1] == 0:
        return np.ones(len(patterns.index))
    return np.maximum(norms[:-1] / norms[-1], floor)[patterns.index]


def _zero_filled(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values with 0 in the gaps, and 1.0 where there is one."""
    seen = ~np.isnan(X)
    return np.where(seen, X, 0.0), seen.astype(np.float64)


def _without_negative_eigenvalues(gram: np.ndarray) -> np.ndarray:
    values, vectors = eigh(gram)
    if values[0] >= -1e-10 * values[-1]:
        return gram
    warnings.warn(
        f"The RBF kernel over jointly present columns is not positive semi-definite (smallest eigenvalue "
        f"{values[0]:.3g}); its negative eigenvalues were set to zero. kernel='linear' and 'poly' need no repair.",
        UserWarning,
        stacklevel=3,
    )
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
