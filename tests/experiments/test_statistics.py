"""Paired tests against scipy and made-up results."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from gapkernel.experiments import cell_tests, paired_test


def test_paired_tests():
    random = np.random.default_rng(0)
    base = random.random(10)
    same = paired_test(base, base)
    assert (same.difference, same.corrected_t_pvalue, same.wilcoxon_pvalue) == (0, 1, 1)
    noisy = paired_test(base + 0.05 + 0.01 * random.standard_normal(10), base)
    assert noisy.corrected_t_pvalue < 0.01
    assert noisy.wilcoxon_pvalue < 0.01
    a, b = random.random(8), random.random(8)
    uncorrected = stats.ttest_rel(a, b).pvalue
    assert_allclose(paired_test(a, b, test_share=0.0).corrected_t_pvalue, uncorrected)
    assert paired_test(a, b).corrected_t_pvalue > uncorrected


@pytest.mark.parametrize("step", [0.02, -1e-3, 0.1])
def test_equal_differences_have_no_t_test(step):
    base = np.random.default_rng(0).random(6)
    test = paired_test(base + step, base)  # equal up to rounding
    assert_allclose(test.difference, step)
    assert np.isnan(test.corrected_t_pvalue)


def test_every_cell_is_tested_on_its_own_splits():
    lines = [
        {"dataset": data, "mechanism": "mcar", "fraction": 0.5, "draw": 0, "repeat": 0, "fold": fold, "method": method,
         "accuracy": 0.1 * fold + (0.02 if method == "x" and data == "one" else 0.0) + 0.001 * fold * (method == "x")}
        for data in ("one", "two") for method in ("x", "y") for fold in range(5)
    ]  # fmt: skip
    tests = cell_tests(pd.DataFrame(lines), "x")
    assert tests["dataset"].tolist() == ["one", "two"]
    assert tests["method"].tolist() == ["y", "y"]
    assert_allclose(tests["difference"], [0.022, 0.002])
    assert (tests["n"] == 5).all()
    with pytest.raises(ValueError, match=r"no method 'zzz' in the results. Known are x, y"):
        cell_tests(pd.DataFrame(lines), "zzz")
