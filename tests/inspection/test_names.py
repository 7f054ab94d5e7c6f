"""Inspection names the right cell, and counts the gaps that the machine counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline

import gapkernel as gk
from gapkernel.inspection import coverage, value_of_information

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(np.random.default_rng(0).standard_normal((40, 3)), columns=["a", "b", "c"])


def process():
    """A machine that keeps its hyperparameters."""
    return gk.GaussianProcessRegressor(length_scale=2.0, noise_level=0.1, optimizer=None)


def test_a_pipeline_that_moves_columns_still_names_the_cell(frame):
    y = frame["a"].to_numpy()
    moved = make_pipeline(make_column_transformer(("passthrough", ["c", "b", "a"])), process()).fit(frame, y)
    row = pd.DataFrame({"a": [np.nan], "b": [np.nan], "c": [0.3]})
    result = value_of_information(moved, row)
    assert result.names == ["passthrough__b", "passthrough__a"]
    assert result.best == "passthrough__a"
    assert_allclose(result.reduction[::-1], value_of_information(process().fit(frame, y), row).reduction)


def test_a_complete_row_has_no_best_cell(frame):
    result = value_of_information(process().fit(frame, frame["a"]), frame.iloc[[0]])
    assert result.names == []
    with pytest.raises(ValueError, match="has no gap"):
        _ = result.best


def test_a_series_is_a_row_of_its_frame(frame):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    model = process().fit(frame, frame["a"])
    row = pd.Series({"a": np.nan, "b": 0.2, "c": np.nan})
    result = value_of_information(model, row)  # a warning about names would be an error
    assert result.names == ["a", "c"]
    shown = gk.plots.PredictionBandDisplay.from_estimator(model, frame.iloc[0], order=[2, 0])
    steps = np.repeat(frame.iloc[[0]].to_numpy(), 3, axis=0)
    steps[1:, 2] = steps[2:, 0] = np.nan
    assert_allclose(shown.mean, model.predict(pd.DataFrame(steps, columns=frame.columns)))
    assert_allclose(shown.fraction, [0, 1 / 3, 2 / 3])
    for order in ([5], [-1], ["a"]):
        with pytest.raises(ValueError, match="order must hold column numbers from 0 to 2"):
            gk.plots.PredictionBandDisplay.from_estimator(model, frame.iloc[0], order=order)
    plt.close("all")


def test_an_unknown_category_is_counted_as_the_gap_it_is():
    X = pd.DataFrame({"size": np.arange(12.0), "kind": ["x", "y"] * 6})
    model = process().fit(X, np.arange(12.0) % 2)
    new = pd.DataFrame({"size": [1.0, 2.0], "kind": ["x", "never seen"]})
    assert_array_equal(coverage(model, new, [0.0, 1.0]).missing, [0, 1])


def test_costs_change_what_is_best_and_name_what_they_leave_out(frame):
    model = process().fit(frame, frame["a"] + 0.5 * frame["b"])
    row = pd.DataFrame({"a": [np.nan], "b": [np.nan], "c": [0.3]})
    plain = value_of_information(model, row)
    assert plain.best == "a"
    assert_array_equal(plain.costs, [1, 1])
    dear = value_of_information(model, row, costs={"a": 100.0, "b": 1.0})
    assert dear.best == "b"
    assert_allclose(dear.worth, plain.reduction / [100, 1])
    assert_allclose(value_of_information(model, row, costs=[100.0, 1.0, 5.0]).worth, dear.worth)
    for costs, told in (
        ({"a": 1.0}, "positive cost for column 'b'"),
        ({"a": 1.0, "b": -1.0}, "positive cost for column 'b'"),
        ({"d": 1.0}, "costs names column 'd'"),
        ([1.0], "one entry for each of 3 columns"),
    ):
        with pytest.raises(ValueError, match=told):
            value_of_information(model, row, costs=costs)


def test_the_estimator_that_chooses_knows_what_is_worth_measuring(frame):
    """Its laws are in the units of the table: the same as those of its member, for numbers and for categories."""
    random = np.random.default_rng(1)
    X = frame.assign(b=1000 * frame["b"] + 7, kind=np.where(frame["c"] > 0, "x", "y"))
    y = frame["a"] + (frame["c"] > 0)
    X = X.mask(random.random(X.shape) < 0.1)
    model = gk.GapRegressor(members=["rbf"], cv=2, random_state=0).fit(X, y)
    row = pd.DataFrame({"a": [np.nan], "b": [np.nan], "c": [0.3], "kind": pd.Series([None], dtype=object)})
    values, weights = model.cell_nodes(row, 1, 16)
    mean = weights @ values
    assert abs(mean - 7) < 1000
    assert 300 < np.sqrt(weights @ (values - mean) ** 2) < 3000
    levels, shares = model.cell_nodes(row, 3, 16)
    assert_array_equal(np.sort(levels), [0, 1])
    assert_allclose(shares.sum(), 1.0)
    result = value_of_information(model, row)
    assert result.names == ["a", "b", "kind"]
    assert result.best == "a"
