"""The kernel extension's experiment: best cells, claims and findings."""

from dataclasses import replace

import pandas as pd
from numpy.testing import assert_allclose

from gapkernel.papers.kernel_extension import experiment as ehk


def test_the_best_cell_is_that_of_the_mean_over_repetitions():
    losses = {(0, 0): [[0.1, 0.5]], (0, 1): [[0.5, 0.3]], (1, 0): [[0.2, 0.4]], (1, 1): [[0.2, 0.6]]}
    lines = [
        {"fraction": 0.2, "draw": draw, "repeat": repeat, "method": "ehk", "losses": cells}
        for (draw, repeat), cells in losses.items()
    ]
    points = ehk.figure_points(pd.DataFrame(lines))
    assert points["draw"].tolist() == [0, 1]
    assert points["label"].tolist() == ["EHK2", "EHK2"]
    assert_allclose(points["error"], [0.3, 0.2])


def test_claims_of_the_ehk_paper_are_held_against_the_results():
    size = replace(ehk.QUICK, data=("servo", "credit_crx"))
    best = {(d, m): 0.3 if d == "servo" else 12.5 for d in size.data for m in ehk.METHODS}
    best["servo", "rbf1"] = 0.2
    fewer = {"EHKF1 (true laws)": {0: 0.06, 1: 0.04}, "EHKF2": {0: 0.01, 1: 0.03}, "RBF2": {0: -0.2, 1: -0.2}}
    lines = [
        (f, draw, label, f - fewer.get(label, {}).get(draw, 0.0))
        for f in (0.0, 0.1, 0.5) for draw in (0, 1) for label in ehk.CURVES.values()
    ]  # fmt: skip
    points = pd.DataFrame(lines, columns=["fraction", "draw", "label", "error"])
    points.loc[points["fraction"] == 0, "error"] = 0.1
    held = {claim.what: (claim.ours, claim.verdict) for claim in ehk.claims(size, best, points)}
    assert held["EHK_alpha on SERVO"] == ("0.300", "yes")
    assert held["EHK_alpha on CREDITCRX"] == ("12.50", "yes")
    assert held["EHK_alpha is the best of the four"] == ("on 0 of 2", "no")
    alone = {claim.what: claim.ours for claim in ehk.claims(size, best, points[points["draw"] == 1])}
    assert alone["EHKF1 is the best on the synthetic problem"] == "+1.00 points before EHKF2"
    best_curve = held["EHKF1 is the best on the synthetic problem"]
    assert best_curve == ("+3.00 ± 2.00 points before EHKF2", "open")  # 5 and 1 points
    for rival, verdict in ((0.0, "yes"), (0.2, "no")):
        points.loc[(points["label"] == "EHKF2") & (points["fraction"] > 0), "error"] = points["fraction"] - rival
        again = {claim.what: claim.verdict for claim in ehk.claims(size, best, points)}
        assert again["EHKF1 is the best on the synthetic problem"] == verdict
    assert held["RBF2 falls from 0 to 10 % of gaps, more than twice as far as RBF1"] == (
        "+20.0 points, RBF1 +0.0",
        "yes",
    )


def test_table_2_has_the_nested_losses_that_there_are():
    best = {("servo", "ehk"): 0.3, ("source_tracking", "ehk"): 30.0, ("servo", "rbf1"): 0.4}
    table = ehk.table2(best, {("servo", "ehk"): 0.51234})
    assert table.rows[0][0] == "SERVO"
    assert dict(zip(table.header[1:], table.rows[0][1:], strict=True)) == {
        "EHK": "0.300",
        "EHK, nested": "0.512",
        "RBF1": "0.400",
    }
    assert table.rows[1][0] == "FECALSOURCE (stand-in source_tracking)"
    assert set(table.rows[1][1:]) == {"30.00", ""}
