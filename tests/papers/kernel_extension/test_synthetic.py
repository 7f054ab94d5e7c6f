"""The synthetic problem: its balance, and columns that are drawn from the laws that are given as true."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from gapkernel.papers.kernel_extension import ehk_laws, make_ehk_synthetic


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
