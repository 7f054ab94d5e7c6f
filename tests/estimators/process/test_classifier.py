"""Gaussian process classification with gaps: scikit-learn's where nothing is missing, integrals where something is."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessClassifier as Classical
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from strategies import punch

import gapkernel as gk
from gapkernel.estimators.process.classifier import link_integral
from gapkernel.rows import GaussianRows


def problem(seed=0, n=60, rate=0.0, n_classes=2):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.5 * random.standard_normal(n), [0.7, 2.0][: n_classes - 1])
    return punch(random, X, rate), y


def fixed(length_scale=1.3, **options):
    return gk.GaussianProcessClassifier(length_scale=length_scale, constant_value=2.0, optimizer=None, **options)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("length_scale", [1.3, [1.0, 2.0, 0.5]], ids=["one", "each"])
def test_complete_data_is_the_classical_process(length_scale, n_classes):
    X, y = problem(n_classes=n_classes)
    new = np.random.default_rng(1).standard_normal((40, 3))
    ours = fixed(length_scale, link="williams-barber").fit(X, y)
    theirs = Classical(ConstantKernel(2.0) * RBF(length_scale), optimizer=None).fit(X, y)
    assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-6)
    assert_array_equal(ours.predict(new), theirs.predict(new))
    assert_allclose(ours.log_marginal_likelihood(), theirs.log_marginal_likelihood(), atol=1e-5)


def test_the_search_is_not_worse_than_the_classical_one():
    X, y = problem()
    ours = gk.GaussianProcessClassifier(length_scale=1.0).fit(X, y)
    theirs = Classical(ConstantKernel(1.0) * RBF(1.0)).fit(X, y)
    assert ours.log_marginal_likelihood_value_ >= theirs.log_marginal_likelihood_value_ - 1e-3


@pytest.mark.parametrize("weight", [None, "uneven"])
@pytest.mark.parametrize("prior", ["even", "share"])
def test_the_gradient_of_the_likelihood_equals_differences(prior, weight):
    X, y = problem(rate=0.3)
    weight = None if weight is None else np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    model = fixed([1.3, 1.0, 2.0], prior=prior).fit(X, y, sample_weight=weight)
    theta = np.log([1.5, 1.3, 1.0, 0.7])
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    steps = 1e-5 * np.eye(4)
    differences = [
        (model.log_marginal_likelihood(theta + step) - model.log_marginal_likelihood(theta - step)) / 2e-5
        for step in steps
    ]
    assert_allclose(gradient, differences, rtol=1e-5, atol=1e-6)


def test_whole_weights_are_rows_with_one_latent_value():
    """A row of weight 2 has the likelihood squared: its Newton step is that of a doubled gradient and curvature."""
    X, y = problem(n=30)
    latent = fixed().fit(X, y, sample_weight=np.full(30, 2.0)).processes_[0].posterior.latent
    gram = 2.0 * RBF(1.3)(X)
    gradient = 2.0 * (y - expit(latent))
    assert_allclose(latent, gram @ gradient, atol=1e-4)


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (2.0, 0.1), (-3.0, 4.0), (1.0, 9.0)])
def test_the_link_integral_equals_quadrature(mean, deviation):
    exact, _ = quad(lambda g: expit(g) * norm.pdf(g, mean, deviation), mean - 12 * deviation, mean + 12 * deviation)
    assert_allclose(link_integral(np.array([mean]), np.array([deviation**2])), exact, atol=1e-7)


def test_latent_moments_of_an_incomplete_row_equal_draws():
    X, y = problem(rate=0.2)
    model = fixed().fit(X, y)
    row = np.array([[0.5, np.nan, np.nan]])
    rows, process = model._laws(row), model.processes_[0]
    points = GaussianRows.certain(rows.draws(200_000, 0)[:, 0])
    means = process.mean(points)
    assert_allclose(process.mean(rows), means.mean(), atol=5 * means.std() / np.sqrt(len(means)))
    some = GaussianRows.certain(points.means[:20_000])
    total = process.variance(some).mean() + means.var()
    assert_allclose(process.variance(rows), total, rtol=0.02)


def test_a_row_of_gaps_has_the_share_of_its_class():
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 3))
    y = (X[:, 0] + random.standard_normal(200) > 1.5).astype(int)
    X[random.random(X.shape) < 0.2] = np.nan
    nothing = np.full((1, 3), np.nan)
    share = gk.GaussianProcessClassifier(prior="share").fit(X, y).predict_proba(nothing)[0, 1]
    assert abs(share - y.mean()) < 0.1


def test_leaving_one_out_is_close_to_fitting_without_the_row():
    X, y = problem(rate=0.3)
    density = gk.density.Gaussian.from_moments(np.zeros(3), np.eye(3))
    left_out = fixed(density=density).fit(X, y).leave_one_out()
    for i in range(8):
        without = fixed(density=density).fit(np.delete(X, i, 0), np.delete(y, i))
        assert_allclose(left_out[i], without.predict_proba(X[i : i + 1])[0], atol=2e-3)


def test_classes_that_are_rare_weigh_more_when_balanced():
    X, y = problem()
    plain, balanced = fixed().fit(X, y), fixed(class_weight="balanced").fit(X, y)
    rare = int(y.mean() < 0.5)
    assert balanced.predict_proba(X)[:, rare].mean() > plain.predict_proba(X)[:, rare].mean()


@pytest.mark.parametrize("estimator", [gk.GaussianProcessClassifier, gk.GaussianProcessRegressor])
def test_shrunk_length_scales_lie_between_one_and_free_ones(estimator):
    X, y = problem(n=80, rate=0.1)
    target = y if estimator is gk.GaussianProcessClassifier else y + 0.1 * X[:, :1].ravel()
    target = np.nan_to_num(target)
    free, shrunk = (np.log(np.ravel(estimator(length_scale=s).fit(X, target).length_scale_)) for s in ("ard", "shrunk"))
    assert shrunk.std() < free.std()
    assert shrunk.std() > 1e-3
    assert shrunk.argmin() == free.argmin()


def test_an_indicator_counts_what_is_missing():
    random = np.random.default_rng(0)
    X = random.standard_normal((120, 2))
    y = random.integers(0, 2, 120)
    X[y == 1, 1] = np.nan
    model = gk.GaussianProcessClassifier(indicator=True, length_scale=1.0, length_scale_bounds="fixed").fit(X, y)
    told = model.predict_proba([[0.0, np.nan], [0.0, 0.0]])[:, 1]
    assert told[0] > 0.8 > 0.2 > told[1]


# --- landmarks in place of training rows ----------------------------------------------------------


@pytest.mark.parametrize("kind", [gk.GaussianProcessClassifier, gk.GaussianProcessRegressor])
def test_landmarks_at_all_complete_rows_are_exact(kind):
    random = np.random.default_rng(3)
    X, y = problem(n=60)
    y = y if kind is gk.GaussianProcessClassifier else y + 0.1 * random.standard_normal(60)
    new = punch(random, random.standard_normal((12, 3)), 0.5)
    exact, points = (kind(length_scale=1.3, optimizer=None, n_landmarks=n).fit(X, y) for n in (None, 60))
    processes = [model.processes_[0] for model in (exact, points)]
    variances = [process.variance(model._laws(new)) for model, process in zip((exact, points), processes, strict=True)]
    assert_allclose(variances[1], variances[0], rtol=1e-5)
    assert processes[1].landmarks.error < 1e-5
    assert processes[0].landmarks is None


def test_landmarks_are_as_close_as_they_say():
    random = np.random.default_rng(4)
    X = random.standard_normal((600, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * random.standard_normal(600)
    X = punch(random, X, 0.3)
    new = punch(random, random.standard_normal((40, 5)), 0.4)
    options = {"length_scale": 2.0, "noise_level": 0.1, "optimizer": None}
    model = gk.GaussianProcessRegressor(**options).fit(X, y)
    exact = gk.GaussianProcessRegressor(**options, n_landmarks=None).fit(X, y)
    _, close = model.predict(new, return_std=True)
    _, right = exact.predict(new, return_std=True)
    assert model.process_.landmarks is not None
    assert model.process_.landmarks.error <= 0.01
    assert np.abs(close / right - 1.0).max() < 0.02


def test_huge_weights_do_not_make_every_row_a_class_of_its_own():
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 2))
    y = (X[:, 0] + random.standard_normal(80) > 0).astype(int)
    plain, heavy = (gk.GaussianProcessClassifier().fit(X, y, sample_weight=np.full(80, w)) for w in (1.0, 1e6))
    assert_allclose(heavy.length_scale_, plain.length_scale_, rtol=1e-4)


@pytest.mark.parametrize("conformal", ["count", "mask"])
def test_rows_whose_class_is_sure_to_the_last_digit_are_left_out_without_a_division_by_zero(conformal):
    random = np.random.default_rng(0)
    X = random.standard_normal((120, 2))
    y = X.sum(axis=1) > 0
    X[random.random(X.shape) < 0.2] = np.nan
    with warnings.catch_warnings(action="error"):
        model = gk.GaussianProcessClassifier(conformal=conformal).fit(X, y)
    inside = model.predict_set(X, coverage=0.9)[np.arange(120), y.astype(int)]
    assert 0.9 <= inside.mean() <= 1.0
