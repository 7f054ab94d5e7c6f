"""Rubin's rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student

from gapkernel.imputation import pool_scalar


def test_the_rules_by_hand():
    # estimates 1, 2, 3 and variances 1, 2, 3: mean 2, within 2, between 1, total 2 + 4/3 = 10/3, increase 2/3,
    # share of the missing (4/3)/(10/3) = 2/5, old degrees of freedom 2/(2/5)^2 = 12.5
    pooled = pool_scalar([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert_allclose([pooled.estimate, pooled.within, pooled.between, pooled.total], [2, 2, 1, 10 / 3])
    assert_allclose([pooled.increase, pooled.dof], [2 / 3, 12.5])
    assert_allclose(pooled.fmi, (2 / 3 + 2 / 15.5) / (5 / 3))
    assert pooled.n_imputations == 3


def test_small_samples_by_hand():
    # 12 rows, 2 parameters: complete degrees of freedom 10, observed 11/13 * 10 * 3/5 = 66/13, and with the old 12.5
    # the harmonic sum 12.5 * (66/13) / (12.5 + 66/13)
    pooled = pool_scalar([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], n_samples=12, n_parameters=2)
    assert_allclose(pooled.dof, 12.5 * (66 / 13) / (12.5 + 66 / 13))


def test_the_interval_is_a_t_interval():
    pooled = pool_scalar([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    low, high = pooled.interval(0.9)
    assert_allclose(high - low, 2 * student.ppf(0.95, 12.5) * np.sqrt(10 / 3))
    assert_allclose(low + high, 4.0)


def test_a_vector_is_pooled_entry_by_entry():
    random = np.random.default_rng(0)
    estimates, variances = random.standard_normal((5, 3)), random.random((5, 3))
    pooled = pool_scalar(estimates, variances, n_samples=40)
    for k in range(3):
        one = pool_scalar(estimates[:, k], variances[:, k], n_samples=40)
        assert_allclose([pooled.total[k], pooled.dof[k], pooled.fmi[k]], [one.total, one.dof, one.fmi])


def test_equal_estimates_have_lost_nothing():
    pooled = pool_scalar([2.0, 2.0], [1.0, 1.0])
    assert pooled.total == 1.0
    assert pooled.fmi == 0.0
    assert_allclose(pooled.interval()[1] - 2.0, 1.959963984540054)  # infinite degrees of freedom: the normal law
    # mice's limit for a finite sample, dfcom (dfcom + 1) / (dfcom + 3)
    assert_allclose(pool_scalar([2.0, 2.0], [1.0, 1.0], n_samples=101).dof, 100 * 101 / 103)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="at least two imputations"):
        pool_scalar([1.0], [1.0])
    with pytest.raises(ValueError, match="same shape"):
        pool_scalar([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="must not be negative"):
        pool_scalar([1.0, 2.0], [1.0, -1.0])
