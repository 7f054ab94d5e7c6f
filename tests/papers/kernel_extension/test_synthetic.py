"""The synthetic problem: its balance, and columns that are drawn from the laws that are given as true."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

from gapkernel.papers.kernel_extension import ehk_laws, make_ehk_synthetic
from gapkernel.papers.kernel_extension.synthetic import Exponential, law_of

DISTRIBUTIONS = {
    "normal": stats.norm(3.0, 0.7), "uniform": stats.uniform(-3.0, 13.0), "exponential": stats.expon(scale=0.25),
    "poisson": stats.poisson(3.0), "geometric": stats.geom(0.6, loc=-1), "binomial": stats.binom(20, 1 / 3),
}  # fmt: skip


def test_the_synthetic_problem_has_its_balance_and_its_laws():
    X, y = make_ehk_synthetic(40_000, random_state=0)
    assert abs(np.mean(y == 1) - 0.5252) < 4 * np.sqrt(0.25 / len(y))
    for name, law in ehk_laws().items():
        assert_allclose(X[name].mean(), law.mean(), atol=4.5 * law.std() / np.sqrt(len(y)))
        assert_allclose(X[name].var(), law.var(), rtol=0.06)
    assert stats.chisquare(X["v11"].value_counts()).pvalue > 1e-4
    again, y_again = make_ehk_synthetic(40_000, random_state=0)
    assert_array_equal(y, y_again)
    pd.testing.assert_frame_equal(X, again)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS.keys())
def test_a_law_is_that_of_its_distribution(distribution):
    law = law_of(distribution)
    assert_allclose((law.mean, law.variance), distribution.stats(), rtol=1e-12)
    shares = np.linspace(0.01, 0.99, 23)
    assert_allclose(law.ppf(shares), distribution.ppf(shares), atol=1e-12)
    z = distribution.ppf([0.2, 0.5, 0.9])
    log_density = distribution.logpdf(z) if hasattr(distribution.dist, "pdf") else distribution.logpmf(z)
    assert_allclose(law.log_density(z), log_density, atol=1e-12)


@pytest.mark.parametrize("ends", [(-np.inf, np.inf), (-1.0, 0.3), (0.1, 2.0)])
def test_the_exponential_law_has_the_distances_of_its_closed_form(ends):
    law, known = Exponential(0.25), stats.expon(scale=0.25)
    spread = integrate.quad(lambda t: 2 * known.cdf(t) * known.sf(t), max(ends[0], 0.0), min(ends[1], 12.0))[0]
    assert_allclose(law.mean_spread(*ends), spread, atol=1e-9)
    z = np.array([-0.5, 0.0, 0.2, 1.0])
    below = [integrate.quad(known.cdf, 0.0, max(one, 0.0))[0] for one in z]
    assert_allclose(law.integral_of_cdf(z), below, atol=1e-12)
