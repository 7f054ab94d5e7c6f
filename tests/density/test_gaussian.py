"""The Gaussian density: EM climbs, arrives where other methods arrive, and survives the edges."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from numpy.testing import assert_allclose
from reference.likelihood import log_likelihood, maximum_likelihood, plain_em
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from strategies import gappy_tables, punch, random_covariance, random_laws

import gapkernel as gk
from gapkernel.density import Gaussian

OPTIMUM = 1e-6
"""Near an optimum an objective is flat: 1e-15 of its size, all that doubles can tell, is 1e-7 in the moments."""


# without a ridge the likelihood may climb for ever towards a singular covariance; the fit stops and says so
may_be_singular = pytest.mark.filterwarnings("ignore:EM stopped early. the objective fell.*singular")


def gappy_sample(seed, n=60, d=4, rate=0.3):
    """A table from a correlated Gaussian, at least two values in each column and one in each row."""
    random = np.random.default_rng(seed)
    X = random.multivariate_normal(random.standard_normal(d), random_covariance(random, d), size=n)
    gappy = punch(random, X, rate)
    empty = np.isnan(gappy).all(axis=1)
    gappy[empty, 0] = X[empty, 0]
    return gappy


def assert_moments_close(density, mean, covariance, tolerance):
    """Equal in units of standard deviations."""
    deviation = np.sqrt(np.diag(covariance))
    assert_allclose((density.mean_ - mean) / deviation, 0, atol=tolerance)
    assert_allclose((density.covariance_ - covariance) / np.outer(deviation, deviation), 0, atol=tolerance)


@may_be_singular
@given(seed=st.integers(0, 10_000), rate=st.sampled_from([0.05, 0.3, 0.7]), d=st.integers(1, 6),
       how=st.sampled_from(["none", "auto", "strong"]))  # fmt: skip
def test_the_objective_never_falls(seed, rate, d, how):
    X = gappy_sample(seed, n=40, d=d, rate=rate)
    options = {"none": {"ridge": 0}, "auto": {}, "strong": {"ridge": 0.3}}[how]
    density = Gaussian(**options, tol=1e-10, max_iter=3000)
    density.fit(X)
    steps = np.diff(density.objective_)
    size = np.abs(density.objective_).max()
    assert steps.min(initial=0.0) >= -1e-10 * size, f"the objective fell by {-steps.min():.1e}"
    assert len(density.objective_) == len(density.log_likelihood_) == density.n_iter_ + 1
    if how == "none":
        assert np.array_equal(density.objective_, density.log_likelihood_)


@pytest.mark.parametrize("seed", range(4))
def test_maximum_likelihood_equals_an_optimum_found_without_em(seed):
    X = gappy_sample(seed, n=80, d=3 + seed % 2, rate=0.25)
    density = Gaussian(ridge=0, tol=1e-15, max_iter=20_000).fit(X)
    assert_moments_close(density, *maximum_likelihood(X), tolerance=OPTIMUM)


def test_default_settings_come_close_to_the_optimum():
    X = gappy_sample(0, n=2000, d=4, rate=0.25)
    density = Gaussian(ridge=0).fit(X)
    standard_error = 1 / np.sqrt(len(X))
    assert_moments_close(density, *plain_em(X, 150), tolerance=0.05 * standard_error)


@pytest.mark.parametrize("seed", range(3))
def test_the_history_ends_at_the_likelihood_of_the_moments(seed):
    X = gappy_sample(seed)
    density = Gaussian(ridge=0).fit(X)
    assert_allclose(density.log_likelihood_[-1], log_likelihood(X, density.mean_, density.covariance_), rtol=1e-10)
    assert_allclose(density.score_samples(X).sum(), density.log_likelihood_[-1], rtol=1e-10)


@pytest.mark.parametrize("ridge", [0.01, 0.5])
def test_the_ridge_is_a_prior_on_the_variances(ridge):
    X = gappy_sample(1)
    scatter = ridge * len(X) * np.diag(np.nanvar(X, axis=0))
    density = Gaussian(ridge=ridge, tol=1e-15, max_iter=20_000).fit(X)
    assert_moments_close(density, *plain_em(X, 600, scatter=scatter), tolerance=OPTIMUM)
    added = ridge * np.nanvar(X, axis=0)
    assert_allclose(density.variances_, density.covariance_.diagonal() - added, rtol=1e-10)


def test_the_automatic_ridge_follows_its_rule():
    X = gappy_sample(1, n=60, d=4)
    assert_allclose(Gaussian().fit(X).ridge_, 4 / 60**2)
    assert Gaussian().fit(X[:2]).ridge_ == 1.0
    assert Gaussian().fit(np.tile(X[:, :1], (1000, 1))).ridge_ == 1e-8


@given(seed=st.integers(0, 1000), ridge=st.sampled_from([0, "auto"]))
def test_integer_weights_are_repeated_rows(seed, ridge):
    X = gappy_sample(seed, n=25, d=3)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(X))
    weight[:2] = 1
    fit = Gaussian(ridge=ridge, tol=1e-12, max_iter=20_000).fit
    try:
        weighted = fit(X, sample_weight=weight)
    except ConvergenceWarning:  # without a ridge the likelihood of so few rows may have no maximum
        assume(ridge != 0)
        raise
    mean, covariance = weighted.mean_, weighted.covariance_
    assert_moments_close(fit(np.repeat(X, weight, axis=0)), mean, covariance, tolerance=1e-6)


@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-8, 1.0, 1e8]))
def test_complete_data_give_the_sample_moments(seed, scale):
    X = scale * gappy_sample(seed, rate=0.0)
    density = Gaussian(ridge=0).fit(X)
    assert_moments_close(density, X.mean(axis=0), np.cov(X.T, bias=True), tolerance=1e-10)


@given(seed=st.integers(0, 1000), how=st.sampled_from([0, "auto"]))
def test_units_and_origins_of_columns_do_not_matter(seed, how):
    X = gappy_sample(seed)
    units, origin = np.array([1e-6, 1.0, 1e3, 1e6]), np.array([0.0, 5.0, -1e3, 1e5])
    density, other = Gaussian(ridge=how).fit(X), Gaussian(ridge=how).fit(X * units + origin)
    assert_moments_close(other, density.mean_ * units + origin, density.covariance_ * np.outer(units, units), 1e-7)
    shift = np.sum(~np.isnan(X) * np.log(units))
    assert_allclose(other.log_likelihood_[-1], density.log_likelihood_[-1] - shift, rtol=1e-8)


@given(seed=st.integers(0, 1000))
def test_the_order_of_rows_and_columns_does_not_matter(seed):
    X = gappy_sample(seed)
    random = np.random.default_rng(seed)
    rows, columns = random.permutation(len(X)), random.permutation(X.shape[1])
    density, other = Gaussian().fit(X), Gaussian().fit(X[np.ix_(rows, columns)])
    assert_moments_close(other, density.mean_[columns], density.covariance_[np.ix_(columns, columns)], 1e-8)


@pytest.mark.parametrize("n_patterns", [None, 6])
def test_no_bit_depends_on_the_number_of_threads(n_patterns):
    X = random_laws(0, 2500, 6, 0.3, n_patterns)[1]
    results = []
    for n_threads in (1, 2, 3):
        with gk.config_context(n_threads=n_threads):
            results.append(Gaussian().fit(X))
    for other in results[1:]:
        assert np.array_equal(other.mean_, results[0].mean_)
        assert np.array_equal(other.covariance_, results[0].covariance_)


def test_many_rows_of_few_patterns_equal_the_plain_iteration():
    X = gappy_sample(3, n=400, rate=0.0)
    X[0::4, [0, 1]] = X[1::4, 2] = X[2::4, [1, 3]] = np.nan
    density = Gaussian(ridge=0.1, tol=1e-15, max_iter=20_000).fit(X)
    scatter = 0.1 * len(X) * np.diag(np.nanvar(X, axis=0))
    assert_moments_close(density, *plain_em(X, 400, scatter=scatter), tolerance=OPTIMUM)


def test_a_singular_covariance_is_said_to_be_the_reason():
    with pytest.warns(ConvergenceWarning, match=r"singular.*Raise ridge"):
        density = Gaussian(ridge=0, max_iter=3000).fit(gappy_sample(0, n=40, d=3, rate=0.7))
    assert np.diff(density.objective_).min() >= 0
    assert np.isfinite(density.score_samples(gappy_sample(0, n=40, d=3, rate=0.7))).all()


def test_stopping_early_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        density = Gaussian(max_iter=2, tol=1e-12).fit(gappy_sample(0, rate=0.5))
    assert not density.converged_
    assert density.n_iter_ == 2


# A known density


def test_a_known_density_keeps_its_moments_in_clones_and_estimators():
    mean, covariance = [1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]]
    X = np.random.default_rng(0).standard_normal((20, 2))
    X[::3, 1] = np.nan
    density = Gaussian.from_moments(mean, covariance)
    machine = gk.SVC(density=density, gamma=0.5).fit(X, X[:, 0] > 0)
    for known in (clone(density).fit(X), machine.density_):
        assert np.array_equal(known.mean_, mean)
        assert np.array_equal(known.covariance_, covariance)


@pytest.mark.parametrize(("mean", "covariance", "complaint"), [
    ([0, 0], np.eye(3), "mean"),
    ([[0, 0]], np.eye(2), "mean"),
    ([0, np.nan], np.eye(2), "finite"),
    ([0, 0], [[1, np.inf], [np.inf, 1]], "finite"),
    ([0, 0], [[1, 0.5], [0.2, 1]], "symmetric"),
    ([0, 0], [[1, 2], [2, 1]], "positive semi-definite"),
])  # fmt: skip
def test_moments_of_no_density_are_refused(mean, covariance, complaint):
    with pytest.raises(ValueError, match=complaint):
        Gaussian.from_moments(mean, covariance)


def test_a_known_density_of_another_width_is_refused():
    with pytest.raises(ValueError, match="3 columns"):
        Gaussian(mean=[0, 0], covariance=np.eye(2)).fit(np.zeros((4, 3)))


@given(seed=st.integers(0, 1000))
def test_scores_are_log_densities_of_the_observed_parts(seed):
    density, X, _ = random_laws(seed, 8, 4, 0.4)
    X[0] = np.nan
    expected = [0.0]
    for row in X[1:]:
        seen = ~np.isnan(row)
        law = multivariate_normal(density.mean_[seen], density.covariance_[np.ix_(seen, seen)]) if seen.any() else None
        expected.append(law.logpdf(row[seen]) if law else 0.0)
    assert_allclose(density.score_samples(X), expected, rtol=1e-10, atol=1e-10)
    assert_allclose(density.score(X), np.mean(expected), rtol=1e-10)


def test_draws_have_the_moments_of_the_laws():
    density, X, rows = random_laws(4, 3, 4, 0.5)
    X[0, :2] = np.nan
    rows = density.condition(X)
    draws = density.sample(X, n_draws=40_000, random_state=1)
    seen = ~np.isnan(X)
    assert np.all(draws[:, seen] == X[seen]), "observed cells are never touched"
    for i in range(3):
        covariance = rows.covariance_of(i) if not rows.complete[i] else np.zeros((4, 4))
        error = np.sqrt(covariance.diagonal() / len(draws)) + 1e-12
        assert np.all(np.abs(draws[:, i].mean(axis=0) - rows.means[i]) < 5 * error)
        diagonal = covariance.diagonal()
        error = np.sqrt((np.outer(diagonal, diagonal) + covariance**2) / len(draws)) + 1e-12
        assert np.all(np.abs(np.cov(draws[:, i].T) - covariance) < 5 * error)


def test_draws_are_reproducible():
    density, X, _ = random_laws(4, 5, 4, 0.5)
    first = density.sample(X, n_draws=3, random_state=7)
    assert first.shape == (3, 5, 4)
    assert np.array_equal(first, density.sample(X, n_draws=3, random_state=7))
    assert not np.array_equal(first, density.sample(X, n_draws=3, random_state=8))


# The edges


@given(X=gappy_tables(min_rows=1))
def test_any_table_gives_a_density(X):
    density = Gaussian().fit(X)
    assert np.isfinite(density.mean_).all()
    assert np.isfinite(density.covariance_).all()
    assert np.array_equal(density.covariance_, density.covariance_.T)
    assert np.isfinite(density.score_samples(X)).all()
    assert np.isfinite(density.sample(X, random_state=0)).all()


def test_a_row_with_no_value_is_passed_over():
    X = gappy_sample(3)
    with_empty = np.vstack([X, np.full((5, 4), np.nan)])
    density, other = Gaussian(ridge=0.01).fit(X), Gaussian(ridge=0.01).fit(with_empty)
    assert_allclose(other.covariance_, density.covariance_, rtol=1e-12)
    assert_allclose(density.condition(with_empty).means[-1], density.mean_, rtol=1e-12)


def test_a_gap_in_a_constant_column_is_filled_with_certainty():
    X = gappy_sample(3)
    X[:, 1] = 7.0
    X[::4, 1] = np.nan
    density = Gaussian().fit(X)
    rows = density.condition(X)
    assert np.all(rows.means[:, 1] == 7.0)
    assert not density.covariance_[1].any()
    assert not rows.gaps[:, 1].any()


def test_a_column_with_no_value_becomes_a_constant_zero_and_is_ignored_later():
    X = gappy_sample(3)
    X[:, 1] = np.nan
    density = Gaussian().fit(X)
    new = X.copy()
    new[:, 1] = np.arange(len(X))
    for rows in (density.condition(X), density.condition(new)):
        assert not rows.means[:, 1].any()
        assert not rows.gaps[:, 1].any()
    assert_allclose(density.score_samples(new), density.score_samples(X), rtol=1e-12)
    without = Gaussian(ridge=density.ridge_).fit(np.delete(X, 1, axis=1))
    assert_allclose(np.delete(density.mean_, 1), without.mean_, rtol=1e-10)


@pytest.mark.parametrize("ridge", [pytest.param(0, marks=may_be_singular), "auto"])
def test_dependent_columns_and_few_rows_survive(ridge):
    random = np.random.default_rng(0)
    X = random.standard_normal((6, 3)) @ random.standard_normal((3, 10))
    X[0, 2] = X[3, 7] = np.nan
    density = Gaussian(ridge=ridge, max_iter=5000)
    rows = density.fit(X).condition(X)
    assert np.isfinite(rows.means).all()
    assert np.isfinite(rows.covariance).all()


def test_a_gap_that_the_other_columns_determine_is_filled_exactly():
    random = np.random.default_rng(0)
    X = random.standard_normal((50, 2))
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    density = Gaussian.from_moments(np.zeros(3), np.cov(X.T))
    row = X[:1].copy()
    row[0, 2] = np.nan
    assert_allclose(density.condition(row).means, X[:1], atol=1e-8)
    assert not density.condition(row).covariance.any()


def test_a_table_without_any_value_is_refused():
    with pytest.raises(ValueError, match="no observed value"):
        Gaussian().fit(np.full((3, 2), np.nan))


@pytest.mark.parametrize("options", [{"ridge": -1}, {"ridge": "some"}, {"tol": -1.0}, {"max_iter": 0}])
def test_bad_settings_are_refused_by_name(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Gaussian(**options).fit(gappy_sample(0))
