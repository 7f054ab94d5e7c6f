"""Truths about every density: EM climbs, laws are conditional laws, kernels average over them, and the edges hold."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from strategies import gappy_tables, punch, random_covariance

import gapkernel as gk
from gapkernel.density import BestDensity, FactorAnalysis, Gaussian, GaussianMixture, density_for
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF, Product, UnscaledExpectedRBF

D = 5


def known(name, seed=0, d=D):
    """A density with random known parameters."""
    random = np.random.default_rng(seed)
    if name == "factors":
        noise = random.uniform(0.2, 1.0, d)
        return FactorAnalysis.from_parameters(random.standard_normal(d), random.standard_normal((d, 2)), noise)
    if name == "mixture":
        covariances = [random_covariance(random, d) for _ in range(3)]
        return GaussianMixture.from_parameters([0.5, 0.3, 0.2], 2 * random.standard_normal((3, d)), covariances)
    return Gaussian.from_moments(random.standard_normal(d), random_covariance(random, d))


FITTED = {
    "gaussian": Gaussian(),
    "one factor": FactorAnalysis(1),
    "factors": FactorAnalysis(),
    "two components": GaussianMixture(2, random_state=0),
    "mixture": GaussianMixture(random_state=0, max_components=3),
}
NAMES = ("gaussian", "factors", "mixture")
every_fit = pytest.mark.parametrize("density", FITTED.values(), ids=FITTED.keys())
every_known = pytest.mark.parametrize("name", NAMES)
new_known = pytest.mark.parametrize("name", NAMES[1:])


def table(seed, n=60, d=D, rate=0.3):
    """Two lumps of correlated rows, with gaps and a value at least in each row."""
    random = np.random.default_rng(seed)
    X = random.multivariate_normal(random.standard_normal(d), random_covariance(random, d), size=n)
    X[: n // 3] += 6.0
    gappy = punch(random, X, rate)
    empty = np.isnan(gappy).all(axis=1)
    gappy[empty, 0] = X[empty, 0]
    return gappy


# Fitting


@every_fit
@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), rate=st.sampled_from([0.05, 0.3, 0.6]), ridge=st.sampled_from(["auto", 0.2]))
def test_the_objective_never_falls_and_ends_at_the_likelihood(density, seed, rate, ridge):
    X = table(seed, n=40, d=4, rate=rate)
    density = clone(density).set_params(ridge=ridge, tol=1e-9, max_iter=5000).fit(X)
    steps = np.diff(density.objective_)
    assert steps.min(initial=0.0) >= -1e-10 * np.abs(density.objective_).max(), f"it fell by {-steps.min():.1e}"
    assert len(density.objective_) == len(density.log_likelihood_) == density.n_iter_ + 1
    assert_allclose(density.score_samples(X).sum(), density.log_likelihood_[-1], rtol=1e-9)


def test_factors_reach_an_optimum_found_without_em():
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 1)) * [1.0, 0.8, -0.6, 0.5] + 0.7 * random.standard_normal((200, 4))
    X = punch(random, X, 0.2)
    X = X[~np.isnan(X).all(axis=1)]
    X = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)  # in the units of the ridge
    ridge, seen = 0.01, ~np.isnan(X)
    density = FactorAnalysis(1, ridge=ridge, tol=1e-13, max_iter=20_000).fit(X)

    def negative(parameters):
        other = FactorAnalysis.from_parameters(parameters[:4], parameters[4:8, None], np.exp(parameters[8:]))
        return 0.5 * ridge * np.sum(seen.sum(axis=0) / np.exp(parameters[8:])) - other.score_samples(X).sum()

    begin = np.concatenate([np.zeros(4), [0.7, 0.7, -0.7, 0.7], np.full(4, np.log(0.5))])
    found = minimize(negative, begin, method="BFGS", options={"gtol": 1e-3})
    assert_allclose(density.objective_[-1], -found.fun, rtol=0, atol=1e-5)
    covariance = np.outer(found.x[4:8], found.x[4:8]) + np.diag(np.exp(found.x[8:]))
    assert_allclose(density.covariance_, covariance, atol=1e-3)


def test_one_component_is_the_gaussian():
    X = table(1)
    options = {"ridge": 0.01, "tol": 1e-13, "max_iter": 20_000}
    one, gaussian = GaussianMixture(1, **options).fit(X), Gaussian(**options).fit(X)
    for attribute in ("mean_", "covariance_", "variances_"):
        assert_allclose(getattr(one, attribute), getattr(gaussian, attribute), rtol=1e-4, atol=1e-5)
    assert_allclose(one.objective_[-1], gaussian.objective_[-1], rtol=1e-9)


def test_complete_rows_of_few_factors_are_recovered():
    density = known("factors", 3)
    X = np.random.default_rng(0).multivariate_normal(density.mean_, density.covariance_, size=4000)
    fitted = FactorAnalysis().fit(X)
    assert fitted.n_components_ == 2
    assert fitted.bic_[2] == min(fitted.bic_.values())
    assert_allclose(fitted.covariance_, density.covariance_, atol=0.15)
    weighted = fitted.loadings_.T @ (fitted.loadings_ / fitted.noise_[:, None])
    assert_allclose(weighted, np.diag(np.diag(weighted)), atol=1e-8 * np.abs(weighted).max())


@pytest.mark.parametrize("n_lumps", [1, 2, 3])
def test_the_criterion_counts_separate_lumps(n_lumps):
    random = np.random.default_rng(n_lumps)
    X = random.standard_normal((150, 3)) + 12.0 * np.eye(3)[np.arange(150) % n_lumps]
    density = GaussianMixture(random_state=0).fit(punch(random, X, 0.15))
    assert density.n_components_ == n_lumps
    assert_allclose(np.sort(density.weights_), np.full(n_lumps, 1 / n_lumps), atol=0.02)


SMOOTH = [FactorAnalysis(1, tol=1e-12, max_iter=20_000), GaussianMixture(2, tol=1e-12, max_iter=20_000, random_state=0)]


def assert_same_density(density, other, X):
    assert_allclose(other.score_samples(X), density.score_samples(X), rtol=1e-5, atol=1e-5)
    assert_allclose(other.condition(X).means, density.condition(X).means, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("density", SMOOTH, ids=["factors", "mixture"])
@pytest.mark.parametrize("seed", range(3))
def test_weights_order_and_units_do_not_matter(density, seed):
    X = table(seed, n=45, d=4, rate=0.2)
    random = np.random.default_rng(seed)
    fitted = clone(density).set_params(ridge=0.01).fit(X)
    rows, columns = random.permutation(len(X)), random.permutation(4)
    moved = clone(fitted).fit(X[np.ix_(rows, columns)])
    assert_allclose(moved.score_samples(X[:, columns]), fitted.score_samples(X), rtol=1e-5, atol=1e-5)
    units, origin = np.array([1e-6, 1.0, 1e3, 1e6]), np.array([0.0, 5.0, -1e3, 1e5])
    other = clone(fitted).fit(X * units + origin)
    shift = np.sum(~np.isnan(X) * np.log(units), axis=1)
    assert_allclose(other.score_samples(X * units + origin), fitted.score_samples(X) - shift, rtol=1e-5, atol=1e-5)
    weight = random.integers(1, 4, len(X))
    weighted = clone(fitted).fit(X, sample_weight=weight)
    assert_same_density(weighted, clone(fitted).fit(np.repeat(X, weight, axis=0)), X)


@every_fit
def test_no_bit_depends_on_the_number_of_threads(density):
    X = table(0, n=300)
    results = []
    for n_threads in (1, 3):
        with gk.config_context(n_threads=n_threads):
            fitted = clone(density).fit(X)
            results.append((fitted.score_samples(X), fitted.condition(X).means))
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("density", [FactorAnalysis(1, max_iter=1), GaussianMixture(2, max_iter=1, random_state=0)])
def test_stopping_early_warns(density):
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        density.set_params(tol=1e-12).fit(table(0))
    assert not density.converged_


# Laws


def components(density):
    """Shares, means and covariances of the components."""
    if isinstance(density, GaussianMixture):
        return density.weights_, density.means_, density.covariances_
    return np.ones(1), density.mean_[None], density.covariance_[None]


@every_known
@given(seed=st.integers(0, 1000))
def test_scores_are_log_densities_of_the_observed_parts(name, seed):
    density = known(name, seed)
    X = table(seed, n=8, rate=0.4)
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
    density = known(name, 2)
    X = table(2, n=4, rate=0.4)
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
@given(seed=st.integers(0, 1000), columns=st.permutations(range(D)))
def test_moments_are_those_of_the_components_for_any_columns(name, seed, columns):
    density, kept = known(name, seed), columns[:3]
    shares, means, covariances = components(density)
    mean = shares @ means
    second = np.einsum("a,aij->ij", shares, covariances + means[:, :, None] * means[:, None, :])
    covariance = (second - np.outer(mean, mean))[np.ix_(kept, kept)]
    found = density.moments().take(kept)
    assert_allclose(found.mean, mean[kept], atol=1e-12)
    assert_allclose(found.covariance, covariance, atol=1e-10)
    assert_allclose(found.variances, covariance.diagonal(), atol=1e-10)


def dense_twin(density):
    return Gaussian.from_moments(density.mean_, density.covariance_)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), rate=st.sampled_from([0.0, 0.1, 0.5, 0.95]), d=st.sampled_from([1, 3, 9, 70]),
       gamma=st.sampled_from([1e-3, 0.1, 3.0, 1e3]))  # fmt: skip
def test_laws_of_few_factors_are_the_gaussian_laws_of_their_covariance(seed, rate, d, gamma):
    density = known("factors", seed, d)
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
    assert_allclose(ExpectedRBF(gamma).variance(rows, rows), ExpectedRBF(gamma).variance(dense, dense), atol=1e-10)


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
    density = known("factors", 2)
    rows = density.condition(punch(np.random.default_rng(2), table(2, n=40, rate=0.0), 0.6))
    found, expected = ExpectedRBF(gamma).gram(rows), ExpectedRBF(gamma).gram(rows.dense)
    apart = ~np.eye(40, dtype=bool)
    assert np.count_nonzero(expected[apart]) > 40
    assert_allclose(found, expected, rtol=1e-10, atol=1e-200)


@pytest.mark.parametrize("unit", [1e-49, 1e-30, 1e30, 1e49])  # gamma up to its bounds
def test_pairs_of_few_factors_do_not_depend_on_units(unit):
    rows = known("factors", 3).condition(table(3, n=30, rate=0.4))
    scaled = rows.scale(np.full(D, unit))
    assert_allclose(ExpectedRBF(0.1 / unit**2).gram(scaled), ExpectedRBF(0.1).gram(rows), rtol=1e-12)
    assert_allclose(GenRBF(0.1 / unit**2).gram(scaled), GenRBF(0.1).gram(rows), rtol=1e-11)


def test_metrics_columns_and_the_unscaled_kernel_take_laws_of_few_factors():
    density = known("factors", 1)
    X = table(1, n=20)
    rows, dense = density.condition(X), dense_twin(density).condition(X)
    kernel = GenRBF(0.2, "mahalanobis").resolve(density.moments(), rows)
    assert_allclose(kernel.gram(rows), kernel.gram(dense), rtol=0, atol=1e-10)
    kernel = ExpectedRBF(0.3).on([4, 0]) + ExpectedLinear()
    assert_allclose(kernel.gram(rows), kernel.gram(dense), rtol=0, atol=1e-9)
    assert_allclose(ExpectedLinear().gram_variance(rows), ExpectedLinear().gram_variance(dense), rtol=1e-9)
    with pytest.warns(UserWarning, match="not positive definite"):
        assert_allclose(UnscaledExpectedRBF(0.3).gram(rows), UnscaledExpectedRBF(0.3).gram(dense), atol=1e-10)


def test_factor_engines_do_not_depend_on_threads_or_batches():
    density = known("factors", 1, 40)
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
    density = known(name, 5)
    X = table(5, n=5, rate=0.5)
    rows = density.condition(X)
    draws, copies = (density.sample(X, 20_000, random_state=seed) for seed in (0, 1))
    same, apart = pointwise(draws[:, :, None], draws[:, None]), pointwise(draws[:, :, None], copies[:, None])
    for values, expected in ((same, kernel.gram(rows)), (apart, kernel.cross(rows, rows))):
        error = values.std(axis=0) / np.sqrt(len(values)) + 1e-9
        assert np.max(np.abs(values.mean(axis=0) - expected) / error) < 5


def test_the_variance_over_a_mixture_is_that_of_draws():
    density = known("mixture", 5)
    X = table(5, n=4, rate=0.5)
    rows = density.condition(X)
    draws, copies = (density.sample(X, 40_000, random_state=seed) for seed in (0, 1))
    values = np.exp(-0.1 * np.sum((draws[:, :, None] - copies[:, None]) ** 2, axis=-1))
    squared = (values - ExpectedRBF(0.1).cross(rows, rows)) ** 2
    error = squared.std(axis=0) / 200 + 1e-12
    assert np.all(np.abs(squared.mean(axis=0) - ExpectedRBF(0.1).variance(rows, rows)) < 5 * error)


@every_known
@settings(max_examples=10)
@given(seed=st.integers(0, 1000), rate=st.sampled_from([0.0, 0.3, 0.9]), gamma=st.sampled_from([0.01, 0.3, 10.0]))
def test_gram_is_cross_plus_a_nugget_and_positive_semi_definite(name, seed, rate, gamma):
    rows = known(name, seed).condition(table(seed, n=20, rate=rate))
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
    density = known("mixture", 4)
    X = table(4, n=12, rate=0.5)
    rows = density.condition(X)
    expected = np.zeros((12, 12))
    for a, left in zip(rows.weights.T, rows.laws, strict=True):
        for b, right in zip(rows.weights.T, rows.laws, strict=True):
            expected += np.outer(a, b) * ExpectedRBF(0.2).cross(left, right)
    assert_allclose(ExpectedRBF(0.2).cross(rows, rows), expected, rtol=0, atol=1e-12)
    plain = known("gaussian", 4).condition(X)
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
    rows = known(name).condition(table(0, n=10))
    copy = pickle.loads(pickle.dumps(rows))
    assert_allclose(GenRBF(0.1).gram(copy), GenRBF(0.1).gram(rows))
    frozen = copy.weights if name == "mixture" else copy.means
    with pytest.raises(ValueError, match="read-only"):
        frozen[0] = 0.0


# The edges


@every_fit
@settings(max_examples=12)
@given(X=gappy_tables(min_rows=1, max_rows=15, max_columns=4))
def test_any_table_gives_a_density(density, X):
    fitted = clone(density).fit(X)
    rows = fitted.condition(X)
    for values in (
        fitted.mean_,
        fitted.covariance_,
        fitted.score_samples(X),
        fitted.sample(X, random_state=0),
        rows.means,
    ):
        assert np.isfinite(values).all()
    gram = GenRBF().resolve(fitted.moments(), rows).gram(rows)
    assert np.isfinite(gram).all()
    assert_allclose(gram.diagonal(), 1.0)


@every_fit
def test_constant_empty_and_missing(density):
    X = table(3)
    X[:, 1], X[::4, 1], X[:, 2] = 7.0, np.nan, np.nan
    with_empty = np.vstack([X, np.full((3, D), np.nan)])
    fitted = clone(density).set_params(ridge=0.01).fit(X)
    other = clone(fitted).fit(with_empty)
    assert_allclose(other.score_samples(X), fitted.score_samples(X), rtol=1e-9, atol=1e-9)
    rows = fitted.condition(with_empty)
    assert np.all(rows.means[:, 1] == 7.0)
    assert not rows.means[:, 2].any()
    assert_allclose(rows.means[-1], fitted.mean_, rtol=1e-9, atol=1e-9)
    later = X.copy()
    later[:, 2] = np.arange(len(X))
    assert_allclose(fitted.score_samples(later), fitted.score_samples(X), rtol=1e-12)
    assert fitted.variances_[1] == fitted.variances_[2] == 0


BAD = [
    (FactorAnalysis, {"n_components": 0}),
    (FactorAnalysis, {"n_components": "some"}),
    (FactorAnalysis, {"ridge": 0}),
    (GaussianMixture, {"n_components": 1.5}),
    (GaussianMixture, {"max_components": 0}),
    (GaussianMixture, {"ridge": -1.0}),
    (FactorAnalysis, {"tol": -1.0}),
    (GaussianMixture, {"max_iter": 0}),
    (BestDensity, {"candidates": []}),
]


@pytest.mark.parametrize(("kind", "options"), BAD)
def test_bad_settings_are_refused_by_name(kind, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        kind(**options).fit(table(0))


@pytest.mark.parametrize(("kind", "parameters", "complaint"), [
    (FactorAnalysis, ([0, 0], np.ones((3, 1)), [1, 1]), "loadings"),
    (FactorAnalysis, ([0, 0], np.ones((2, 0)), [1, 1]), "one factor or more"),
    (FactorAnalysis, ([0, 0], np.ones((2, 1)), [1, 0]), "noise"),
    (FactorAnalysis, ([0, np.nan], np.ones((2, 1)), [1, 1]), "finite"),
    (FactorAnalysis, ([0, 0], None, [1, 1]), "all of"),
    (GaussianMixture, ([0.5, 0.6], np.zeros((2, 1)), np.ones((2, 1, 1))), "sum to 1"),
    (GaussianMixture, ([1.0], np.zeros((1, 2)), np.ones((1, 1, 1))), "covariances"),
    (GaussianMixture, ([0.5, 0.5], np.zeros((2, 1)), [[[0.0]], [[1.0]]]), "constant"),
])  # fmt: skip
def test_parameters_of_no_density_are_refused(kind, parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        kind.from_parameters(*parameters)


@new_known
def test_a_known_density_keeps_its_parameters_in_clones_and_estimators(name):
    density, X = known(name), table(0)
    machine = gk.SVC(density=density, gamma=0.1).fit(X, np.arange(len(X)) % 2)
    for other in (clone(density).fit(X), machine.density_):
        assert np.array_equal(other.covariance_, density.covariance_)
    with pytest.raises(ValueError, match="3 columns"):
        clone(density).fit(X[:, :3])


def test_a_table_without_any_value_is_refused():
    for density in (FactorAnalysis(), GaussianMixture()):
        with pytest.raises(ValueError, match="no observed value"):
            density.fit(np.full((3, 2), np.nan))


# Estimators

MACHINES = [gk.SVC(), gk.SVR(), gk.KernelRidge(), gk.OneClassSVM(), gk.Gram()]


@new_known
@pytest.mark.parametrize("kernel", ["rbf", "genrbf", "linear"])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_every_machine_takes_every_density(name, kernel, machine):
    X = table(6, n=30)
    y = (np.arange(30) < 10).astype(float)
    machine = clone(machine).set_params(kernel=kernel, density=known(name)).fit(X, y)
    verb = "transform" if isinstance(machine, gk.Gram) else "predict"
    values = getattr(machine, verb)(X)
    assert np.isfinite(values).all()
    assert_allclose(getattr(machine, verb)(X[4:5]), values[4:5], rtol=1e-10, atol=1e-12)
    if name == "factors":
        twin = clone(machine).set_params(density=dense_twin(known(name))).fit(X, y)
        assert_allclose(getattr(twin, verb)(X), values, rtol=1e-6, atol=1e-7)


def test_kernels_that_need_gaussian_laws_refuse_mixtures():
    X, y = table(6, n=20), np.arange(20) % 2
    for kernel in (Product(ExpectedRBF(0.1).on([0]), ExpectedRBF(0.1).on([1])), UnscaledExpectedRBF(0.1)):
        with pytest.raises(ValueError, match="mixture"):
            gk.SVC(kernel=kernel, density=known("mixture")).fit(X, y)
    rows = known("mixture").condition(X)
    for kernel in (ExpectedLinear(), ExpectedRBF(0.1)):
        with pytest.raises(ValueError, match="mixture laws, which are not Gaussian"):
            next(iter(kernel.column_covariances(rows)))


@pytest.mark.parametrize(("n", "d", "chosen"), [(30, 8, Gaussian), (368, 76, Gaussian), (60, 400, FactorAnalysis),
                                                 (3999, 400, FactorAnalysis), (4000, 400, Gaussian)])  # fmt: skip
def test_the_automatic_density_is_chosen_by_its_cost(n, d, chosen):
    assert type(density_for(n, d)) is chosen


def test_machines_say_which_density_they_chose():
    random = np.random.default_rng(0)
    X = punch(random, random.standard_normal((40, 2)) @ random.standard_normal((2, 300)), 0.1)
    machine = gk.SVC().fit(X, np.arange(40) % 2)
    assert isinstance(machine.density_, FactorAnalysis)
    assert isinstance(gk.SVC().fit(X[:, :5], np.arange(40) % 2).density_, Gaussian)


def test_the_best_density_is_the_one_that_expects_new_rows():
    random = np.random.default_rng(0)
    lumps = punch(random, random.permutation(np.repeat([[0.0, 0.0], [6.0, 9.0]], 60, axis=0)), 0.1)
    lumps += random.standard_normal(lumps.shape)
    best = BestDensity(random_state=0).fit(lumps)
    assert best.scores_.shape == (3, 3)
    assert isinstance(best.best_density_, GaussianMixture)
    fitted = clone(best.best_density_).fit(lumps)
    assert_allclose(best.score_samples(lumps), fitted.score_samples(lumps))
    few = random.standard_normal((40, 1)) @ random.standard_normal((1, 15)) + 0.5 * random.standard_normal((40, 15))
    assert isinstance(BestDensity(random_state=0).fit(few).best_density_, FactorAnalysis)
    assert gk.SVC(density=BestDensity(random_state=0), gamma=0.1).fit(lumps, lumps[:, 0] > 3).density_.best_index_ == 2
