"""Truths about the laws of densities: conditional laws, draws from them, and the kernels that average over them."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from strategies import dense_twin, known_density, punch, two_lumps

import gapkernel as gk
from gapkernel.density import FactorAnalysis, GaussianMixture
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF
from gapkernel.papers.expected_kernel import UnscaledExpectedRBF
from gapkernel.papers.expected_kernel.variances import gram_variance, variance

NAMES = ("gaussian", "factors", "mixture")
every_known = pytest.mark.parametrize("name", NAMES)
new_known = pytest.mark.parametrize("name", NAMES[1:])


def components(density):
    """Shares, means and covariances of the components."""
    if isinstance(density, GaussianMixture):
        return density.weights_, density.means_, density.covariances_
    return np.ones(1), density.mean_[None], density.covariance_[None]


@every_known
@given(seed=st.integers(0, 1000))
def test_scores_are_log_densities_of_the_observed_parts(name, seed):
    density = known_density(name, seed)
    X = two_lumps(seed, n=8, rate=0.4)
    X[0] = np.nan
    expected = np.zeros(len(X))
    for i, row in enumerate(X):
        seen = ~np.isnan(row)
        if seen.any():
            logs = [
                np.log(share) + multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).logpdf(row[seen])
                for share, mean, covariance in zip(*components(density), strict=True)
            ]
            expected[i] = logsumexp(logs)
    assert_allclose(density.score_samples(X), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(density.score(X), np.mean(expected), rtol=1e-9)


@every_known
def test_draws_have_the_moments_of_the_laws(name):
    density = known_density(name, 2)
    X = two_lumps(2, n=4, rate=0.4)
    X[0, :2], X[1] = np.nan, np.nan
    rows, draws = density.condition(X), density.sample(X, n_draws=40_000, random_state=1)
    seen = ~np.isnan(X)
    assert np.all(draws[:, seen] == X[seen]), "observed cells are never touched"
    error = draws.std(axis=0) / 200 + 1e-12
    assert np.all(np.abs(draws.mean(axis=0) - rows.means) < 5 * error)
    squared = np.sum((draws - rows.means) ** 2, axis=2)
    assert np.all(np.abs(squared.mean(axis=0) - rows.total_variance) < 5 * squared.std(axis=0) / 200 + 1e-12)
    assert np.array_equal(draws[:3, :], density.sample(X, n_draws=40_000, random_state=1)[:3])
    assert not np.array_equal(density.sample(X, random_state=1), density.sample(X, random_state=2))


@every_known
@given(seed=st.integers(0, 1000), columns=st.permutations(range(5)))
def test_moments_are_those_of_the_components_for_any_columns(name, seed, columns):
    density, kept = known_density(name, seed), columns[:3]
    shares, means, covariances = components(density)
    mean = shares @ means
    second = np.einsum("a,aij->ij", shares, covariances + means[:, :, None] * means[:, None, :])
    covariance = (second - np.outer(mean, mean))[np.ix_(kept, kept)]
    found = density.moments().take(kept)
    assert_allclose(found.mean, mean[kept], atol=1e-12)
    assert_allclose(found.covariance, covariance, atol=1e-10)
    assert_allclose(found.variances, covariance.diagonal(), atol=1e-10)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), rate=st.sampled_from([0.0, 0.1, 0.5, 0.95]), d=st.sampled_from([1, 3, 9, 70]),
       gamma=st.sampled_from([1e-3, 0.1, 3.0, 1e3]))  # fmt: skip
def test_laws_of_few_factors_are_the_gaussian_laws_of_their_covariance(seed, rate, d, gamma):
    density = known_density("factors", seed, d)
    random = np.random.default_rng(seed)
    X = punch(random, density.mean_ + random.standard_normal((30, d)), rate)
    rows, dense = density.condition(X), dense_twin(density).condition(X)
    assert_allclose(rows.means, dense.means, rtol=0, atol=1e-10)
    assert_allclose(rows.dense.covariance, dense.covariance, rtol=0, atol=1e-10)
    assert_allclose(rows.total_variance, dense.total_variance, atol=1e-10)
    frequencies = random.standard_normal((4, d))
    expected = [[w @ dense.covariance_of(i) @ w for w in frequencies] for i in range(3)]
    assert_allclose(rows.quadratic(frequencies)[:3], expected, atol=1e-9)
    other, dense_other = rows.take(slice(3, 12)), dense.take(slice(3, 12))
    for kernel in (ExpectedRBF(gamma), GenRBF(gamma), ExpectedLinear()):
        size = np.abs(kernel.gram(dense)).max()
        assert_allclose(kernel.gram(rows), kernel.gram(dense), rtol=0, atol=1e-10 * size)
        assert_allclose(kernel.cross(other, rows), kernel.cross(dense_other, dense), rtol=0, atol=1e-10 * size)
        assert_allclose(kernel.cross(other, dense), kernel.cross(dense_other, dense), rtol=0, atol=1e-10 * size)
        dot = kernel.dot(other, rows, np.ones((30, 2)))
        assert_allclose(dot, kernel.dot(dense_other, dense, np.ones((30, 2))), rtol=0, atol=1e-9 * size)
    assert_allclose(ExpectedRBF(gamma).self_cross(rows), ExpectedRBF(gamma).self_cross(dense), atol=1e-10)
    assert_allclose(variance(ExpectedRBF(gamma), rows, rows), variance(ExpectedRBF(gamma), dense, dense), atol=1e-10)


@pytest.mark.parametrize("n_factors", [1, 3, 4, 5, 6, 7, 11, 13])
@pytest.mark.parametrize("n", [8, 13, 131])
def test_pairs_of_any_number_of_factors_and_rows(n_factors, n):
    random = np.random.default_rng(n_factors)
    loadings, noise = random.standard_normal((66, n_factors)), 0.1 + random.random(66)
    density = FactorAnalysis.from_parameters(random.standard_normal(66), loadings, noise)
    X = punch(random, 2.0 * random.standard_normal((n, 66)), 0.4)
    X[1], X[3, 5:] = np.nan, 0.0
    rows, dense, kernel = density.condition(X), dense_twin(density).condition(X), ExpectedRBF(0.01)
    expected = kernel.gram(dense)
    assert_allclose(kernel.gram(rows), expected, rtol=1e-10)
    assert_allclose(
        kernel.cross(rows.take(slice(0, 11)), rows), kernel.cross(dense.take(slice(0, 11)), dense), rtol=1e-10
    )


@pytest.mark.parametrize("gamma", [1e4, 1e8, 1e16, 1e20])
def test_narrow_kernels_of_few_factors_lose_no_digits(gamma):
    """Rows that are certain of a column meet rows that are not, at distances far wider than the kernel."""
    density = known_density("factors", 2)
    rows = density.condition(punch(np.random.default_rng(2), two_lumps(2, n=40, rate=0.0), 0.6))
    found, expected = ExpectedRBF(gamma).gram(rows), ExpectedRBF(gamma).gram(rows.dense)
    apart = ~np.eye(40, dtype=bool)
    assert np.count_nonzero(expected[apart]) > 40
    assert_allclose(found, expected, rtol=1e-10, atol=1e-200)


@pytest.mark.parametrize("unit", [1e-49, 1e-30, 1e30, 1e49])  # gamma up to its bounds
def test_pairs_of_few_factors_do_not_depend_on_units(unit):
    rows = known_density("factors", 3).condition(two_lumps(3, n=30, rate=0.4))
    scaled = rows.scale(np.full(5, unit))
    assert_allclose(ExpectedRBF(0.1 / unit**2).gram(scaled), ExpectedRBF(0.1).gram(rows), rtol=1e-12)
    assert_allclose(GenRBF(0.1 / unit**2).gram(scaled), GenRBF(0.1).gram(rows), rtol=1e-11)


def test_metrics_columns_and_the_unscaled_kernel_take_laws_of_few_factors():
    density = known_density("factors", 1)
    X = two_lumps(1, n=20)
    rows, dense = density.condition(X), dense_twin(density).condition(X)
    kernel = GenRBF(0.2, "mahalanobis").resolve(density.moments(), rows)
    assert_allclose(kernel.gram(rows), kernel.gram(dense), rtol=0, atol=1e-10)
    kernel = ExpectedRBF(0.3).on([4, 0]) + ExpectedLinear()
    assert_allclose(kernel.gram(rows), kernel.gram(dense), rtol=0, atol=1e-9)
    assert_allclose(gram_variance(ExpectedLinear(), rows), gram_variance(ExpectedLinear(), dense), rtol=1e-9)
    with pytest.warns(UserWarning, match="not positive definite"):
        assert_allclose(UnscaledExpectedRBF(0.3).gram(rows), UnscaledExpectedRBF(0.3).gram(dense), atol=1e-10)


def test_factor_engines_do_not_depend_on_threads_or_batches():
    density = known_density("factors", 1, 40)
    X = punch(np.random.default_rng(0), np.random.default_rng(1).standard_normal((150, 40)), 0.3)
    rows = density.condition(X)
    with gk.config_context(n_threads=1):
        one = ExpectedRBF(0.05).cross(rows, rows)
    with gk.config_context(n_threads=3):
        assert np.array_equal(ExpectedRBF(0.05).cross(rows, rows), one)
    alone = ExpectedRBF(0.05).cross(rows.take([70]), rows)
    assert_allclose(alone[0], one[70], rtol=1e-13)


KERNELS = {
    "rbf": (ExpectedRBF(0.1), lambda x, y: np.exp(-0.1 * np.sum((x - y) ** 2, axis=-1))),
    "linear": (ExpectedLinear(), lambda x, y: np.sum(x * y, axis=-1)),
    "sum on columns": (
        ExpectedRBF(0.2).on([1, 3]) + 2 * ExpectedLinear(),
        lambda x, y: np.exp(-0.2 * np.sum((x - y)[..., [1, 3]] ** 2, axis=-1)) + 2 * np.sum(x * y, axis=-1),
    ),
}


@new_known
@pytest.mark.parametrize(("kernel", "pointwise"), KERNELS.values(), ids=KERNELS.keys())
def test_kernels_are_averages_over_draws(name, kernel, pointwise):
    density = known_density(name, 5)
    X = two_lumps(5, n=5, rate=0.5)
    rows = density.condition(X)
    draws, copies = (density.sample(X, 20_000, random_state=seed) for seed in (0, 1))
    same, apart = pointwise(draws[:, :, None], draws[:, None]), pointwise(draws[:, :, None], copies[:, None])
    for values, expected in ((same, kernel.gram(rows)), (apart, kernel.cross(rows, rows))):
        error = values.std(axis=0) / np.sqrt(len(values)) + 1e-9
        assert np.max(np.abs(values.mean(axis=0) - expected) / error) < 5


def test_the_variance_over_a_mixture_is_that_of_draws():
    density = known_density("mixture", 5)
    X = two_lumps(5, n=4, rate=0.5)
    rows = density.condition(X)
    draws, copies = (density.sample(X, 40_000, random_state=seed) for seed in (0, 1))
    values = np.exp(-0.1 * np.sum((draws[:, :, None] - copies[:, None]) ** 2, axis=-1))
    squared = (values - ExpectedRBF(0.1).cross(rows, rows)) ** 2
    error = squared.std(axis=0) / 200 + 1e-12
    assert np.all(np.abs(squared.mean(axis=0) - variance(ExpectedRBF(0.1), rows, rows)) < 5 * error)


@every_known
@settings(max_examples=10)
@given(seed=st.integers(0, 1000), rate=st.sampled_from([0.0, 0.3, 0.9]), gamma=st.sampled_from([0.01, 0.3, 10.0]))
def test_gram_is_cross_plus_a_nugget_and_positive_semi_definite(name, seed, rate, gamma):
    rows = known_density(name, seed).condition(two_lumps(seed, n=20, rate=rate))
    for kernel in (ExpectedRBF(gamma), GenRBF(gamma), ExpectedLinear(), ExpectedRBF(gamma).on([0, 2])):
        gram, cross = kernel.gram(rows), kernel.cross(rows, rows)
        size = np.abs(gram).max()
        nugget = (gram - cross).diagonal()
        assert np.all(nugget >= -1e-12 * size)
        assert_allclose(nugget[rows.complete], 0, atol=1e-13 * size)
        np.fill_diagonal(cross, gram.diagonal())
        assert_allclose(gram, cross, rtol=0, atol=1e-12 * size)
        assert np.linalg.eigvalsh(gram)[0] >= -1e-10 * len(rows) * size
    assert_allclose(GenRBF(gamma).cross(rows, rows).diagonal(), 1.0, atol=1e-12)
    assert_allclose(ExpectedRBF(gamma).self_cross(rows), ExpectedRBF(gamma).cross(rows, rows).diagonal(), rtol=1e-10)


def test_the_law_of_a_mixture_is_the_weighted_sum_of_its_components():
    density = known_density("mixture", 4)
    X = two_lumps(4, n=12, rate=0.5)
    rows = density.condition(X)
    expected = np.zeros((12, 12))
    for a, left in zip(rows.weights.T, rows.laws, strict=True):
        for b, right in zip(rows.weights.T, rows.laws, strict=True):
            expected += np.outer(a, b) * ExpectedRBF(0.2).cross(left, right)
    assert_allclose(ExpectedRBF(0.2).cross(rows, rows), expected, rtol=0, atol=1e-12)
    plain = known_density("gaussian", 4).condition(X)
    there = sum(
        a[:, None] * ExpectedRBF(0.2).cross(left, plain) for a, left in zip(rows.weights.T, rows.laws, strict=True)
    )
    assert_allclose(ExpectedRBF(0.2).cross(rows, plain), there, rtol=0, atol=1e-12)
    assert_allclose(ExpectedRBF(0.2).cross(plain, rows), there.T, rtol=0, atol=1e-12)


def test_unlikely_components_are_pruned_and_complete_rows_have_one():
    density = GaussianMixture.from_parameters([0.5, 0.5], [[0.0, 0.0], [50.0, 50.0]], [np.eye(2), np.eye(2)])
    rows = density.condition([[0.0, np.nan], [25.0, np.nan], [1.0, 2.0]])
    assert_allclose(rows.weights, [[1, 0], [0.5, 0.5], [1, 0]])
    assert (rows.weights > 0).sum() == 4
    assert rows.complete.tolist() == [False, False, True]


@new_known
def test_batches_are_immutable_and_survive_pickling(name):
    rows = known_density(name).condition(two_lumps(0, n=10))
    copy = pickle.loads(pickle.dumps(rows))
    assert_allclose(GenRBF(0.1).gram(copy), GenRBF(0.1).gram(rows))
    frozen = copy.weights if name == "mixture" else copy.means
    with pytest.raises(ValueError, match="read-only"):
        frozen[0] = 0.0
