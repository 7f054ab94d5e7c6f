"""The estimators that choose their penalty and their kernel width by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.runtime.config import config_context, get_config
from gapkernel.density import Density
from gapkernel.estimators.base import KernelMachine, warn_of_units
from gapkernel.estimators.calibration.intervals_and_sets import ConformalIntervals
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.estimators.search import Search, check_partition, cv_results, width_name, width_of
from gapkernel.estimators.svm import SVC, SVR, LibsvmParameters
from gapkernel.kernels import Kernel, Missingness, make_kernel
from gapkernel.tables import Table
from gapkernel.tables.part_by_part import AnswersInParts
from gapkernel.tables.takes_gaps import TakesGaps, copy_columns, set_or_forget

PENALTIES = tuple(2.0 ** np.arange(-5, 10, 2))
"""The penalties C of the genRBF paper."""

RIDGES = tuple(10.0 ** np.arange(-4, 4))
"""The same span for a ridge, which penalises the other way round."""


def of_best(name: str, doc: str) -> Any:
    """A property of a search that is the best estimator's."""
    return property(lambda search: getattr(search._best, name), doc=doc)


@dataclass(eq=False, repr=False, kw_only=True)
class SearchCV(AnswersInParts, Inspectable, TakesGaps, BaseEstimator):
    """An estimator that tries every penalty with every width, and answers by the best; a subclass names its kind."""

    gammas: Any = 11
    kernel: str | Kernel = "genrbf"
    density: str | Density = "auto"
    cv: Any = None
    scoring: Any = None
    refit: bool = True
    n_jobs: int | None = None
    verbose: bool | int = False
    categorical_features: Any = "from_dtype"
    indicator: bool | Missingness = False
    best_estimator_: Any = field(init=False)

    _kind: ClassVar[type[KernelMachine]]
    _penalty: ClassVar[tuple[str, str]] = ("C", "Cs")
    _parameter_constraints: ClassVar[dict] = {"refit": ["boolean"]}

    def fit(self, X, y, sample_weight=None, groups=None) -> Self:
        """Choose the settings, and fit the estimator with them to all rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in every fit, and in every score if ``scoring`` takes weights.
        groups : array-like of shape (n_samples,), default=None
            Groups for the splitter.

        Returns
        -------
        self : object
        """
        self._validate_params()
        with config_context(progress=bool(self.verbose) or get_config().progress):
            return self._search(X, y, sample_weight, groups)

    def _search(self, X, y, sample_weight, groups) -> Self:
        settings, known = self.get_params(deep=False), self._kind().get_params(deep=False).keys() - {"verbose"}
        estimator = self._kind(**{name: value for name, value in settings.items() if name in known})
        name, plural = self._penalty
        penalties = np.atleast_1d(settings[plural]).tolist()
        if not penalties:
            raise ValueError(f"{plural} is empty: give at least one {name}.")
        scorer = check_scoring(self._kind(), self.scoring)  # not self: a model that holds itself cannot be saved
        search = Search(estimator, X, y, self.cv, sample_weight=sample_weight, groups=groups, n_jobs=self.n_jobs)
        calibrate = bool(settings.get("conformal"))
        if calibrate:
            check_partition(search.splits, search.n_rows, f"conformal={settings['conformal']!r}")
        candidates = list(ParameterGrid({name: penalties, **self._widths(search)}))
        results = cv_results(candidates, search.scores(candidates, scorer))
        for shared in search.folds[0].shared.values():  # one density: the grid has penalties and widths only
            warn_of_units(search.estimator._kernel(), shared.density, search.n_rows)
        best = int(results["rank_test_score"].argmin())
        fitted = search.fit(candidates[best], calibrate=calibrate) if self.refit else None
        set_or_forget(self, best_estimator_=fitted)  # now: a fit that fails leaves nothing behind
        self.cv_results_, self.scorer_, self.n_splits_ = results, scorer, len(search.splits)
        self.best_index_, self.best_score_ = best, results["mean_test_score"][best]
        self.best_params_ = candidates[best]
        copy_columns(search.estimator, self)
        return self

    def predict(self, X) -> np.ndarray:
        """Predict by the best estimator.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._best.predict(X)

    schema_ = of_best("schema_", "What the columns held in `fit`: numbers, or categories and their levels.")
    training_summary_ = of_best("training_summary_", "What is remembered of the training table.")
    averages_gaps = of_best("averages_gaps", "Whether the decision value of a row is its average over the row's law.")
    gaussian_share = of_best("gaussian_share", "1 for Gaussian laws of the gaps, 0 for others.")
    n_iter_ = of_best("n_iter_", "Iterations of the best estimator's solver.")

    def table_of(self, X) -> Table:
        return self._best.table_of(X)

    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        return self._best.cell_nodes(X, column, n_nodes)

    @property
    def _best(self):
        """The best estimator, or scikit-learn's error if there is none yet."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def _widths(self, search: Search) -> dict[str, list]:
        """The parameter that holds the kernel's width, with its candidates; nothing without a width."""
        estimator, gammas = search.estimator, self.gammas
        named = isinstance(estimator.kernel, str)
        name = width_name(make_kernel(estimator.kernel, estimator.gamma))
        if name is None:
            return self._without_widths()
        name = name if named else f"kernel__{name}"
        truth = any(isinstance(value, bool | np.bool_) for value in np.ravel(np.asarray(gammas, dtype=object)))
        if isinstance(gammas, int | np.integer) and gammas >= 1 and not truth:
            scale = width_of(search.laws({name: "scale"}).kernel)
            if scale is None:
                return self._without_widths()  # the kernel has no use for it
            return {name: (scale * 2.0 ** (np.arange(gammas) - gammas // 2)).tolist()}
        one = isinstance(gammas, float | np.floating)
        widths = [gammas] if one else list(gammas) if np.ndim(gammas) else []
        if not widths or truth:
            raise ValueError(f"gammas must be a number of widths from 1 up, a width or a list, got {gammas!r}.")
        for gamma in widths:
            search.laws({name: gamma})  # refuses a wrong one
        return {name: [gamma.item() if isinstance(gamma, np.generic) else gamma for gamma in widths]}

    def _without_widths(self) -> dict[str, list]:
        """Nothing to choose from: an error if ``gammas`` was given."""
        if not isinstance(self.gammas, int | np.integer) or self.gammas != type(self).gammas:
            raise ValueError(
                f"gammas={self.gammas!r} has no effect, because kernel={self.kernel!r} has no single width to choose. "
                f"Leave gammas out, or search the parameters of the kernel with sklearn.model_selection.GridSearchCV."
            )
        return {}


class ChosenIntervals(ConformalIntervals):
    """The intervals of the estimator that a search chose; the errors are those on the test rows of its splits."""

    _best: Any

    calibration_ = of_best("calibration_", "The errors on the test rows, at the settings that were chosen, or None.")

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        return self._best._left_out_scores(places, table)


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
