"""The genRBF experiment: ranks, other readings, claims and tests, from results that are made up."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gapkernel.papers.genrbf import experiment as genrbf


def genrbf_results(folds=3, methods=genrbf.QUICK_METHODS, fractions=(0.2, 0.5, 0.8)):
    random, advantage = np.random.default_rng(0), {"rbf": 0.1, "genrbf": 0.05, "gap": 0.07, "mice_one": 0.2}
    lines = [
        {"dataset": d, "mechanism": m, "fraction": f, "draw": 0, "repeat": 0, "fold": fold, "method": method,
         "seconds": 1.0, "accuracy": 0.6 + advantage.get(method, 0.0) + 0.01 * random.random()}
        for d in genrbf.DATASETS for m in genrbf.MECHANISMS for f in fractions for fold in range(folds)
        for method in methods
    ]  # fmt: skip
    return pd.DataFrame(lines)


def test_the_genrbf_report_ranks_the_methods(monkeypatch):
    monkeypatch.setattr(genrbf, "DATASETS", {"heart_statlog": "Heart", "pima": "Pima"})
    report = genrbf.report(genrbf.QUICK, genrbf_results())
    assert len(report.figures) == 5
    ranks = {row[0]: row for row in report.tables[0].rows}
    assert report.tables[0].rows[0][0] == "expected RBF"
    assert ranks["expected RBF"][-2:] == ("1.00", "")
    assert ranks["genRBF"][-2:] == ("2.00", "1.00")
    assert [row[1] for row in report.tables[1].rows] == ["18", "12", "2"]


def test_other_readings_stand_in_the_place_of_ours_and_gap_beside_all(monkeypatch):
    monkeypatch.setattr(genrbf, "DATASETS", {"heart_statlog": "Heart", "pima": "Pima"})
    frame = genrbf_results()
    names = [name for name in genrbf.READINGS if name != "karma_columns"]
    readings = pd.concat([genrbf_results(methods=["karma_columns"], fractions=(0.5,)), genrbf_results(methods=names)])
    gap = genrbf_results(folds=2, methods=["gap"], fractions=(0.5,))
    report = genrbf.report(genrbf.QUICK, frame, readings, gap)
    assert report.seconds == len(frame) + len(readings) + len(gap)
    assert report.tables[:4] == genrbf.report(genrbf.QUICK, genrbf_results()).tables[:4]  # of the others alone
    beside = {row[0]: dict(zip(report.tables[4].header, row, strict=True)) for row in report.tables[4].rows}
    means = 100 * pd.concat([frame, readings]).groupby(["method", "dataset"])["accuracy"].mean().unstack()
    apart = means.loc["mice_one"] - means.loc["mice"]
    one = beside["mice, one table"]
    assert (one["in place of"], one["removed"], one["rank up to 30 %"]) == ("mice", "20 %, 50 %, 80 %", "1.00")
    assert one["accuracy, %"] == f"{means.loc['mice_one'].mean():.1f}"
    assert one["points ahead"] == f"{apart.mean():+.1f} ± {abs(apart.diff().iloc[1]) / 2:.1f}"
    assert float(one["that of the other"]) > 1
    assert beside["karma, RBF of columns"]["removed"] == "50 %"
    assert beside["karma, RBF of columns"]["rank up to 30 %"] == ""  # few gaps were not tried
    assert (beside["Gap"]["in place of"], beside["Gap"]["rank from 50 %"]) == ("genRBF", "1.00")
    some = gap[gap["fold"] < 2]
    assert beside["Gap"]["accuracy, %"] == f"{100 * some['accuracy'].mean():.1f}"
    ahead = pd.concat([gap, gap.assign(fold=7, accuracy=0.0)])  # a round that the others have not reached
    assert genrbf.report(genrbf.QUICK, frame, readings, ahead).tables[4] == report.tables[4]


@pytest.mark.parametrize("size", ["quick", "standard", "full"])
def test_the_genrbf_studies_are_of_methods_that_there_are(size, monkeypatch):
    asked = {}

    def run(name, protocol, tasks, optional=False):
        asked[name] = tasks
        assert optional == (name != "genrbf")
        for method in {task.method for task in tasks}:
            assert genrbf.CANDIDATES[method].settings(protocol.grid)

    monkeypatch.setattr(genrbf, "report", lambda size, *frames: frames)
    chosen = genrbf.SIZES[size]
    assert genrbf.reproduce(SimpleNamespace(size=size, run=run)) == (None, None, None)
    cells = len(genrbf.DATASETS) * len(genrbf.MECHANISMS) * chosen.draws * chosen.folds_done
    assert len(asked["genrbf"]) == cells * len(chosen.fractions) * len(chosen.methods)
    assert {task.method for task in asked["genrbf-gap"]} == (set() if size == "quick" else {"gap"})
    assert {task.method for task in asked["genrbf-readings"]} == (set() if size == "quick" else set(genrbf.READINGS))


def test_claims_are_held_against_the_results():
    held = {claim.what: claim.verdict for claim in genrbf.claims(cells_with())}
    assert held["genRBF has the best mean rank"] == "yes"
    assert held["it is significantly better than all but karma (data sets as blocks)"] == "no"  # two show nothing
    other = {claim.what: claim.verdict for claim in genrbf.claims(cells_with(mean=0.1))}
    assert other["genRBF has the best mean rank"] == "no"
    karma = {claim.what: claim.verdict for claim in genrbf.claims(cells_with(karma=0.02))}
    assert karma["karma is before all but genRBF"] == "yes"


def cells_with(**more):
    frame = genrbf_results()
    frame = frame[frame["dataset"].isin(["heart_statlog", "pima"])]
    frame = frame.assign(label=frame["method"].map(lambda name: genrbf.CANDIDATES[name].short))
    return genrbf.cells(
        frame.assign(accuracy=frame["accuracy"] + frame["method"].map(lambda name: more.get(name, 0.0)))
    )
