"""Pairs of columns, usable cases and the selection of predictors, against mice."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau, pearsonr

from gapkernel.imputation import select_predictors, usable_cases
from gapkernel.imputation.predictors import pairwise_correlation
from gapkernel.missingness import pairs

nan = np.nan

# The table `nhanes` of the R package mice: age, bmi, hyp, chl.
NHANES = np.array(
    [
        [1, nan, nan, nan], [2, 22.7, 1, 187], [1, nan, 1, 187], [3, nan, nan, nan], [1, 20.4, 1, 113],
        [3, nan, nan, 184], [1, 22.5, 1, 118], [1, 30.1, 1, 187], [2, 22.0, 1, 238], [2, nan, nan, nan],
        [1, nan, nan, nan], [2, nan, nan, nan], [3, 21.7, 1, 206], [2, 28.7, 2, 204], [1, 29.6, 1, nan],
        [1, nan, nan, nan], [3, 27.2, 2, 284], [2, 26.3, 2, 199], [1, 35.3, 1, 218], [3, 25.5, 2, nan],
        [1, nan, nan, nan], [1, 33.2, 1, 229], [1, 27.5, 1, 131], [3, 24.9, 1, nan], [2, 27.4, 1, 186],
    ]
)  # fmt: skip

# Four rows, small enough to count by eye.
SMALL = np.array([[1.0, nan, 3.0], [nan, nan, 1.0], [2.0, 5.0, nan], [4.0, 6.0, nan]])


def test_pairs_of_nhanes_are_those_printed_by_md_pairs():
    # van Buuren and Groothuis-Oudshoorn (2011), Journal of Statistical Software 45(3), section 2.4; their columns
    # come in the order age, hyp, bmi, chl. They also follow by hand from the five patterns that md.pattern prints.
    counts = pairs(NHANES[:, [0, 2, 1, 3]])
    assert_array_equal(counts.rr, [[25, 17, 16, 15], [17, 17, 16, 14], [16, 16, 16, 13], [15, 14, 13, 15]])
    assert_array_equal(counts.rm, [[0, 8, 9, 10], [0, 0, 1, 3], [0, 0, 0, 3], [0, 1, 2, 0]])
    assert_array_equal(counts.mr, [[0, 0, 0, 0], [8, 0, 0, 1], [9, 1, 0, 2], [10, 3, 3, 0]])
    assert_array_equal(counts.mm, [[0, 0, 0, 0], [0, 8, 8, 7], [0, 8, 9, 7], [0, 7, 7, 10]])


def test_pairs_counted_by_hand():
    counts = pairs(SMALL)
    assert_array_equal(counts.rr, [[3, 2, 1], [2, 2, 0], [1, 0, 2]])
    assert_array_equal(counts.rm, [[0, 1, 2], [0, 0, 2], [1, 2, 0]])
    assert_array_equal(counts.mr, [[0, 0, 1], [1, 0, 2], [2, 2, 0]])
    assert_array_equal(counts.mm, [[1, 1, 0], [1, 2, 0], [0, 0, 2]])


def test_pairs_decompose_the_rows():
    counts = pairs(NHANES)
    assert_array_equal(counts.rr + counts.rm + counts.mr + counts.mm, np.full((4, 4), 25))
    assert_array_equal(counts.rm, counts.mr.T)


def test_usable_cases_by_hand():
    # nhanes: mr / (mr + mm) of the printed pairs, age having no gap; SMALL: of the pairs counted by hand
    expected = [[nan] * 4, [9 / 9, 0, 1 / 9, 2 / 9], [8 / 8, 0, 0, 1 / 8], [10 / 10, 3 / 10, 3 / 10, 0]]
    assert_allclose(usable_cases(NHANES), expected)
    assert_allclose(usable_cases(SMALL), [[0, 0, 1], [0.5, 0, 1], [1, 1, 0]])


def test_selection_of_nhanes_is_that_of_quickpred():
    # columns age, bmi, hyp, chl; quickpred(nhanes) as printed in section 3.3 of the paper above, and
    # quickpred(nhanes, mincor=.3) as printed in the vignettes of mice
    expected = [[0, 0, 0, 0], [1, 0, 1, 1], [1, 0, 0, 1], [1, 1, 1, 0]]
    assert_array_equal(select_predictors(NHANES, correlation="pearson"), expected)
    stricter = [[0, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0]]
    assert_array_equal(select_predictors(NHANES, mincor=0.3, correlation="pearson"), stricter)


def test_selection_by_usable_cases():
    # of the choice above, minpuc=0.3 strikes what is below 0.3 in the usable cases worked out by hand
    expected = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0]]
    assert_array_equal(select_predictors(NHANES, minpuc=0.3, correlation="pearson"), expected)


@pytest.mark.parametrize(("method", "correlation"), [("pearson", pearsonr), ("kendall", kendalltau)])
def test_selection_follows_its_definition(method, correlation):
    random = np.random.default_rng(3)
    for _ in range(5):
        X = random.standard_normal((30, 5)) @ random.standard_normal((5, 5))
        X[random.random(X.shape) < 0.25] = nan
        expected = np.zeros((5, 5), bool)
        for j in range(5):
            for k in set(range(5)) - {j}:
                both = ~np.isnan(X[:, j]) & ~np.isnan(X[:, k])
                seen = ~np.isnan(X[:, k])
                values = correlation(X[both, j], X[both, k]).statistic
                response = np.isnan(X[seen, j]) * -1.0
                responses = correlation(response, X[seen, k]).statistic if np.ptp(response) else 0.0
                missing = np.isnan(X[:, j])
                usable = np.mean(~np.isnan(X[missing, k]))
                expected[j, k] = max(abs(values), abs(responses)) > 0.2 and usable >= 0.6
        assert_array_equal(select_predictors(X, 0.2, 0.6, method), expected)


def test_a_column_that_says_which_values_are_missing_is_chosen():
    # column 0 is missing exactly where column 1 is high, but unrelated to it elsewhere
    X = np.array([[1.0, 0], [-1, 0], [1, 1], [-1, 1], [nan, 9], [nan, 9]])
    assert pairwise_correlation(X, X, "kendall")[0, 1] == 0
    assert select_predictors(X)[0, 1]


def test_kendall_is_scipys_on_pairwise_complete_rows():
    random = np.random.default_rng(0)
    X = np.column_stack([random.standard_normal(60), *random.integers(0, [2, 2, 4], (60, 3)).T, np.ones(60)])
    X[random.random(X.shape) < 0.2] = nan
    found = pairwise_correlation(X, X, "kendall")
    for j in range(5):
        for k in range(5):
            both = ~np.isnan(X[:, j]) & ~np.isnan(X[:, k])
            expected = kendalltau(X[both, j], X[both, k]).statistic
            assert_allclose(found[j, k], expected, atol=1e-12, err_msg=f"columns {j} and {k}")


def test_frames_and_arrays_agree():
    frame = pd.DataFrame(NHANES, columns=["age", "bmi", "hyp", "chl"])
    assert_array_equal(select_predictors(frame), select_predictors(NHANES))
    assert_array_equal(pairs(frame).mm, pairs(NHANES).mm)


def test_bad_settings_are_named():
    with pytest.raises(ValueError, match="correlation must be one of"):
        select_predictors(NHANES, correlation="cosine")
    with pytest.raises(ValueError, match="mincor == "):
        select_predictors(NHANES, mincor=1.5)
