"""Linear models on random Fourier features: kernel ridge regression and classification for any number of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from gapkernel.estimators.calibration.base import NO, check_enough
from gapkernel.estimators.calibration.intervals_and_sets import ConformalIntervals
from gapkernel.estimators.calibration.masks import GapCountCalibration
from gapkernel.estimators.fourier.base import FourierModel, labelled_rows
from gapkernel.estimators.fourier.features import FourierFeatures
from gapkernel.estimators.sampled_density import sample_rows
from gapkernel.solvers.normal_equations import LOSSES, Slope, Sums, inverse, leave_one_out, newton, ridge, slope
from gapkernel.tables import read_classes, read_target
from gapkernel.tables.part_by_part import AnswersInParts
from gapkernel.tables.table_in_parts import HeldTable, Part, TableInParts

CALIBRATION_ROWS = 100_000
"""Most rows that intervals are calibrated by: enough for any quantile, few enough to be held in memory."""


def _adds_rows(model: FourierRegressor) -> bool:
    """Whether the model has `partial_fit`."""
    if model.conformal:  # earlier rows are gone, and what was left of them has changed
        raise AttributeError("partial_fit cannot calibrate: set conformal=False, or fit all rows at once.")
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class FourierRegressor(ConformalIntervals, MultiOutputMixin, RegressorMixin, FourierModel):
    """Kernel ridge regression for any number of rows with gaps: `FourierFeatures` and ridge regression in one pass.

    Time grows linearly with the rows, and memory does not grow with them: the features are made part by part, and only
    sums over rows are kept. So the rows may come from an array, a memory map, files (`batches`) or a dask collection;
    the model is the same up to rounding. With more features it approaches `KernelRidge`, except for the intercept that
    it adds.

    Parameters
    ----------
    n_components : int, default=512
        Number of features.
    alpha : float, default=1.0
        Penalty: sum of squares + ``alpha |coefficients|^2``, as in `KernelRidge`.
    kernel : {"genrbf", "rbf"} or GenRBF or ExpectedRBF, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or Density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits the table: one `Gaussian`, fitted by EM;
        `JointGaussian` with categories in the table; `FactorAnalysis` for wide tables on which a full covariance would
        be slow.
    density_samples : int or None, default=100_000
        Most rows that the density is fitted to. With more, this number is drawn at random, without replacement; None
        is all rows.
    orthogonal : bool, default=True
        Whether frequencies are orthogonal in blocks, which keeps the features unbiased and makes their error smaller.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level that is not among the rows drawn for the density is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one. A
        `Missingness` must have ``rule="product"``.
    random_state : int, RandomState or None, default=None
        Seed of the frequencies and of the rows drawn for density and intervals. None draws anew in each fit.
    conformal : {False, "count"}, default=False
        Whether to calibrate `predict_interval` among rows that miss about as many cells, by the error on each row when
        it is left out, in closed form, at the density of all rows. Of more than 100,000 rows, 100,000 are drawn.
        Rows count alike there, whatever their weights.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components)
        Coefficients of the features.
    intercept_ : float or ndarray of shape (n_targets,)
        The value where all features are 0.
    features_ : FourierFeatures
        The fitted features.
    calibration_ : GapCountCalibration or None
        The errors on left-out rows, for `predict_interval`.
    density_ : Density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of str
        Names of the columns at fit, where they had any.

    See Also
    --------
    KernelRidge : The exact kernel, for up to some ten thousand rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import FourierRegressor
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> model = FourierRegressor(64, gamma=0.1, alpha=0.01, random_state=0).fit(X, [0.0, 1.0, 2.0, 3.0])
    >>> model.predict([[2.0, np.nan]]).round(0)
    array([2.])
    """

    conformal: bool | str = False

    _parameter_constraints: ClassVar[dict] = {"conformal": [NO, StrOptions({"count"})]}
    _check_targets = partial(read_target, multi_output=True, y_numeric=True)
    _sums_of = Sums.of_values

    @available_if(_adds_rows)
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
        return self._solve(*self._more_sums(X, y, sample_weight))

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

    def _solve(self, features: FourierFeatures, sums: Sums, parts: TableInParts | None = None) -> FourierRegressor:
        coefficients, calibration = ridge(sums, self.alpha), None
        if self.conformal and parts is not None:
            calibration = self._calibrated(parts, features, inverse(sums, self.alpha), coefficients)
        self.calibration_ = calibration
        return self._keep_model(features, sums, coefficients)

    def _calibrated(self, parts: TableInParts, features: FourierFeatures, inverse, coefficients) -> GapCountCalibration:
        """The errors on rows left out one by one, by their numbers of gaps."""
        check_enough(parts.n_rows)
        rows = sample_rows(parts.n_rows, CALIBRATION_ROWS, check_random_state(self.random_state))
        left_out = partial(_left_out, features, inverse, coefficients)
        pieces = HeldTable(parts.take(rows)).sum(left_out, "Calibrating")
        counts, errors = (np.concatenate(piece) for piece in zip(*pieces, strict=True))
        check_enough(len(counts))  # rows of weight zero do not count
        return GapCountCalibration(counts, np.abs(errors))


def _left_out(features: FourierFeatures, inverse, coefficients, part: Part) -> list:
    """Numbers of gaps, and errors, of the rows of a part that count: one pair, in a list so that parts can be added."""
    table, y, weight = labelled_rows(FourierRegressor, features, part)
    errors = leave_one_out(inverse, coefficients, features._features(table), y, weight)
    return [(table.missing.sum(axis=1), errors)]


class OneAgainstRest(ClassifierMixin, AnswersInParts):
    """Gives `decision_function` and `predict` to a classifier whose `_values` are of shape (n_rows, n_outputs)."""

    classes_: np.ndarray
    intercept_: np.ndarray
    _values: Callable[..., np.ndarray]

    def decision_function(self, X) -> np.ndarray:
        """The decision values of each row: the class is that of the largest, or with two classes given by the sign.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`
            NaN, None, pd.NA and levels unknown at fit are gaps.

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
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        values = self._values(X)
        return self.classes_[values.argmax(axis=1) if len(self.classes_) > 2 else (values.ravel() >= 0).astype(int)]


@dataclass(eq=False, repr=False, kw_only=True)
class FourierClassifier(OneAgainstRest, FourierModel):
    """A kernel classifier for any number of rows with gaps: `FourierFeatures` and a linear model.

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
        Penalty: sum of losses + ``alpha |coefficients|^2 / 2``. It is 1 / C of `SVC`.
    kernel : {"genrbf", "rbf"} or GenRBF or ExpectedRBF, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or Density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits the table: one `Gaussian`, fitted by EM;
        `JointGaussian` with categories in the table; `FactorAnalysis` for wide tables on which a full covariance would
        be slow.
    density_samples : int or None, default=100_000
        Most rows that the density is fitted to. With more, this number is drawn at random, without replacement; None
        is all rows.
    orthogonal : bool, default=True
        Whether frequencies are orthogonal in blocks, which keeps the features unbiased and makes their error smaller.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level that is not among the rows drawn for the density is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one. A
        `Missingness` must have ``rule="product"``.
    random_state : int, RandomState or None, default=None
        Seed of the frequencies and of the rows drawn for the density. None draws anew in each fit.
    tol : float, default=1e-8
        Newton's method stops when the next step can lower the objective by no more than this share of it.
    max_iter : int, default=50
        Maximum number of passes of Newton's method.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components)
        Coefficients of the features; two classes have one row, more have one for each class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Decision value where all features are 0.
    features_ : FourierFeatures
        The fitted features.
    density_ : Density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    n_iter_ : int
        Passes over the features.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of str
        Names of the columns at fit, where they had any.

    See Also
    --------
    SVC : The exact kernel, for up to some ten thousand rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import FourierClassifier
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [np.nan, 1.9], [2.1, 2.0]])
    >>> model = FourierClassifier(64, gamma=0.5, alpha=0.1, random_state=0).fit(X, [0, 0, 1, 1])
    >>> model.predict([[np.nan, 0.2], [1.8, np.nan]])
    array([0, 1])
    """

    loss: str = "squared_error"
    tol: float = 1e-8
    max_iter: int = 50

    _parameter_constraints: ClassVar[dict] = {
        "loss": [StrOptions({"squared_error", *LOSSES})],
        "tol": [Interval(Real, 0, np.inf, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    _sums_of = Sums.of_classes

    @available_if(lambda model: model.loss == "squared_error")
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
        features, sums = self._more_sums(X, y, sample_weight)
        if classes is not None:
            known = np.unique(classes)
            if not np.isin(sums.classes, known).all():
                raise ValueError(f"y holds {sums.classes.tolist()}, more than classes={known.tolist()}.")
            sums = Sums(np.zeros_like(sums.second), np.zeros((len(sums.second), len(known))), known) + sums
        return self._solve(features, sums)

    def _solve(self, features: FourierFeatures, sums: Sums, parts: TableInParts | None = None) -> FourierClassifier:
        classes, _ = read_classes(sums.classes)
        if self.loss == "squared_error" or parts is None:
            coefficients, n_iter = ridge(sums.signs(), self.alpha), 1
        else:
            coefficients, n_iter = self._newton(parts, features, sums)
        self.classes_, self.n_iter_ = classes, n_iter
        return self._keep_model(features, sums, coefficients)

    def _newton(self, parts: TableInParts, features: FourierFeatures, sums: Sums) -> tuple[np.ndarray, int]:
        def one_pass(coefficients):
            return parts.sum(partial(_slope, features, sums.classes, self.loss, coefficients), "Newton step")

        coefficients, n_iter, converged = newton(self.loss, sums.signs(), one_pass, self.alpha, self.tol, self.max_iter)
        if not converged:
            warnings.warn(
                f"Newton's method stopped after max_iter={self.max_iter} passes. Raise max_iter, or alpha.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return coefficients, n_iter + 1

    @available_if(lambda model: model.loss == "log_loss")
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
    def _check_targets(y, of: str = "") -> np.ndarray:
        y = read_target(y, of=of)
        check_classification_targets(y)
        return y


def _slope(features: FourierFeatures, classes: np.ndarray, loss: str, coefficients: np.ndarray, part: Part) -> Slope:
    """One part of a Newton pass."""
    table, y, weight = labelled_rows(FourierClassifier, features, part)
    signs = np.where(y[:, None] == (classes[1:] if len(classes) == 2 else classes), 1.0, -1.0)
    return slope(loss, features._features(table), signs, weight, coefficients)
