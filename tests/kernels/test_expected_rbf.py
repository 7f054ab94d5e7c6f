"""The expected RBF and genRBF: widths and metrics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import random_laws

from gapkernel.density import Gaussian
from gapkernel.kernels import ExpectedRBF, GenRBF


def test_gamma_scale_is_that_of_scikit_learn_on_complete_data():
    X = np.random.default_rng(0).standard_normal((30, 4)) * [1, 2, 3, 4] + [0, 5, 0, 1]
    density = Gaussian().fit(X)
    rows = density.condition(X)
    for kernel in (ExpectedRBF(), GenRBF()):
        assert_allclose(kernel.resolve(density.moments(), rows).gamma, 1 / (4 * X.var()), rtol=1e-10)
    assert_allclose(GenRBF(metric="mahalanobis").resolve(density.moments(), rows).gamma, 0.25, rtol=1e-14)


def test_gamma_median_is_the_inverse_of_the_median_squared_distance():
    density, _, rows = random_laws(0, 20, 3, 0.3)
    m = rows.means
    distances = [np.sum((m[i] - m[j]) ** 2) for i in range(20) for j in range(i)]
    assert_allclose(ExpectedRBF("median").resolve(density.moments(), rows).gamma, 1 / np.median(distances), rtol=1e-10)


def test_words_must_be_resolved_first():
    rows = random_laws(0, 4, 3, 0.3)[2]
    with pytest.raises(ValueError, match="resolve"):
        ExpectedRBF("scale").gram(rows)
    with pytest.raises(ValueError, match="resolve"):
        GenRBF(1.0, "mahalanobis").gram(rows)


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, None, "automatic", [1.0]])
def test_a_gamma_that_is_no_positive_number_is_refused(gamma):
    density, _, rows = random_laws(0, 4, 3, 0.3)
    with pytest.raises(ValueError, match="gamma"):
        ExpectedRBF(gamma).resolve(density.moments(), rows)
    with pytest.raises(ValueError, match="gamma"):
        GenRBF(gamma).resolve(density.moments(), rows)


@pytest.mark.parametrize("metric", ["euclid", np.eye(2), -np.eye(3), [[1, 2, 0], [0, 1, 0], [0, 0, 1]]])
def test_a_metric_that_is_none_is_refused(metric):
    density, _, rows = random_laws(0, 4, 3, 0.3)
    with pytest.raises(ValueError, match="metric"):
        GenRBF(1.0, metric).resolve(density.moments(), rows).gram(rows)


@pytest.mark.parametrize("unit", [1.0, 1e2, 1e4, 1e8])
def test_the_mahalanobis_metric_has_no_units(unit):
    density, X, rows = random_laws(0, 12, 4, 0.3)
    units = np.array([1 / unit, 1.0, 1.0, unit])
    other = Gaussian.from_moments(density.mean_ * units, density.covariance_ * np.outer(units, units))
    other_rows = other.condition(X * units)
    kernel = GenRBF(0.2, "mahalanobis")
    expected = kernel.resolve(density.moments(), rows).gram(rows)
    assert_allclose(kernel.resolve(other.moments(), other_rows).gram(other_rows), expected, rtol=0, atol=1e-9)


def test_the_mahalanobis_metric_ignores_constant_columns():
    density, X, rows = random_laws(0, 12, 3, 0.3)
    wider = Gaussian.from_moments([*density.mean_, 7.0], np.pad(density.covariance_, (0, 1)))
    wider_rows = wider.condition(np.column_stack([X, np.full(12, 7.0)]))
    kernel = GenRBF(0.2, "mahalanobis")
    expected = kernel.resolve(density.moments(), rows).gram(rows)
    assert_allclose(kernel.resolve(wider.moments(), wider_rows).gram(wider_rows), expected, rtol=0, atol=1e-10)


def test_a_singular_metric_ignores_its_null_directions():
    rows = random_laws(0, 9, 3, 0.4)[2]
    ignoring = GenRBF(0.4, np.diag([1.0, 0.0, 1.0])).gram(rows)
    assert_allclose(ignoring, GenRBF(0.4).on([0, 2]).gram(rows), rtol=0, atol=1e-12)
