"""Truths about densities that are fitted by EM: it climbs, choices are right, edges hold, and machines take them."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from strategies import dense_twin, gappy_tables, known_density, punch, two_lumps

import gapkernel as gk
from gapkernel.density import BestDensity, FactorAnalysis, Gaussian, GaussianMixture, density_for
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF, Product
from gapkernel.papers.expected_kernel import UnscaledExpectedRBF
from gapkernel.papers.expected_kernel.variances import column_covariances

FITTED = {
    "gaussian": Gaussian(),
    "one factor": FactorAnalysis(1),
    "factors": FactorAnalysis(),
    "two components": GaussianMixture(2, random_state=0),
    "mixture": GaussianMixture(random_state=0, max_components=3),
}
every_fit = pytest.mark.parametrize("density", FITTED.values(), ids=FITTED.keys())
new_known = pytest.mark.parametrize("name", ["factors", "mixture"])


# Fitting


@every_fit
@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), rate=st.sampled_from([0.05, 0.3, 0.6]), ridge=st.sampled_from(["auto", 0.2]))
def test_the_objective_never_falls_and_ends_at_the_likelihood(density, seed, rate, ridge):
    X = two_lumps(seed, n=40, d=4, rate=rate)
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
    X = two_lumps(1)
    options = {"ridge": 0.01, "tol": 1e-13, "max_iter": 20_000}
    one, gaussian = GaussianMixture(1, **options).fit(X), Gaussian(**options).fit(X)
    for attribute in ("mean_", "covariance_", "variances_"):
        assert_allclose(getattr(one, attribute), getattr(gaussian, attribute), rtol=1e-4, atol=1e-5)
    assert_allclose(one.objective_[-1], gaussian.objective_[-1], rtol=1e-9)


def test_complete_rows_of_few_factors_are_recovered():
    density = known_density("factors", 3)
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
    X = two_lumps(seed, n=45, d=4, rate=0.2)
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
    X = two_lumps(0, n=300)
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
        density.set_params(tol=1e-12).fit(two_lumps(0))
    assert not density.converged_


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
    X = two_lumps(3)
    X[:, 1], X[::4, 1], X[:, 2] = 7.0, np.nan, np.nan
    with_empty = np.vstack([X, np.full((3, 5), np.nan)])
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
        kind(**options).fit(two_lumps(0))


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
    density, X = known_density(name), two_lumps(0)
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
    X = two_lumps(6, n=30)
    y = (np.arange(30) < 10).astype(float)
    machine = clone(machine).set_params(kernel=kernel, density=known_density(name)).fit(X, y)
    verb = "transform" if isinstance(machine, gk.Gram) else "predict"
    values = getattr(machine, verb)(X)
    assert np.isfinite(values).all()
    assert_allclose(getattr(machine, verb)(X[4:5]), values[4:5], rtol=1e-10, atol=1e-12)
    if name == "factors":
        twin = clone(machine).set_params(density=dense_twin(known_density(name))).fit(X, y)
        assert_allclose(getattr(twin, verb)(X), values, rtol=1e-6, atol=1e-7)


def test_kernels_that_need_gaussian_laws_refuse_mixtures():
    X, y = two_lumps(6, n=20), np.arange(20) % 2
    for kernel in (Product(ExpectedRBF(0.1).on([0]), ExpectedRBF(0.1).on([1])), UnscaledExpectedRBF(0.1)):
        with pytest.raises(ValueError, match="mixture"):
            gk.SVC(kernel=kernel, density=known_density("mixture")).fit(X, y)
    rows = known_density("mixture").condition(X)
    for kernel in (ExpectedLinear(), ExpectedRBF(0.1)):
        with pytest.raises(ValueError, match="mixture laws, which are not Gaussian"):
            next(iter(column_covariances(kernel, rows)))


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
