"""The methods that studies, papers and the command line compare, and how their settings are chosen."""

from __future__ import annotations

from importlib.util import find_spec
from time import process_time
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing

from gapkernel.density import Marginals
from gapkernel.estimators import GapClassifier, GapRegressor, GaussianProcessClassifier
from gapkernel.experiments.grid import Grid
from gapkernel.experiments.method import (
    FilledMethod,
    GeometricMethod,
    KernelMethod,
    MadeMethod,
    Method,
    Metric,
    MultipleImputationMethod,
    Setting,
    has_categories,
)
from gapkernel.imputation.empty_columns import WithoutEmptyColumns
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF, HeterogeneousKernel, Karma, Kernel


def _gap(task: str) -> BaseEstimator:
    return GapRegressor(random_state=0) if task == "regression" else GapClassifier(random_state=0)


def _process(task: str) -> BaseEstimator:
    return GaussianProcessClassifier()


def _hist_gradient_boosting(task: str) -> BaseEstimator:
    from sklearn import ensemble  # slow to import

    kind = "Regressor" if task == "regression" else "Classifier"
    return getattr(ensemble, f"HistGradientBoosting{kind}")(random_state=0)


def _xgboost(task: str) -> BaseEstimator:
    import xgboost

    kind = xgboost.XGBRegressor if task == "regression" else xgboost.XGBClassifier
    return kind(enable_categorical=True, tree_method="hist", random_state=0, n_jobs=1)


def _on_laws(name: str, short: str, kernel: Kernel, *parameters: str, **fields) -> KernelMethod:
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
        _on_laws("genrbf", "genRBF", GenRBF(), "gamma"),
        KernelMethod(
            name="genrbf-indicator",
            label="genRBF + indicator SVM",
            short="genRBF + ind.",
            kernel=GenRBF(),
            parameters=("gamma", "C", "epsilon"),
            options={"indicator": True},
        ),
        _on_laws("genrbf_white", "genRBF, whitened", GenRBF(metric="mahalanobis"), "gamma"),
        _on_laws("rbf", "expected RBF", ExpectedRBF(), "gamma"),
        _on_laws("ehk", "EHK", HeterogeneousKernel(), "alpha", density=Marginals()),
        _on_laws("linear", "expected linear", ExpectedLinear()),
        _on_laws("karma", "karma", Karma(form="distance"), "degree", "gamma"),
        FilledMethod(name="mean", label="mean SVM", short="mean", rule="mean"),
        FilledMethod(name="zero", label="zero SVM", short="zero", rule="zero"),
        FilledMethod(name="mean_indicator", label="mean + indicator SVM", short="mean + ind.", rule="mean_indicator"),
        FilledMethod(name="iterative", label="IterativeImputer SVM", short="iterative", rule="iterative"),
        MultipleImputationMethod(name="mice", label="multiple imputation SVM", short="mice"),
        GeometricMethod(name="geom", label="geometric margin SVM", short="geom", kernel="linear", parameters=("C",)),
        GeometricMethod(
            name="geom_rbf",
            label="geometric margin RBF SVM",
            short="geom, RBF",
            kernel="rbf",
            parameters=("gamma", "C"),
        ),
        MadeMethod(
            name="process",
            label="Gaussian process",
            short="process",
            make=_process,
            preparation=StandardScaler(),
            ours=True,
            tasks=("classification",),
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

COMPARED = tuple(
    name
    for name in (
        "gap",
        "genrbf",
        "genrbf-indicator",
        "rbf",
        "ehk",
        "mean_indicator",
        "iterative",
        "boosting",
        "xgboost",
    )
    if name in METHODS
)
"""Those of ``gapkernel compare``."""

FITTED = ("gap", "genrbf", "genrbf-indicator", "rbf", "ehk", "linear")
"""Those of ``gapkernel fit``, the default first."""

SIMPLEST_FIRST = (
    "linear",
    "mean_indicator",
    "iterative",
    "rbf",
    "genrbf",
    "ehk",
    "genrbf-indicator",
    "boosting",
    "xgboost",
)
"""Methods that are simpler than "gap"."""


class Choice(NamedTuple):
    """Settings, and their mean score in the cross-validation that chose them; None if there was nothing to choose."""

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
    y : array-like of shape (n_samples,)
    cv : splitter
        The splits that all settings share.
    grid : Grid
        The settings to try.
    task : {"classification", "regression"}, default="classification"
    metric : Metric, default=None
        What is best; None is the accuracy, or R squared for numbers.

    Returns
    -------
    choice : Choice
    """
    candidates = method.settings(grid, task)
    if len(candidates) == 1:
        return Choice(candidates[0], None)
    means = method.scores(X, y, cv, candidates, task, metric).mean(axis=0)
    best = int(means.round(12).argmax())  # sums of equal scores may differ by rounding
    return Choice(candidates[best], float(means[best]))


def try_out(
    method: Method, X, y, train, test, cv, grid: Grid, task: str = "classification", metric: Metric | None = None
) -> Trial:
    """Choose by ``cv`` among the training rows, fit to all of them, and answer the test rows."""
    here, there = _safe_indexing(X, train), _safe_indexing(X, test)
    begin = process_time()
    choice = choose(method, here, y[train], cv, grid, task, metric)
    chosen = process_time()
    estimator = method.build(choice.settings, task, has_categories(X)).fit(here, y[train])
    return Trial(choice, estimator, estimator.predict(there), chosen - begin, process_time() - chosen)


def with_probabilities(estimator, cv):
    """A classifier that says how sure it is: the one given, or with Platt's sigmoid learned on held-out rows."""
    from sklearn.calibration import CalibratedClassifierCV  # slow to import

    return (
        estimator if hasattr(estimator, "predict_proba") else CalibratedClassifierCV(estimator, ensemble=False, cv=cv)
    )
