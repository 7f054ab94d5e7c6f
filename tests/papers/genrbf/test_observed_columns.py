"""Kernels over the columns that two rows share."""

import numpy as np
from numpy.testing import assert_allclose
from strategies import punch

from gapkernel.papers.genrbf.geometric_margin import ObservedColumnsKernel


def zero_filled(X):
    return np.nan_to_num(X), 1.0 - np.isnan(X)


def test_pattern_norms_are_those_of_masked_rows():
    random = np.random.default_rng(7)
    values, seen = zero_filled(punch(random, random.standard_normal((12, 4)), 0.3))
    weights = random.standard_normal(12)
    masks = np.array([[1, 1, 1, 1], [1, 0, 1, 0]], bool)
    kernel = ObservedColumnsKernel("poly", gamma=0.5, coef0=1.0, degree=2)
    for mask, norm in zip(masks, kernel.squared_norms(values, seen, weights, masks), strict=True):
        gram = (0.5 * (values * mask) @ (values * mask).T + 1.0) ** 2
        assert_allclose(norm, weights @ gram @ weights)


def test_the_rbf_counts_joint_columns_only():
    left, right = (zero_filled(np.array([row])) for row in ([1.0, np.nan, 2.0], [0.0, 5.0, np.nan]))
    assert_allclose(ObservedColumnsKernel("rbf", gamma=0.3).cross(*left, *right), np.exp(-0.3))
