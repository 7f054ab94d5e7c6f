"""Values known to twelve digits, so that a wrong constant anywhere is seen at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gapkernel.density import Gaussian
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF
from gapkernel.papers.expected_kernel import UnscaledExpectedRBF
from gapkernel.papers.expected_kernel.variances import gram_variance, variance
from gapkernel.rows import GaussianRows

GAMMA = 0.5


@pytest.fixture
def pair():
    """Two laws: one uncertain in its second column, one in both."""
    return GaussianRows.from_moments([[0.0, 1.0], [1.0, 0.0]], [[[0, 0], [0, 0.5]], [[0.3, 0.1], [0.1, 0.2]]])


def test_expected_rbf(pair):
    assert_allclose(ExpectedRBF(GAMMA).gram(pair), [[1, 0.325790283277], [0.325790283277, 1]], atol=1e-11)


def test_expected_rbf_of_independent_copies(pair):
    copies = [0.707106781187, 0.674199862463]
    assert_allclose(ExpectedRBF(GAMMA).self_cross(pair), copies, atol=1e-11)
    assert_allclose(ExpectedRBF(GAMMA).cross(pair, pair).diagonal(), copies, atol=1e-11)


def test_variance_of_the_rbf(pair):
    assert_allclose(gram_variance(ExpectedRBF(GAMMA), pair), [[0, 0.055014623513], [0.055014623513, 0]], atol=1e-11)
    assert_allclose(variance(ExpectedRBF(GAMMA), pair, pair)[0, 1], 0.055014623513, atol=1e-11)


def test_gen_rbf(pair):
    expected = [[1, 0.471847106762], [0.471847106762, 1]]
    assert_allclose(GenRBF(GAMMA).gram(pair), expected, atol=1e-11)
    assert_allclose(GenRBF(GAMMA).cross(pair, pair), expected, atol=1e-11)
    assert_allclose(GenRBF(GAMMA).self_cross(pair), 1.0, atol=1e-11)


@pytest.mark.filterwarnings("ignore:UnscaledExpectedRBF")
def test_unscaled_rbf(pair):
    assert_allclose(UnscaledExpectedRBF(GAMMA).gram(pair)[0, 1], 0.483225081190, atol=1e-11)


def test_expected_linear(pair):
    assert_allclose(ExpectedLinear().gram(pair), [[1.5, 0], [0, 1.5]], atol=1e-12)
    assert_allclose(ExpectedLinear().cross(pair, pair), [[1, 0], [0, 1]], atol=1e-12)


def test_variance_of_the_linear_kernel(pair):
    variance = gram_variance(ExpectedLinear(), pair)
    assert_allclose(variance[0, 1], 0.3, atol=1e-12)
    assert_allclose(variance[1, 1], 1.5, atol=1e-12)


def test_conditional_moments():
    density = Gaussian.from_moments([1, 2, 3], [[2, 0.5, 0.3], [0.5, 1, 0.2], [0.3, 0.2, 1.5]])
    rows = density.condition([[np.nan, 3, np.nan]])
    assert_allclose(rows.means, [[1.5, 3, 3.2]], atol=1e-12)
    assert_allclose(rows.covariance_of(0), [[1.75, 0, 0.2], [0, 0, 0], [0.2, 0, 1.46]], atol=1e-12)


@pytest.mark.filterwarnings("ignore:UnscaledExpectedRBF")
def test_the_unscaled_rbf_is_indefinite():
    rows = GaussianRows.from_moments([[0.0], [0.0], [2.0]], [[[0.0]], [[4.0]], [[0.0]]])
    gram = UnscaledExpectedRBF(gamma=0.5).gram(rows)
    assert_allclose(np.linalg.eigvalsh(gram)[0], -0.1441445818, atol=1e-10)
