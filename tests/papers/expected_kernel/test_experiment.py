"""The expected kernel's experiment: what is removed, and its claims."""

import numpy as np
import pandas as pd
import pytest

from gapkernel.papers.expected_kernel import experiment as expected_kernel


def test_entries_are_removed_by_row():
    random = np.random.default_rng(0)
    gaps = np.isnan(expected_kernel.removed(np.ones((500, 13)), 0.2, random))
    assert set(gaps.sum(axis=1).tolist()) == {2, 3}  # 2.6 of 13
    assert abs(gaps.mean() - 0.2) < 0.01


@pytest.mark.parametrize("better", [0.0, 0.1])
def test_claims_of_the_expected_kernel_paper_are_held_against_the_results(better):
    random, seconds = np.random.default_rng(0), {"expected": 1.0, "variance": 50.0, "identity": 10.0}
    lines = [
        {"dataset": d, "method": m, "fraction": f, "draw": draw, "fit_seconds": seconds[m],
         "error": 0.2 - better * (m == "identity") + 0.01 * random.random()}
        for d in expected_kernel.DATASETS for m in seconds for f in (0.1, 0.2) for draw in range(10)
    ]  # fmt: skip
    *alike, faster = expected_kernel.claims(pd.DataFrame(lines))
    assert [claim.holds for claim in alike] == [better == 0.0] * 2
    assert (faster.holds, faster.ours) == (True, "variances 50 to 50 times; spheres 10 to 10 times")
