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
    *alike, variances, spheres = expected_kernel.claims(pd.DataFrame(lines))
    assert [claim.verdict for claim in alike] == ["yes", "no" if better else "yes"] * 2
    assert (variances.ours, variances.verdict) == ("50 times", "yes")
    assert (spheres.ours, spheres.verdict) == ("10 times", "no")


def test_the_report_has_a_line_for_each_share_removed():
    lines = [
        {"dataset": d, "method": m, "fraction": f, "draw": draw, "error": 0.1 * (1 + draw), "seconds": 1.0,
         "fit_seconds": 2.0 if m == "expected" else 8.0, "density_seconds": 0.5, "training_rows": 240}
        for d in expected_kernel.DATASETS for m in expected_kernel.LABELS
        for f in ((0.0,) if m == "complete" else expected_kernel.QUICK.fractions) for draw in range(2)
    ]  # fmt: skip
    report = expected_kernel.report(pd.DataFrame(lines), expected_kernel.QUICK)
    errors, times, _ = report.tables
    assert {row[:2] for row in errors.rows[:4]} == {("Heart", share) for share in ("0 %", "5 %", "20 %", "40 %")}
    assert len(errors.rows) == 8
    assert {cell for row in errors.rows for cell in row[2:]} == {"", "15.0 ± 5.0"}
    assert [row[:2] for row in times.rows][:2] == [("Heart", "5 %"), ("Heart", "20 %")]
    assert set(dict(zip(times.header, times.rows[0], strict=True)).values()) >= {"2.000", "8.000", "0.500", "4"}
