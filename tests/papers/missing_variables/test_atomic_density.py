"""What a row with gaps may be, as weighted complete rows."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from strategies import punch, random_covariance

from gapkernel.density import Gaussian
from gapkernel.papers.missing_variables import AtomicDensity

WORDS = ["auto", "uniform", "neighbours", "levels", "listed"]


def table(seed=0, n=40, d=4, rate=0.3, levels=None):
    random = np.random.default_rng(seed)
    X = random.multivariate_normal(np.arange(d), random_covariance(random, d), size=n)
    return punch(random, np.round(X) if levels else X, rate)


def fitted(word, X, n_atoms=32, method="sobol", seed=3):
    if word == "listed":
        return AtomicDensity("levels", method="exact").fit(X)
    return AtomicDensity(word, n_atoms=n_atoms, method=method, random_state=seed).fit(X)


@pytest.mark.parametrize("method", ["sobol", "random"])
@pytest.mark.parametrize("word", WORDS)
def test_observed_values_stay_weights_sum_to_one_and_complete_rows_are_themselves(word, method):
    X = table(levels=True)
    X[0], X[1] = np.arange(4), np.nan
    completed = fitted(word, X, method=method).condition(X)
    owner = completed.owner
    seen = ~np.isnan(X[owner])
    assert np.isfinite(completed.values).all()
    assert_array_equal(completed.values[seen], X[owner][seen])
    assert_allclose(np.bincount(owner, np.exp(completed.log_weight)), 1.0)
    assert_array_equal(completed.counts[~np.isnan(X).any(axis=1)], 1)
    assert completed.counts[1] > 1


@pytest.mark.parametrize("method", ["sobol", "random"])
@pytest.mark.parametrize("word", WORDS)
def test_the_completions_of_a_row_do_not_depend_on_its_company(word, method):
    X = table(levels=True)
    density = fitted(word, X, method=method)
    together = density.condition(X)
    for i in (0, 7, 23):
        alone = density.condition(X[i : i + 1])
        assert_allclose(alone.values, together.take([i]).values, rtol=1e-12)


def test_different_rows_and_seeds_have_different_draws():
    X = table()
    first, second = (fitted("auto", X, seed=seed).condition(X).values for seed in (1, 2))
    assert not np.allclose(first, second)
    gap_rows = np.isnan(X).all(axis=1)
    two = np.vstack([X[~gap_rows][0], X[~gap_rows][1]])
    two[:, 1:] = np.nan
    draws = fitted("uniform", X).condition(two).values[:, 1:].reshape(2, 32, 3)
    assert not np.allclose(draws[0], draws[1])


@pytest.mark.parametrize("method", ["sobol", "random"])
def test_density_draws_have_the_moments_of_the_law(method):
    random = np.random.default_rng(0)
    density = Gaussian.from_moments(np.arange(4.0), random_covariance(random, 4))
    X = np.array([[0.5, np.nan, np.nan, 1.0], [np.nan, np.nan, 0.0, np.nan]])
    n = 4096
    atomic = fitted(density, X, n, method, 0)
    rows = density.condition(X)
    draws = atomic.condition(X).values.reshape(2, n, 4)
    for i in range(2):
        covariance = rows.covariance_of(i)
        errors = np.sqrt(covariance.diagonal() / n)
        assert np.all(np.abs(draws[i].mean(axis=0) - rows.means[i]) <= 4 * errors + 1e-12)
        scale = np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
        assert np.all(np.abs(np.cov(draws[i].T) - covariance) <= 4 * scale * np.sqrt(2 / n) + 1e-12)
    assert_allclose(atomic.means(X), rows.means)


def test_uniform_draws_fill_the_box_of_the_observed_values():
    X = table(n=60)
    X[:, 3] = np.nan  # never observed: a constant
    completed = fitted("uniform", X, 256).condition(np.full((1, 4), np.nan)).values
    low, high = np.nanmin(X[:, :3], axis=0), np.nanmax(X[:, :3], axis=0)
    assert np.all((completed[:, :3] >= low) & (completed[:, :3] <= high))
    assert_allclose(completed[:, :3].mean(axis=0), (low + high) / 2, atol=0.02 * (high - low).max())
    assert_array_equal(completed[:, 3], 0.0)


def test_donors_give_their_values_together_and_near_ones_more_often():
    X = np.array([[0.0, 1.0, 10.0], [0.1, 2.0, 20.0], [5.0, 3.0, 30.0], [5.1, 4.0, 40.0], [0.05, np.nan, np.nan]])
    completed = fitted("neighbours", X, 64).condition(X[4:])
    assert_array_equal(completed.values[:, 2], 10 * completed.values[:, 1])  # from one donor
    assert np.mean(completed.values[:, 1] <= 2) > 0.9


def test_a_row_without_donors_borrows_from_those_that_have_most():
    X = np.array([[0.0, 1.0, np.nan], [1.0, np.nan, np.nan], [2.0, 3.0, np.nan], [1.0, np.nan, 5.0]])
    completed = fitted("neighbours", X, 16).condition(np.array([[0.9, np.nan, np.nan]]))
    assert np.isfinite(completed.values).all()


def test_exact_is_every_combination_with_equal_weight():
    X = np.array([[0.0, 1.0, 5.0], [1.0, 2.0, np.nan], [np.nan, 3.0, np.nan], [1.0, np.nan, 7.0]])
    completed = fitted("listed", X).condition(X[2:3])
    assert_array_equal(sorted(map(tuple, completed.values)), sorted((a, 3.0, b) for a, b in product((0, 1), (5, 7))))
    assert_allclose(completed.log_weight, -np.log(4))


def test_too_many_combinations_are_refused():
    X = table(n=50, rate=0.0)
    X[7] = np.nan
    with pytest.raises(
        ValueError, match=r"Row 7, which has 4 gaps.*exact completions.*AtomicDensity\(method='sobol'\)"
    ):
        fitted("listed", X).counts(X)
    with pytest.raises(ValueError, match="Row 7, which has 4 gaps"):
        fitted("listed", X).condition(X)


def error_of_log_mean(method, n, n_rows=200):
    """Root mean squared error of log E exp(<a, x>) for normal rows, which is <a, m> + a'Sa / 2."""
    random = np.random.default_rng(0)
    density = Gaussian.from_moments(np.zeros(4), random_covariance(random, 4))
    X = np.column_stack([random.standard_normal(n_rows), np.full((n_rows, 3), np.nan)])
    a, rows = np.array([0.3, 0.5, -0.4, 0.6]), density.condition(X)
    exact = rows.means @ a + 0.5 * a @ rows.covariance_of(0) @ a
    values = fitted(density, X, n, method, 1).condition(X).values.reshape(n_rows, n, 4)
    return np.sqrt(np.mean((np.log(np.exp(values @ a).mean(axis=1)) - exact) ** 2))


def test_monte_carlo_error_falls_as_the_root_and_sobol_faster():
    sizes = np.array([16, 64, 256, 1024])
    rates = {}
    for method in ("random", "sobol"):
        errors = [error_of_log_mean(method, n) for n in sizes]
        rates[method] = -np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert_allclose(rates["random"], 0.5, atol=0.06)
    assert rates["sobol"] > 0.7
    assert error_of_log_mean("sobol", 64) < 0.5 * error_of_log_mean("random", 64)
