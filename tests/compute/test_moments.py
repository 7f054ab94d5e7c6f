"""Covariances of expected kernel values over the gaps of new rows: shared or pair by pair, they are the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from strategies import random_laws

import gapkernel as gk
from gapkernel.compute.moments import covariance_sums as module
from gapkernel.kernels import AnisotropicRBF
from gapkernel.rows import GaussianRows


def weights(n, k=2):
    """Vectors (k, n) and a positive definite matrix."""
    random = np.random.default_rng(9)
    root = random.standard_normal((n, n))
    return random.standard_normal((k, n)), root @ root.T / n


def plain_sum(left, right, t, scale, vectors, matrix):
    """The sum for row t by log determinants and solves of full-size matrices, in units of the length scale.

    E prod_i e_i is the density at 0 of x_i - x, each with a normal of variance 1 added, times (2 pi)^(d/2) each.
    """
    n, d = right.means.shape
    gap = left.covariance_of(t) / scale**2
    own = [np.eye(d) + right.covariance_of(i) / scale**2 for i in range(n)]
    away = (right.means - left.means[t]) / scale

    def log_moment(rows):
        covariance = np.tile(gap, (len(rows), len(rows)))
        for k, i in enumerate(rows):
            covariance[k * d : (k + 1) * d, k * d : (k + 1) * d] += own[i]
        x = np.concatenate([away[i] for i in rows])
        return -0.5 * np.linalg.slogdet(covariance)[1] - 0.5 * x @ np.linalg.solve(covariance, x)

    mean = np.array([np.exp(log_moment([i])) for i in range(n)])
    product = np.array([[np.exp(log_moment([i, j])) for j in range(n)] for i in range(n)])
    return np.sum((vectors.T @ vectors - matrix) * (product - np.outer(mean, mean)))


def with_method(monkeypatch, shared):
    monkeypatch.setattr(module, "_sharing_pays", lambda side, gaps: shared)


TRAINING = {
    "every row its own pattern": (60, 5, 0.4, None),
    "few patterns": (70, 6, 0.4, 3),
    "complete": (55, 4, 0.0, None),
    "nearly nothing known": (52, 4, 0.9, None),
    "one row": (1, 3, 0.5, None),
}


@pytest.mark.parametrize("shared", [True, False], ids=["by pattern", "by pair"])
@pytest.mark.parametrize("training", TRAINING.values(), ids=TRAINING.keys())
def test_sums_equal_full_matrices(monkeypatch, training, shared):
    with_method(monkeypatch, shared)
    density, _, right = random_laws(1, *training)
    X = density.sample(np.full((7, training[1]), np.nan), random_state=3)[0]
    X[1:4, 0], X[2, 1], X[5] = np.nan, np.nan, np.nan  # three with one law or nearly, one wholly missing
    left = density.condition(X)
    vectors, matrix = weights(len(right))
    sums = AnisotropicRBF(1.7).covariance_sums(left, right, lambda _: vectors, matrix)
    expected = [plain_sum(left, right, t, 1.7, vectors, matrix) for t in (1, 2, 3, 5)]
    assert_allclose(sums[[1, 2, 3, 5]], expected, rtol=1e-10, atol=1e-12)
    assert_array_equal(sums[[0, 4, 6]], 0.0)


def test_both_ways_agree_when_laws_are_singular(monkeypatch):
    random = np.random.default_rng(0)
    root = random.standard_normal((5, 2))  # five columns, two factors
    density = gk.density.Gaussian.from_moments(np.zeros(5), root @ root.T)
    means = random.standard_normal((40, 2)) @ root.T
    covariances = np.zeros((40, 5, 5))
    covariances[::2] = density.covariance_
    covariances[::3, 0, 0] += 1e-13
    right = GaussianRows.from_moments(means, covariances)
    left = density.condition(np.full((1, 5), np.nan))
    vectors, matrix = weights(40)
    found = []
    for shared in (True, False):
        with_method(monkeypatch, shared)
        found.append(AnisotropicRBF(0.8).covariance_sums(left, right, lambda _: vectors, matrix))
    assert_allclose(*found, rtol=1e-10)
    assert_allclose(found[0], plain_sum(left, right, 0, 0.8, vectors, matrix), rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-3, 1e-2, 0.05, 1.0])
def test_no_digits_are_lost_whatever_the_length_scale(scale):
    density, _, right = random_laws(2, 20, 3, 0.5)
    left = density.condition([[np.nan, np.nan, np.nan], [0.1, np.nan, np.nan]])
    vectors, matrix = weights(20)
    sums = AnisotropicRBF(scale).covariance_sums(left, right, lambda _: vectors, matrix)
    expected = [plain_sum(left, right, t, scale, vectors, matrix) for t in range(2)]
    assert_allclose(sums, expected, rtol=1e-8)


@pytest.mark.parametrize("shared", [True, False], ids=["by pattern", "by pair"])
def test_a_sum_depends_on_no_other_row_nor_on_threads_and_memory(monkeypatch, shared):
    with_method(monkeypatch, shared)
    density, X, right = random_laws(4, 90, 6, 0.4, 5)
    left = density.condition(np.where(np.isnan(X[:1]) | (np.arange(6) == 2), np.nan, X)[:40])
    _, matrix = weights(90)
    own = np.random.default_rng(1).standard_normal((40, 2, 90))
    kernel = AnisotropicRBF(2.0)
    together = kernel.covariance_sums(left, right, lambda t: own[t], matrix)
    assert len(left.gaps) < 40 - module.TOGETHER  # some share their law
    with gk.config_context(n_threads=3, memory_budget=1):
        assert_array_equal(kernel.covariance_sums(left, right, lambda t: own[t], matrix), together)
    for t in (0, 7, 39):
        alone = kernel.covariance_sums(left.take([t]), right, lambda _, t=t: own[t], matrix)
        assert_array_equal(alone, together[t])


def test_sharing_is_for_small_or_repeated_gaps():
    gaps = np.arange(8)
    for shape, pays in (((60, 8, 0.2), True), ((60, 8, 0.9), False), ((60, 8, 0.9, 2), True), ((60, 8, 0.0), True)):
        side, *_ = module.lay_out(random_laws(5, *shape)[2], 0.5, 0.0)
        assert module._sharing_pays(side, gaps) == pays
