"""The machines that are fitted and compared, each with the settings to choose from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as PlainSVC
from sklearn.svm import SVR as PlainSVR

import gapkernel as gk
from gapkernel.cli.problem import Problem
from gapkernel.imputation import baseline

CS = (1.0, 10.0, 100.0)
WIDTHS = (0.3, 1.0)
"""gamma as a multiple of one over the number of columns, which are standardised."""
INNER_FOLDS = 3


@dataclass(frozen=True)
class Machine:
    """A way to learn from a table with gaps.

    Attributes
    ----------
    label : str
        What people call it.
    build : callable
        ``build(problem)`` is the estimator, and the settings to choose from.
    code : str
        The expression that makes it, with settings in braces; ``{S}`` is C for classes and R for numbers.
    ours : bool
        Whether it treats rows as laws.
    """

    label: str
    build: Callable[[Problem], tuple[BaseEstimator, dict[str, list]]]
    code: str
    ours: bool = True


def _on_laws(kernel: str):
    """A support vector machine of this package."""

    def build(problem: Problem):
        settings: dict[str, list] = {"C": list(CS)}
        if kernel == "ehk":
            shared: dict[str, Any] = {"kernel": gk.kernels.HeterogeneousKernel()}
            settings["kernel__alpha"] = [None, 0.5, 0.95]
        else:
            shared = {"kernel": kernel, "density": _density(problem)}
            settings |= {} if kernel == "linear" else {"gamma": _gammas(problem)}
        if problem.task == "classification":
            return gk.SVC(**shared), settings
        return _on_standard_target(gk.SVR(**shared, epsilon=0.05), settings)

    return build


def _after_filling(rule: str):
    """A support vector machine of scikit-learn on a completed table."""

    def build(problem: Problem):
        settings: dict[str, list] = {"C": list(CS), "gamma": _gammas(problem)}
        classes = problem.task == "classification"
        machine = baseline(rule, PlainSVC() if classes else PlainSVR(epsilon=0.05), categorical=categories_of(problem))
        settings = {f"{'svc' if classes else 'svr'}__{name}": values for name, values in settings.items()}
        return (machine, settings) if classes else _on_standard_target(machine, settings)

    return build


def _boosting(problem: Problem):
    kind = HistGradientBoostingClassifier if problem.task == "classification" else HistGradientBoostingRegressor
    settings = {"learning_rate": [0.03, 0.1, 0.3], "max_leaf_nodes": [7, 31]}
    return kind(categorical_features="from_dtype", random_state=0), settings


def _xgboost(problem: Problem):
    import xgboost

    kind = xgboost.XGBClassifier if problem.task == "classification" else xgboost.XGBRegressor
    settings = {"learning_rate": [0.03, 0.1, 0.3], "max_depth": [3, 6]}
    return kind(enable_categorical=True, tree_method="hist", random_state=0, n_jobs=1), settings


OURS = {
    "genrbf": Machine(
        "genRBF SVM", _on_laws("genrbf"), 'gk.SV{S}(kernel="genrbf", density={density}, C={C}, gamma={gamma})'
    ),
    "rbf": Machine(
        "expected RBF SVM", _on_laws("rbf"), 'gk.SV{S}(kernel="rbf", density={density}, C={C}, gamma={gamma})'
    ),
    "ehk": Machine(
        "heterogeneous kernel SVM",
        _on_laws("ehk"),
        "gk.SV{S}(kernel=gk.kernels.HeterogeneousKernel({kernel__alpha}), C={C})",
    ),
    "linear": Machine("expected linear SVM", _on_laws("linear"), 'gk.SV{S}(kernel="linear", density={density}, C={C})'),
}
RIVALS = {
    "mean": Machine(
        "mean + indicator, SVM",
        _after_filling("mean_indicator"),
        'gk.imputation.baseline("mean_indicator", SV{S}(C={C}, gamma={gamma}), categorical={categorical})',
        ours=False,
    ),
    "iterative": Machine(
        "IterativeImputer, SVM",
        _after_filling("iterative"),
        'gk.imputation.baseline("iterative", SV{S}(C={C}, gamma={gamma}), categorical={categorical})',
        ours=False,
    ),
    "boosting": Machine(
        "HistGradientBoosting",
        _boosting,
        "HistGradientBoosting{kind}(learning_rate={learning_rate}, max_leaf_nodes={max_leaf_nodes})",
        ours=False,
    ),
}
if find_spec("xgboost"):
    RIVALS["xgboost"] = Machine(
        "XGBoost",
        _xgboost,
        "XGB{kind}(enable_categorical=True, learning_rate={learning_rate}, max_depth={max_depth})",
        ours=False,
    )
MACHINES = OURS | RIVALS
COMPARED = ("genrbf", "rbf", "ehk", *RIVALS)


def tuned(machine: Machine, problem: Problem, X, y, seed: int) -> tuple[BaseEstimator, float]:
    """The machine with the settings that were best in a cross-validation of these rows, not fitted, and their score."""
    estimator, settings = machine.build(problem)
    search = GridSearchCV(estimator, settings, cv=folds(problem, INNER_FOLDS, seed), refit=False)
    search.fit(X, y)
    return clone(estimator).set_params(**search.best_params_), float(search.best_score_)


def with_probabilities(estimator, problem: Problem, seed: int):
    """The estimator, able to say how sure it is of a class (Platt's sigmoid on held-out rows)."""
    if problem.task == "regression" or hasattr(estimator, "predict_proba"):
        return estimator
    return CalibratedClassifierCV(estimator, ensemble=False, cv=folds(problem, INNER_FOLDS, seed))


def settings_of(machine: Machine, estimator, problem: Problem) -> dict[str, Any]:
    """The chosen values of the settings, under their own names."""
    values = estimator.get_params()
    return {name.removeprefix("regressor__").rpartition("svc__")[2].rpartition("svr__")[2]: values[name]
            for name in machine.build(problem)[1]}  # fmt: skip


def folds(problem: Problem, number: int, seed: int):
    """Random folds, with the classes in their proportions."""
    kind = StratifiedKFold if problem.task == "classification" else KFold
    return kind(number, shuffle=True, random_state=seed)


def categories_of(problem: Problem) -> list[str]:
    """The columns of categories."""
    return [name for name, column in problem.X.items() if hasattr(column, "cat")]


def _density(problem: Problem):
    """One Gaussian over standardised columns."""
    if categories_of(problem):
        return gk.density.JointGaussian()
    return gk.density.JointGaussian(gaussian=gk.density.Gaussian())


def _gammas(problem: Problem) -> list[float]:
    return [float(np.round(width / problem.X.shape[1], 4)) for width in WIDTHS]


def _on_standard_target(regressor, settings):
    """A regressor that sees its target with mean 0 and deviation 1, so that C and epsilon mean the same everywhere."""
    wrapped = TransformedTargetRegressor(regressor, transformer=StandardScaler())
    return wrapped, {f"regressor__{name}": values for name, values in settings.items()}
