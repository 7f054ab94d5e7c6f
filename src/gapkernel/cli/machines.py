"""The machines that are fitted and compared, and how each chooses its settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as PlainSVC
from sklearn.svm import SVR as PlainSVR

import gapkernel as gk
from gapkernel.cli.problem import Problem
from gapkernel.imputation import baseline

CS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
WIDTHS = (0.1, 0.3, 1.0)
"""gamma as a multiple of one over the number of columns, which are standardised."""
ALPHAS = (None, 0.5, 0.9)
EPSILON = 0.05
"""Errors of regression below this share of the target's deviation cost nothing."""
INNER_FOLDS = 3


class Choice(NamedTuple):
    """A machine with its settings, not fitted yet.

    ``score`` is that of the settings in the cross-validation that chose them: accuracy, or R squared.
    """

    estimator: BaseEstimator
    settings: dict[str, Any]
    score: float


@dataclass(frozen=True)
class Machine:
    """A way to learn from a table with gaps.

    Attributes
    ----------
    label, short : str
        What people call it, and where room is scarce.
    choose : callable
        ``choose(problem, X, y, cv)`` is the `Choice` that does best in folds of the rows given.
    code : str
        The expression that makes it, with settings in braces; ``{S}`` is SVC for classes and SVR for numbers.
    ours : bool
        Whether it treats rows as laws.
    """

    label: str
    short: str
    choose: Callable[[Problem, Any, np.ndarray, Any], Choice]
    code: str
    ours: bool = True


def _on_laws(kernel: str, indicator: bool = False):
    """A support vector machine of this package; C and gamma are chosen on shared Gram matrices."""

    def choose(problem: Problem, X, y, cv) -> Choice:
        classes = problem.task == "classification"
        search = gk.SVCCV if classes else gk.SVRCV
        machine = gk.SVC if classes else gk.SVR
        fixed: dict[str, Any] = {"indicator": indicator} if classes else {"indicator": indicator, "epsilon": EPSILON}
        candidates: list[dict[str, Any]] = [{"kernel": kernel, "density": _density(problem)}]
        if kernel == "ehk":
            candidates = [{"kernel": gk.kernels.HeterogeneousKernel(alpha)} for alpha in ALPHAS]
        tried = [
            search(**one, **fixed, Cs=CS, gammas=_gammas(problem), cv=cv, refit=False).fit(X, _standard(problem, y))
            for one in candidates
        ]
        best = int(np.argmax([one.best_score_ for one in tried]))
        settings = tried[best].best_params_
        estimator = _on_its_scale(problem, machine(**candidates[best], **fixed, **settings))
        if kernel == "ehk":
            settings = settings | {"alpha": ALPHAS[best]}
        return Choice(estimator, settings, float(tried[best].best_score_))

    return choose


def _after_filling(rule: str):
    """A support vector machine of scikit-learn on a completed table; each fold is filled once for all settings."""

    def choose(problem: Problem, X, y, cv) -> Choice:
        classes = problem.task == "classification"
        target, categorical = _standard(problem, y), categories_of(problem)
        candidates = list(ParameterGrid({"C": CS, "gamma": _gammas(problem)}))
        machine = PlainSVC() if classes else PlainSVR(epsilon=EPSILON)
        scores = []
        for train, test in cv.split(X, y):
            filler = baseline(rule, categorical_features=categorical).fit(X.iloc[train])
            seen, new = filler.transform(X.iloc[train]), filler.transform(X.iloc[test])
            scores.append([
                machine.set_params(**one).fit(seen, target[train]).score(new, target[test]) for one in candidates
            ])  # fmt: skip
        means = np.mean(scores, axis=0)
        settings = candidates[int(means.argmax())]
        filled = baseline(rule, machine.set_params(**settings), categorical_features=categorical)
        return Choice(_on_its_scale(problem, filled), settings, float(means.max()))

    return choose


def _boosted(make: Callable[[Problem], BaseEstimator], grid: dict[str, list]):
    """Trees, which have their own way with gaps."""

    def choose(problem: Problem, X, y, cv) -> Choice:
        machine = Pipeline([("empty", EmptyColumns()), ("trees", make(problem))])
        search = GridSearchCV(machine, {f"trees__{name}": values for name, values in grid.items()}, cv=cv, refit=False)
        search.fit(X, y)
        settings = {name.removeprefix("trees__"): value for name, value in search.best_params_.items()}
        return Choice(machine.set_params(**search.best_params_), settings, float(search.best_score_))

    return choose


class EmptyColumns(TransformerMixin, BaseEstimator):
    """Zeros in the columns of numbers that have no value in training: HistGradientBoosting cannot bin them."""

    def fit(self, X, y=None) -> EmptyColumns:
        """Find the columns."""
        self.columns_ = [name for name in X if not hasattr(X[name], "cat") and X[name].isna().all()]
        return self

    def transform(self, X):
        """Put zeros in them."""
        return X.assign(**dict.fromkeys(self.columns_, 0.0))


def _hist_gradient_boosting(problem: Problem) -> BaseEstimator:
    kind = HistGradientBoostingClassifier if problem.task == "classification" else HistGradientBoostingRegressor
    return kind(categorical_features="from_dtype", random_state=0)


def _xgboost(problem: Problem) -> BaseEstimator:
    import xgboost

    kind = xgboost.XGBClassifier if problem.task == "classification" else xgboost.XGBRegressor
    return kind(enable_categorical=True, tree_method="hist", random_state=0, n_jobs=1)


OURS = {
    "genrbf": Machine(
        "genRBF SVM",
        "genRBF",
        _on_laws("genrbf"),
        'gk.{S}(kernel="genrbf", density={density}, C={C}, gamma={gamma}{epsilon})',
    ),
    "genrbf-indicator": Machine(
        "genRBF + indicator SVM",
        "genRBF + ind.",
        _on_laws("genrbf", indicator=True),
        'gk.{S}(kernel="genrbf", density={density}, indicator=True, C={C}, gamma={gamma}{epsilon})',
    ),
    "rbf": Machine(
        "expected RBF SVM",
        "expected RBF",
        _on_laws("rbf"),
        'gk.{S}(kernel="rbf", density={density}, C={C}, gamma={gamma}{epsilon})',
    ),
    "ehk": Machine(
        "EHK SVM", "EHK", _on_laws("ehk"), "gk.{S}(kernel=gk.kernels.HeterogeneousKernel({alpha}), C={C}{epsilon})"
    ),
    "linear": Machine(
        "expected linear SVM",
        "expected linear",
        _on_laws("linear"),
        'gk.{S}(kernel="linear", density={density}, C={C}{epsilon})',
    ),
}
RIVALS = {
    "mean": Machine(
        "mean + indicator SVM",
        "mean + ind.",
        _after_filling("mean_indicator"),
        'gk.imputation.baseline("mean_indicator", {S}(C={C}, gamma={gamma}{epsilon}), '
        "categorical_features={categorical})",
        ours=False,
    ),
    "iterative": Machine(
        "IterativeImputer SVM",
        "iterative",
        _after_filling("iterative"),
        'gk.imputation.baseline("iterative", {S}(C={C}, gamma={gamma}{epsilon}), categorical_features={categorical})',
        ours=False,
    ),
    "boosting": Machine(
        "HistGradientBoosting",
        "boosting",
        _boosted(_hist_gradient_boosting, {"learning_rate": [0.05, 0.2], "max_leaf_nodes": [7, 31]}),
        "HistGradientBoosting{kind}(learning_rate={learning_rate}, max_leaf_nodes={max_leaf_nodes})",
        ours=False,
    ),
}
if find_spec("xgboost"):
    RIVALS["xgboost"] = Machine(
        "XGBoost",
        "XGBoost",
        _boosted(_xgboost, {"learning_rate": [0.05, 0.2], "max_depth": [3, 6]}),
        "XGB{kind}(enable_categorical=True, learning_rate={learning_rate}, max_depth={max_depth})",
        ours=False,
    )
MACHINES = OURS | RIVALS
COMPARED = ("genrbf", "genrbf-indicator", "rbf", "ehk", *RIVALS)


def with_probabilities(estimator, problem: Problem, seed: int):
    """The estimator, able to say how sure it is of a class (Platt's sigmoid on held-out rows)."""
    if problem.task == "regression" or hasattr(estimator, "predict_proba"):
        return estimator
    return CalibratedClassifierCV(estimator, ensemble=False, cv=folds(problem, INNER_FOLDS, seed))


def folds(problem: Problem, number: int, seed: int):
    """Random folds, with the classes in their proportions."""
    kind = StratifiedKFold if problem.task == "classification" else KFold
    return kind(number, shuffle=True, random_state=seed)


def categories_of(problem: Problem) -> list[str]:
    """The columns of categories."""
    return [name for name, column in problem.X.items() if hasattr(column, "cat")]


def _density(problem: Problem):
    """One Gaussian over standardised columns."""
    gaussian = None if categories_of(problem) else gk.density.Gaussian()
    return gk.density.JointGaussian(gaussian=gaussian)


def _gammas(problem: Problem) -> list[float]:
    return [float(f"{width / problem.X.shape[1]:.3g}") for width in WIDTHS]


def _standard(problem: Problem, y: np.ndarray) -> np.ndarray:
    """Classes as they are; numbers with mean 0 and deviation 1, so that C and epsilon mean the same everywhere."""
    return y if problem.task == "classification" else (y - y.mean()) / (y.std() or 1.0)


def _on_its_scale(problem: Problem, estimator):
    """The estimator for a target in its own units."""
    if problem.task == "classification":
        return estimator
    return TransformedTargetRegressor(estimator, transformer=StandardScaler())
