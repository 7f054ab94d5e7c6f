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
