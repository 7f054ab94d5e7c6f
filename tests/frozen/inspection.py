"""What models say about themselves: Shapley values, tipping points, coverage, information, drift, ranks."""

import numpy as np

from frozen.names import (
    SVC,
    GapClassifier,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelRidge,
    coverage,
    friedman_nemenyi,
    gap_drift,
    shapley,
    tipping_points,
    value_of_information,
)
from frozen.rooms import Room
from frozen.tables import numbers, problem, value

ROOM = Room("inspection")
GIVEN = {"optimizer": None, "length_scale": 1.5}


def fitted(model, table="numbers", target="number"):
    X, y, new = problem(table, target)
    return model.fit(X, y), new


@ROOM.group("shapley")
def shapley_values():
    """Exact and sampled, with interactions, of numbers and of classes."""
    ridge, new = fitted(KernelRidge(kernel="rbf", gamma=0.2))
    process, _ = fitted(GaussianProcessClassifier(**GIVEN), target="three")
    machine, mixed = fitted(SVC(tol=1e-12), "frame", "two")
    cases = {
        "numbers": shapley(ridge, new[:4], interactions=True),
        "sampled": shapley(ridge, new[:4], max_exact=1, n_permutations=8, random_state=0),
        "probability": shapley(process, new[:4], target="bee"),
        "latent": shapley(process, new[:4], response_method="predict_proba"),
        "frame": shapley(machine, mixed.iloc[:5]),
    }
    found = {
        "numbers, interactions": cases["numbers"].interactions[1:3],
        "sampled, error": cases["sampled"].standard_error,
    }
    for name, one in cases.items():
        found |= {f"{name}, values": one.values, f"{name}, base": one.base_value, f"{name}, answers": one.answers}
    return found


@ROOM.group("tipping points")
def tipping():
    machine, new = fitted(SVC(kernel="rbf", tol=1e-12), target="two")
    ridge, _ = fitted(KernelRidge(kernel="rbf", gamma=0.2, conformal="count"))
    process, _ = fitted(GaussianProcessRegressor(**GIVEN))
    cases = {
        "classes": tipping_points(machine, new),
        "interval": tipping_points(ridge, new, coverage=0.5),
        "tolerance": tipping_points(process, new, tolerance=0.3),
    }
    found = {}
    for name, one in cases.items():
        found |= {f"{name}, tilt": one.tilt, f"{name}, direction": one.direction, f"{name}, rows": one.rows}
    return found


@ROOM.group("coverage")
def covered():
    ridge, _ = fitted(KernelRidge(kernel="rbf", gamma=0.2, conformal="count"))
    process, _ = fitted(GaussianProcessRegressor(**GIVEN))
    sets, _ = fitted(GaussianProcessClassifier(**GIVEN, conformal="count"), target="three")
    X = numbers(2, 30)
    labels = np.array(["ant", "bee", "cat"])[np.arange(30) % 3]
    cases = {
        "numbers": coverage(ridge, X, value(X), 0.6),
        "masks": coverage(ridge, X, value(X), 0.6, by="mask"),
        "deviations": coverage(process, X, value(X), 0.9),
        "sets": coverage(sets, X, labels, 0.6),
    }
    found = {"masks": cases["masks"].masks, "confidence": cases["numbers"].confidence()}
    for name, one in cases.items():
        found |= {f"{name}, covered": one.covered, f"{name}, width": one.width, f"{name}, n_rows": one.n_rows}
        found |= {f"{name}, overall": one.overall, f"{name}, error": one.standard_error}
    return found


@ROOM.group("value of information")
def information():
    process, new = fitted(GaussianProcessRegressor(**GIVEN))
    classes, _ = fitted(GaussianProcessClassifier(**GIVEN), target="three")
    ridge, mixed = fitted(KernelRidge(kernel="rbf"), "frame")
    row = [new[0, 0], np.nan, np.nan, new[0, 3]]
    cases = {
        "numbers": value_of_information(process, row, n_nodes=16),
        "prices": value_of_information(process, row, costs=[1.0, 2.0, 5.0, 1.0], n_nodes=16),
        "classes": value_of_information(classes, row, n_nodes=16),
        "frame": value_of_information(ridge, mixed.iloc[[3]], n_nodes=16),
    }
    found = {}
    for name, one in cases.items():
        found |= {f"{name}, reduction": one.reduction, f"{name}, worth": one.worth, f"{name}, best": one.best}
        found |= {f"{name}, uncertainty": one.uncertainty}
    return found


@ROOM.group("drift")
def drift():
    ridge, _ = fitted(KernelRidge(kernel="rbf"))
    X = numbers(3, 30)
    X[:15, 2] = np.nan
    found = {}
    for name, rows in {"moved": X, "same": numbers(4, 30)}.items():
        one = gap_drift(ridge, rows, random_state=0)
        found |= {f"{name}, pvalue": one.pvalue, f"{name}, distance": one.distance, f"{name}, changed": one.changed()}
        for kind in ("columns", "patterns"):
            changes = getattr(one, kind)
            found[f"{name}, {kind}"] = [change.name for change in changes]
            found[f"{name}, {kind}, shares"] = [(c.at_fit, c.now, c.effect, c.pvalue) for c in changes]
    return found


@ROOM.group("ranks")
def ranks():
    scores = np.round(np.random.default_rng(0).normal([0.7, 0.75, 0.8, 0.72], 0.05, (10, 4)), 2)
    one = friedman_nemenyi(scores, names=list("abcd"))
    fields = ("ranks", "statistic", "pvalue", "tie_corrected_statistic", "tie_corrected_pvalue",
              "iman_davenport_statistic", "iman_davenport_pvalue", "critical_difference", "differs")  # fmt: skip
    return {field: getattr(one, field) for field in fields} | {
        "groups": [" ".join(map(str, group)) for group in one.groups()],
        "stricter": friedman_nemenyi(scores, significance=0.01).critical_difference,
    }


@ROOM.group("of members")
def of_members():
    """Answers about an estimator that is made of others."""
    model, new = fitted(GapClassifier(members=["genrbf", "linear"], cv=3, random_state=0), target="two")
    points, values = tipping_points(model, new[:4]), shapley(model, new[:3])
    return {"tilt": points.tilt, "share": points.gaussian_share, "values": values.values}
