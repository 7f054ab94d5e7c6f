"""Kernel ridge regression for rows with gaps, and its search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from gapkernel.estimators.base import KernelMachine, Laws, Training
from gapkernel.estimators.calibration.intervals_and_sets import MachineIntervals
from gapkernel.estimators.search_cv import RIDGES, ChosenIntervals, SearchCV
from gapkernel.solvers.base import Solution
from gapkernel.solvers.ridge import Ridge


@dataclass(eq=False, repr=False, kw_only=True)
class KernelRidge(MachineIntervals, MultiOutputMixin, RegressorMixin, KernelMachine):
    """Kernel ridge regression on rows with gaps, at fit and at predict.

    A density is fitted to the training rows, each row becomes its law given what was observed of it, and ridge
    regression is solved on the kernel between laws. On complete data it equals `sklearn.kernel_ridge.KernelRidge`. With
    kernel "rbf" a row with gaps gets a ridge of its own on top of alpha, the larger the less is known about it.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        What is added to the diagonal of the Gram matrix; several targets may have one each.
    kernel : {"genrbf", "rbf", "linear", "ehk", "precomputed"}, Kernel or callable, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`, "linear" `ExpectedLinear`, "ehk" `HeterogeneousKernel`.
        A function k(X, Y) of two arrays is for complete rows; `MonteCarlo` averages it over gaps.
        With "precomputed" ``X`` is a kernel matrix without gaps: square in `fit`, (n_new, n_training) afterwards.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits kernel and table: `Marginals` for "ehk"; for the
        others one `Gaussian`, fitted by EM, or a `JointGaussian` over numbers and codes with categories in the table,
        or `FactorAnalysis` for wide tables on which a full covariance would be slow. ``density_`` is what was chosen.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one.
    conformal : {False, "count", "mask"}, default=False
        Whether to calibrate `predict_interval` by the error on each row when it is left out, in closed form, at the
        density of all rows. "count" goes by left-out rows that miss about as many cells as a new row, "mask" by
        left-out rows with the same cells hidden (see `predict_interval`); it keeps n^2 coefficients for n rows.
        Rows count alike there, whatever their weights.

    Attributes
    ----------
    density_ : density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    rows_ : Rows
        The laws of the training rows, except those of weight zero.
    dual_coef_ : ndarray of shape (n_rows,) or (n_rows, n_targets)
        Coefficients of these rows.
    calibration_ : Calibration or None
        The errors on left-out rows, for `predict_interval`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had them.

    See Also
    --------
    KernelRidgeCV : With alpha and gamma chosen by cross-validation.
    GaussianProcessRegressor : With a deviation for each prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import KernelRidge
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> KernelRidge(kernel="linear", alpha=0.01).fit(X, [0.0, 1.0, 2.0, 3.0]).predict([[2.0, np.nan]]).round(1)
    array([2.])
    """

    alpha: Any = 1.0
    conformal: bool | str = False

    _target = "numbers"

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        values = self._values(X)
        return values.reshape(len(values), *self.dual_coef_.shape[1:])

    def _solver(self, training: Training) -> Ridge:
        return Ridge(self.alpha)

    def _keep(self, training: Training, laws: Laws, solution: Solution) -> Self:
        self.dual_coef_ = solution.weights.reshape(training.y.shape)
        return super()._keep(training, laws, solution)


@dataclass(eq=False, repr=False, kw_only=True)
class KernelRidgeCV(ChosenIntervals, MultiOutputMixin, RegressorMixin, SearchCV):
    """`KernelRidge` with alpha and gamma chosen by cross-validation, the whole grid at once.

    The scores are those of ``GridSearchCV(KernelRidge(...), {"alpha": alphas, "gamma": gammas})`` on the same splits.
    They come many times sooner, because a split fits its density once, and a width has one Gram matrix for all alpha.

    Parameters
    ----------
    alphas : array-like, default=(1e-4, 1e-3, ..., 1e3)
        Candidates for alpha, what is added to the diagonal of the Gram matrix.
    gammas : int, float or list, default=11
        Candidates for gamma: numbers, "scale" or "median" (which mean other numbers in each split). A float is one
        candidate. An integer is a number of powers of 2 times the "scale" of all rows: 11 is from 1/32 to 32 times it.
        A kernel without a width has none to choose. For a kernel object the parameter is called ``kernel__gamma``, and
        ``kernel__kernel__gamma`` if it is a multiple of another or looks at some columns only.
    kernel : {"genrbf", "rbf", "linear", "ehk"} or Kernel, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`, "linear" `ExpectedLinear`, "ehk" `HeterogeneousKernel`.
    density : "auto" or density, default="auto"
        Where the laws of the gaps come from, fitted anew to the training rows of each split. "auto" is what suits
        kernel and table: `Marginals` for "ehk"; for the others one `Gaussian`, fitted by EM, or a `JointGaussian` over
        numbers and codes with categories in the table, or `FactorAnalysis` for wide tables on which a full covariance
        would be slow.
    cv : int, splitter or iterable of splits, default=None
        Number of folds, splitter of scikit-learn, or pairs of training and test rows. None is five folds.
    scoring : str or callable, default=None
        A name that scikit-learn knows, or ``scoring(estimator, X, y)``, which gets a fitted candidate, with the
        attributes and methods of `KernelRidge`, and the test rows as they were given. None is R squared.
    refit : bool, default=True
        Whether to fit the best candidate to all rows.
    n_jobs : int, default=None
        Tasks at the same time, in threads. None is 1 unless in a `joblib.parallel_config`, -1 is all processors. The
        number never changes a result.
    verbose : bool or int, default=False
        Whether to show progress over the splits.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level that the training rows of a split do not have is a gap in it.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one.
    conformal : {False, "count", "mask"}, default=False
        Whether to calibrate `predict_interval` by the errors on the test rows of the splits at the chosen settings and
        the density of all rows; ``cv`` must test every row once. "count" goes by test rows that miss about as
        many cells as a new row, "mask" by test rows with the same cells hidden (see `predict_interval`).
        Rows count alike there, whatever their weights.

    Attributes
    ----------
    best_params_ : dict
        "alpha" and "gamma" (or "kernel__gamma") of the best candidate, the first of equals.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its place in ``cv_results_``.
    best_estimator_ : KernelRidge
        The estimator with the best settings, fitted to all rows, if ``refit``.
    cv_results_ : dict
        Candidates, scores and ranks in the form of `GridSearchCV`, without times: candidates share their work.
    calibration_ : Calibration or None
        The errors on the test rows, for `predict_interval`.
    n_splits_ : int
        Number of splits.
    scorer_ : callable
        The scorer that was used.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had them.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import KernelRidgeCV
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((60, 2))
    >>> y = np.sin(2 * X[:, 0])
    >>> X[random.random(X.shape) < 0.1] = np.nan
    >>> KernelRidgeCV(alphas=[0.1, 100], gammas=[0.001, 0.5]).fit(X, y).best_params_
    {'alpha': 0.1, 'gamma': 0.5}
    """

    alphas: Any = RIDGES
    conformal: bool | str = False

    _kind = KernelRidge
    _penalty = ("alpha", "alphas")
