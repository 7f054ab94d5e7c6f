"""Kernel machines: every verb of each, with each kernel, with weights, gaps that count, categories, several classes."""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel

from frozen.names import (
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    AtomicDensity,
    FactorAnalysis,
    GaussianMixture,
    GenRBF,
    Gram,
    Karma,
    KernelRidge,
    KernelRidgeCV,
    Marginals,
    Missingness,
    MonteCarlo,
    Neighbours,
    OneClassSVM,
    TableModel,
)
from frozen.rooms import Room
from frozen.tables import WEIGHT, problem

ROOM = Room("machines")
TIGHT = {"tol": 1e-12}
SMALL_GRID = {"gammas": [0.1, 0.5], "cv": 3}
ridge, ridge_cv = partial(KernelRidge, kernel="rbf"), partial(KernelRidgeCV, alphas=[0.1, 1.0], kernel="rbf")

KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf"},
    "genrbf": {"kernel": "genrbf"},
    "genrbf, median": {"kernel": "genrbf", "gamma": "median"},
    "genrbf, auto": {"kernel": "genrbf", "gamma": "auto"},
    "ehk": {"kernel": "ehk"},
    "karma": {"kernel": Karma()},
    "object": {"kernel": GenRBF(0.2, "mahalanobis")},
    "monte carlo": {"kernel": MonteCarlo("rbf", {"gamma": 0.2}, n_draws=8, random_state=0)},
    "mixture": {"density": GaussianMixture(2, random_state=0)},
    "factors": {"density": FactorAnalysis(1)},
    "marginals": {"kernel": "linear", "density": Marginals()},
    "neighbours": {"density": Neighbours(8, random_state=0)},
    "atoms": {"kernel": "rbf", "density": AtomicDensity(n_atoms=8, random_state=0)},
    "indicator": {"indicator": True},
    "indicator, sum": {"kernel": "rbf", "indicator": Missingness(0.5, "sum")},
}


def fitted(model, table="numbers", target="two", weight=None):
    X, y, new = problem(table, target)
    options = {} if weight is None else {"sample_weight": weight[: len(X)]}
    return clone(model).fit(X, y, **options), new


def answers(model, verbs, kept=(), table="numbers", target="two", weight=None) -> dict:
    """What a fitted model says of new rows, and what it keeps."""
    model, new = fitted(model, table, target, weight)
    return {verb: getattr(model, verb)(new) for verb in verbs} | {name: getattr(model, name) for name in kept}


def intervals(model, coverages=(0.5, 0.9), **options) -> dict:
    """Predictions and their intervals."""
    model, new = fitted(model, target="number", **options)
    return {f"predict_interval {c}": model.predict_interval(new, coverage=c) for c in coverages} | {
        "predict": model.predict(new)
    }


def add(name, model, verbs, kept=(), **options) -> None:
    ROOM.add(name, partial(answers, model, verbs, kept, **options))


CLASSES = ("decision_function", "predict")
for name, options in KERNELS.items():
    machine = TIGHT | options
    add(f"SVC, {name}", SVC(C=2.0, **machine), CLASSES)
    add(f"SVR, {name}", SVR(C=2.0, **machine), ("predict",), target="number")
    add(f"OneClassSVM, {name}", OneClassSVM(nu=0.4, **machine), ("score_samples",))
    add(f"KernelRidge, {name}", ridge(alpha=0.5, **options), ("predict",), target="number")

for table in ("complete", "frame"):
    add(f"SVC, {table}", SVC(**TIGHT), CLASSES, table=table)
    add(f"SVR, {table}", SVR(**TIGHT), ("predict",), table=table, target="number")
    add(f"OneClassSVM, {table}", OneClassSVM(**TIGHT), CLASSES, table=table)
    add(f"KernelRidge, {table}", ridge(), ("predict",), table=table, target="number")
add("SVC, frame, ehk", SVC(kernel="ehk", **TIGHT), CLASSES, table="frame")
add("SVC, frame, ehk, indicator", SVC(kernel="ehk", indicator=True, **TIGHT), CLASSES, table="frame", target="three")
add("SVC, three classes", SVC(kernel="rbf", **TIGHT), CLASSES, ("support_", "intercept_"), target="three")
pairwise = SVC(decision_function_shape="ovo", **TIGHT)
add("SVC, one against one", pairwise, CLASSES, target="three")
add("SVC, ties", SVC(break_ties=True, **TIGHT), ("predict",), target="three")
add("SVC, weights", SVC(**TIGHT), CLASSES, target="three", weight=WEIGHT)
add("SVC, balanced", SVC(class_weight="balanced", **TIGHT), CLASSES, weight=WEIGHT)
add("SVC, class weights", SVC(class_weight={"ant": 3.0, "bee": 0.5}, **TIGHT), CLASSES)
add("SVC, coefficients", SVC(kernel="linear", **TIGHT), (), ("coef_", "intercept_", "support_"))
tube = SVR(kernel="linear", epsilon=0.3, **TIGHT)
add("SVR, weights", tube, ("predict",), ("coef_",), target="number", weight=WEIGHT)
add("OneClassSVM, weights", OneClassSVM(nu=0.2, **TIGHT), ("score_samples", *CLASSES), ("offset_",), weight=WEIGHT)
add("KernelRidge, weights", ridge(), ("predict",), target="number", weight=WEIGHT)
add("KernelRidge, alphas", ridge(alpha=np.linspace(0.1, 2.0, 40)), ("predict",), target="number")
for conformal in ("count", "mask"):
    for machine in (SVR(**TIGHT), ridge(alpha=0.3)):
        name = f"{type(machine).__name__}, intervals, {conformal}"
        ROOM.add(name, partial(intervals, machine.set_params(conformal=conformal)))
ROOM.add("KernelRidge, intervals, weights", partial(intervals, ridge(conformal="count"), weight=WEIGHT))
ROOM.add("KernelRidge, intervals, frame", partial(intervals, ridge(conformal="mask"), table="frame"))


@ROOM.group("OneClassSVM, training rows")
def training_rows():
    X, _, _ = problem("numbers", "two")
    return {"fit_predict": OneClassSVM(**TIGHT).fit_predict(X)}


@ROOM.group("function")
def function():
    """A kernel that is a function compares complete rows."""
    X, y, _ = problem("complete", "two")
    _, numbers, _ = problem("complete", "number")
    kernel = partial(laplacian_kernel, gamma=0.3)
    machine, ridge = SVC(kernel=kernel, **TIGHT).fit(X, y), KernelRidge(kernel=kernel).fit(X, numbers)
    return {"SVC": machine.decision_function(X[::5]), "KernelRidge": ridge.predict(X[::5])}


@ROOM.group("KernelRidge, two targets")
def two_targets():
    X, y, new = problem("numbers", "number")
    return {"predict": ridge().fit(X, np.column_stack([y, y**2])).predict(new)}


@ROOM.group("precomputed")
def precomputed():
    X, y, new = problem("numbers", "two")
    _, numbers, _ = problem("numbers", "number")
    gram = Gram(kernel="genrbf").fit(X)
    inside, across = gram.fit_transform(X), gram.transform(new)
    machine = SVC(kernel="precomputed", **TIGHT).fit(inside, y)
    ridge = KernelRidge(kernel="precomputed").fit(inside, numbers)
    return {"SVC": machine.decision_function(across), "KernelRidge": ridge.predict(across)}


@ROOM.group("TableModel")
def table_model():
    X, y, new = problem("frame", "two")
    model = TableModel(SVC(**TIGHT)).fit(X, y)
    spoken = new.assign(size=new["size"].map(lambda size: "?" if np.isnan(size) else str(size)), remark="x")
    return {"predict": model.predict(spoken), "decision_function": model.decision_function(spoken)}


def search(model, table="numbers", target="two", weight=None) -> dict:
    """The best parameters, the scores of the grid, and what the best model says."""
    model, new = fitted(model, table, target, weight)
    results = model.cv_results_
    return {
        "best": [f"{name} {value:.6g}" for name, value in sorted(model.best_params_.items())],
        "best score": model.best_score_,
        "scores": results["mean_test_score"],
        "deviations": results["std_test_score"],
        "rank": results["rank_test_score"],
        "predict": model.predict(new),
    }


SEARCHES = {
    "SVCCV": (SVCCV(Cs=[1.0, 10.0], **TIGHT, **SMALL_GRID), {}),
    "SVCCV, area": (SVCCV(Cs=[1.0, 10.0], scoring="roc_auc", kernel="rbf", **TIGHT, **SMALL_GRID), {}),
    "SVCCV, three classes": (SVCCV(Cs=[1.0, 10.0], indicator=True, **TIGHT, **SMALL_GRID), {"target": "three"}),
    "SVCCV, weights": (SVCCV(Cs=[1.0, 10.0], class_weight="balanced", **TIGHT, **SMALL_GRID), {"weight": WEIGHT}),
    "SVCCV, widths": (SVCCV(gammas=3, cv=3, Cs=[1.0, 10.0], kernel="rbf", **TIGHT), {}),
    "SVCCV, frame": (SVCCV(Cs=[1.0, 10.0], **TIGHT, **SMALL_GRID), {"table": "frame"}),
    "SVRCV": (SVRCV(Cs=[1.0, 10.0], **TIGHT, **SMALL_GRID), {"target": "number"}),
    "SVRCV, weights": (
        SVRCV(Cs=[1.0, 10.0], kernel="rbf", **TIGHT, **SMALL_GRID),
        {"target": "number", "weight": WEIGHT},
    ),
    "KernelRidgeCV": (ridge_cv(**SMALL_GRID), {"target": "number"}),
    "KernelRidgeCV, left out": (ridge_cv(gammas=[0.1, 0.5]), {"target": "number"}),
    "KernelRidgeCV, linear": (ridge_cv(kernel="linear", cv=3), {"target": "number"}),
    "KernelRidgeCV, weights": (
        ridge_cv(scoring="neg_mean_absolute_error", **SMALL_GRID),
        {"target": "number", "weight": WEIGHT},
    ),
}
for name, (model, options) in SEARCHES.items():
    ROOM.add(name, partial(search, model, **options))
for conformal in ("count", "mask"):
    for model in (SVRCV(Cs=[1.0, 10.0], **TIGHT, **SMALL_GRID), ridge_cv(**SMALL_GRID)):
        name = f"{type(model).__name__}, intervals, {conformal}"
        ROOM.add(name, partial(intervals, model.set_params(conformal=conformal)))
