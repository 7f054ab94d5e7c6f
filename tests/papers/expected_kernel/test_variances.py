"""Variances of kernel values over draws of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import random_laws

from gapkernel.kernels import ExpectedRBF, GenRBF, Scaled
from gapkernel.papers.expected_kernel import UnscaledExpectedRBF
from gapkernel.papers.expected_kernel.variances import gram_variance, variance


@pytest.mark.parametrize("factor", [0.5, 3.0])
@pytest.mark.parametrize("verb", [variance, gram_variance])
def test_variances_of_scaled_kernels_and_of_columns(factor, verb):
    rows = random_laws(1, 6, 4, 0.5)[2]
    arguments = (rows, rows) if verb is variance else (rows,)
    base = verb(ExpectedRBF(0.4), *arguments)
    assert_allclose(verb(Scaled(ExpectedRBF(0.4), factor), *arguments), factor**2 * base, rtol=1e-13)
    part = [a.columns([3, 1]) for a in arguments]
    marginal = verb(ExpectedRBF(0.4), *part)
    assert_allclose(verb(ExpectedRBF(0.4).on([3, 1]), *arguments), marginal, rtol=1e-13)


def test_the_variance_of_genrbf_is_that_of_the_expected_rbf_in_its_units():
    rows = random_laws(1, 7, 4, 0.5)[2]
    norm = ExpectedRBF(0.4).self_cross(rows)
    expected = variance(ExpectedRBF(0.4), rows, rows) / np.outer(norm, norm)
    assert_allclose(variance(GenRBF(0.4), rows, rows), expected, rtol=1e-10, atol=1e-14)
    np.fill_diagonal(expected, 0.0)
    assert_allclose(gram_variance(GenRBF(0.4), rows), expected, rtol=1e-10, atol=1e-14)


def test_the_unscaled_rbf_warns_and_is_indefinite():
    rows = random_laws(6, 40, 6, 0.5)[2]
    with pytest.warns(UserWarning, match="not positive definite"):
        gram = UnscaledExpectedRBF(0.5).gram(rows)
    assert np.linalg.eigvalsh(gram)[0] < -0.01
    with pytest.raises(ValueError, match="no closed form"):
        variance(UnscaledExpectedRBF(0.5), rows, rows)
