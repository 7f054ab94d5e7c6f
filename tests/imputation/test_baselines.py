"""The ready baselines, and columns without a value that are left out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from gapkernel.imputation import OneHotWithGaps, baseline
from gapkernel.imputation.baselines import BASELINES

nan = np.nan
X = np.array([[1.0, 0.0, 2.0], [nan, 1.0, 4.0], [3.0, nan, 4.0], [5.0, 1.0, nan]])


def columns(name, **options):
    return baseline(name, categorical_features=[1], scale=False, **options).fit_transform(X)


def test_mean_and_mode():
    # the categories come first, then the numeric columns; means 3 and 10/3, mode 1
    assert_allclose(columns("mean"), [[0, 1, 2], [1, 3, 4], [1, 3, 4], [1, 5, 10 / 3]])


def test_zero():
    assert_allclose(columns("zero"), [[0, 1, 2], [1, 0, 4], [0, 3, 4], [1, 5, 0]])


def test_rbf1_is_mean_and_mode_with_unary_categories():
    assert_allclose(columns("rbf1"), [[1, 0, 1, 2], [0, 1, 3, 4], [0, 1, 3, 4], [0, 1, 5, 10 / 3]])


def test_rbf2_is_zero_with_indicators():
    expected = [
        [1, 0, 0, 1, 2, 0, 0],
        [0, 1, 0, 0, 4, 1, 0],
        [0, 0, 1, 3, 4, 0, 0],
        [0, 1, 0, 5, 0, 0, 1],
    ]
    assert_allclose(columns("rbf2"), expected)


def test_the_mean_with_indicators():
    assert_allclose(columns("mean_indicator")[:, 3:], [[1, 2, 0, 0], [3, 4, 1, 0], [3, 4, 0, 0], [5, 10 / 3, 0, 1]])


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_ends_in_an_estimator_and_meets_new_gaps(name):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 60)
    table = pd.DataFrame(random.standard_normal((60, 3)) + y[:, None], columns=list("abc"))
    table["d"] = random.integers(0, 3, 60).astype(float)
    gappy = table.mask(random.random(table.shape) < 0.2)
    model = baseline(name, SVC(), categorical_features=["d"]).fit(gappy, y)
    assert model.score(gappy, y) > 0.75
    complete = baseline(name, SVC(), categorical_features=["d"]).fit(table, y)
    assert len(complete.predict(gappy)) == 60


FRAME = pd.DataFrame({
    "size": [1.0, nan, 3.0, 5.0], "colour": ["red", "blue", None, "red"],
    "grade": pd.Categorical(["low", None, "high", "low"], ["low", "high"], ordered=True),
})  # fmt: skip


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_takes_text_in_every_form(name):
    text = FRAME[["size", "colour"]]
    in_polars = pl.from_pandas(FRAME).with_columns(pl.col("grade").cast(pl.Enum(["low", "high"])))
    for frame, other in ((FRAME, in_polars), (text, text.astype(object).to_numpy())):
        filled = baseline(name).fit_transform(frame)
        assert np.isfinite(filled).all()
        assert_array_equal(baseline(name).fit_transform(other), filled)


def test_text_counts_by_the_places_of_its_levels():
    # blue, red in the order of the alphabet, low, high in that of their type; an unknown level is a gap
    assert_array_equal(
        baseline("mean", scale=False).fit_transform(FRAME),
        [[1, 0, 1], [0, 0, 3], [1, 1, 3], [1, 0, 5]],
    )
    model = baseline("mean", scale=False).fit(FRAME)
    assert_array_equal(model.transform(FRAME.assign(colour="violet")), model.transform(FRAME.assign(colour=None)))


@pytest.mark.parametrize("name", BASELINES)
def test_the_columns_of_every_baseline_have_names(name):
    model = baseline(name)
    filled, names = model.fit_transform(FRAME), model.get_feature_names_out()
    assert len(set(names)) == filled.shape[1]
    assert model.set_output(transform="pandas").transform(FRAME).columns.tolist() == names.tolist()
    assert {column for column in FRAME for name in names if column in name} == set(FRAME)


def test_an_unknown_baseline_is_refused():
    with pytest.raises(ValueError, match="'name' parameter"):
        baseline("median")


TABLE = np.array([[1.0, np.nan, np.nan], [2.0, np.nan, 3.0]])


@pytest.mark.parametrize("made", [np.asarray, lambda X: pd.DataFrame(X, columns=["a", "b", "c"])])
def test_a_column_is_left_out_if_training_has_no_value_of_it(made):
    filter_ = OneHotWithGaps().fit(made(TABLE))
    assert_array_equal(filter_.transform(made(TABLE)), TABLE[:, [0, 2]])
    there = np.arange(3.0)[None]
    assert_array_equal(filter_.transform(made(there)), [[0.0, 2.0]])  # a value there changes nothing
