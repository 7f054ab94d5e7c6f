"""Odd columns, rows and classes, which the Gap estimators take as they are or name in an error."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from strategies import mixed_classes, punch

import gapkernel as gk

FEW = ["process", "genrbf"]


def test_a_range_of_numbers_is_learned_from():
    time = np.arange(100.0)
    model = gk.GapRegressor(members=["process"], random_state=0).fit(time[:, None], np.sin(time / 15))
    assert model.score(time[:, None], np.sin(time / 15)) > 0.99


def test_no_probability_is_zero_that_rows_cannot_prove():
    random = np.random.default_rng(0)
    kind = random.choice(["u", "v"], 60)
    X = pd.DataFrame({"kind": pd.Categorical(kind), "x": random.standard_normal(60)})
    model = gk.GapClassifier(members=["trees", "genrbf"], random_state=0).fit(X, kind == "v")
    assert model.predict_proba(X.assign(kind=None)).min() > 1e-3


def test_many_ordered_levels_keep_their_order():
    random = np.random.default_rng(0)
    codes = random.integers(0, 30, 300)
    levels = [f"{k:02d}" for k in range(30)]
    X = pd.DataFrame({"grade": pd.Categorical(np.array(levels)[codes], categories=levels, ordered=True)})
    model = gk.GapRegressor(members=["genrbf"], random_state=0).fit(X, codes.astype(float))
    assert model.score(X, codes) > 0.99


def test_odd_columns_are_left_out_and_said():
    X, y = mixed_classes(n=60)
    X = X.assign(empty=np.nan, same=1.0, number=np.arange(60.0), label=[f"row {k}" for k in range(60)])
    model = gk.GapClassifier(members=FEW, random_state=0).fit(X, y)
    left_out = {column.name: column.reason for column in model.columns_ if column.kind == "left out"}
    assert set(left_out) == {"empty", "same", "label"}
    assert "a row number?" in {column.name: column.reason for column in model.columns_}["number"]
    assert "identifier" in left_out["label"]
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(("n", "d"), [(20, 3), (24, 30)])
def test_few_rows_and_many_columns(n, d):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    y = (X[:, 0] > 0).astype(int)
    model = gk.GapClassifier(random_state=0).fit(punch(random, X, 0.2), y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_of_two_classes_each_needs_two_rows():
    X, y = mixed_classes(n=40)
    y[:] = "no"
    y[3] = "yes"
    with pytest.raises(ValueError, match=r"Class 'yes' has 1 row\. .* each needs 2 rows or more"):
        gk.GapClassifier().fit(X, y)


def test_a_class_with_one_row_is_no_obstacle():
    X, y = mixed_classes(n=60)
    y[0] = "once"
    model = gk.GapClassifier(members=["process", "genrbf", "trees, small"], random_state=0).fit(X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def odd_tables():
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 3))
    y = np.tile([0, 1], 20)
    yield "a column of names", pd.DataFrame({"id": [f"r{k}" for k in range(40)], "x": X[:, 0]}), y
    yield "constant and empty columns", np.column_stack([X, np.ones(40), np.full(40, np.nan)]), y
    yield "a row without a value", np.vstack([np.full((1, 3), np.nan), X[1:]]), y
    yield "a class in few folds", X, np.where(np.arange(40) < 2, 1, 0)
    yield "a level in one row", pd.DataFrame({"k": ["u"] + ["v", "w", "x"] * 13, "x": X[:, 0]}), y
    yield "two values", X.round(0).clip(0, 1), y
    yield "huge numbers", 1e100 * X, y
    yield "one column", X[:, :1], y


@pytest.mark.parametrize(("X", "y"), [pytest.param(X, y, id=name) for name, X, y in odd_tables()])
def test_odd_tables_work(X, y):
    few = ["process", "linear", "genrbf, indicator"]
    model = gk.GapClassifier(members=few, random_state=0).fit(X, y)
    chances = model.predict_proba(X)
    assert np.isfinite(chances).all()
    assert_allclose(chances.sum(axis=1), 1.0)
    assert np.isfinite(gk.GapRegressor(members=few, random_state=0).fit(X, y).predict_interval(X, 0.5)).all()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((30, 2)), "No column of X can be learned from: each is empty, constant or an identifier"),
        (np.full((30, 2), np.nan), "No column of X can be learned from"),
    ],
)
def test_tables_without_anything_to_learn_say_so(X, message):
    with pytest.raises(ValueError, match=message):
        gk.GapClassifier().fit(X, np.tile([0, 1], 15))
