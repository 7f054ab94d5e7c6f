"""Linear machines on random Fourier features: kernel machines for any number of rows."""

from __future__ import annotations

import warnings
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from gapkernel.estimators.calibration import ConformalIntervals
from gapkernel.estimators.fourier.base import FourierMachine, adds_rows, calibrated, labelled_features
from gapkernel.estimators.fourier.features import FourierFeatures
from gapkernel.solvers.normal_equations import LOSSES, Moments, Slope, newton, ridge, slope
from gapkernel.tables.table_in_parts import Part, TableInParts


class FourierClassifier(ClassifierMixin, FourierMachine):
    """A kernel classifier for any number of rows with gaps: `FourierFeatures` and a linear machine.

    Time grows linearly with the rows, and memory does not grow with them: the features are made part by part, and only
    sums over rows are kept. So the rows may come from an array, a memory map, files (`batches`) or a dask collection;
    the model is the same up to rounding.

    Parameters
    ----------
    n_components : int, default=512
        Number of features.
    loss : {"squared_error", "log_loss", "squared_hinge"}, default="squared_error"
        "squared_error" is ridge regression on +-1, in one pass over the rows. "log_loss" (logistic regression) and
        "squared_hinge" (a support vector machine) take some more passes, by Newton's method.
    alpha : float, default=1.0
        Penalty: sum of losses + alpha |coefficients|^2 / 2. It is 1 / C of the other machines.
    kernel : {"genrbf", "rbf"} or GenRBF or ExpectedRBF, default="genrbf"
    gamma : float, "scale" or "median", default="scale"
    density : "auto" or density, default="auto"
    density_samples : int or None, default=100_000
    orthogonal : bool, default=True
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
    random_state : int, RandomState or None, default=0
        As in `FourierFeatures`.
    tol : float, default=1e-8
        Newton's method stops when the next step can lower the objective by no more than this share of it.
    max_iter : int, default=50
        Most passes of Newton's method.

    Attributes
    ----------
    classes_ : ndarray
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    features_ : FourierFeatures
    density_, kernel_
        As in `SVC`.
    n_iter_ : int
        Passes over the features.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    SVC : The exact kernel, for up to some ten thousand rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import FourierClassifier
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [np.nan, 1.9], [2.1, 2.0]])
    >>> model = FourierClassifier(64, gamma=0.5, alpha=0.1).fit(X, [0, 0, 1, 1])
    >>> model.predict([[np.nan, 0.2], [1.8, np.nan]])
    array([0, 1])
    """

    def __init__(
        self,
        n_components=512,
        *,
        loss="squared_error",
        alpha=1.0,
        kernel="genrbf",
        gamma="scale",
        density="auto",
        density_samples=100_000,
        orthogonal=True,
        categorical_features="from_dtype",
        random_state=0,
        tol=1e-8,
        max_iter=50,
    ):
        self.n_components = n_components
        self.loss = loss
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.density = density
        self.density_samples = density_samples
        self.orthogonal = orthogonal
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y=None, sample_weight=None) -> FourierClassifier:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
            Classes; None for `batches`, which bring theirs.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for. Weight zero leaves a row out.

        Returns
        -------
        self : FourierClassifier
        """
        if self.loss not in ("squared_error", *LOSSES):
            raise ValueError(f"loss must be one of {['squared_error', *LOSSES]}, got {self.loss!r}.")
        parts = self._parts(X, y, sample_weight)
        features = self._fit_features(parts)
        moments = self._learn(parts, features)
        _check_two_classes(moments.classes)
        if self.loss == "squared_error":
            coefficients, n_iter = ridge(moments.signs(), self.alpha), 1
        else:
            coefficients, n_iter = self._newton(parts, features, moments)
        self._keep(features, moments)
        self.classes_, self.n_iter_ = moments.classes, n_iter
        self._keep_coefficients(coefficients)
        return self

    @available_if(lambda machine: machine.loss == "squared_error")
    def partial_fit(self, X, y, classes=None, sample_weight=None) -> FourierClassifier:
        """Add rows to the fit.

        The density and the features are those of the first call (or of `fit`); later rows add to the normal equations.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, default=None
            All classes that will ever come, for a first call that does not hold two of them.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : FourierClassifier
        """
        features, moments = self._learn_more(X, y, sample_weight)
        if classes is not None:
            known = Moments.of_no_rows(len(moments.second), np.unique(classes))
            if not np.isin(moments.classes, known.classes).all():
                raise ValueError(f"y holds {moments.classes.tolist()}, more than classes={known.classes.tolist()}.")
            moments = known + moments
        _check_two_classes(moments.classes)
        self._keep(features, moments)
        self.classes_, self.n_iter_ = moments.classes, 1
        self._keep_coefficients(ridge(moments.signs(), self.alpha))
        return self

    def _newton(self, parts: TableInParts, features: FourierFeatures, moments: Moments) -> tuple[np.ndarray, int]:
        def one_pass(coefficients):
            return parts.sum(partial(_slope, features, moments.classes, self.loss, coefficients), "Newton step")

        coefficients, n_iter, converged = newton(
            self.loss, moments.signs(), one_pass, self.alpha, self.tol, self.max_iter
        )
        if not converged:
            warnings.warn(
                f"Newton's method stopped after max_iter={self.max_iter} passes. Raise max_iter, or alpha.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return coefficients, n_iter + 1

    def decision_function(self, X) -> np.ndarray:
        """Signed distance from the boundary.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes give one value, positive for ``classes_[1]``.
        """
        values = self._values(X)
        return values.ravel() if len(self.classes_) == 2 else values

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        values = self._values(X)
        best = values.argmax(axis=1) if len(self.classes_) > 2 else (values.ravel() > 0).astype(int)
        return self.classes_[best]

    @available_if(lambda machine: machine.loss == "log_loss")
    def predict_proba(self, X) -> np.ndarray:
        """The probability of each class, for ``loss="log_loss"``; with more than two classes, one against the rest.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        chances = expit(self._values(X))
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - chances, chances])
        return chances / np.maximum(chances.sum(axis=1, keepdims=True), np.finfo(float).tiny)

    @staticmethod
    def _check_targets(y: np.ndarray) -> None:
        check_classification_targets(y)

    @staticmethod
    def _moments_of(z: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Moments:
        return Moments.of_classes(z, y, weight)


class FourierRegressor(ConformalIntervals, MultiOutputMixin, RegressorMixin, FourierMachine):
    """Kernel ridge regression for any number of rows with gaps: `FourierFeatures` and ridge regression in one pass.

    See `FourierClassifier` for where the rows may come from. With more features it approaches `KernelRidge`, but for
    the intercept that it adds.

    Parameters
    ----------
    n_components : int, default=512
        Number of features.
    alpha : float, default=1.0
        Penalty: sum of squares + alpha |coefficients|^2, as in `KernelRidge`.
    kernel : {"genrbf", "rbf"} or GenRBF or ExpectedRBF, default="genrbf"
    gamma : float, "scale" or "median", default="scale"
    density : "auto" or density, default="auto"
    density_samples : int or None, default=100_000
    orthogonal : bool, default=True
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
    random_state : int, RandomState or None, default=0
        As in `FourierFeatures`.
    conformal : bool, default=False
        Whether to calibrate `predict_interval` among rows that miss about as many cells, by the error on each row when
        it is left out, in closed form, at the density of all rows. Of more than 100,000 rows so many are drawn.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components)
    intercept_ : float or ndarray of shape (n_targets,)
    features_ : FourierFeatures
    calibration_ : GapCountCalibration or None
        The errors on left-out rows, for `predict_interval`.
    density_, kernel_
        As in `SVC`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import FourierRegressor
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> FourierRegressor(64, gamma=0.1, alpha=0.01).fit(X, [0.0, 1.0, 2.0, 3.0]).predict([[2.0, np.nan]]).round(0)
    array([2.])
    """

    _y_options: ClassVar = {"multi_output": True, "y_numeric": True}
    _parameter_constraints: ClassVar[dict] = {"conformal": ["boolean"]}

    def __init__(
        self,
        n_components=512,
        *,
        alpha=1.0,
        kernel="genrbf",
        gamma="scale",
        density="auto",
        density_samples=100_000,
        orthogonal=True,
        categorical_features="from_dtype",
        random_state=0,
        conformal=False,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.density = density
        self.density_samples = density_samples
        self.orthogonal = orthogonal
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.conformal = conformal

    def fit(self, X, y=None, sample_weight=None) -> FourierRegressor:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            None for `batches`, which bring theirs.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : FourierRegressor
        """
        self._validate_params()
        parts = self._parts(X, y, sample_weight)
        features = self._fit_features(parts)
        moments = self._learn(parts, features)
        return self._solve(features, moments, calibrated(self, parts, features, moments))

    @available_if(adds_rows)
    def partial_fit(self, X, y, sample_weight=None) -> FourierRegressor:
        """Add rows to the fit.

        The density and the features are those of the first call (or of `fit`); later rows add to the normal equations.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : FourierRegressor
        """
        return self._solve(*self._learn_more(X, y, sample_weight))

    def _solve(self, features: FourierFeatures, moments: Moments, calibration=None) -> FourierRegressor:
        coefficients = ridge(moments, self.alpha)
        self._keep(features, moments)
        self._keep_coefficients(coefficients)
        self.calibration_ = calibration
        return self

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._values(X)

    @staticmethod
    def _moments_of(z: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Moments:
        return Moments.of_values(z, y, weight)


def _slope(features: FourierFeatures, classes: np.ndarray, loss: str, coefficients: np.ndarray, part: Part) -> Slope:
    """One part of a Newton pass."""
    z, y, weight = labelled_features(FourierClassifier, features, part)
    signs = np.where(y[:, None] == (classes[1:] if len(classes) == 2 else classes), 1.0, -1.0)
    return slope(loss, z, signs, weight, coefficients)


def _check_two_classes(classes) -> None:
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {classes.tolist()}. A classifier needs at least two classes.")
