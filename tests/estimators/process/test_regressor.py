"""Gaussian processes with gaps: scikit-learn's where nothing is missing, Monte Carlo where something is."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor as Classical
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from strategies import gappy_tables, law_batches, punch, random_laws

import gapkernel as gk
from gapkernel.compute.pairs import side
from gapkernel.kernels import AnisotropicRBF, ExpectedRBF

SCALES = {"one length scale": 1.3, "one for each column": [1.0, 2.0, 0.5]}


def problem(seed=0, n=50, rate=0.0):
    """A smooth target of three correlated columns."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.6], [0.0, 0.0, 0.8]])
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * X[:, 2] ** 2 + 0.1 * random.standard_normal(n) + 2.0
    return punch(random, X, rate), y


def fixed(length_scale=1.3, **options):
    """A machine that keeps its hyperparameters."""
    return gk.GaussianProcessRegressor(
        length_scale=length_scale, constant_value=1.5, noise_level=0.05, optimizer=None, **options
    )


def classical(length_scale=1.3, **options):
    kernel = ConstantKernel(1.5) * RBF(length_scale) + WhiteKernel(0.05)
    return Classical(kernel, **options)


# --- complete data: scikit-learn's process --------------------------------------------------------


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("length_scale", SCALES.values(), ids=SCALES.keys())
def test_complete_data_is_the_classical_process(length_scale, normalize_y):
    X, y = problem()
    new = np.random.default_rng(1).standard_normal((9, 3))
    alpha = np.linspace(0.01, 0.1, len(y))
    ours = fixed(length_scale, normalize_y=normalize_y, alpha=alpha).fit(X, y)
    theirs = classical(length_scale, normalize_y=normalize_y, alpha=alpha, optimizer=None).fit(X, y)
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-8)
    assert_allclose(ours.predict(new, return_std=True)[1], theirs.predict(new, return_std=True)[1], rtol=1e-8)
    assert_allclose(ours.predict(new, return_cov=True)[1], theirs.predict(new, return_cov=True)[1], atol=1e-8)
    assert_allclose(ours.sample_y(new, 3, random_state=0), theirs.sample_y(new, 3), atol=1e-6)
    theta = theirs.kernel_.theta
    value, gradient = ours.log_marginal_likelihood(theta, eval_gradient=True)
    expected, expected_gradient = theirs.log_marginal_likelihood(theta, eval_gradient=True)
    assert_allclose(value, expected, rtol=1e-8)
    assert_allclose(gradient, expected_gradient, rtol=1e-8, atol=1e-8)
    assert_allclose(ours.log_marginal_likelihood_value_, theirs.log_marginal_likelihood_value_, rtol=1e-8)


@pytest.mark.parametrize("length_scale", SCALES.values(), ids=SCALES.keys())
def test_the_optimum_is_not_worse_than_the_classical_one(length_scale):
    X, y = problem()
    ours = fixed(length_scale).set_params(optimizer="fmin_l_bfgs_b", n_restarts_optimizer=1, random_state=0).fit(X, y)
    theirs = classical(length_scale, n_restarts_optimizer=1, random_state=0).fit(X, y)
    assert ours.log_marginal_likelihood_value_ > theirs.log_marginal_likelihood_value_ - 1e-6


# --- training rows with gaps ----------------------------------------------------------------------


@pytest.mark.parametrize("crowd", [4, 24])
@pytest.mark.parametrize("shape", [(30, 5, 0.3, None), (40, 6, 0.4, 3), (30, 4, 0.0, None), (70, 8, 0.8, 20)])
def test_length_scale_sums_equal_differences(monkeypatch, crowd, shape):
    monkeypatch.setattr(side, "CROWD", crowd)
    _, _, rows = random_laws(3, *shape)
    random = np.random.default_rng(0)
    scales, weights = np.exp(0.4 * random.standard_normal(shape[1])), random.standard_normal((shape[0], shape[0]))
    weights += weights.T
    gram, sums = AnisotropicRBF(scales).gram_and_sums(rows)
    assert_allclose(gram, AnisotropicRBF(scales).gram(rows), atol=1e-14)

    def total(logarithms):
        return np.sum(weights * AnisotropicRBF(np.exp(logarithms)).gram(rows))

    step = 1e-5 * np.eye(shape[1])
    differences = [(total(np.log(scales) + e) - total(np.log(scales) - e)) / 2e-5 for e in step]
    assert_allclose(sums(weights), differences, atol=1e-8)


def test_length_scale_sums_do_not_depend_on_threads_or_row_order():
    _, _, rows = random_laws(4, 150, 6, 0.4)
    weights = np.cov(np.random.default_rng(0).standard_normal((150, 200)))
    with gk.config_context(n_threads=1):
        one = AnisotropicRBF(1.5).gram_and_sums(rows)[1](weights)
    with gk.config_context(n_threads=3):
        three = AnisotropicRBF(1.5).gram_and_sums(rows)[1](weights)
    assert_array_equal(one, three)
    back = np.arange(150)[::-1]
    assert_allclose(AnisotropicRBF(1.5).gram_and_sums(rows.take(back))[1](weights[np.ix_(back, back)]), one, rtol=1e-10)


@given(problem=law_batches())
def test_one_length_scale_is_the_expected_rbf(problem):
    _, _, rows = problem
    assert_allclose(AnisotropicRBF(0.7).gram(rows), ExpectedRBF(0.5 / 0.7**2).gram(rows), atol=1e-13)
    factors = np.linspace(0.5, 2.0, rows.n_features)
    scaled, mapped = rows.scale(factors), rows.map(np.diag(factors))
    assert_allclose(scaled.means, mapped.means)
    for i in range(len(rows)):
        size = 1e-12 * np.abs(rows.covariance).max(initial=0.0)
        assert_allclose(scaled.covariance_of(i), mapped.covariance_of(i), rtol=1e-7, atol=size)


@pytest.mark.parametrize("length_scale", [None, "ard"])
def test_the_gradient_of_the_likelihood_equals_differences(length_scale):
    X, y = problem(rate=0.3)
    model = gk.GaussianProcessRegressor(length_scale=length_scale, normalize_y=True).fit(X, y)
    theta = model.theta_ + 0.2
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    step = 1e-5 * np.eye(len(theta))
    value = model.log_marginal_likelihood
    assert_allclose(gradient, [(value(theta + e) - value(theta - e)) / 2e-5 for e in step], rtol=1e-6, atol=1e-6)


def test_the_fit_is_a_maximum_of_the_likelihood():
    X, y = problem(rate=0.2)
    model = gk.GaussianProcessRegressor(normalize_y=True).fit(X, y)
    assert np.abs(model.log_marginal_likelihood(model.theta_, eval_gradient=True)[1]).max() < 1e-2
    best = model.log_marginal_likelihood_value_
    assert best == pytest.approx(model.log_marginal_likelihood(), rel=1e-12)
    assert all(model.log_marginal_likelihood(model.theta_ + step) < best for step in 0.3 * np.eye(3))
    restarted = clone(model).set_params(n_restarts_optimizer=3, random_state=0).fit(X, y)
    assert restarted.log_marginal_likelihood_value_ > best - 1e-6


def test_targets_have_the_covariance_of_the_process_on_drawn_rows():
    """E f(x_i) f(x_j) over process and gaps is the Gram matrix: by 1e6 draws of both."""
    density, X, _ = random_laws(2, 4, 3, 0.5)
    model = fixed(density=density).fit(X, np.arange(4.0))
    random = np.random.default_rng(0)
    kernel, n_draws, products = ConstantKernel(1.5) * RBF(1.3), 20_000, []
    drawn = density.sample(X, n_draws, random_state=0)
    squared = np.sum((drawn[:, :, None] - drawn[:, None]) ** 2, axis=3)
    factor = np.linalg.cholesky(1.5 * np.exp(-0.5 * squared / 1.3**2) + 1e-12 * np.eye(4))
    assert_allclose(factor[0] @ factor[0].T, kernel(drawn[0]), atol=1e-10)
    values = np.einsum("tij,tkj->tki", factor, random.standard_normal((n_draws, 50, 4))).reshape(-1, 4)
    products = values[:, :, None] * values[:, None]
    averages = products.reshape(n_draws, 50, 4, 4).mean(axis=1)  # those of one completion are not independent
    error = averages.std(axis=0) / np.sqrt(n_draws)
    expected = 1.5 * model.kernel_.gram(model.rows_)
    assert np.all(np.abs(averages.mean(axis=0) - expected) < 4 * error)


# --- new rows with gaps ---------------------------------------------------------------------------

NEW = {
    "one gap": [0.5, np.nan, 0.2],
    "two gaps": [np.nan, np.nan, 1.0],
    "wholly missing": [np.nan, np.nan, np.nan],
}


def moments_by_draws(model, row, n_draws):
    """Mean and variance over draws of the row's gaps, and their standard errors."""
    drawn = model.density_.sample([row], n_draws, random_state=0)[:, 0]
    parts = [model.predict(part, return_std=True) for part in np.array_split(drawn, 20)]
    means, deviations = (np.concatenate(values) for values in zip(*parts, strict=True))
    variances = deviations**2 + (means - means.mean()) ** 2
    errors = means.std() / np.sqrt(n_draws), variances.std() / np.sqrt(n_draws)
    return means.mean(), variances.mean(), *errors


@pytest.mark.parametrize(
    ("row", "train_rate"),
    [(NEW["one gap"], 0.4), (NEW["two gaps"], 0.4), (NEW["wholly missing"], 0.4), (NEW["wholly missing"], 0.0)],
)
def test_moments_of_an_incomplete_row_equal_a_million_draws(row, train_rate):
    X, y = problem(n=12, rate=train_rate)
    model = fixed([1.0, 2.0, 0.5], normalize_y=True).fit(X, y)
    mean, std = (value[0] for value in model.predict([row], return_std=True))
    drawn_mean, drawn_variance, mean_error, variance_error = moments_by_draws(model, row, 1_000_000)
    assert abs(mean - drawn_mean) < 3 * mean_error
    assert abs(std**2 - drawn_variance) < 3 * variance_error


def test_one_gap_equals_quadrature():
    X, y = problem(n=25, rate=0.3)
    model = fixed().fit(X, y)
    mean, std = model.predict([NEW["one gap"]], return_std=True)
    rows = model.density_.condition([NEW["one gap"]])
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights /= weights.sum()
    completed = np.repeat(rows.means, 80, axis=0)
    completed[:, 1] += nodes * np.sqrt(rows.covariance[0])
    means, deviations = model.predict(completed, return_std=True)
    assert_allclose(mean, weights @ means, rtol=1e-10)
    assert_allclose(std**2, weights @ deviations**2 + weights @ (means - weights @ means) ** 2, rtol=1e-9)


def test_variance_is_not_below_that_of_the_completed_row_on_average():
    X, y = problem(n=40, rate=0.3)
    model = fixed(normalize_y=True).fit(X, y)
    new = problem(seed=5, n=30, rate=0.5)[0]
    variance = model.predict(new, return_std=True)[1] ** 2
    completed = model.density_.sample(new, 200, random_state=0)
    after = np.array([model.predict(table, return_std=True)[1] ** 2 for table in completed])
    assert np.all(variance > after.mean(axis=0) - 4 * after.std(axis=0) / np.sqrt(200) - 1e-12)


def test_covariance_and_deviation_agree_and_draws_have_them():
    X, y = problem(n=15, rate=0.3)
    model = fixed().fit(X, y)
    new = np.array([*NEW.values(), [0.3, -0.2, 0.1]])
    mean, covariance = model.predict(new, return_cov=True)
    assert_allclose(np.sqrt(np.diag(covariance)), model.predict(new, return_std=True)[1], rtol=1e-10)
    draws = model.sample_y(new, 800, random_state=0)
    error = np.sqrt(np.diag(covariance) / 800)
    assert np.all(np.abs(draws.mean(axis=1) - mean) < 4 * error)
    products = (draws - mean[:, None])[:, None] * (draws - mean[:, None])[None]
    assert np.all(np.abs(products.mean(axis=2) - covariance) < 5 * products.std(axis=2) / np.sqrt(800))


def test_leaving_one_out_equals_fitting_without_the_row():
    X, y = problem(n=20, rate=0.4)
    X[3] = np.nan
    density = gk.density.Gaussian().fit(X)
    known = gk.density.Gaussian.from_moments(density.mean_, density.covariance_)
    alpha = np.linspace(0.01, 0.2, 20)
    means, deviations = fixed(density=known, alpha=alpha).fit(X, y).leave_one_out()
    for i in range(20):
        rest = np.arange(20) != i
        mean, std = fixed(density=known, alpha=alpha[rest]).fit(X[rest], y[rest]).predict(X[[i]], return_std=True)
        assert_allclose([means[i], deviations[i]], [mean[0], std[0]], rtol=1e-8)


@settings(max_examples=10)
@given(X=gappy_tables(min_rows=2, max_rows=12, scales=(1e-3, 1.0, 1e3)))
def test_any_table_gives_finite_moments_that_do_not_depend_on_the_batch(X):
    y = np.arange(len(X)) % 7 - 3.0
    model = gk.GaussianProcessRegressor(optimizer=None, noise_level=0.1).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.all(std >= np.sqrt(0.1))
    alone = [model.predict(X[i : i + 1], return_std=True) for i in range(len(X))]
    assert_allclose(mean, np.ravel([a[0] for a in alone]), rtol=1e-9, atol=1e-9)
    assert_allclose(std, np.ravel([a[1] for a in alone]), rtol=1e-7)


# --- categories, calibration, bad input --------------- ------------------------------------------


def test_a_category_has_one_length_scale():
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    kind = np.array(["a", "b", "c"])[random.integers(0, 3, 60)]
    size = random.standard_normal(60)
    y = size + 2.0 * (kind == "a") + 0.1 * random.standard_normal(60)
    X = pd.DataFrame({"size": size, "kind": kind})
    X.loc[::7, "kind"] = None
    X.loc[3::11, "size"] = None
    model = gk.GaussianProcessRegressor(length_scale="ard").fit(X, y)
    assert model.length_scale_.shape == (2,)
    step = 1e-5 * np.eye(4)
    value = model.log_marginal_likelihood
    theta = np.array([0.0, 0.5, -0.5, -1.0])
    differences = [(value(theta + e) - value(theta - e)) / 2e-5 for e in step]
    assert_allclose(value(theta, eval_gradient=True)[1], differences, rtol=1e-6, atol=1e-6)
    mean = model.predict(pd.DataFrame({"size": [0.0, 0.0], "kind": ["a", "b"]}))
    assert 1.5 < mean[0] - mean[1] < 2.5


BAD = {
    "alpha, zero": ({"alpha": 0.0}, "alpha must be positive.*Raise it"),
    "alpha, negative": ({"alpha": -1.0}, "alpha must be positive"),
    "alpha, length": ({"alpha": [0.1, 0.1]}, "one entry for each of 30 rows"),
    "constant_value": ({"constant_value": 0.0}, "'constant_value' parameter .* in the range \\(0.0, inf\\)"),
    "noise_level": ({"noise_level": -0.1}, "'noise_level' parameter .* in the range \\[0.0, inf\\)"),
    "constant_value, word": ({"constant_value": "a"}, "'constant_value' parameter .* Got 'a'"),
    "constant_value, vector": ({"constant_value": [1.0, 2.0]}, "'constant_value' parameter .* must be a float"),
    "noise_level, vector": ({"noise_level": [0.1, 0.2]}, "'noise_level' parameter .* must be a float"),
    "length_scale, words": (
        {"length_scale": ["a", "b", "c"]},
        "length_scale must be .* 3 of them, got \\['a'",
    ),
    "length_scale": (
        {"length_scale": [1.0, 2.0]},
        "length_scale must be .* 3 of them, got \\[1.0, 2.0\\]",
    ),
    "length_scale, zero": ({"length_scale": 0.0}, "length_scale must be .* got 0.0"),
    "length_scale, word": ({"length_scale": "median"}, "length_scale must be None, 'ard', 'shrunk'"),
    "two widths": ({"length_scale": 1.0, "gamma": 2.0}, "not both"),
    "bounds": ({"noise_level_bounds": (1.0, 0.1)}, "noise_level_bounds must be 'fixed' or a pair"),
    "optimizer": ({"optimizer": "adam"}, "'optimizer' parameter of GaussianProcessRegressor must be"),
    "restarts": ({"n_restarts_optimizer": -1}, "'n_restarts_optimizer' parameter .* int in the range"),
    "conformal": ({"conformal": "split"}, "'conformal' parameter .*'count'.* Got 'split'"),
    "density, mixture": (
        {"density": gk.density.GaussianMixture(2)},
        "gives mixture ones",
    ),
    "density, best": (
        {"density": gk.density.BestDensity([gk.density.GaussianMixture(2)])},
        "needs Gaussian laws, but BestDensity.* gives mixture ones. Use density='auto'",
    ),
    "density": ({"density": gk.density.Marginals()}, "have marginal laws. Use density='auto'"),
}


@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD.keys())
def test_bad_parameters_are_named(options, message):
    X, y = problem(n=30)
    model = gk.GaussianProcessRegressor(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "density_")


def test_a_singular_covariance_names_what_to_raise():
    X, y = problem(n=30)
    X[1] = X[0]
    singular = gk.GaussianProcessRegressor(optimizer=None, noise_level=0.0, alpha=1e-300)
    with pytest.raises(np.linalg.LinAlgError, match=r"Raise alpha \(now 1e-300\) or noise_level"):
        singular.fit(X, y)


def test_a_constant_target_is_said_and_predicted():
    X, _ = problem(n=30, rate=0.2)
    for normalize_y in (False, True):
        model = gk.GaussianProcessRegressor(normalize_y=normalize_y, noise_level=0.01)
        with pytest.warns(UserWarning, match=r"y is constant.*optimizer=None"):
            model.fit(X, np.full(30, 4.0))
    assert_allclose(model.predict(X), 4.0)


def test_fixed_hyperparameters_stay():
    X, y = problem(rate=0.2)
    model = gk.GaussianProcessRegressor(
        length_scale=2.0, length_scale_bounds="fixed", noise_level=0.0, constant_value=3.0, alpha=0.1
    ).fit(X, y)
    assert model.length_scale_ == pytest.approx(2.0)
    assert model.noise_level_ == 0
    assert model.theta_.shape == (1,)
    own = (
        clone(model).set_params(optimizer=lambda objective, theta, bounds: (theta + 0.5, objective(theta)[0])).fit(X, y)
    )
    assert own.constant_value_ == pytest.approx(3.0 * np.exp(0.5))


def test_a_copy_predicts_the_same():
    X, y = problem(rate=0.2)
    model = gk.GaussianProcessRegressor(conformal="count", normalize_y=True).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict_interval(X), model.predict_interval(X))
    with pytest.raises(RuntimeError, match="At most one"):
        model.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="coverage must lie between"):
        model.predict_interval(X, coverage=90)
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1, got 'a'"):
        model.predict_interval(X, coverage="a")
