"""Machines that choose their penalty and their kernel width by cross-validation."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.conformal import ChosenIntervals
from gapkernel.estimators.grid import PENALTIES, RIDGES, GridMachine
from gapkernel.estimators.ridge import KernelRidge
from gapkernel.estimators.svm import SVC, SVR


class SVCCV(ClassifierMixin, GridMachine):
    """`SVC` with C and gamma chosen by cross-validation, the whole grid at once.

    The scores are those of ``GridSearchCV(SVC(...), {"C": Cs, "gamma": gammas})`` on the same splits. They come many
    times sooner, because a split fits its density once, and a width has one Gram matrix for all C.

    Parameters
    ----------
    Cs : array-like, default=(2**-5, 2**-3, ..., 2**9)
        Candidates for C.
    gammas : int, float or list, default=11
        Candidates for gamma: numbers, "scale" or "median" (which mean other numbers in each split). A float is one
        candidate, an integer so many powers of 2 times the "scale" of all rows: 11 is from 1/32 to 32 times it. A
        kernel without a width has none to choose; for a kernel object the parameter is called ``kernel__gamma``.
    kernel : {"genrbf", "rbf", "linear", "ehk", "karma"} or Kernel, default="genrbf"
    density : "auto" or density, default="auto"
        Fitted anew to the training rows of each split.
    cv : int, splitter or iterable of splits, default=None
        As in `GridSearchCV`: None is five stratified folds.
    scoring : str or callable, default=None
        As in `GridSearchCV`; None is accuracy. A callable gets a fitted `sklearn.svm.SVC` on a precomputed kernel, the
        kernel between test and training rows, and the test labels.
    refit : bool, default=True
        Fit the best machine to all rows.
    n_jobs : int, default=None
        Threads. None is as many as the engine has (`set_config`). The number never changes a result.
    categorical_features, indicator, shrinking, tol, cache_size, class_weight, max_iter, decision_function_shape, \
break_ties
        As in `SVC`.

    Attributes
    ----------
    best_params_ : dict
        "C" and "gamma" (or "kernel__gamma") of the best candidate, the first of equals.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its place in ``cv_results_``.
    best_estimator_ : SVC
        The machine with the best settings, fitted to all rows, if ``refit``.
    cv_results_ : dict
        As in `GridSearchCV`, without times: candidates share their work.
    classes_ : ndarray
    n_splits_ : int
    scorer_ : callable
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    A split that cannot be trained on, for example because a class is absent, is an error here, not a score of NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import SVCCV
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((60, 3))
    >>> y = (X[:, 0] ** 2 + X[:, 1] > 0.5).astype(int)
    >>> X[random.random(X.shape) < 0.2] = np.nan
    >>> machine = SVCCV(Cs=[1, 10], gammas=[0.01, 0.3]).fit(X, y)
    >>> machine.best_params_
    {'C': 1, 'gamma': 0.3}
    """

    _machine = SVC

    def __init__(
        self,
        *,
        Cs=PENALTIES,
        gammas=11,
        kernel="genrbf",
        density="auto",
        cv=None,
        scoring=None,
        refit=True,
        n_jobs=None,
        categorical_features="from_dtype",
        indicator=False,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
    ):
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.density = density
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties

    @property
    def classes_(self) -> np.ndarray:
        """The classes."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.classes_

    def decision_function(self, X) -> np.ndarray:
        """Signed distance from the boundary of the best machine, as in `SVC`."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)


class SVRCV(ChosenIntervals, RegressorMixin, GridMachine):
    """`SVR` with C and gamma chosen by cross-validation, the whole grid at once.

    See `SVCCV` for what is shared, and for the parameters and attributes that are not explained here.

    Parameters
    ----------
    Cs : array-like, default=(2**-5, 2**-3, ..., 2**9)
    gammas : int, float or list, default=11
    epsilon : float, default=0.1
        As in `SVR`.
    kernel : {"genrbf", "rbf", "linear", "ehk", "karma"} or Kernel, default="genrbf"
    density : "auto" or density, default="auto"
    cv : int, splitter or iterable of splits, default=None
    scoring : str or callable, default=None
        None is R squared.
    refit : bool, default=True
    n_jobs : int, default=None
    categorical_features, indicator, shrinking, tol, cache_size, max_iter
        As in `SVR`.
    conformal : bool, default=False
        Whether to calibrate `predict_interval` among rows that miss about as many cells, by the errors on the test rows
        of the splits at the chosen settings and the density of all rows; ``cv`` must test every row once.

    Attributes
    ----------
    best_params_, best_score_, best_index_, cv_results_, n_splits_, scorer_
        As in `SVCCV`.
    best_estimator_ : SVR
    calibration_ : GapCountCalibration or None
        The errors on the test rows, for `predict_interval`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import SVRCV
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((60, 2))
    >>> y = np.sin(2 * X[:, 0])
    >>> X[random.random(X.shape) < 0.1] = np.nan
    >>> SVRCV(Cs=[0.01, 10], gammas=[0.001, 0.5]).fit(X, y).best_params_
    {'C': 10.0, 'gamma': 0.5}
    """

    _machine = SVR

    def __init__(
        self,
        *,
        Cs=PENALTIES,
        gammas=11,
        epsilon=0.1,
        kernel="genrbf",
        density="auto",
        cv=None,
        scoring=None,
        refit=True,
        n_jobs=None,
        categorical_features="from_dtype",
        indicator=False,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        max_iter=-1,
        conformal=False,
    ):
        self.Cs = Cs
        self.gammas = gammas
        self.epsilon = epsilon
        self.kernel = kernel
        self.density = density
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.conformal = conformal


class KernelRidgeCV(ChosenIntervals, MultiOutputMixin, RegressorMixin, GridMachine):
    """`KernelRidge` with alpha and gamma chosen by cross-validation, the whole grid at once.

    See `SVCCV` for what is shared, and for the parameters and attributes that are not explained here.

    Parameters
    ----------
    alphas : array-like, default=(1e-4, 1e-3, ..., 1e3)
        Candidates for alpha.
    gammas : int, float or list, default=11
    kernel : {"genrbf", "rbf", "linear", "ehk", "karma"} or Kernel, default="rbf"
    density : "auto" or density, default="auto"
    cv : int, splitter or iterable of splits, default=None
    scoring : str or callable, default=None
        None is R squared.
    refit : bool, default=True
    n_jobs : int, default=None
    categorical_features, indicator
        As in `KernelRidge`.
    conformal : bool, default=False
        As in `SVRCV`.

    Attributes
    ----------
    best_params_, best_score_, best_index_, cv_results_, n_splits_, scorer_
        As in `SVCCV`, with "alpha" in place of "C".
    best_estimator_ : KernelRidge
    calibration_ : GapCountCalibration or None
        The errors on the test rows, for `predict_interval`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

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

    _machine = KernelRidge
    _penalty = ("alpha", "alphas")

    def __init__(
        self,
        *,
        alphas=RIDGES,
        gammas=11,
        kernel="rbf",
        density="auto",
        cv=None,
        scoring=None,
        refit=True,
        n_jobs=None,
        categorical_features="from_dtype",
        indicator=False,
        conformal=False,
    ):
        self.alphas = alphas
        self.gammas = gammas
        self.kernel = kernel
        self.density = density
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.conformal = conformal
