"""Tilted laws are what exponential tilting makes of them, and predictions tip over where a closed form says so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from strategies import punch

import gapkernel as gk
from gapkernel.inspection import tipping_points
from gapkernel.tables import Table, Tilt


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 3)) @ np.array([[1.0, 0.7, 0.2], [0.0, 1.0, 0.5], [0.0, 0.0, 0.8]])
    y = 2.0 * X[:, 0] - X[:, 1] + 0.3 * random.standard_normal(80)
    return punch(random, X, 0.1), y


def laws_of(density, row):
    (law,) = [density.condition([row])]
    return law.means[0], law.covariance_of(0)


@pytest.mark.parametrize("density", [gk.density.Gaussian(), gk.density.FactorAnalysis(1)], ids=["gaussian", "factor"])
def test_a_tilted_law_has_the_moments_of_exponential_tilting(density, data):
    density.fit(data[0])
    row = np.array([np.nan, 0.5, np.nan])
    table = density._read(np.array([row]))
    tilted = density.condition(Table(table.values, table.schema, Tilt(2, np.array([0.8]))))
    mean, covariance = laws_of(density, row)
    draws = density.sample([row], 200_000, random_state=0)[:, 0]
    weight = np.exp(0.8 / covariance[2, 2] * draws[:, 2])
    weight /= weight.sum()
    expected = weight @ draws
    error = np.sqrt(weight**2 @ (draws - expected) ** 2)
    assert np.all(np.abs(tilted.means[0] - expected) <= 4 * error + 1e-12)
    assert_allclose(tilted.means[0, 2] - mean[2], 0.8)
    assert abs(tilted.means[0, 0] - mean[0]) > 0.01  # the other gap moves too
    assert_allclose(tilted.covariance_of(0), covariance)
    known = density.condition(Table(np.ones((1, 3)), table.schema, Tilt(2, np.array([0.8]))))
    assert_array_equal(known.means, np.ones((1, 3)))


def slope_of(model, row, column):
    """By how much a linear model's value changes for a shift of one deviation of the column."""
    ends = model.decision_function if hasattr(model, "decision_function") else model.predict
    slope = ends(np.eye(3)) - ends(np.zeros((1, 3)))
    covariance = laws_of(model.density_, row)[1]
    return model.training_summary_.deviations[column] * (slope @ covariance[:, column]) / covariance[column, column]


ROWS = np.array([[0.6, np.nan, np.nan], [np.nan, 1.5, 0.0], [np.nan, -0.2, 3.0], [3.0, np.nan, 0.1], [1.0, 1.0, 1.0]])


def closed_form(model, excess):
    expected = np.full(ROWS.shape, np.inf)
    for i, k in np.argwhere(np.isnan(ROWS)):
        expected[i, k] = excess[i] / abs(slope_of(model, ROWS[i], k))
    return np.where(expected > 3.0, np.inf, expected)


def test_a_linear_classifier_tips_where_its_value_is_zero(data):
    X, y = data
    model = gk.SVC(kernel="linear").fit(X, y > 0)
    result = tipping_points(model, ROWS)
    expected = closed_form(model, np.abs(model.decision_function(ROWS)))
    assert_allclose(result.tilt, expected, atol=2e-4)
    assert 2 < np.isfinite(expected).sum() < np.isnan(ROWS).sum()
    values = model.decision_function(ROWS)
    for i, k in np.argwhere(np.isfinite(result.tilt)):
        assert result.direction[i, k] == -np.sign(values[i] * slope_of(model, ROWS[i], k))
    assert_allclose(result.rows, result.tilt.min(axis=1))
    assert_array_equal(result.direction[~np.isfinite(result.tilt)], 0)


@pytest.mark.parametrize("tolerance", [None, 0.7])
def test_a_linear_regressor_tips_where_it_leaves_its_interval(tolerance, data):
    X, y = data
    model = gk.KernelRidge(kernel="linear", alpha=0.1, conformal="count").fit(X, y)
    half = np.diff(model.predict_interval(ROWS, coverage=0.8), axis=1)[:, 0] / 2 if tolerance is None else [0.7] * 5
    result = tipping_points(model, ROWS, coverage=0.8, tolerance=tolerance)
    assert_allclose(result.tilt, closed_form(model, half), atol=2e-4)


def test_a_prediction_tips_for_every_kind_of_estimator_at_its_own_shift(data):
    """At the shift found the prediction differs, just before it does not."""
    X, y = data
    classes = np.digitize(y, [-1.0, 1.0])
    for model in (
        gk.SVC(kernel="rbf").fit(X, classes),
        gk.SVC(kernel="linear", indicator=True).fit(X, classes),
        gk.SVCCV(Cs=[1.0], gammas=[0.1]).fit(X, classes),
        gk.GaussianProcessClassifier(optimizer=None).fit(X, classes),
        gk.GapClassifier(members=["rbf", "ehk"], cv=2, random_state=0).fit(X, classes),
    ):
        result = tipping_points(model, ROWS)
        table, before = model.table_of(ROWS), model.predict(ROWS)
        tipped = np.argwhere(np.isfinite(result.tilt))
        assert len(tipped), model
        for i, k in tipped:
            unit = result.direction[i, k] * model.training_summary_.deviations[k]
            shift = unit * (result.tilt[i, k] + np.array([-2e-4, 1e-9]))
            pair = Table(np.repeat(table.values[[i]], 2, axis=0), table.schema, Tilt(int(k), shift))
            now = model.predict(pair)
            assert now[0] == before[i]
            assert now[1] != before[i]


def test_the_units_of_a_column_do_not_matter_and_members_without_laws_are_named(data):
    X, y = data
    model = gk.GapRegressor(members=["rbf"], cv=2, random_state=0)
    first = tipping_points(model.fit(X, y), ROWS)
    units = np.array([1.0, 1000.0, 0.01])
    second = tipping_points(model.fit(X * units + 5.0, y), ROWS * units + 5.0)
    assert_allclose(first.tilt, second.tilt, atol=2e-3)
    assert first.gaussian_share == 1.0
    mixed = gk.GapRegressor(members=["rbf", "ehk"], cv=2, random_state=0).fit(X, y)
    share = sum(row.weight for row in mixed.members_ if row.member == "rbf")
    assert_allclose(tipping_points(mixed, ROWS).gaussian_share, share)
    alone = gk.GapRegressor(members=["ehk"], cv=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="has no Gaussian laws"):
        tipping_points(alone, ROWS)


def test_a_missing_category_has_no_shift_but_moves_with_a_number():
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    size = random.standard_normal(60)
    seen = np.where(random.random(60) < 0.1, np.nan, size)
    X = pd.DataFrame({"size": seen, "kind": np.where(size > 0, "big", "small")})
    for model in (gk.SVC(kernel="rbf"), gk.GapClassifier(members=["rbf"], cv=2, random_state=0)):
        model.fit(X, size > 0)
        result = tipping_points(model, pd.DataFrame({"size": [None, None, 0.3], "kind": ["big", None, None]}))
        assert_array_equal(np.isnan(result.tilt), [[False, False], [False, True], [False, True]])
        assert 0 < result.tilt[1, 0] < 3
        assert result.names == ("size", "kind")


def test_codes_that_were_taken_for_a_category_have_no_shift():
    random = np.random.default_rng(0)
    codes, size = random.integers(0, 4, 80).astype(float), random.standard_normal(80)
    model = gk.GapClassifier(members=["process"], cv=2, random_state=0)
    model.fit(np.column_stack([size, codes]), np.isin(codes, [0.0, 3.0]))
    assert model.columns_[1].kind == "category"
    result = tipping_points(model, [[0.5, np.nan], [np.nan, np.nan], [np.nan, 0.0]])
    assert_array_equal(np.isnan(result.tilt), [[False, True], [False, True], [False, False]])


def test_what_cannot_be_tilted_is_refused(data):
    X, y = data
    from sklearn.tree import DecisionTreeRegressor

    for model, message in (
        (gk.KernelRidge(kernel="ehk").fit(X, y), "has no Gaussian laws"),
        (DecisionTreeRegressor().fit(X, y), "has no laws"),
        (gk.KernelRidge().fit(X, y), "conformal=.count."),
        (gk.KernelRidge().fit(X, np.column_stack([y, y])), "one target"),
    ):
        with pytest.raises(ValueError, match=message):
            tipping_points(model, ROWS)
    assert np.isinf(tipping_points(gk.SVC().fit(X, y > 0), np.ones((2, 3))).tilt).all()
