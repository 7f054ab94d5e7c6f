"""Variances of kernel values over draws of the rows."""

import pytest
from numpy.testing import assert_allclose
from strategies import random_laws

from gapkernel.kernels import ExpectedRBF, Scaled
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
