"""Weights in Gaussian processes: the noise of means, and what they do to intervals and gradients."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import gapkernel as gk


def test_a_weight_is_the_noise_of_a_mean():
    """At given hyperparameters a row of weight w is w rows with one target."""
    random = np.random.default_rng(0)
    X, weight = random.standard_normal((25, 2)), random.integers(0, 4, 25)
    y = np.sin(X[:, 0]) + 0.3 * random.standard_normal(25)
    model = gk.GaussianProcessRegressor(optimizer=None, length_scale=1.3, noise_level=0.2, normalize_y=True)
    weighted = clone(model).fit(X, y, sample_weight=weight).predict(X, return_std=True)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict(X, return_std=True)
    for left, right in zip(weighted, repeated, strict=True):
        assert_allclose(left, right, rtol=1e-7)


@pytest.mark.parametrize("conformal", ["count", "mask"])
def test_intervals_by_rows_of_other_weights_cover_targets_of_weight_1(conformal):
    random = np.random.default_rng(0)
    X, weight = random.standard_normal((300, 1)), np.where(random.random(300) < 0.7, 25.0, 1.0)
    y = np.sin(X[:, 0]) + random.standard_normal(300) / np.sqrt(weight)
    model = gk.GaussianProcessRegressor(length_scale=1.0, optimizer=None, conformal=conformal, random_state=0)
    model.fit(X, y, sample_weight=weight)
    new = random.standard_normal((2000, 1))
    low, high = model.predict_interval(new, coverage=0.8).T
    targets = np.sin(new[:, 0]) + random.standard_normal(2000)
    assert_allclose(np.mean((low <= targets) & (targets <= high)), 0.8, atol=0.06)


def test_only_ratios_of_weights_count_with_noise_in_their_units():
    random = np.random.default_rng(0)
    X, weight = random.standard_normal((40, 2)), random.uniform(0.5, 2.0, 40)
    y = X[:, 0] + 0.3 * random.standard_normal(40)
    model = gk.GaussianProcessRegressor(optimizer=None, length_scale=1.5)
    here, there = (clone(model).set_params(noise_level=k).fit(X, y, sample_weight=k * weight) for k in (1.0, 50.0))
    assert_allclose(here.predict(X), there.predict(X), rtol=1e-8)
    assert_allclose(here.log_marginal_likelihood(), there.log_marginal_likelihood(), rtol=1e-8)


def test_the_gradient_with_weights_equals_differences():
    random = np.random.default_rng(1)
    X = random.standard_normal((20, 2))
    X[random.random(X.shape) < 0.2] = np.nan
    model = gk.GaussianProcessRegressor(optimizer=None, length_scale=[1.0, 2.0], noise_level=0.3)
    model.fit(X, random.standard_normal(20), sample_weight=random.uniform(0.2, 3.0, 20))
    theta = model.theta_
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    for k, step in enumerate(1e-5 * np.eye(len(theta))):
        rise = model.log_marginal_likelihood(theta + step) - model.log_marginal_likelihood(theta - step)
        assert_allclose(gradient[k], rise / 2e-5, rtol=1e-4, atol=1e-6)
