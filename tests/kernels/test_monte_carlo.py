"""Kernels averaged over draws."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, laplacian_kernel
from strategies import random_laws

import gapkernel as gk
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, MonteCarlo
from gapkernel.rows import GaussianRows


def rbf(n_draws, random_state=0):
    return MonteCarlo("rbf", {"gamma": 0.3}, n_draws=n_draws, random_state=random_state)


def test_it_converges_to_the_closed_form():
    rows = random_laws(3, 12, 4, 0.5)[2]
    expected = ExpectedRBF(0.3).cross(rows, rows)
    error = [np.abs(rbf(n).cross(rows, rows) - expected).max() for n in (16, 256)]
    assert error[1] < error[0] / 8, "quasi-random draws gain more than the square root of their number"
    assert error[1] < 5e-3


def test_the_mean_over_seeds_is_the_closed_form():
    """Unbiased between different rows: the mean over seeds lies within five standard errors."""
    rows = random_laws(5, 6, 3, 0.6)[2]
    off = np.any(rows.means[:, None] != rows.means, axis=2)  # equal rows have equal draws
    assert off.sum() > 20
    draws = np.array([rbf(2, seed).cross(rows, rows)[off] for seed in range(600)])
    error = draws.std(axis=0) / np.sqrt(len(draws)) + 1e-12
    assert np.max(np.abs(draws.mean(axis=0) - ExpectedRBF(0.3).cross(rows, rows)[off]) / error) < 5


def test_the_same_draw_meets_itself_on_the_diagonal():
    rows = random_laws(2, 8, 3, 0.5)[2]
    linear = MonteCarlo("linear", n_draws=512, random_state=0)
    assert_allclose(linear.diag(rows), ExpectedLinear().diag(rows), rtol=2e-2)


def test_the_diagonal_of_an_rbf_is_1_and_costs_nothing(monkeypatch):
    def never(*_, **__):
        raise AssertionError("the diagonal was computed")

    rows = random_laws(2, 8, 3, 0.5)[2]
    monkeypatch.setitem(PAIRWISE_KERNEL_FUNCTIONS, "rbf", never)
    monkeypatch.setattr("gapkernel.kernels.on_vectors.CompleteKernel.__call__", never)
    assert_allclose(rbf(32).diag(rows), 1.0, rtol=1e-12)


@given(seed=st.integers(0, 1000))
def test_a_row_has_its_own_draws_whatever_else_is_in_the_batch(seed):
    rows = random_laws(seed, 9, 4, 0.5)[2]
    whole = rbf(8).cross(rows, rows)
    picked = np.random.default_rng(seed).permutation(9)[:5]
    assert_allclose(rbf(8).cross(rows.take(picked), rows), whole[picked], rtol=1e-12, atol=1e-14)
    assert_allclose(rbf(8).gram(rows.take(picked)), rbf(8).gram(rows)[np.ix_(picked, picked)], rtol=1e-12, atol=1e-14)


def test_many_tiles_equal_one(monkeypatch):
    rows = random_laws(0, 30, 4, 0.5)[2]
    whole = rbf(8).cross(rows, rows)
    monkeypatch.setattr("gapkernel.kernels.monte_carlo.TILE_BYTES", 8 * 40**2)
    assert_allclose(rbf(8).cross(rows, rows), whole, rtol=1e-12)


def test_without_gaps_it_is_the_base_kernel():
    X = np.random.default_rng(0).standard_normal((7, 3))
    rows = GaussianRows.certain(X)
    assert_allclose(
        MonteCarlo("laplacian", {"gamma": 0.4}, random_state=0).gram(rows), laplacian_kernel(X, gamma=0.4), rtol=1e-12
    )
    assert_allclose(MonteCarlo(Matern(1.5), random_state=0).cross(rows, rows), Matern(1.5)(X, X), rtol=1e-12)


def test_kernels_of_scikit_learn_work_in_a_machine():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3))
    y = X[:, 0] * X[:, 1] > 0
    X[random.random(X.shape) < 0.1] = np.nan
    machine = gk.SVC(kernel=MonteCarlo(RBF(0.8), n_draws=16, random_state=0), C=10.0).fit(X, y)
    assert machine.score(X, y) > 0.85
    closed = gk.SVC(kernel=ExpectedRBF(1 / (2 * 0.8**2)), C=10.0).fit(X, y)
    assert np.mean(machine.predict(X) == closed.predict(X)) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"base": "rbff"}, "'base' parameter"),
        ({"base": 3}, "'base' parameter"),
        ({"base": RBF(1.0), "base_params": {"gamma": 1.0}}, "base_params"),
        ({"base": lambda X, Y: np.ones(len(X))}, r"base must give a matrix of shape \(\d+, \d+\)"),
        ({"n_draws": 0}, "n_draws"),
        ({"n_draws": 2.5}, "n_draws"),
        ({"random_state": None}, "give random_state a number, or call resolve first"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    rows = random_laws(0, 4, 3, 0.3)[2]
    with pytest.raises(ValueError, match=message):
        MonteCarlo(**{"random_state": 0} | parameters).cross(rows, rows)
