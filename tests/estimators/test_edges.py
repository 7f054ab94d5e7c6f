"""Edges at which numbers, weights and shapes are extreme, and the answers must still be right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.exceptions import NotFittedError

import gapkernel as gk
from gapkernel.density import Gaussian
from gapkernel.kernels import ExpectedRBF, GenRBF, Scaled
from gapkernel.rows import GaussianRows


def gappy(seed=0, n=60, d=4, rate=0.3):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) @ random.standard_normal((d, d))
    return np.where(random.random(X.shape) < rate, np.nan, X)


def test_a_constant_column_of_a_long_table_stays_constant():
    random = np.random.default_rng(0)
    X = np.column_stack([np.full(10_000, 0.1), random.normal(size=(10_000, 2))])
    X[:, 2] += X[:, 1]
    X[::3, 2] = np.nan
    density = Gaussian().fit(X)
    assert not density.covariance_[0].any()
    assert_allclose(density.condition([[0.2, 1.0, np.nan]]).means[0, 2], 1.0, atol=0.05)


def test_weights_that_are_shares_give_the_density_of_equal_rows():
    X = gappy()
    equal, shares = Gaussian().fit(X), Gaussian().fit(X, sample_weight=np.full(60, 1 / 60))
    assert shares.ridge_ == equal.ridge_
    assert_allclose(shares.covariance_, equal.covariance_, rtol=1e-4)


@pytest.mark.parametrize("gamma", [1e38, 1e60])
def test_very_narrow_kernels_neither_overflow_nor_vanish(gamma):
    density = Gaussian.from_moments(np.zeros(20), np.eye(20))
    X = np.full((2, 20), np.nan)
    X[1, 0] = 0.0
    # with I as covariance, the kernel is a product over columns: 19 gaps on both sides, one on one side
    both = 0.5 * np.log1p(4 * gamma) - 0.5 * np.log1p(4 * gamma)
    one = 0.25 * np.log1p(4 * gamma) - 0.5 * np.log1p(2 * gamma)
    assert_allclose(GenRBF(gamma).gram(density.condition(X))[0, 1], np.exp(19 * both + one), rtol=1e-10)


@pytest.mark.parametrize("factor", [1e160, 1e-160])
def test_a_spread_that_cannot_be_squared_names_its_column(factor):
    X = gappy() * np.array([1.0, 1.0, factor, 1.0])
    with pytest.raises(ValueError, match="Column 2 of X has a spread"):
        Gaussian().fit(X)


def test_a_transposed_basis_is_refused():
    density = Gaussian.from_moments(np.zeros(3), np.eye(3))
    with pytest.raises(ValueError, match=r"bases\[0\] must be finite, with 3 rows"):
        density.condition_subspaces(np.zeros((1, 3)), [np.eye(3)[:2]])
    one_direction = density.condition_subspaces(np.ones((1, 3)), [np.array([1.0, 0.0, 0.0])])
    assert_allclose(one_direction.means, [[0.0, 1.0, 1.0]])


@pytest.mark.parametrize("machine", [gk.SVC(), gk.KernelRidge(), gk.Gram(), Gaussian()], ids=repr)
def test_after_a_failed_fit_nothing_is_fitted(machine):
    broken = np.array([[1.0, np.inf], [2.0, 3.0]])
    with pytest.raises(ValueError, match="infinity"):
        machine.fit(broken, [0, 1])
    verb = getattr(machine, "predict", None) or getattr(machine, "transform", None) or machine.condition
    with pytest.raises(NotFittedError):
        verb([[1.0, 2.0]])


def test_a_tiny_ridge_on_dependent_columns_warns_instead_of_breaking():
    X = gappy(d=1, rate=0.0)
    density = Gaussian(ridge=1e-17).fit(np.column_stack([X, X]))
    assert np.isfinite(density.covariance_).all()


def test_rounding_does_not_make_a_matrix_asymmetric():
    precision = np.linalg.inv(0.5 ** np.abs(np.subtract.outer(range(6), range(6))))
    rows = Gaussian.from_moments(np.zeros(6), precision).condition(np.ones((2, 6)))
    assert_allclose(GenRBF(1.0, metric=precision).gram(rows), 1.0)


def test_scores_count_the_rank_of_a_singular_covariance():
    covariance = np.ones((2, 2))
    density = Gaussian.from_moments(np.zeros(2), covariance)
    expected = multivariate_normal([0, 0], covariance, allow_singular=True).logpdf([1, 1])
    line_element = 0.5 * np.log(2)  # scipy measures length along the line, gapkernel the first column
    assert_allclose(density.score_samples([[1.0, 1.0]]), expected + line_element)


def test_the_identity_as_a_metric_changes_nothing():
    X, y = 10 * gappy(rate=0.0) + 3, np.arange(60) % 2
    plain, explicit = gk.SVC().fit(X, y), gk.SVC(kernel=GenRBF(metric=np.eye(4))).fit(X, y)
    assert_allclose(explicit.kernel_.gamma, plain.kernel_.gamma, rtol=1e-12)


@pytest.mark.parametrize("kernel", [2 * GenRBF(0.1), ExpectedRBF(0.1).on([0, 2])], ids=repr)
def test_multiples_and_selections_predict_tile_by_tile(kernel, monkeypatch):
    rows = Gaussian().fit(gappy()).condition(gappy())
    expected = kernel.cross(rows, rows) @ np.ones((60, 1))
    monkeypatch.setattr(type(kernel), "_cross", None)  # a prediction must not ask for the matrix
    assert_allclose(kernel.dot(rows, rows, np.ones((60, 1))), expected, rtol=1e-12)


def test_a_negative_multiple_is_refused_wherever_it_is_used():
    rows = GaussianRows.certain(np.eye(2))
    with pytest.raises(ValueError, match="factor"):
        Scaled(GenRBF(1.0), -1.0).gram(rows)


def test_a_shift_of_the_columns_costs_no_digits():
    X = gappy(n=80)
    rows = Gaussian().fit(X).condition(X)
    moved = GaussianRows(rows.means + 2.0**30, rows.pattern.copy(), rows.gaps.copy(), rows.covariance.copy())
    assert_allclose(GenRBF(0.1).gram(moved), GenRBF(0.1).gram(rows), atol=1e-5)


def test_one_row_can_be_taken_by_its_number():
    rows = Gaussian().fit(gappy()).condition(gappy())
    assert rows.take(3).means.shape == (1, 4)
