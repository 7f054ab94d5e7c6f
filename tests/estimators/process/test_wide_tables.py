"""Gaussian processes on tables with more columns than rows, whose laws have few factors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import punch

import gapkernel as gk
from gapkernel.inspection import value_of_information
from gapkernel.kernels import AnisotropicRBF


def wide_table(n=40, d=70):
    """Columns driven by two factors, a tenth of the cells missing, and a target of the first factor."""
    random = np.random.default_rng(0)
    factors = random.standard_normal((n, 2))
    X = factors @ random.standard_normal((2, d)) + 0.5 * random.standard_normal((n, d))
    return punch(random, X, 0.1), factors[:, 0] + 0.1 * random.standard_normal(n)


def test_scaled_factor_laws_are_the_scaled_dense_ones():
    X, _ = wide_table(20, 6)
    rows = gk.density.FactorAnalysis(2).fit(X).condition(X)
    factors = np.linspace(0.5, 3.0, 6)
    assert_allclose(rows.scale(factors).means, rows.dense.scale(factors).means)
    assert_allclose(rows.scale(factors).dense.covariance, rows.dense.scale(factors).covariance, atol=1e-12)
    with pytest.raises(ValueError, match="one entry for each of 6 columns"):
        rows.scale([1.0])
    drawn = rows.draws(4000, np.random.RandomState(0))
    spread = np.array([np.cov(drawn[:, i].T) for i in range(20)])
    expected = np.array([rows.covariance_of(i) for i in range(20)])
    assert_allclose(spread, expected, atol=0.15 * np.abs(expected).max())


def test_a_wide_table_has_a_process():
    """It equals the one whose density has the same moments and writes covariances out."""
    X, y = wide_table()
    model = gk.GaussianProcessRegressor(density=gk.density.FactorAnalysis(), conformal="count", normalize_y=True).fit(
        X, y
    )
    known = gk.density.Gaussian.from_moments(model.density_.mean_, model.density_.covariance_)
    dense = gk.GaussianProcessRegressor(
        density=known,
        conformal="count",
        normalize_y=True,
        optimizer=None,
        length_scale=model.length_scale_,
        constant_value=model.constant_value_,
        noise_level=model.noise_level_,
    ).fit(X, y)
    assert_allclose(model.log_marginal_likelihood_value_, dense.log_marginal_likelihood_value_, rtol=1e-8)
    for ours, expected in zip(model.predict(X, return_std=True), dense.predict(X, return_std=True), strict=True):
        assert_allclose(ours, expected, rtol=1e-6)
    assert_allclose(model.predict_interval(X), dense.predict_interval(X), rtol=1e-6)
    assert np.isfinite(model.sample_y(X[:3], 2)).all()
    ours, expected = value_of_information(model, X[0]), value_of_information(dense, X[0])
    assert len(ours.columns) == np.isnan(X[0]).sum() > 0
    assert_allclose(ours.reduction, expected.reduction, rtol=1e-5, atol=1e-12)


def test_the_best_density_says_what_a_cell_is_worth_where_its_choice_can():
    X, y = wide_table(40, 8)
    best = gk.density.BestDensity([gk.density.FactorAnalysis(2)])
    model = gk.GaussianProcessRegressor(density=best).fit(X, y)
    row = np.where(np.arange(8) < 2, np.nan, 0.3)
    direct = gk.GaussianProcessRegressor(density=gk.density.FactorAnalysis(2)).fit(X, y)
    assert_allclose(value_of_information(model, row).reduction, value_of_information(direct, row).reduction)


def test_length_scales_go_with_few_factors():
    X, y = wide_table()
    few = gk.density.FactorAnalysis(1)
    model = gk.SVC(kernel=AnisotropicRBF(2.0), density=few).fit(X, y > 0)
    same = gk.SVC(kernel="rbf", gamma=0.5 / 2.0**2, density=few).fit(X, y > 0)
    assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-8)
