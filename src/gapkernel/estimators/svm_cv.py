"""Support vector machines that choose their penalty and their kernel width by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from gapkernel.estimators.search_cv import PENALTIES, ChosenIntervals, SearchCV, of_best
from gapkernel.estimators.svm import SVC, SVR, LibsvmParameters


@dataclass(eq=False, repr=False, kw_only=True)
class SVCCV(ClassifierMixin, LibsvmParameters, SearchCV):
    """`SVC` with C and gamma chosen by cross-validation, the whole grid at once.

    The scores are those of ``GridSearchCV(SVC(...), {"C": Cs, "gamma": gammas})`` on the same splits. They come many
    times sooner, because a split fits its density once, and a width has one Gram matrix for all C.

    Parameters
    ----------
    Cs : array-like, default=(2**-5, 2**-3, ..., 2**9)
        Candidates for C, the penalty of a margin violation.
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
        Number of folds, splitter of scikit-learn, or pairs of training and test rows. None is five stratified folds.
    scoring : str or callable, default=None
        A name that scikit-learn knows, or ``scoring(estimator, X, y)``, which gets a fitted candidate, with the
        attributes and methods of `SVC`, and the test rows as they were given. None is accuracy.
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
    shrinking : bool, default=True
        Whether libsvm leaves settled rows aside while it iterates.
    tol : float, default=1e-3
        Tolerance at which libsvm stops.
    cache_size : float, default=200
        Memory of libsvm's cache, in MB.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the rows of a class; "balanced" is by the inverse of the class's share.
    max_iter : int, default=10_000_000
        Iterations of libsvm, which stops there with a warning; -1 is no limit, as in scikit-learn.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With more than two classes: one decision value for each class ("ovr"), or for each pair of classes ("ovo").
    break_ties : bool, default=False
        Whether `predict` settles a tie of votes among classes by the decision values, for "ovr" only.

    Attributes
    ----------
    best_params_ : dict
        "C" and "gamma" (or "kernel__gamma") of the best candidate, the first of equals.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its place in ``cv_results_``.
    best_estimator_ : SVC
        The estimator with the best settings, fitted to all rows, if ``refit``.
    cv_results_ : dict
        Candidates, scores and ranks in the form of `GridSearchCV`, without times: candidates share their work.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_splits_ : int
        Number of splits.
    scorer_ : callable
        The scorer that was used.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had them.

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
    >>> SVCCV(Cs=[1, 10], gammas=[0.01, 0.3]).fit(X, y).best_params_
    {'C': 1, 'gamma': 0.3}
    """

    Cs: Any = PENALTIES
    class_weight: dict | str | None = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False

    _kind = SVC

    classes_ = of_best("classes_", "The classes, sorted.")

    def decision_function(self, X) -> np.ndarray:
        """Signed distance from the boundary of the best estimator.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_class_pairs)
            Two classes give one value, positive for ``classes_[1]``.
        """
        return self._best.decision_function(X)


@dataclass(eq=False, repr=False, kw_only=True)
class SVRCV(ChosenIntervals, RegressorMixin, LibsvmParameters, SearchCV):
    """`SVR` with C and gamma chosen by cross-validation, the whole grid at once.

    The scores are those of ``GridSearchCV(SVR(...), {"C": Cs, "gamma": gammas})`` on the same splits. They come many
    times sooner, because a split fits its density once, and a width has one Gram matrix for all C.

    Parameters
    ----------
    Cs : array-like, default=(2**-5, 2**-3, ..., 2**9)
        Candidates for C, the penalty of an error beyond ``epsilon``.
    gammas : int, float or list, default=11
        Candidates for gamma: numbers, "scale" or "median" (which mean other numbers in each split). A float is one
        candidate. An integer is a number of powers of 2 times the "scale" of all rows: 11 is from 1/32 to 32 times it.
        A kernel without a width has none to choose. For a kernel object the parameter is called ``kernel__gamma``, and
        ``kernel__kernel__gamma`` if it is a multiple of another or looks at some columns only.
    epsilon : float, default=0.1
        Errors below it cost nothing.
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
        attributes and methods of `SVR`, and the test rows as they were given. None is R squared.
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
    shrinking : bool, default=True
        Whether libsvm leaves settled rows aside while it iterates.
    tol : float, default=1e-3
        Tolerance at which libsvm stops.
    cache_size : float, default=200
        Memory of libsvm's cache, in MB.
    max_iter : int, default=10_000_000
        Iterations of libsvm, which stops there with a warning; -1 is no limit, as in scikit-learn.
    conformal : {False, "count", "mask"}, default=False
        Whether to calibrate `predict_interval` by the errors on the test rows of the splits at the chosen settings and
        the density of all rows; ``cv`` must test every row once. "count" goes by test rows that miss about as
        many cells as a new row, "mask" by test rows with the same cells hidden (see `predict_interval`).
        Rows count alike there, whatever their weights.

    Attributes
    ----------
    best_params_ : dict
        "C" and "gamma" (or "kernel__gamma") of the best candidate, the first of equals.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its place in ``cv_results_``.
    best_estimator_ : SVR
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
    >>> from gapkernel import SVRCV
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((60, 2))
    >>> y = np.sin(2 * X[:, 0])
    >>> X[random.random(X.shape) < 0.1] = np.nan
    >>> SVRCV(Cs=[0.01, 10], gammas=[0.001, 0.5]).fit(X, y).best_params_
    {'C': 10.0, 'gamma': 0.5}
    """

    Cs: Any = PENALTIES
    epsilon: float = 0.1
    conformal: bool | str = False

    _kind = SVR
