"""Studies: paired tests, what methods choose, and the smallest tasks of each paper's protocol on stand-in tables."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from frozen import names
from frozen.names import (
    Grid,
    Task,
    all_pairs,
    cell_tests,
    folds,
    make_ehk_synthetic,
    paired_test,
    sign_flip_pvalue as sign_flips,
    table_grid,
)
from frozen.rooms import Room

ROOM = Room("studies")
SMALL = Grid(C=(0.5, 8.0), gamma=(0.05, 0.3), alpha=(0.5,), degree=(2,))


def cancer(n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of a table that comes with scikit-learn, complete."""
    X, y = load_breast_cancer(return_X_y=True)
    return pd.DataFrame(X[:n, [0, 1, 4, 8, 9]], columns=list("abcde")), np.array(["bad", "good"])[y[:n]]


def gappy(n: int = 60) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The same with gaps and a category, its classes, and a number to predict."""
    X, y = cancer(n)
    number = X["b"].to_numpy() + 0.1 * np.arange(n)
    kind = pd.Categorical(np.where(np.arange(n) % 7 == 0, None, np.where(X["a"] > 14, "large", "small")))
    return names.ampute(X, 0.3, random_state=0).assign(kind=kind), y, number


def text(settings) -> list[str]:
    """Settings as text, the same whatever their order."""
    pairs = sorted(settings.items())
    return [f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}" for name, value in pairs]


@ROOM.group("tests")
def tests():
    random = np.random.default_rng(0)
    scores = np.round(random.normal([0.8, 0.79, 0.75, 0.7], 0.03, (10, 4)), 3)
    alone, pairs = paired_test(scores[:, 0], scores[:, 2]), all_pairs(scores, "abcr", reference="r")
    lines = [
        {"dataset": data, "mechanism": "mcar", "fraction": 0.5, "draw": 0, "repeat": 0, "fold": fold, "method": method,
         "accuracy": scores[fold + 5 * (data == "two"), "xyz".index(method)]}
        for data in ("one", "two") for method in "xyz" for fold in range(5)
    ]  # fmt: skip
    cells = cell_tests(pd.DataFrame(lines), "x", test_share=0.25)
    return {
        "paired": [alone.difference, alone.corrected_t_pvalue, alone.wilcoxon_pvalue],
        "share": paired_test(scores[:, 0], scores[:, 2], test_share=0.1).corrected_t_pvalue,
        "pairs, differences": pairs.differences,
        "pairs, errors": pairs.errors,
        "pairs, pvalues": pairs.pvalues,
        "pairs, lead": pairs.lead("a", "c"),
        "pairs, least lead": pairs.least_lead("a"),
        "pairs without reference": all_pairs(scores, "abcd").pvalues,
        "cells": cells[["difference", "corrected_t_pvalue", "wilcoxon_pvalue"]].to_numpy(),
        "signs": sign_flips(np.array([1, 2, -1, 3, 0, 1])),
        "grid": table_grid(7).gamma,
    }


@ROOM.group("seeds")
def seeds():
    """Seeds and folds of tasks, on which every result of a study depends."""
    task = Task("pima", "genrbf", "mcar", 0.3, 1, 2, 3)
    y = np.arange(20) % 3
    return {
        "key": [task.key],
        "seeds": [task.data_seed, task.split_seed],
        "classes": np.hstack([test for _, test in folds(4, 0).split(y, y)]),
        "numbers": np.hstack([test for _, test in folds(4, 0, "regression").split(y)]),
    }


def chosen(name: str, task: str) -> dict:
    """The scores of the settings that a method tries, and what it chooses."""
    X, classes, numbers = gappy()
    y = classes if task == "classification" else numbers
    if name not in MIXED:
        X = X.drop(columns="kind").to_numpy()
    cv = folds(2, 0, task)
    settings, scores = names.scores(name, X, y, cv, SMALL, task)
    found = {"settings": len(settings), "scores": scores}
    if len(settings) > 1:
        choice = names.choice(name, X, y, cv, SMALL, task)
        found |= {"choice": text(choice.settings), "score": choice.score}
    return found


MIXED = ("genrbf", "genrbf-indicator", "rbf", "ehk", "linear", "mean_indicator", "boosting-one-hot")
NUMBERS = (
    "baseline", "genrbf_white", "karma", "karma_linear", "karma_columns", "mean", "zero", "iterative", "mice",
    "mice_one", "mice_mean", "geom", "geom_rbf", "mean_landmarks", "process", "boosting",
)  # fmt: skip
CLASSES_ONLY = ("mice", "mice_one", "mice_mean", "geom", "geom_rbf", "process")
SLOW = ("gap-quick", "fourier-quick", "boosting", "boosting-one-hot", "iterative")
for name in (*MIXED, *NUMBERS, *SLOW[:2]):
    for task in ("classification", *([] if name in CLASSES_ONLY else ["regression"])):
        ROOM.add(f"method, {name}, {task}", partial(chosen, name, task), slow=name in SLOW)


@ROOM.group("nested")
def nested():
    X, y, _ = gappy()
    found = {}
    for name in ("genrbf", "mean_indicator", "ehk"):
        one = names.nested_result(name, X, y, np.arange(40), np.arange(40, 60), SMALL)
        found[f"{name}, accuracy"] = [one["accuracy"], one["inner_accuracy"]]
        found[f"{name}, settings"] = text(one["settings"])
    return found


def genrbf(method: str, mechanism: str) -> dict:
    """A fold of the genRBF paper: cells removed, settings chosen inside the training fold."""
    module = names.paper("genrbf")
    module._numbers.cache_clear()
    protocol = names.genrbf_protocol(grid=SMALL, n_folds=3, n_inner_folds=2, max_rows=50, drop=(("stand-in", "e"),))
    with patch.object(module, "load", lambda name, data_dir: cancer()):
        one = protocol(Task("stand-in", method, mechanism, 0.4, 0, 0, 1))
    return {"scores": [one["accuracy"], one["inner_accuracy"], one["gaps"]], "settings": text(one["settings"])}


for mechanism in ("mcar", "mar", "nmar"):
    ROOM.add(f"paper genrbf, {mechanism}", partial(genrbf, "genrbf", mechanism))
OTHERS = (
    "mean", "zero", "mice", "geom", "karma", "genrbf_white", "rbf", "ehk", "process", "geom_rbf", "mice_one",
    "mice_mean", "karma_linear", "karma_columns",
)  # fmt: skip
for method in OTHERS:
    ROOM.add(f"paper genrbf, mcar, {method}", partial(genrbf, method, "mcar"))


def expected_kernel(method: str) -> dict:
    """A split of Heart's stand-in: settings chosen by the SVM, tau by the cone."""
    module = names.paper("expected kernel")
    grid = {"gammas": (0.5, 1.0), "Cs": (1.0, 10.0), "taus": (0.1, 0.5)}
    protocol = module.Split(**grid, n_tau_folds=1, max_rows=(("heart_statlog", 50),))
    with patch.object(module, "load", lambda name, data_dir: cancer()):
        one = protocol(Task("heart_statlog", method, "mcar by row", 0.2, 1, 1))
    return {"error": [one["error"], one["training_rows"]], "settings": text(one["settings"])}


for method in ("expected", "variance", "identity", "complete"):
    ROOM.add(f"paper expected kernel, {method}", partial(expected_kernel, method))

EHK_GRIDS = {
    "classification": Grid(C=(1.0, 10.0), gamma=(0.01, 0.1), alpha=(0.5, 0.9)),
    "regression": Grid(C=(10.0,), gamma=(0.01,), alpha=(0.5,), epsilon=(0.01,)),
}


def kernel_extension(method: str) -> dict:
    """The synthetic problem with gaps: the loss of each cell of the grid, and nested; and a table of numbers."""
    module = names.paper("kernel extension")
    X, y = make_ehk_synthetic(80, random_state=0)
    X = names.ampute(X, 0.3, random_state=0)
    diabetes, target = load_diabetes(return_X_y=True, as_frame=True)
    small = names.ampute(diabetes.iloc[:50, :4], 0.2, random_state=0)
    tables = {"synthetic": (X, y), "servo": (small, target.to_numpy()[:50] / 100)}
    task = Task("synthetic", method, "mcar", 0.3)
    with patch.object(module, "data", lambda task, data_dir: tables[task.dataset]):
        found = {"losses": module.GridCV(grids=EHK_GRIDS, n_folds=2)(task)["losses"]}
        one = module.NestedGridCV(grids=EHK_GRIDS, n_folds=3, n_inner_folds=2)(task)
        found |= {"nested": [one["loss"], one["rows"]], "settings": text(one["settings"])}
        if not method.endswith("known"):
            numbers = module.GridCV(grids=EHK_GRIDS, n_folds=2)(Task("servo", method))
            found["losses of numbers"] = numbers["losses"]
    return found


for method in ("rbf1", "rbf2", "ehk", "ehk_alpha", "ehk_known", "ehk_alpha_known"):
    ROOM.add(f"paper kernel extension, {method}", partial(kernel_extension, method))


def missing_variables(method: str) -> dict:
    """Digits of 16 x 16 pixels, up to a quarter of them erased; the wrong ones of twenty others."""
    module = names.paper("missing variables")
    images, labels = load_digits(return_X_y=True)
    kept = np.flatnonzero(labels < 3)[:80]
    pixels = np.kron(images[kept].reshape(-1, 8, 8) / 8 - 1, np.ones((2, 2))).reshape(-1, 256)
    settings = {"gammas": (1 / 128, 1 / 32), "Cs": (1.0, 10.0), "n_factors": (2,)}
    protocol = module.Digits(n_rows=60, n_basis=20, n_completions=2, **settings)
    with (
        patch.object(module, "load", lambda name, data_dir: (pixels, labels[kept])),
        patch.object(module, "N_TRAINING", 60),
    ):
        one = protocol(Task("usps", method))
    return {"wrong": one["wrong"], "rises": one["rises"], "settings": text(one["settings"])}


for method in ("density", "uniform", "mean", "conditional", "complete", "svm", "genrbf", "svm_complete"):
    ROOM.add(f"paper missing variables, {method}", partial(missing_variables, method))


def microbiology(method: str) -> dict:
    """A fold of the simulated source tracking."""
    module = names.paper("microbiology")
    protocol = module.FoldOfTable1(Cs=(0.5, 2.0), n_folds=3, n_imputations=2)
    one = protocol(Task("source_tracking", method, fold=1))
    classes = sorted(one["rows_by_class"])
    return {
        "right": one["right"],
        "rows": one["rows"],
        "right by class": [one["right_by_class"][c] for c in classes],
        "rows by class": [one["rows_by_class"][c] for c in classes],
    }


for method in ("1ke", "2ke", "1mi", "2mi", "nb"):
    ROOM.add(f"paper microbiology, {method}", partial(microbiology, method))
