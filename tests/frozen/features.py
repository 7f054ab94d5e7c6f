"""Features of rows with gaps, and the models on them: Fourier features, landmarks, Gram matrices, batch by batch."""

from functools import partial

from sklearn.base import clone

from frozen.names import (
    FourierClassifier,
    FourierFeatures,
    FourierRegressor,
    GenRBF,
    Gram,
    Missingness,
    Nystroem,
    batches,
)
from frozen.rooms import Room
from frozen.tables import WEIGHT, problem

ROOM = Room("features")
SEED = {"random_state": 0}


def transformed(model, table="numbers") -> dict:
    """Features of training and of new rows."""
    X, y, new = problem(table, "two")
    model = clone(model)
    here = model.fit_transform(X, y)
    return {"training rows": here[1:3, :4], "new rows": model.transform(new)[2:, :4], "shape": here.shape}


TRANSFORMERS = {
    "fourier": FourierFeatures(12, **SEED),
    "fourier, rbf": FourierFeatures(12, kernel="rbf", gamma=0.2, orthogonal=False, **SEED),
    "fourier, whitened": FourierFeatures(12, kernel=GenRBF(0.2, "mahalanobis"), **SEED),
    "fourier, indicator": FourierFeatures(12, indicator=True, **SEED),
    "fourier, sampled": FourierFeatures(12, density_samples=20, **SEED),
    "landmarks": Nystroem(6, **SEED),
    "landmarks, pivoted": Nystroem(6, kernel="rbf", landmarks="pivoted", **SEED),
    "landmarks, ehk": Nystroem(6, kernel="ehk", **SEED),
    "landmarks, indicator": Nystroem(6, indicator=Missingness(0.4, "sum"), density_samples=20, **SEED),
    "gram": Gram(),
    "gram, linear": Gram(kernel="linear"),
    "gram, indicator": Gram(kernel="rbf", indicator=True),
}
for name, model in TRANSFORMERS.items():
    ROOM.add(name, partial(transformed, model))
for name in ("fourier", "landmarks", "landmarks, ehk", "gram"):
    ROOM.add(f"{name}, frame", partial(transformed, TRANSFORMERS[name], "frame"))


def answers(model, verbs, kept=(), target="two", table="numbers", weight=None) -> dict:
    X, y, new = problem(table, target)
    model = clone(model).fit(X, y, **({} if weight is None else {"sample_weight": weight}))
    return {verb: getattr(model, verb)(new) for verb in verbs} | {name: getattr(model, name) for name in kept}


RIDGE, LOGISTIC = ("decision_function", "predict"), ("decision_function", "predict_proba")
classifier, regressor = FourierClassifier(12, **SEED), FourierRegressor(12, **SEED)
logistic = FourierClassifier(12, loss="log_loss", tol=1e-12, **SEED)
CASES = {
    "classifier": (classifier, RIDGE, ("coef_", "intercept_")),
    "classifier, log loss": (logistic, LOGISTIC, ()),
    "regressor": (regressor, ("predict",), ("coef_", "intercept_")),
}
for name, (model, verbs, kept) in CASES.items():
    targets = ("number",) if name == "regressor" else ("two", "three")
    for target in targets:
        ROOM.add(f"{name}, {target}", partial(answers, model, verbs, kept if target != "three" else (), target))
        ROOM.add(f"{name}, {target}, frame", partial(answers, model, verbs, (), target, "frame"))
        ROOM.add(f"{name}, {target}, weights", partial(answers, model, verbs, (), target, weight=WEIGHT))


@ROOM.group("intervals")
def intervals():
    X, y, new = problem("numbers", "number")
    model = clone(regressor).set_params(conformal="count").fit(X, y)
    return {f"count, {c}": model.predict_interval(new, coverage=c) for c in (0.5, 0.9)}


@ROOM.group("part by part")
def part_by_part():
    """Parts that are fed one by one, and a table that is read batch by batch."""
    X, y, new = problem("numbers", "number")
    _, labels, _ = problem("numbers", "two")
    fed, classes = clone(regressor), clone(classifier)
    for part in (slice(0, 25), slice(25, 40)):
        fed.partial_fit(X[part], y[part])
        classes.partial_fit(X[part], labels[part], classes=["ant", "bee"])
    source = batches(X, y, batch_size=15)
    read = clone(regressor).fit(source)
    sparse = clone(regressor).set_params(density_samples=None).fit(source)
    return {
        "fed": fed.predict(new),
        "fed classes": classes.decision_function(new),
        "read": read.predict(new),
        "read, density of all": sparse.predict(new),
        "features": clone(TRANSFORMERS["fourier"]).fit(batches(X, batch_size=15)).transform(new)[2:, :4],
    }
