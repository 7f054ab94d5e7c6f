"""Sums over rows equal the matrix products that they stand for, whatever the blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gapkernel.compute.linalg.regression import logistic_terms, scores, weighted_gram, weighted_sum

SIZES = (1, 7, 256, 600)  # less than a block, one, and several with a rest


@pytest.fixture(params=SIZES)
def design(request):
    return np.random.default_rng(request.param).standard_normal((3, request.param))


def test_sums_are_matrix_products(design):
    random = np.random.default_rng(1)
    weight, coefficients = random.uniform(0.5, 2.0, design.shape[1]), random.standard_normal((2, 3))
    assert_allclose(scores(design, coefficients), coefficients @ design, atol=1e-12)
    assert_allclose(weighted_gram(design, weight), (design * weight) @ design.T, atol=1e-11)
    assert_allclose(weighted_sum(design, weight), design @ weight, atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 300.0])
def test_logistic_terms_are_the_textbooks(design, size):
    """sum y eta - log(1 + exp(eta)), X (y - p) and X p (1 - p) X', also where exp(eta) overflows nearly."""
    random = np.random.default_rng(2)
    y, beta = random.integers(0, 2, design.shape[1]).astype(float), size * random.standard_normal(3)
    eta = beta @ design
    p = np.exp(eta - np.logaddexp(0.0, eta))
    both = np.exp(eta - 2.0 * np.logaddexp(0.0, eta))  # p (1 - p)
    log_likelihood, gradient, information = logistic_terms(design, y, beta)
    assert_allclose(log_likelihood, np.sum(y * eta - np.logaddexp(0.0, eta)), rtol=1e-12, atol=1e-12)
    assert_allclose(gradient, design @ (y - p), atol=1e-10)
    assert_allclose(information, (design * both) @ design.T, atol=1e-10)
