"""Paired tests against scipy and made-up results."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from gapkernel.inspection import holm
from gapkernel.studies import all_pairs, cell_tests, paired_test
from gapkernel.studies.statistics import sign_flip_pvalue


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


def test_every_pair_is_tested_and_the_tests_are_corrected_for_their_number():
    random = np.random.default_rng(1)
    scores = random.normal([0.9, 0.7, 0.7, 0.69], 0.02, size=(10, 4))
    pairs = all_pairs(scores, "abcd")
    assert [name for name in "bcd" if pairs.beats("a", name)] == ["b", "c", "d"]
    assert not any(pairs.beats(name, "a") for name in "bcd")
    for first, second in itertools.permutations("abcd", 2):
        alone = paired_test(scores[:, "abcd".index(first)], scores[:, "abcd".index(second)])
        mean, margin = pairs.lead(first, second)
        assert mean == pytest.approx(alone.difference)
        assert (abs(mean) > margin) == (alone.corrected_t_pvalue < 0.05)
        place = "abcd".index(first), "abcd".index(second)
        assert alone.corrected_t_pvalue <= pairs.pvalues[place] <= 6 * alone.corrected_t_pvalue + 1e-15
        assert pairs.beats(first, second) <= (mean > margin)  # the correction only takes claims back
    assert pairs.least_lead("a") > max(pairs.lead("a", name)[1] for name in "bcd")


def test_pairs_with_a_reference_are_corrected_by_themselves():
    scores = np.random.default_rng(2).normal([0.8, 0.79, 0.78, 0.7], 0.03, size=(10, 4))
    pairs, others = all_pairs(scores, "abcr", reference="r"), all_pairs(scores[:, :3], "abc")
    assert_allclose(pairs.pvalues[:3, :3], others.pvalues)
    alone = np.array([paired_test(scores[:, k], scores[:, 3]).corrected_t_pvalue for k in range(3)])
    assert_allclose(pairs.pvalues[3, :3], holm(alone))
    assert_allclose(pairs.pvalues, pairs.pvalues.T)
    assert (pairs.pvalues <= all_pairs(scores, "abcr").pvalues).all()
    assert pairs.least_lead("a") == others.least_lead("a")
    assert_allclose(all_pairs(scores, "abcr", reference="z").pvalues, all_pairs(scores, "abcr").pvalues)


def test_noise_is_seldom_taken_for_a_difference():
    random = np.random.default_rng(0)
    wrong = [(all_pairs(random.normal(size=(10, 6)), "abcdef").pvalues <= 0.05).any() for _ in range(200)]
    assert np.mean(wrong) < 0.05  # splits are independent here, so the correction for their overlap leaves room


def test_twins_are_never_told_apart():
    twins = np.random.default_rng(0).random((5, 1)) + np.array([0.0, 0.0, 0.1])
    pairs = all_pairs(twins, "abc")
    assert (pairs.pvalues == 1.0).all()
    assert pairs.lead("a", "b") == (0.0, 0.0)


@given(st.lists(st.integers(-4, 4), max_size=9))
def test_signs_at_random_are_all_signs(differences):
    sums = [np.dot(signs, differences) for signs in itertools.product((-1, 1), repeat=len(differences))]
    expected = np.mean(np.abs(sums) >= abs(sum(differences)))
    assert_allclose(sign_flip_pvalue(np.array(differences, dtype=int)), expected)


def test_signs_at_random_of_ones_are_the_sign_test():
    differences = np.array([1] * 27 + [0] * 100 + [-1] * 9)
    assert_allclose(sign_flip_pvalue(differences), stats.binomtest(9, 36).pvalue)
