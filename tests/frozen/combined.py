"""Estimators made of others: multiple imputation with each pooling, and the estimators that choose by themselves."""

from functools import partial

import numpy as np
from sklearn import svm
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from frozen.names import (
    SVC,
    ChainedEquations,
    GapClassifier,
    GapRegressor,
    MultipleImputationClassifier,
    MultipleImputationRegressor,
)
from frozen.rooms import Room
from frozen.tables import WEIGHT, problem

ROOM = Room("combined")
IMPUTER = ChainedEquations(n_imputations=3, n_sweeps=2, random_state=0)
TIGHT_SVC = svm.SVC(tol=1e-12)


def fitted(model, table, target, weight):
    X, y, new = problem(table, target)
    return clone(model).fit(X, y, **({} if weight is None else {"sample_weight": weight})), new


def pooled(model, table="numbers", target="two", weight=None) -> dict:
    model, new = fitted(model, table, target, weight)
    verbs = [verb for verb in ("decision_function", "predict_proba", "predict") if hasattr(model, verb)]
    return {verb: getattr(model, verb)(new) for verb in verbs} | {"between_variance": model.between_variance(new)[:4]}


for pooling in ("stack", "average", "vote"):
    classifier = MultipleImputationClassifier(TIGHT_SVC, IMPUTER, pooling=pooling)
    ROOM.add(f"pool, {pooling}", partial(pooled, classifier))
    ROOM.add(f"pool, {pooling}, three classes", partial(pooled, classifier, "frame", "three", WEIGHT))
    probable = MultipleImputationClassifier(GaussianNB(var_smoothing=0.1), IMPUTER, pooling=pooling, indicator=True)
    ROOM.add(f"pool, {pooling}, probabilities", partial(pooled, probable, target="three"))
for pooling in ("stack", "average"):
    ridge = MultipleImputationRegressor(Ridge(), IMPUTER, pooling=pooling)
    ROOM.add(f"pool, {pooling}, numbers", partial(pooled, ridge, target="number"))
    ROOM.add(f"pool, {pooling}, numbers, weights", partial(pooled, ridge, "frame", "number", WEIGHT))
ours = MultipleImputationClassifier(SVC(kernel="rbf", tol=1e-12), pooling="average", random_state=0)
ROOM.add("pool, our machine", partial(pooled, ours))


def chosen(model, table="numbers", target="two", weight=None) -> dict:
    """Which members are used, how good they are together, and what they say."""
    model, new = fitted(model, table, target, weight)
    found = {
        "members": [row.member for row in model.members_],
        "scores": [row.score for row in model.members_],
        "shares": [row.weight for row in model.members_],
        "weights": model.weights_,
        "cv_score": model.cv_score_,
        "predict": model.predict(new),
    }
    if target != "number":
        found["predict_proba"] = model.predict_proba(new)[:, 1:]
    if model.conformal:
        verb = model.predict_interval if target == "number" else model.predict_set
        found |= {f"coverage {coverage}": verb(new, coverage=coverage) for coverage in (0.5, 0.9)}
    return found


CHEAP = {"cv": 3, "random_state": 0, "n_jobs": 1}
MEMBERS = (
    "process", "process, shrunk", "genrbf", "ehk", "rbf", "linear", "genrbf, indicator", "fourier", "fourier, rbf",
    "trees, small",
)  # fmt: skip
OF_CATEGORIES = ("rbf, levels", "ehk, levels")
OFFSETS = ("process, offsets", "process, shrunk, offsets", "genrbf, offsets", "rbf, offsets", "linear, offsets")
for member in (*MEMBERS, *OF_CATEGORIES, *OFFSETS):
    table = "frame" if member in OF_CATEGORIES else "sources" if member in OFFSETS else "numbers"
    for target, kind in (("two", GapClassifier), ("number", GapRegressor)):
        model = kind(members=[member], **CHEAP)
        slow = member.startswith("fourier") and target == "two"
        ROOM.add(f"gap, {member}, {target}", partial(chosen, model, table, target), slow)
many = GapClassifier(members=["fourier", "trees, small"], n_exact=20, **CHEAP)
ROOM.add("gap, many rows", partial(chosen, many), slow=True)
for member in ("trees", "forest"):
    ROOM.add(f"gap, {member}", partial(chosen, GapClassifier(members=[member], **CHEAP)), slow=True)
FEW = ["genrbf", "ehk", "linear"]
boosted = HistGradientBoostingClassifier(max_iter=5, random_state=0)
COMBINED = {
    "two": (GapClassifier(members=FEW, **CHEAP), {}),
    "three": (GapClassifier(members=FEW, conformal="count", **CHEAP), {"target": "three"}),
    "mask": (GapClassifier(members=FEW[:2], conformal="mask", **CHEAP), {"target": "three"}),
    "frame": (GapClassifier(members=FEW, scoring="accuracy", **CHEAP), {"table": "frame"}),
    "balanced": (GapClassifier(members=FEW, class_weight="balanced", **CHEAP), {"weight": WEIGHT}),
    "given": (GapClassifier(members=["genrbf", boosted], **CHEAP), {}),
    "number": (GapRegressor(members=FEW, **CHEAP), {"target": "number"}),
    "number, mask": (GapRegressor(members=FEW[:2], conformal="mask", **CHEAP), {"target": "number"}),
    "number, frame": (GapRegressor(members=FEW, **CHEAP), {"target": "number", "table": "frame", "weight": WEIGHT}),
    "number, not calibrated": (GapRegressor(members=["ehk"], conformal=False, **CHEAP), {"target": "number"}),
}
for name, (model, options) in COMBINED.items():
    ROOM.add(f"gap together, {name}", partial(chosen, model, **options))


@ROOM.group("gap columns")
def columns():
    """What each column is taken for."""
    X, y, _ = problem("frame", "two")
    X = X.assign(code=np.arange(len(X)) % 4, row=[f"row {k}" for k in range(len(X))], constant=1.0)
    taken = GapClassifier(members=["linear"], **CHEAP).fit(X, y).columns_
    return {"kinds": [column.kind for column in taken]}
