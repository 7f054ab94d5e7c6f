"""The methods that studies, papers and the command line compare, and how their settings are chosen."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from time import process_time
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import _safe_indexing

from gapkernel.density import Marginals
from gapkernel.estimators import GapClassifier, GapRegressor
from gapkernel.imputation import GapFiller, OneHotWithGaps, WithoutEmptyColumns
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF, HeterogeneousKernel, Kernel
from gapkernel.studies.grid import Grid
from gapkernel.studies.method import (
    FilledMethod,
    KernelMethod,
    LandmarkMethod,
    MadeMethod,
    Method,
    Metric,
    Setting,
    has_categories,
)


def _gap(task: str, **parameters) -> BaseEstimator:
    return (GapRegressor if task == "regression" else GapClassifier)(random_state=0, **parameters)


def _no_model(task: str) -> BaseEstimator:
    return DummyRegressor() if task == "regression" else DummyClassifier()


def _filler(rule: str) -> GapFiller:
    return GapFiller(name=rule, random_state=0)


def _hist_gradient_boosting(task: str) -> BaseEstimator:
    from sklearn import ensemble  # slow to import

    kind = "Regressor" if task == "regression" else "Classifier"
    return getattr(ensemble, f"HistGradientBoosting{kind}")(random_state=0)


def _xgboost(task: str) -> BaseEstimator:
    import xgboost

    kind = xgboost.XGBRegressor if task == "regression" else xgboost.XGBClassifier
    return kind(enable_categorical=True, tree_method="hist", random_state=0, n_jobs=1)


def on_laws(name: str, short: str, kernel: Kernel, *parameters: str, **fields) -> KernelMethod:
    """A support vector machine with a kernel on laws, by name."""
    return KernelMethod(
        name=name,
        label=f"{short} SVM",
        short=short,
        kernel=kernel,
        parameters=(*parameters, "C", "epsilon"),
        **fields,
    )


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        MadeMethod(name="gap", label="Gap estimator", short="Gap", make=_gap, ours=True),
        MadeMethod(
            name="gap-quick",
            label="Gap estimator (quick)",
            short="Gap (quick)",
            make=partial(_gap, members=["genrbf", "ehk", "trees, small"], cv=3),
            ours=True,
        ),
        MadeMethod(
            name="fourier",
            label="genRBF, Fourier features",
            short="Fourier",
            make=partial(_gap, members=["fourier"]),
            ours=True,
        ),
        MadeMethod(
            name="fourier-quick",
            label="genRBF, Fourier features (quick)",
            short="Fourier (quick)",
            make=partial(_gap, members=["fourier"], cv=3),
            ours=True,
        ),
        MadeMethod(name="baseline", label="no model", short="no model", make=_no_model),
        on_laws("genrbf", "genRBF", GenRBF(), "gamma"),
        KernelMethod(
            name="genrbf-indicator",
            label="genRBF + indicator SVM",
            short="genRBF + ind.",
            kernel=GenRBF(),
            parameters=("gamma", "C", "epsilon"),
            options={"indicator": True},
        ),
        on_laws("rbf", "expected RBF", ExpectedRBF(), "gamma"),
        on_laws("ehk", "EHK", HeterogeneousKernel(), "alpha", density=Marginals()),
        on_laws("linear", "expected linear", ExpectedLinear()),
        FilledMethod(name="mean", label="mean SVM", short="mean", preparation=_filler("mean")),
        FilledMethod(
            name="mean_indicator",
            label="mean + indicator SVM",
            short="mean + ind.",
            preparation=_filler("mean_indicator"),
        ),
        LandmarkMethod(
            name="mean_landmarks",
            label="mean + indicator, landmarks",
            short="landmarks",
            preparation=_filler("mean_indicator"),
        ),
        FilledMethod(
            name="iterative", label="IterativeImputer SVM", short="iterative", preparation=_filler("iterative")
        ),
        MadeMethod(
            name="boosting",
            label="HistGradientBoosting",
            short="boosting",
            make=_hist_gradient_boosting,
            preparation=WithoutEmptyColumns(),
            own_values={"learning_rate": (0.05, 0.2), "max_leaf_nodes": (7, 31)},
        ),
        MadeMethod(
            name="boosting-one-hot",
            label="HistGradientBoosting, one-hot",
            short="boosting",
            make=_hist_gradient_boosting,
            preparation=OneHotWithGaps(),  # a file of a model that codes categories by itself would hold functions
            own_values={"learning_rate": (0.05, 0.2), "max_leaf_nodes": (7, 31)},
        ),
        MadeMethod(
            name="xgboost",
            label="XGBoost",
            short="XGBoost",
            make=_xgboost,
            own_values={"learning_rate": (0.05, 0.2), "max_depth": (3, 6)},
        ),
    )
    if method.name != "xgboost" or find_spec("xgboost")
}
"""The methods by name."""

EXACT_ROWS = 3000
"""Rows up to which every method learns from all pairs of them."""

COMPARED = ("gap", "genrbf", "genrbf-indicator", "rbf", "ehk", "mean_indicator", "boosting-one-hot", "baseline")
"""Those of ``gapkernel compare``."""

COMPARED_QUICKLY = ("gap-quick", "genrbf", "rbf", "ehk", "mean_indicator", "boosting-one-hot", "baseline")
"""Those of ``gapkernel compare --quick``."""

COMPARED_ON_MANY_ROWS = ("gap", "fourier", "mean_landmarks", "boosting-one-hot", "baseline")
"""Those of ``gapkernel compare`` above `EXACT_ROWS`: time grows with the rows, not with their square."""

COMPARED_QUICKLY_ON_MANY_ROWS = ("fourier-quick", "mean_landmarks", "boosting-one-hot", "baseline")
"""Those of ``gapkernel compare --quick`` above `EXACT_ROWS`."""

LISTS = (COMPARED, COMPARED_QUICKLY, COMPARED_ON_MANY_ROWS, COMPARED_QUICKLY_ON_MANY_ROWS)

FITTED = tuple(dict.fromkeys((*(name for names in LISTS for name in names), "linear")))
"""Those of ``gapkernel fit``, the default first: all that are compared, and one more."""

SIMPLEST_FIRST = (
    "linear",
    "mean_indicator",
    "mean_landmarks",
    "rbf",
    "genrbf",
    "fourier",
    "ehk",
    "genrbf-indicator",
    "boosting-one-hot",
)
"""Methods that are simpler than "gap"."""


class Choice(NamedTuple):
    """Settings, and their mean score in the cross-validation that chose them; None if there was nothing to choose.

    Examples
    --------
    >>> from gapkernel.studies import Choice
    >>> Choice({"C": 1.0}, 0.9).score
    0.9
    """

    settings: Setting
    score: float | None


class Trial(NamedTuple):
    """The settings that were chosen, the estimator with them, its answers to the test rows, and processor seconds."""

    choice: Choice
    estimator: BaseEstimator
    guess: np.ndarray
    tune_seconds: float
    fit_seconds: float


def choose(method: Method, X, y, cv, grid: Grid, task: str = "classification", metric: Metric | None = None) -> Choice:
    """The setting that does best by a metric in a cross-validation of the rows given, the first of equals.

    Parameters
    ----------
    method : Method
        What to tune.
    X : array-like or frame of shape (n_samples, n_features)
        The table, gaps included.
    y : array-like of shape (n_samples,)
        The classes or numbers to predict.
    cv : splitter
        The splits that all settings share.
    grid : Grid
        The settings to try.
    task : {"classification", "regression"}, default="classification"
        What ``y`` holds.
    metric : Metric, default=None
        What is best; None is the accuracy, or R squared for numbers.

    Returns
    -------
    choice : Choice

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.studies import METHODS, Grid, choose, folds
    >>> X = np.random.default_rng(0).standard_normal((40, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> X[::4, 1] = np.nan
    >>> choice = choose(METHODS["genrbf"], X, y, folds(2, 0), Grid(C=(0.001, 10.0), gamma=(0.1,)))
    >>> choice.settings
    {'gamma': 0.1, 'C': 10.0}
    """
    candidates = method.settings(grid, task)
    if len(candidates) == 1:
        return Choice(candidates[0], None)
    means = method.scores(X, y, cv, candidates, task, metric).mean(axis=0)
    best = int(means.round(12).argmax())  # sums of equal scores may differ by rounding
    return Choice(candidates[best], float(means[best]))


def try_out(
    method: Method,
    X,
    y,
    train,
    test,
    cv,
    grid: Grid,
    task: str = "classification",
    metric: Metric | None = None,
    probabilities: bool = False,
) -> Trial:
    """Choose by ``cv`` among the training rows, fit to all of them, and answer the test rows.

    With ``probabilities`` a classifier that has none of its own learns them by the same folds.
    """
    here, there = _safe_indexing(X, train), _safe_indexing(X, test)
    begin = process_time()
    choice = choose(method, here, y[train], cv, grid, task, metric)
    chosen = process_time()
    folds = cv if probabilities else None
    estimator = method.build(choice.settings, task, has_categories(X), folds).fit(here, y[train])
    return Trial(choice, estimator, estimator.predict(there), chosen - begin, process_time() - chosen)
