"""Maps to random Fourier features: unbiased with the error that the closed form says, and exact in their norms."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from strategies import law_batches, random_covariance, random_laws

from gapkernel.density import GaussianMixture
from gapkernel.kernels import ExpectedRBF, GenRBF, Missingness
from gapkernel.kernels.fourier_map import FourierMap
from gapkernel.kernels.missingness import Masked
from gapkernel.rows import MaskedRows

METRIC = random_covariance(np.random.default_rng(5), 4)
KERNELS = [ExpectedRBF(0.4), GenRBF(0.4), GenRBF(0.2, metric=METRIC)]
ON_GAPS = Masked(GenRBF(0.2, metric=METRIC), Missingness(0.3), np.array([True, False, True, True]))


def fourier_map(kernel, n_components, rows, orthogonal=False, seed=0):
    random = np.random.RandomState(seed)
    return FourierMap.draw(kernel, n_components, rows.means.mean(axis=0), orthogonal, random)


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


def test_no_standard_error_is_claimed_for_mixtures():
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[::3, 0] = np.nan
    rows = GaussianMixture(2, random_state=0).fit(X).condition(X)
    with pytest.raises(ValueError, match="mixture laws, which are not Gaussian"):
        fourier_map(ExpectedRBF(0.4), 8, rows).standard_error(rows, rows)
