"""The systems that only one of the papers has: cones, missing variables, geometric margins, naive Bayes."""

from functools import partial

import numpy as np
from sklearn import svm
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel

from frozen.names import (
    CategoricalNaiveBayes,
    ChainedEquations,
    GeometricMarginSVC,
    Missingness,
    RobustSVC,
    base_measure,
    cccp,
    mean_kernel_pool,
)
from frozen.rooms import Room
from frozen.tables import WEIGHT, classes, numbers, problem

ROOM = Room("systems")


def answers(model, verbs, kept=(), table="numbers", target="two", weight=None, y=None) -> dict:
    X, labels, new = problem(table, target)
    labels = labels if y is None else y
    model = clone(model).fit(X, labels, **({} if weight is None else {"sample_weight": weight}))
    return {verb: getattr(model, verb)(new) for verb in verbs} | {name: getattr(model, name) for name in kept}


CONE = {"gamma": 0.3, "tol": 1e-8}  # a smaller tolerance ends in the noise of the solver's last steps
LINEAR = {"kernel": "linear", "gamma": "scale", "C": 10.0, "tol": 1e-10}
CONES = {
    "variance": {},
    "identity": {"covariance": "identity", "mean": "imputed", "tau": 0.3},
    "full": {"covariance": "full", "tau": 0.5},
    "full, genrbf": {"covariance": "full", "tau": 0.5, "kernel": "genrbf"},
    "no room": {"tau": 0.0},
    "room of each row": {"tau": np.linspace(0.0, 1.0, 40)},
    "kappa": {"kappa": 0.6},
    "kappa, gaussian": {"kappa": 0.7, "translation": "gaussian"},
    "linear": LINEAR,
    "linear, identity": {"kernel": "linear", "gamma": "scale", "covariance": "identity"},
    "linear, full": {**LINEAR, "covariance": "full"},
    "ehk": {"kernel": "ehk", "covariance": "identity", "gamma": "scale", "tau": 0.3, "tol": 1e-7},
    "indicator": {"indicator": True, "tau": 0.3},
    "indicator, sum": {"indicator": Missingness(0.4, "sum"), "class_weight": "balanced"},
}
for name, options in CONES.items():
    model = RobustSVC(**CONE | options)
    ROOM.add(f"cone, {name}", partial(answers, model, ("decision_function", "predict"), ("objective_",)))
robust = RobustSVC(**CONE, tau=0.4)
ROOM.add("cone, three classes", partial(answers, robust, ("decision_function", "predict"), target="three"))
ROOM.add("cone, frame", partial(answers, robust, ("decision_function",), table="frame"))
ROOM.add(
    "cone, weights", partial(answers, RobustSVC(**CONE), ("decision_function",), ("slack_", "tau_"), weight=WEIGHT)
)

MARGINS = {
    "linear": {},
    "rbf": {"kernel": "rbf", "gamma": 0.3},
    "poly": {"kernel": "poly", "degree": 2},
    "average, common": {"method": "average"},
    "two rounds": {"max_iter": 2, "C": 0.3},
    "indicator": {"indicator": True, "class_weight": "balanced"},
}
for name, options in MARGINS.items():
    model = GeometricMarginSVC(**{"tol": 1e-13} | options)
    ROOM.add(f"margin, {name}", partial(answers, model, ("decision_function", "predict"), ("n_iter_",)))
margin = GeometricMarginSVC(tol=1e-13)
few_rounds = GeometricMarginSVC(tol=1e-13, max_iter=2, C=0.3)
ROOM.add("margin, three classes", partial(answers, few_rounds, ("decision_function",), target="three"))
ROOM.add("margin, frame", partial(answers, margin, ("decision_function",), table="frame"))
ROOM.add("margin, weights", partial(answers, margin, ("decision_function",), weight=WEIGHT))


@ROOM.group("margin, separable")
def separable():
    """The largest margin of rows that a line through the origin separates, by bisection over cones."""
    X = numbers(1, 20, 3)[[0, 1, 2, *range(4, 20)]]
    y = np.where(np.nan_to_num(X) @ [1.0, 0.2, -0.1] > 0.5, "up", "down")
    X[:, 0] += np.where(y == "up", 6.0, -6.0)
    model = GeometricMarginSVC(method="separable").fit(X, y)
    return {"predict": model.predict(X)}


for name, table, weight in (("numbers", "numbers", None), ("frame", "frame", None), ("weights", "frame", WEIGHT)):
    bayes = partial(
        answers, CategoricalNaiveBayes(), ("predict_proba", "predict"), table=table, target="three", weight=weight
    )
    ROOM.add(f"naive Bayes, {name}", bayes)

VARIABLES = {  # at the default tolerances, at which the last bits of a table do not count
    "gp": {"C": 2.0},
    "gp, lbfgs": {"C": 2.0, "solver": "lbfgs"},
    "gp, chosen C": {"C": "cv"},
    "gp, sigma": {"sigma": 1.5, "solver": "lbfgs"},
    "gp, sgd": {"solver": "sgd", "C": 2.0, "max_iter": 30},
    "svm": {"loss": "svm", "C": 2.0},
    "svm, lbfgs": {"loss": "svm", "C": 2.0, "solver": "lbfgs"},
    "svm, sgd": {"loss": "svm", "C": 2.0, "solver": "sgd", "max_iter": 30},
    "uniform": {"C": 2.0, "completions": "uniform"},
    "empirical": {"C": 2.0, "completions": "empirical", "sampling": "random"},
    "complete basis": {"C": 2.0, "basis": "complete"},
    "basis of both": {"C": 2.0, "basis": "auto"},
    "polynomial": {"C": 2.0, "kernel": partial(polynomial_kernel, degree=2, gamma=0.2), "fit_intercept": False},
    "indicator": {"C": 2.0, "indicator": True, "class_weight": "balanced"},
}
PROBABLE = ("predict_proba", "predict")
for name, options in VARIABLES.items():
    ROOM.add(f"variables, {name}", partial(answers, cccp(**options), PROBABLE, ("C_", "n_basis_")))
scored = partial(answers, cccp(C=2.0), ("decision_function",), ("theta_",))
ROOM.add("variables, scores", scored)
ROOM.add("variables, three classes", partial(answers, cccp(C=2.0), ("predict_proba",), target="three"))
ROOM.add("variables, frame", partial(answers, cccp(C=2.0), ("predict_proba",), table="frame"))
ROOM.add("variables, weights", partial(answers, cccp(C=2.0), ("predict_proba",), target="three", weight=WEIGHT))


@ROOM.group("variables, least objective")
def least_objective():
    """What every way to the minimum has to reach."""
    X, y, _ = problem("numbers", "two")
    found = {}
    for solver in ("cccp", "lbfgs"):
        model = cccp(C=2.0, solver=solver, tol=1e-12, max_iter=20_000).fit(X, y)
        found[solver] = model.objective_[-1]
    found["svm"] = cccp(C=2.0, loss="svm", tol=1e-12, max_iter=20_000).fit(X, y).objective_[-1]
    found["single precision"] = np.round(cccp(C=2.0, solver="lbfgs", single_precision=True).fit(X, y).objective_[-1], 3)
    return found


@ROOM.group("variables, missing labels")
def missing_labels():
    """Rows with several possible labels: they teach nothing, or are to have a clear one."""
    X, _, new = problem("numbers", "three")
    y = classes(X, 3).astype(object)
    y[::3] = -1
    found = {}
    for transductive in (False, True):
        for loss in ("gp", "svm"):
            options = {"loss": loss, "C": 2.0, "solver": "lbfgs", "transductive": transductive, "balance": 0.5}
            model = cccp(**options, unlabelled_weight=0.5).fit(X, y)
            found |= {
                f"{loss}, {transductive}, transduction": model.transduction_,
                f"{loss}, {transductive}, label distributions": model.label_distributions_[::6],
                f"{loss}, {transductive}, predict_proba": model.predict_proba(new),
            }
    return found


@ROOM.group("variables, all values")
def all_values():
    """Every completion of columns of few values."""
    X = np.round(numbers(1, 40, 3, 0.15)).clip(0, 3)
    y = classes(X, 2)
    model = cccp(completions="exact", C=2.0, n_basis=None).fit(X, y)
    measure = base_measure("exact").fit(X).condition(X[:8])
    return {"predict_proba": model.predict_proba(X[:8]), "counts": measure.counts}


@ROOM.group("mean kernel")
def mean_kernel():
    """One fit to the mean of the kernel matrices of completed tables."""
    found = {}
    imputer = ChainedEquations(n_imputations=3, n_sweeps=2, random_state=0)
    X, y, new = problem("numbers", "three")
    _, values, _ = problem("numbers", "number")
    found["numbers, svc"] = mean_kernel_pool(svm.SVC(tol=1e-12), imputer).fit(X, y).decision_function(new)
    found["numbers, svr"] = mean_kernel_pool(svm.SVR(tol=1e-12), imputer).fit(X, values).predict(new)
    return found
