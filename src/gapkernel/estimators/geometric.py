"""Margins measured in the columns that a row has (Chechik, Heitz, Elidan, Abbeel, Koller)."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.runtime.config import check_fits
from gapkernel.kernels.observed_columns import NAMES, Skipping
from gapkernel.rows import Patterns
from gapkernel.solvers.geometric import alternate, largest_margin
from gapkernel.solvers.libsvm import Classification
from gapkernel.tables import numbers_of, read_labelled, read_table
from gapkernel.tables.part_by_part import AnswersInParts

CHOICES = {"kernel": NAMES, "method": ("alternating", "average", "separable"), "norm": ("common", "mean")}


class GeometricMarginSVC(ClassifierMixin, AnswersInParts, BaseEstimator):
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
        Of "poly" and "rbf". "scale" is 1 / (n_features * variance of the observed values).
    method : {"alternating", "average", "separable"}, default="alternating"
        "alternating" divides the score of row i by s_i = ||w^(i)|| / ||w||, trains with the s_i fixed, measures
        them again, and so on. "average" puts a common norm in place of ||w^(i)||: one ordinary SVM. "separable"
        maximises the smallest margin itself, for linear separation through the origin without violations.
    norm : {"common", "mean"}, default="common"
        Of "average": ||w||, or the mean of the ||w^(i)||^2 over the rows.
    max_iter : int, default=5
        Most rounds of "alternating".
    floor : float, default=0.1
        Least s_i. A row whose columns carry no weight would otherwise be blown up without bound.
    tol : float, default=1e-3
        Tolerance of the SVM solver.
    margin_tol : float, default=1e-4
        Precision of the margin of "separable", as a share of the norm of the shortest row.

    Attributes
    ----------
    classes_ : ndarray
    intercept_ : ndarray of shape (n_outputs,)
        Two classes have one output; more have one for each class against the rest.
    coef_ : ndarray of shape (n_outputs, n_features)
        w, for the linear kernel.
    dual_coef_ : list of ndarray
        Weights of the support rows of each output, for other kernels.
    support_ : list of ndarray
        Indices of the support rows of each output, empty for "separable".
    scales_ : ndarray of shape (n_outputs, n_used_rows)
        s_i in the last round.
    margin_ : ndarray of shape (n_outputs,)
        The smallest margin, for "separable".
    n_iter_ : ndarray of shape (n_outputs,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    Certain: the margin itself, that the separable problem is a bisection over cone programs, that the alternating
    scheme is how it is solved otherwise, and that it need not converge (a few rounds are customary; choose
    ``max_iter`` by validation). A reading of the paper: the intercept is not divided by s_i (as in the Shark
    library); which norm "average" means; how an RBF kernel was used with it. Ours: the floor, and the
    normalisation sum_i y_i w'x_i = n that excludes w = 0 from the cone programs.

    A row with no column at all is left out of the training, and its decision value is the intercept.

    References
    ----------
    Chechik, Heitz, Elidan, Abbeel, Koller (2008), Max-margin classification of data with absent features, JMLR 9.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import GeometricMarginSVC
    >>> X = np.array([[-1.0, -0.8], [-1.2, np.nan], [np.nan, 0.9], [1.1, 1.0]])
    >>> y = [0, 0, 1, 1]
    >>> GeometricMarginSVC().fit(X, y).predict([[np.nan, -0.7], [0.8, np.nan]])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        C=1.0,
        kernel="linear",
        degree=3,
        gamma="scale",
        coef0=1.0,
        method="alternating",
        norm="common",
        max_iter=5,
        floor=0.1,
        tol=1e-3,
        margin_tol=1e-4,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.method = method
        self.norm = norm
        self.max_iter = max_iter
        self.floor = floor
        self.tol = tol
        self.margin_tol = margin_tol

    def fit(self, X, y) -> GeometricMarginSVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks a column that the row does not have.
        y : array-like of shape (n_samples,)
            Classes.

        Returns
        -------
        self : GeometricMarginSVC
        """
        self._check_parameters()
        X, y = read_labelled(self, X, y, categorical_features=None)
        X = X.values
        check_classification_targets(y)
        used = ~np.isnan(X).all(axis=1)
        classes, codes = np.unique(y[used], return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class only among the rows with a value, {classes.tolist()}. "
                f"A classifier needs at least two classes."
            )
        targets = [codes == k for k in ([1] if len(classes) == 2 else range(len(classes)))]
        values, seen = _zero_filled(X[used])
        if self.method == "separable":
            self._keep_directions(values, seen, targets)
        else:
            self._keep_machines(values, seen, targets, np.nanvar(X))
        self.classes_ = classes
        return self

    def decision_function(self, X) -> np.ndarray:
        """Signed margin of each row in its own columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes give one value, positive for ``classes_[1]``.
        """
        check_is_fitted(self, "classes_")
        X = numbers_of(read_table(self, X, reset=False), self)
        values, seen = _zero_filled(X)
        values = values * self._column_scales
        patterns = Patterns.of(seen == 0)
        out = np.empty((len(X), len(self.intercept_)))
        for k, (rows, rows_seen, weights) in enumerate(self._machines):
            scores = self._kernel.cross(values, seen, rows, rows_seen) @ weights
            if self.method == "average":
                scales = np.ones(len(X))
            elif self.method == "alternating":
                scales = _scales(self._kernel, rows, rows_seen, weights, patterns, self.floor)
            else:
                scales = np.sqrt(self._kernel.squared_norms(rows, rows_seen, weights, ~patterns.gaps))[patterns.index]
            out[:, k] = np.divide(scores, scales, out=np.zeros(len(X)), where=scales > 0) + self.intercept_[k]
        nothing = ~seen.any(axis=1)
        out[nothing] = self.intercept_
        return out.ravel() if len(self.classes_) == 2 else out

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        return self.classes_[(values >= 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]

    def _keep_machines(self, values, seen, targets, variance) -> None:
        """Train by SVMs: the alternating scheme, or one round of it."""
        solver = Classification(C=self.C, tol=self.tol)
        gamma = (1.0 / (values.shape[1] * variance) if variance > 0 else 1.0) if self.gamma == "scale" else self.gamma
        kernel = Skipping(self.kernel, gamma, self.coef0, self.degree)
        column_scales = np.ones(values.shape[1])
        if self.method == "average" and self.norm == "mean":
            share = seen.mean(axis=0)  # mean ||w^(i)||^2 = sum_k share_k w_k^2: an SVM on columns / sqrt(share)
            column_scales[share > 0] = 1.0 / np.sqrt(share[share > 0])
        values = values * column_scales
        check_fits((len(values), len(values)), "The Gram matrix")
        gram = kernel.cross(values, seen, values, seen)
        if self.kernel == "rbf":
            gram = _without_negative_eigenvalues(gram)
        patterns = Patterns.of(seen == 0)

        def scales_of(support, weights):
            return _scales(kernel, values[support], seen[support], weights, patterns, self.floor)

        rounds = self.max_iter if self.method == "alternating" else 1
        found = [alternate(solver, gram, target.astype(int), scales_of, rounds) for target in targets]
        self._kernel, self._column_scales = kernel, column_scales
        self._machines = [(values[one.support], seen[one.support], one.weights) for one in found]
        self.intercept_ = np.array([one.intercept for one in found])
        self.support_ = [one.support for one in found]
        self.dual_coef_ = [one.weights for one in found]
        self.scales_ = np.array([one.scales for one in found])
        self.n_iter_ = np.array([one.n_iter for one in found])
        if self.kernel == "linear":
            self.coef_ = np.array([weights @ rows for rows, _, weights in self._machines]) * column_scales

    def _keep_directions(self, values, seen, targets) -> None:
        """Train by cone programs: the direction with the largest smallest margin."""
        patterns = Patterns.of(seen == 0)
        found = []
        for target in targets:
            signed = np.where(target[:, None], values, -values)
            direction, margin = largest_margin(signed, ~patterns.gaps, patterns.index, tol=self.margin_tol)
            if direction is None:
                raise ValueError(
                    "No direction separates the classes through the origin. "
                    "Use method='alternating', which allows violations, and centre the columns."
                )
            found.append((direction / np.linalg.norm(direction), margin))
        self._kernel, self._column_scales = Skipping("linear"), np.ones(values.shape[1])
        self.coef_ = np.array([direction for direction, _ in found])
        self.margin_ = np.array([margin for _, margin in found])
        whole = np.ones((1, values.shape[1]))
        self._machines = [(direction[None], whole, np.ones(1)) for direction in self.coef_]
        self.intercept_ = np.zeros(len(found))
        self.support_ = [np.empty(0, int) for _ in found]
        self.scales_ = np.sqrt([np.square(direction) @ (seen.T > 0) for direction in self.coef_])
        self.n_iter_ = np.ones(len(found), int)

    def _check_parameters(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}.")
        if self.method == "separable" and self.kernel != "linear":
            raise ValueError(f"method='separable' is for kernel='linear', got kernel={self.kernel!r}.")
        if self.max_iter < 1:
            raise ValueError(f"max_iter must be at least 1, got {self.max_iter!r}.")
        if not 0 < self.floor <= 1:
            raise ValueError(f"floor must lie between 0 and 1, got {self.floor!r}.")
        if not 0 < self.margin_tol < 1:
            raise ValueError(f"margin_tol must lie between 0 and 1, got {self.margin_tol!r}.")
        if self.gamma != "scale" and not 0 < self.gamma < np.inf:
            raise ValueError(f"gamma must be a positive number or 'scale', got {self.gamma!r}.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _scales(kernel: Skipping, rows, rows_seen, weights, patterns: Patterns, floor: float) -> np.ndarray:
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
        stacklevel=4,
    )
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
