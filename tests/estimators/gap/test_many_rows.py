"""The Gap estimators on tables in parts, and on more rows than their members are chosen by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from strategies import mixed_classes

import gapkernel as gk
from gapkernel.estimators.gap import base, members
from gapkernel.tables import read_table


def test_many_rows_change_to_random_features(monkeypatch):
    monkeypatch.setattr(members, "N_FEATURES", 64)
    X, y = mixed_classes(n=300)
    model = gk.GapClassifier(n_exact=200, random_state=0).fit(X, y)
    assert {row.member for row in model.members_} >= {"fourier", "trees"}
    assert "process" not in {row.member for row in model.members_}


@pytest.mark.parametrize("kind", ["batches", "dask"])
@pytest.mark.parametrize("classes", [True, False])
def test_parts_give_what_the_table_in_memory_gives(kind, classes, monkeypatch):
    monkeypatch.setattr(members, "N_FEATURES", 64)
    X, y = mixed_classes(n=80)
    X = X.drop(columns="kind")
    y = y if classes else X["b"].fillna(0.0).to_numpy()
    model = gk.GapClassifier if classes else gk.GapRegressor
    here = model(members=["fourier", "fourier, rbf"], random_state=0).fit(X, y)
    if kind == "batches":
        rows = [(X[:25], y[:25]), (X[25:], y[25:])]
        there = model(random_state=0).fit(gk.batches(lambda: iter(rows)))
    else:
        frame = pytest.importorskip("dask.dataframe").from_pandas(X.assign(y=y), npartitions=2)
        there = model(random_state=0).fit(frame.drop(columns="y"), frame["y"])
    verb = "predict_proba" if classes else "predict"
    assert_allclose(getattr(there, verb)(X), getattr(here, verb)(X), atol=1e-6)
    assert_allclose(there.cv_score_, here.cv_score_, atol=1e-8)


def test_parts_need_members_that_take_them(tmp_path):
    X, y = mixed_classes(n=60)
    X.to_parquet(tmp_path / "table.parquet")
    parts = gk.batches(tmp_path / "table.parquet", batch_size=25)
    with pytest.raises(ValueError, match=r"'genrbf' learns from a table in memory. For batches and dask"):
        gk.GapClassifier(members=["genrbf"]).fit(gk.batches(lambda: iter([(X, y)])))
    model = gk.GapClassifier(members=["genrbf"], random_state=0).fit(X, y)
    assert_array_equal(model.predict_set(parts), model.predict_set(X))


def test_many_rows_are_chosen_by_a_sample_and_learned_from_whole(monkeypatch):
    monkeypatch.setattr(base, "MOST_ROWS", 100)
    monkeypatch.setattr(members, "N_FEATURES", 64)
    X, y = mixed_classes(n=150)
    model = gk.GapClassifier(members=["fourier", "trees, small"], random_state=0).fit(X, y)
    assert len(model.calibration_.scores) == 100
    member = gk.GapClassifier(members=["fourier"], random_state=0).fit(X, y).fitted_[0]
    prepared = model.preparation_(read_table(model, X, reset=False, schema=model.schema_))
    whole = clone(member.estimator).fit(prepared, (y == "yes").astype(int))
    assert_allclose(whole.predict_proba(prepared), member.estimator.predict_proba(prepared))


def test_a_target_that_the_sample_lacks_is_named_if_it_is_wrong(monkeypatch):
    monkeypatch.setattr(base, "MOST_ROWS", 40)
    monkeypatch.setattr(base, "sample_rows", lambda n_rows, most, random: np.arange(most))
    monkeypatch.setattr(members, "N_FEATURES", 64)
    X, y = mixed_classes(n=80)
    y[-1] = "once"
    with pytest.raises(ValueError, match="Class 'once' is rare"):
        gk.GapClassifier(members=["fourier"]).fit(gk.batches(lambda: iter([(X, y)])))
    counted = np.append(np.ones(79), 0.0)  # a row that does not count may be of any class
    for setting in (None, "balanced"):
        model = gk.GapClassifier(members=["fourier"], class_weight=setting, random_state=0)
        without = clone(model).fit(gk.batches(lambda: iter([(X[:-1], y[:-1], counted[:-1])])))
        model.fit(gk.batches(lambda: iter([(X, y, counted)])))
        assert_allclose(model.predict_proba(X), without.predict_proba(X), rtol=1e-10)
    numbers = np.append(np.linspace(0.0, 1.0, 79), np.nan)  # rows outside the sample are checked too
    with pytest.raises(ValueError, match="Input y contains NaN"):
        gk.GapRegressor(members=["fourier"]).fit(gk.batches(lambda: iter([(X, numbers)])))
