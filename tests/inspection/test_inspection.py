"""Coverage by gap count, conformal calibration, the value of a measurement, and the displays of all three."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import GaussianProcessRegressor as Classical
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from strategies import punch

import gapkernel as gk
from gapkernel.inspection import coverage, value_of_information


def problem(seed, n, rate, noise=lambda random, n: 0.2 * random.standard_normal(n)):
    """A smooth target of three correlated columns, with noise of any law."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3)) @ np.array([[1.0, 0.6, 0.0], [0.0, 1.0, 0.6], [0.0, 0.0, 0.8]])
    return punch(random, X, rate), np.sin(X[:, 0]) + X[:, 1] + noise(random, n)


@pytest.fixture(scope="module")
def model():
    X, y = problem(0, 80, 0.2)
    return gk.GaussianProcessRegressor(normalize_y=True).fit(X, y)


# --- conformal calibration ------------------------------------------------------------------------------------


def test_conformal_intervals_cover_at_every_gap_count_where_normal_ones_do_not():
    """Noise that is rarely large: normal intervals are too wide."""
    spikes = lambda random, n: np.where(random.random(n) < 0.06, 8.0, 0.02) * random.standard_normal(n)  # noqa: E731
    X, y = problem(1, 160, 0.15, spikes)
    new, target = problem(2, 1000, 0.15, spikes)
    plain = gk.GaussianProcessRegressor(normalize_y=True).fit(X, y)
    assert coverage(plain, new, target).overall > 0.93
    calibrated = gk.GaussianProcessRegressor(normalize_y=True, conformal="count").fit(X, y)
    result = coverage(calibrated, new, target)
    rows = len(calibrated.calibration_.scores)
    assert rows == 160
    enough = result.n_rows > 100
    slack = 3 * np.sqrt(0.09 * len(result.missing) / rows) + 3 * result.standard_error
    assert np.all(np.abs(result.covered - 0.9)[enough] < slack[enough])


# --- coverage -------------------------------------------------------------------------------------------------


def test_coverage_counts_rows_by_their_gaps(model):
    X, y = problem(3, 100, 0.4)
    result = coverage(model, X, y, coverage=0.8)
    low, high = model.predict_interval(X, coverage=0.8).T
    inside = (low <= y) & (y <= high)
    for k, missing in enumerate(result.missing):
        rows = np.isnan(X).sum(axis=1) == missing
        assert result.n_rows[k] == rows.sum()
        assert result.covered[k] == pytest.approx(inside[rows].mean())
        assert result.width[k] == pytest.approx((high - low)[rows].mean())
    assert result.overall == pytest.approx(inside.mean())
    assert np.all(np.diff(result.width) > 0)  # the less is known, the wider


def test_coverage_takes_what_scikit_learn_has():
    X, y = problem(3, 60, 0.3)
    machine = make_pipeline(SimpleImputer(), Classical(alpha=0.1)).fit(X, y)
    assert coverage(machine, X, y).n_rows.sum() == 60
    with pytest.raises(ValueError, match="neither predict_interval nor"):
        coverage(make_pipeline(SimpleImputer(), LinearRegression()).fit(X, y), X, y)
    with pytest.raises(ValueError, match="coverage must lie between"):
        coverage(machine, X, y, coverage=90)
    with pytest.raises(ValueError, match="y must be finite"):
        coverage(machine, X, np.full(60, np.nan))


class Wide:
    """A regressor of somebody else, which always says the same."""

    def predict_interval(self, X, coverage):
        return np.tile([-1.0, 1.0], (len(X), 1))


def test_gaps_are_counted_in_any_table():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    mixed = pd.DataFrame({"a": [1.0, None, 3.0, None], "b": ["x", None, None, "y"]})
    for table in (mixed, pl.from_pandas(mixed), [[1.0, 2.0], [None, None], [3.0, None], [None, 4.0]]):
        result = coverage(Wide(), table, [0.0, 0.0, 0.0, 2.0])
        assert_array_equal(result.missing, [0, 1, 2])
        assert_array_equal(result.n_rows, [1, 2, 1])
        assert_array_equal(result.covered, [1.0, 0.5, 1.0])


# --- the value of a measurement -------------------------------------------------------------------------------


def test_the_value_is_the_expected_fall_of_the_variance(model):
    """Var now - E[Var after], the expectation by another quadrature."""
    row = np.array([np.nan, np.nan, 0.3])
    result = value_of_information(model, row)
    law = model.density_.condition([row])
    grid = np.linspace(-9, 9, 2001)
    weights = np.exp(-0.5 * grid**2) / np.exp(-0.5 * grid**2).sum()
    now = model.predict([row], return_std=True)[1][0] ** 2
    assert result.uncertainty == pytest.approx(now)
    for k, column in enumerate(result.columns):
        measured = np.repeat(row[None], len(grid), axis=0)
        measured[:, column] = law.means[0, column] + np.sqrt(law.covariance_of(0)[column, column]) * grid
        after = weights @ model.predict(measured, return_std=True)[1] ** 2
        assert_allclose(result.reduction[k], now - after, rtol=1e-8)
    assert np.all(result.reduction > 0)
    assert result.names == ["column 0", "column 1"]


def test_a_column_that_says_nothing_is_worth_nothing():
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 3))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1]
    known = gk.density.Gaussian.from_moments(np.zeros(3), np.diag([1.0, 1.0, 0.0]))
    X[:, 2] = 0.0
    model = gk.GaussianProcessRegressor(density=known, noise_level=0.01, optimizer=None).fit(X, y)
    result = value_of_information(model, [np.nan, np.nan, np.nan])
    assert result.best == "column 0"
    assert result.reduction[0] > 3 * result.reduction[1] > 0
    assert result.reduction[2] == pytest.approx(0.0, abs=1e-12)  # never varies
    assert len(value_of_information(model, [0.0, 0.0, 0.0]).columns) == 0


def test_a_pipeline_is_seen_through():
    pd = pytest.importorskip("pandas")
    X, y = problem(0, 60, 0.2)
    frame = pd.DataFrame(100.0 * X, columns=["a", "b", "c"])
    machine = make_pipeline(StandardScaler(), gk.GaussianProcessRegressor()).fit(frame, y)
    row = pd.DataFrame({"a": [20.0], "b": [np.nan], "c": [np.nan]})
    result = value_of_information(machine, row)
    inner = value_of_information(machine[-1], machine[:-1].transform(row))
    direct = value_of_information(gk.GaussianProcessRegressor().fit(frame, y), row)
    assert direct.names == ["b", "c"]
    assert_array_equal(result.reduction, inner.reduction)
    assert result.names == ["b", "c"]


def test_a_category_is_worth_what_its_levels_say():
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    kind = np.array(["a", "b", "c"])[random.integers(0, 3, 90)]
    size = random.standard_normal(90)
    X = pd.DataFrame({"size": size, "kind": kind})
    machine = gk.GaussianProcessRegressor(constant_value=4.0, noise_level=0.01, optimizer=None)
    model = machine.fit(X, 0.3 * size + 3.0 * (kind == "a"))
    row = pd.DataFrame({"size": [np.nan], "kind": pd.Series([None], dtype=object)})
    result = value_of_information(model, row)
    assert result.names == ["size", "kind"]
    assert result.reduction[1] > 5 * result.reduction[0] > 0
    assert result.reduction[1] == pytest.approx(9.0 * 2 / 9, rel=0.2)  # the variance of 3 [a] with even levels


def test_bad_questions_are_answered_clearly(model):
    X, y = problem(0, 60, 0.2)
    with pytest.raises(ValueError, match="row must be one row, got 60"):
        value_of_information(model, X)
    with pytest.raises(ValueError, match="SVC has no predict_proba: wrap it in CalibratedClassifierCV"):
        value_of_information(gk.SVC().fit(X, y > 0), X[0])
    with pytest.raises(ValueError, match="has no density_: pass density="):
        value_of_information(DecisionTreeClassifier().fit(X, y > 0), X[0])


# --- displays -------------------------------------------------------------------------------------------------


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_displays_draw_what_they_were_given(plt, model):
    X, y = problem(3, 60, 0.3)
    shown = gk.plots.CoverageDisplay.from_estimator(model, X, y, coverage=0.8, name="GP")
    assert_allclose(shown.ax_.lines[1].get_ydata(), coverage(model, X, y, 0.8).covered)
    assert "80%" in shown.ax_.get_ylabel()

    figure, ax = plt.subplots()
    bands = gk.plots.PredictionBandDisplay.from_estimator(model, [0.1, 0.2, 0.3], order=[2, 0, 1], target=1.0, ax=ax)
    assert bands.figure_ is figure
    assert_allclose(bands.fraction, [0, 1 / 3, 2 / 3, 1])
    steps = [[0.1, 0.2, 0.3], [0.1, 0.2, np.nan], [np.nan, 0.2, np.nan], [np.nan, np.nan, np.nan]]
    assert_allclose(bands.mean, model.predict(steps))
    assert np.all(bands.bands[0.9][:, 0] < bands.bands[0.5][:, 0])

    worth = gk.plots.ValueOfInformationDisplay.from_estimator(model, [np.nan, np.nan, 0.3])
    widths = [bar.get_width() for bar in worth.ax_.patches]
    assert_allclose(widths, np.sort(value_of_information(model, [np.nan, np.nan, 0.3]).reduction))
