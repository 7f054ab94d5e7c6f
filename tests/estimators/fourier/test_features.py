"""Random Fourier features: unbiased with the error that the closed form says, exact in their norms, row by row."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from strategies import gappy_tables, law_batches, random_covariance, random_laws

import gapkernel as gk
from gapkernel.density import FactorAnalysis, Gaussian, GaussianMixture
from gapkernel.estimators.fourier import features as features_module
from gapkernel.kernels import ExpectedRBF, GenRBF, Missingness
from gapkernel.kernels.missingness import Masked
from gapkernel.kernels.rbf.fourier_map import FourierMap
from gapkernel.papers.expected_kernel import UnscaledExpectedRBF
from gapkernel.rows import MaskedRows

FourierFeatures = partial(gk.FourierFeatures, random_state=0)
METRIC = random_covariance(np.random.default_rng(5), 4)
KERNELS = [ExpectedRBF(0.4), GenRBF(0.4), GenRBF(0.2, metric=METRIC)]
ON_GAPS = Masked(GenRBF(0.2, metric=METRIC), Missingness(0.3), np.array([True, False, True, True]))


def fourier_map(kernel, n_components, rows, orthogonal=False, seed=0):
    random = np.random.RandomState(seed)
    return FourierMap.draw(kernel, n_components, rows.means.mean(axis=0), orthogonal, random)


@given(batch=law_batches(), seed=st.integers(0, 100))
def test_quadratic_forms_are_variances_along_directions(batch, seed):
    _, _, rows = batch
    directions = np.random.default_rng(seed).standard_normal((9, rows.n_features))
    plain = [np.einsum("kd,de,ke->k", directions, rows.covariance_of(i), directions) for i in range(len(rows))]
    assert_allclose(rows.quadratic(directions), plain, rtol=1e-10, atol=1e-12 * rows.total_variance.max(initial=1.0))


@pytest.mark.parametrize("kernel", [*KERNELS, ON_GAPS], ids=["rbf", "genrbf", "metric", "gaps"])
def test_features_are_unbiased_with_the_closed_form_standard_error(kernel):
    _, X, laws = random_laws(1, 8, 4, 0.4)
    rows = MaskedRows(laws, np.isnan(X))
    n_waves, (left, right) = 20_000, np.triu_indices(8, 1)
    waves = fourier_map(kernel, 2 * n_waves, rows)
    z = np.sqrt(n_waves) * waves(rows).reshape(8, 2, n_waves)  # each wave and its sine: one unbiased guess
    guesses = np.sum(z[left] * z[right], axis=1)
    error = waves.standard_error(rows, rows)[left, right]
    assert np.all(np.abs(guesses.mean(axis=1) - kernel.cross(rows, rows)[left, right]) <= 4.5 * error)
    assert_allclose(guesses.std(axis=1) / np.sqrt(n_waves), error, rtol=0.05)


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("kernel", KERNELS[:2], ids=["rbf", "genrbf"])
def test_an_odd_number_of_features_and_orthogonal_ones_are_unbiased_too(kernel, orthogonal):
    _, _, rows = random_laws(2, 8, 4, 0.3)
    n_draws, pairs = 1200, np.triu_indices(8, 1)
    draws = [fourier_map(kernel, 15, rows, orthogonal, seed)(rows) for seed in range(n_draws)]
    products = np.array([(z @ z.T)[pairs] for z in draws])
    error = fourier_map(kernel, 15, rows).standard_error(rows, rows)[pairs]
    assert np.all(np.abs(products.mean(axis=0) - kernel.cross(rows, rows)[pairs]) <= 4.5 * error / np.sqrt(n_draws))
    if orthogonal:
        assert np.mean(products.var(axis=0)) < 0.9 * np.mean(error**2)
    else:
        assert_allclose(products.std(axis=0), error, rtol=0.15)


def test_orthogonal_blocks_are_orthogonal():
    _, _, rows = random_laws(3, 5, 4, 0.3)
    waves = fourier_map(ExpectedRBF(0.5), 20, rows, orthogonal=True).frequencies
    for block in (waves[:4], waves[4:8]):
        products = block @ block.T
        assert_allclose(products, np.diag(np.diag(products)), atol=1e-12)


def test_the_error_falls_with_the_root_of_the_number_of_features():
    _, _, rows = random_laws(4, 20, 5, 0.3)
    kernel = GenRBF(0.2)
    exact, sizes = kernel.cross(rows, rows), np.array([32, 128, 512, 2048])
    errors = []
    for n in sizes:
        each = [fourier_map(kernel, int(n), rows, seed=seed)(rows) for seed in range(12)]
        errors.append(np.sqrt(np.mean([(z @ z.T - exact) ** 2 for z in each])))
    exponent = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.6 < exponent < -0.4


@given(batch=law_batches(), seed=st.integers(0, 100))
def test_the_norm_of_genrbf_is_exact(batch, seed):
    _, _, rows = batch
    gamma, d = 0.3, rows.n_features
    plain = fourier_map(ExpectedRBF(gamma), 10, rows, seed=seed)(rows)
    scaled = fourier_map(GenRBF(gamma), 10, rows, seed=seed)(rows)
    norms = [np.linalg.det(np.eye(d) + 4 * gamma * rows.covariance_of(i)) ** -0.25 for i in range(len(rows))]
    assert_allclose(scaled * np.array(norms)[:, None], plain, rtol=1e-9, atol=1e-300)
    complete = rows.complete
    assert_allclose(np.sum(plain[complete] ** 2, axis=1), 1.0, rtol=1e-12)  # no gaps: cos^2 + sin^2
    assert np.all(np.sum(plain**2, axis=1) <= 1.0 + 1e-12)  # what is missing only damps


def test_complete_rows_have_the_classical_features():
    X = np.random.default_rng(0).standard_normal((10, 3))
    model = FourierFeatures(12, gamma=0.7, kernel="rbf").fit(X)
    angle = X @ model.map_.frequencies.T
    classical = np.cos(angle[:, None] - angle[None]).mean(axis=2)
    Z = model.transform(X)
    assert_allclose(Z @ Z.T, classical, atol=1e-12)


@pytest.mark.parametrize("kernel", ["genrbf", "rbf"])
@pytest.mark.parametrize("density", [FactorAnalysis(2), GaussianMixture(2)], ids=["factors", "mixture"])
def test_every_gaussian_density_has_features_of_its_kernel(density, kernel):
    _, X, _ = random_laws(5, 60, 4, 0.3)
    X[:30] += 2.0
    model = FourierFeatures(20_000, density=density, kernel=kernel, gamma=0.1).fit(X)
    rows = model.density_.condition(X[:20])
    Z = model.map_(rows)
    assert_allclose(Z @ Z.T, model.kernel_.cross(rows, rows), atol=0.02)


@given(X=gappy_tables(max_rows=40, scales=(1e-3, 1.0, 1e3)))
def test_a_row_has_the_same_features_in_any_company(X):
    model = FourierFeatures(11).fit(X)
    Z = model.transform(X)
    assert np.isfinite(Z).all()
    assert Z.shape == (len(X), 11)
    alone = np.concatenate([model.transform(X[i : i + 1]) for i in range(len(X))])
    assert_allclose(alone, Z, rtol=1e-9, atol=1e-12)


def test_neither_parts_nor_threads_change_features(monkeypatch):
    density, X, _ = random_laws(7, 60, 5, 0.3)
    model = FourierFeatures(30, density=density).fit(X)
    whole = model.transform(X)
    monkeypatch.setattr(features_module, "PART_ROWS", 7)
    for n_threads in (1, 3):
        with gk.config_context(n_threads=n_threads):
            assert_allclose(model.transform(X), whole, rtol=1e-12, atol=1e-14)


def test_far_columns_keep_their_digits():
    density, X, _ = random_laws(8, 30, 3, 0.3)
    far = Gaussian.from_moments(density.mean_ + 1e6, density.covariance_)
    near_z = FourierFeatures(20, gamma=0.3, density=density).fit(X).transform(X)
    far_z = FourierFeatures(20, gamma=0.3, density=far).fit(X + 1e6).transform(X + 1e6)
    assert_allclose(far_z, near_z, atol=1e-8)


def test_the_seed_decides_and_nothing_else():
    _, X, _ = random_laws(9, 30, 3, 0.3)
    first, again, other = (FourierFeatures(20, random_state=seed).fit_transform(X) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


def test_frames_with_categories_have_features():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"size": [1.0, None, 3.0, 2.5, 0.1], "kind": ["a", "b", None, "b", "a"]})
    model = FourierFeatures(2000, gamma=0.5).fit(frame)
    Z = model.transform(frame)
    assert_allclose(Z @ Z.T, gk.Gram(gamma=0.5).fit_transform(frame), atol=0.1)
    assert model.feature_names_in_.tolist() == ["size", "kind"]
    assert model.set_output(transform="pandas").transform(frame).columns[1] == "fourierfeatures1"


def test_the_density_sees_no_more_rows_than_asked():
    _, X, _ = random_laws(10, 300, 3, 0.3)
    model = FourierFeatures(10, density_samples=50).fit(X)
    seed = np.random.RandomState(0).randint(2**31)
    drawn = np.sort(np.random.default_rng(seed).choice(300, 50, replace=False, shuffle=False))
    assert_allclose(model.density_.covariance_, Gaussian().fit(X[drawn]).covariance_, rtol=1e-12)
    all_rows = FourierFeatures(10, density_samples=None).fit(X)
    assert_allclose(all_rows.density_.covariance_, Gaussian().fit(X).covariance_, rtol=1e-12)
    assert np.array_equal(all_rows.map_.frequencies[0] > 0, model.map_.frequencies[0] > 0)  # the same draws


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"n_components": 0}, "'n_components' parameter .* Got 0"),
        ({"n_components": 2.5}, "'n_components' parameter .* Got 2.5"),
        ({"density_samples": 0}, "'density_samples' parameter of FourierFeatures must be"),
        ({"kernel": "linear"}, "Fourier features for 'genrbf' and 'rbf', not for ExpectedLinear"),
        ({"kernel": UnscaledExpectedRBF(1.0)}, "not for UnscaledExpectedRBF"),
    ],
)
def test_bad_parameters_are_complaints_and_nothing_is_fitted(parameters, complaint):
    model = FourierFeatures(**parameters)
    with pytest.raises(ValueError, match=complaint):
        model.fit(np.eye(3))
    assert not hasattr(model, "density_")


def test_features_beyond_the_budget_are_refused():
    model = FourierFeatures(64).fit(np.eye(3))
    with gk.config_context(memory_budget=1000), pytest.raises(MemoryError, match="The feature matrix"):
        model.transform(np.eye(3))


def test_no_standard_error_is_claimed_for_mixtures():
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[::3, 0] = np.nan
    rows = GaussianMixture(2, random_state=0).fit(X).condition(X)
    with pytest.raises(ValueError, match="mixture laws, which are not Gaussian"):
        fourier_map(ExpectedRBF(0.4), 8, rows).standard_error(rows, rows)


@pytest.mark.parametrize("kernel", ["rbf", "genrbf"])
@pytest.mark.parametrize("density", [Gaussian(), GaussianMixture(2, random_state=0), FactorAnalysis(2)])
def test_which_values_are_missing_may_count(kernel, density):
    X = random_laws(3, 60, 4, 0.3)[1]
    options = {"kernel": kernel, "gamma": 0.2, "density": density, "indicator": Missingness(0.5)}
    Z = FourierFeatures(20_000, **options).fit_transform(X)
    nystroem = gk.Nystroem(n_components=60, **options).fit(X)
    rows = nystroem._laws(X)
    assert_allclose(Z @ Z.T, nystroem.kernel_.cross(rows, rows), atol=0.04)


def test_which_values_are_missing_counts_in_the_models_too():
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 3))
    X[random.random(X.shape) < 0.4] = np.nan
    y = np.isnan(X[:, 0]).astype(int)
    for model in (gk.FourierClassifier, gk.FourierRegressor):
        with_gaps, without = (model(indicator=indicator, random_state=0).fit(X, y) for indicator in (True, False))
        assert with_gaps.score(X, y) > max(0.9, without.score(X, y))
    with pytest.raises(ValueError, match="rule='product'"):
        FourierFeatures(indicator=Missingness(rule="sum")).fit(X)
