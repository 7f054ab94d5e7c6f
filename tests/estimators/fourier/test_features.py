"""Random Fourier features of tables: with every density, row by row, in parts, by the seed; and complaints."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import gappy_tables, random_laws

import gapkernel as gk
from gapkernel.density import FactorAnalysis, Gaussian, GaussianMixture
from gapkernel.estimators.fourier import features as features_module
from gapkernel.kernels import Missingness
from gapkernel.papers.expected_kernel import UnscaledExpectedRBF

FourierFeatures = partial(gk.FourierFeatures, random_state=0)


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
