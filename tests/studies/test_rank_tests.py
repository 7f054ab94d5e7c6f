"""Ranks over blocks against worked examples and scipy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from gapkernel.studies.statistics import critical_difference, friedman_nemenyi

DEMSAR = np.array([  # Demsar (2006), Table 6: AUC of four variants of C4.5 on 14 data sets; 0.9751 ranks before 0.975
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975],
    [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip


def test_demsars_example():
    result = friedman_nemenyi(DEMSAR)
    assert_allclose(result.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert_allclose(result.statistic, 9.28, atol=5e-3)
    assert_allclose(result.iman_davenport_statistic, 3.69, atol=5e-3)
    assert_allclose(result.iman_davenport_pvalue, stats.f.sf(3.69, 3, 39), rtol=2e-2)
    ten = friedman_nemenyi(DEMSAR, significance=0.10)
    assert_allclose(ten.critical_difference, 1.12, atol=5e-3)
    assert_allclose(result.critical_difference, 1.25, atol=5e-3)
    assert ten.differs[0, 3]
    assert not ten.differs[1, 2]


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (6, 2.850), (10, 3.164)])
def test_critical_values_of_the_table(k, q):
    assert_allclose(critical_difference(k, 1) / np.sqrt(k * (k + 1) / 6), q, atol=2e-3)


@given(n=st.integers(2, 15), k=st.integers(3, 7), levels=st.sampled_from([2, 3, 1000]), seed=st.integers(0, 2**32 - 1))
def test_the_corrected_statistic_is_scipys(n, k, levels, seed):
    scores = np.random.default_rng(seed).integers(0, levels, (n, k)).astype(float)
    result = friedman_nemenyi(scores)
    assert_allclose(result.ranks.sum(), k * (k + 1) / 2)
    assert result.tie_corrected_statistic >= result.statistic - 1e-12
    if (scores == scores[:, :1]).all():
        assert result.statistic == 0
        return
    expected = stats.friedmanchisquare(*scores.T)
    assert_allclose(result.tie_corrected_statistic, expected.statistic, atol=1e-9)
    assert_allclose(result.tie_corrected_pvalue, expected.pvalue, atol=1e-9)
    turned = friedman_nemenyi(scores[::-1, ::-1])
    assert_allclose(turned.ranks, result.ranks[::-1])
    assert_allclose(turned.statistic, result.statistic)


def test_a_perfect_order_is_certain():
    result = friedman_nemenyi(np.tile([3.0, 2.0, 1.0], (5, 1)))
    assert result.iman_davenport_statistic == np.inf
    assert result.iman_davenport_pvalue == 0
    assert_allclose(result.statistic, 10)


def test_groups_are_the_largest_sets_that_do_not_differ():
    result = friedman_nemenyi(DEMSAR, significance=0.10, names=["a", "b", "c", "d"])
    assert result.groups() == [(3, 1, 2), (2, 0)]
    for group in result.groups():
        assert not result.differs[np.ix_(group, group)].any()
    same = friedman_nemenyi(np.ones((4, 3)))
    assert same.groups() == [(0, 1, 2)]


def test_frames_give_their_names():
    assert friedman_nemenyi(pd.DataFrame(DEMSAR, columns=list("abcd"))).names == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("scores", "words"),
    [([[1.0, 2.0]], "at least two blocks"), ([[1.0, np.nan], [1.0, 2.0]], "block 0 for method 1")],
)
def test_bad_scores_are_refused(scores, words):
    with pytest.raises(ValueError, match=words):
        friedman_nemenyi(scores)
