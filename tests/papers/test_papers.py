"""The papers' experiments: their parts are the library's estimators, and a report holds what was computed."""

from dataclasses import replace
from importlib import import_module
from io import StringIO
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rich.console import Console
from sklearn.svm import SVC as CompleteSVC

import gapkernel as gk
from gapkernel.papers import PAPERS, reproduce
from gapkernel.papers.expected_kernel import experiment as expected_kernel
from gapkernel.papers.genrbf import experiment as genrbf
from gapkernel.papers.kernel_extension import experiment as ehk, table2
from gapkernel.papers.microbiology import CompletionKernel, experiment as microbiology
from gapkernel.papers.microbiology.experiment import FoldOfTable1, overlap
from gapkernel.papers.study.report import Claim, Report, ReportTable, beside_the_paper
from gapkernel.papers.study.reproduction import Context
from gapkernel.studies import Grid, Store, Task, cell_tests, tasks_of

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("method", ["1ke", "2ke", "1mi", "2mi"])
def test_the_four_approaches_are_the_librarys_estimators(method):
    task = Task("source_tracking", method)
    X, y = microbiology.table(task, None)
    train, test = np.arange(0, 138, 2), np.arange(1, 138, 2)
    protocol = FoldOfTable1(Cs=(0.5, 2.0), n_imputations=3)
    everything = np.ones(9, bool)
    for C, guess in zip(protocol.Cs, protocol.predictions(task, X, y, train, test), strict=True):
        if method in ("1ke", "2ke"):
            kernel = "ehk" if method == "1ke" else CompletionKernel()
            estimator = gk.SVC(kernel=kernel, C=C, categorical_features=everything, break_ties=True)
        else:
            pooling = "stack" if method == "1mi" else "average"
            imputer = protocol.imputer(X[train], task.split_seed)
            estimator = gk.MultipleImputationClassifier(CompleteSVC(kernel=overlap, C=C), imputer, pooling=pooling)
        expected = estimator.fit(X[train], y[train]).predict(X[test])
        agree = np.mean(guess == expected)
        assert agree == 1 if method != "1mi" else agree > 0.95  # repeated rows: libsvm stops elsewhere


def test_overlap_is_the_share_of_equal_columns():
    assert_array_equal(overlap(np.array([[0.0, 1.0], [2.0, 2.0]]), np.array([[0.0, 2.0]])), [[0.5], [0.5]])


@pytest.mark.parametrize("method", table2.CANDIDATES)
def test_every_cell_of_the_grid_has_a_loss_and_nesting_reports_one_setting(method, monkeypatch):
    grids = {"classification": Grid(C=(1.0, 10.0, 100.0), gamma=(0.01, 0.1), alpha=(0.5, 0.9))}
    task = Task("synthetic", method, "mcar", 0.3)
    X, y = table2.data(task, None)
    monkeypatch.setattr(table2, "data", lambda task, data_dir: (X.iloc[:80], y[:80]))
    losses = np.array(table2.GridCV(grids=grids, n_folds=3)(task)["losses"])
    assert losses.shape == ((3,) if method in ("ehk", "ehk_known") else (6,))
    assert ((losses >= 0) & (losses <= 1)).all()
    one = table2.NestedGridCV(grids=grids, n_folds=4, n_inner_folds=2)(task)
    assert one["rows"] == 20
    assert 0 <= one["loss"] <= 1
    assert one["settings"] in table2.CANDIDATES[method].settings(grids["classification"])


def test_regression_is_measured_against_the_mean(data_folder):
    grids = {"regression": replace(ehk.NARROW["regression"], alpha=(0.5,))}
    protocol = table2.GridCV(grids=grids, n_folds=3, data_dir=str(data_folder))
    assert 0 < protocol(Task("servo", "ehk_alpha"))["losses"][0] < 1


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


def test_entries_are_removed_by_row():
    random = np.random.default_rng(0)
    gaps = np.isnan(expected_kernel.removed(np.ones((500, 13)), 0.2, random))
    assert set(gaps.sum(axis=1).tolist()) == {2, 3}  # 2.6 of 13
    assert abs(gaps.mean() - 0.2) < 0.01


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
    assert "genRBF on raw columns is number 2 of 9 (rank 2.00)" in report.findings[0]
    assert [row[1] for row in report.tables[1].rows] == ["18", "12", "2"]
    assert not any("t test" in finding for finding in report.findings)  # of three pairs


def test_other_readings_stand_in_the_place_of_ours_and_gap_beside_all(monkeypatch):
    monkeypatch.setattr(genrbf, "DATASETS", {"heart_statlog": "Heart", "pima": "Pima"})
    frame = genrbf_results()
    names = [name for name in genrbf.READINGS if name != "karma_columns"]
    readings = pd.concat([genrbf_results(methods=["karma_columns"], fractions=(0.5,)), genrbf_results(methods=names)])
    gap = genrbf_results(folds=2, methods=["gap"], fractions=(0.5,))
    report = genrbf.report(genrbf.QUICK, frame, readings, gap)
    assert report.seconds == len(frame) + len(readings) + len(gap)
    assert report.tables[:4] == genrbf.report(genrbf.QUICK, genrbf_results()).tables[:4]  # of the others alone
    read = {row[0]: row for row in report.tables[4].rows}
    means = 100 * pd.concat([frame, readings]).groupby(["method", "dataset"])["accuracy"].mean().unstack()
    apart = means.loc["mice_one"] - means.loc["mice"]
    assert read["mice, one table"] == (
        "mice, one table", "mice", "20, 50, 80 %", f"{means.loc['mice_one'].mean():.1f}",
        f"{means.loc['mice'].mean():.1f}", "1.00", read["mice, without draws"][6], "1.00",
        read["mice, without draws"][8], f"{apart.mean():+.1f} ± {abs(apart.diff().iloc[1]) / 2:.1f}",
    )  # fmt: skip
    assert f'it is "mice, one table" that gains most, {read["mice, one table"][-1]} points' in report.findings[-2]
    assert report.findings[-2].endswith("In no reading is the mean rank of mice up to 30 % below 1.00.")
    assert read["karma, RBF of columns"][2] == "50 %"
    assert read["karma, RBF of columns"][5:7] == ("", "")  # few gaps were not tried
    beside = {row[0]: row for row in report.tables[5].rows}
    assert list(beside)[:3] == ["expected RBF", "Gap", "genRBF"]
    assert [row[1] for row in report.tables[5].rows[:3]] == ["1.00", "2.00", "3.00"]
    assert beside["expected RBF"][-1] == "0 of 2"
    assert beside["genRBF"][-1] == "2 of 2"
    some = frame[(frame["method"] == "genrbf") & (frame["fraction"] == 0.5) & (frame["fold"] < 2)]
    assert beside["genRBF"][2] == f"{100 * some['accuracy'].mean():.1f}"  # of the folds that Gap was run on
    assert report.findings[-1] == "GapClassifier is number 2 of 10 by mean rank where it was run, behind expected RBF."
    ahead = pd.concat([gap, gap.assign(fold=7, accuracy=0.0)])  # a round that the others have not reached
    assert genrbf.report(genrbf.QUICK, frame, readings, ahead).tables[5] == report.tables[5]


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


def test_an_optional_study_without_a_finished_round_is_left_out(tmp_path):
    """It has been stopped before, and what is finished of the others is reported."""
    protocol, tasks = genrbf.QUICK.protocol, tasks_of(dataset=["pima"], method=["mean", "zero"], fold=range(2))
    with Store(tmp_path / "results.sqlite") as store:
        context = Context("quick", None, store, {"n_jobs": 1, "client": None}, so_far=True)
        run = store.begin(protocol.study("main", tasks))
        for task in tasks[::2]:
            store.put(run, task, {"accuracy": 0.5})
        assert len(context.run("main", protocol, tasks)) == 2
        assert context.run("beside", protocol, tasks, optional=True) is None
        assert context.left == {"main": "main: 1 of 2 rounds", "beside": "beside: 0 of 2 rounds"}
        with pytest.raises(ValueError, match="No round of beside is finished"):
            context.run("beside", protocol, tasks)
        assert replace(context, so_far=False).run("none", protocol, [], optional=True) is None


def test_claims_are_held_against_the_results():
    held = {claim.what: claim.holds for claim in genrbf.claims(cells_with())}
    assert held["genRBF has the best mean rank"] is True
    assert held["it is significantly better than all but karma"] is False  # two data sets show nothing
    assert {claim.what: claim.holds for claim in genrbf.claims(cells_with(mean=0.1))}[
        "genRBF has the best mean rank"
    ] is False
    table = beside_the_paper([Claim("a", "1", "2", True), Claim("b", "1", "2", False, "c"), Claim("d", "1", "", None)])
    assert [row[3:] for row in table.rows] == [("yes", ""), ("no", "c"), ("open", "")]


def cells_with(**more):
    frame = genrbf_results()
    frame = frame[frame["dataset"].isin(["heart_statlog", "pima"])]
    frame = frame.assign(label=frame["method"].map(lambda name: genrbf.CANDIDATES[name].short))
    return genrbf.cells(
        frame.assign(accuracy=frame["accuracy"] + frame["method"].map(lambda name: more.get(name, 0.0)))
    )


def test_claims_of_the_ehk_paper_are_held_against_the_results():
    size = replace(ehk.QUICK, data=("servo", "credit_crx"))
    best = {(d, m): 0.3 if d == "servo" else 12.5 for d in size.data for m in ehk.TABLE_LABELS}
    best["servo", "rbf1"] = 0.2
    fewer = {"EHKF1 (true laws)": {0: 0.06, 1: 0.04}, "EHKF2": {0: 0.01, 1: 0.03}, "RBF2": {0: -0.2, 1: -0.2}}
    lines = [
        (f, draw, label, f - fewer.get(label, {}).get(draw, 0.0))
        for f in (0.0, 0.1, 0.5) for draw in (0, 1) for label in ehk.CURVES.values()
    ]  # fmt: skip
    points = pd.DataFrame(lines, columns=["fraction", "draw", "label", "error"])
    points.loc[points["fraction"] == 0, "error"] = 0.1
    held = {claim.what: (claim.ours, claim.holds) for claim in ehk.claims(size, best, points)}
    assert held["EHK_alpha on SERVO"] == ("0.300", True)
    assert held["EHK_alpha on CREDITCRX"] == ("12.50", True)
    assert held["EHK_alpha is the best of the four"] == ("on 0 of 2", False)
    alone = {claim.what: claim.ours for claim in ehk.claims(size, best, points[points["draw"] == 1])}
    assert alone["EHKF1 is the best on the synthetic problem"] == "+1.00 points before EHKF2"
    best_curve = held["EHKF1 is the best on the synthetic problem"]
    assert best_curve == ("+3.00 ± 2.00 points before EHKF2", None)  # 5 and 1 points
    for rival, verdict in ((0.0, True), (0.2, False)):
        points.loc[(points["label"] == "EHKF2") & (points["fraction"] > 0), "error"] = points["fraction"] - rival
        again = {claim.what: claim.holds for claim in ehk.claims(size, best, points)}
        assert again["EHKF1 is the best on the synthetic problem"] is verdict
    assert held["RBF2 falls from 0 to 10 % of gaps"] == ("+20.0 points, RBF1 +0.0", True)


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


def test_the_genrbf_report_tests_cells_by_the_share_of_its_folds(monkeypatch):
    monkeypatch.setattr(genrbf, "DATASETS", {"heart_statlog": "Heart", "pima": "Pima"})
    monkeypatch.setattr(genrbf, "cell_tests", lambda *a, **k: shares.append(k["test_share"]) or cell_tests(*a, **k))
    shares: list[float] = []
    report = genrbf.report(genrbf.QUICK, genrbf_results(5))
    assert shares == [1 / genrbf.QUICK.protocol.n_folds]
    assert any("corrected t test finds" in finding for finding in report.findings)


def test_a_paper_is_reproduced_into_a_folder_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(microbiology, "DATASETS", {"source_tracking": "simulated source tracking"})
    small = microbiology.Size(1, FoldOfTable1(Cs=(1.0,), n_folds=2, n_imputations=2))
    monkeypatch.setitem(microbiology.SIZES, "quick", small)
    pages = []
    for _ in range(2):
        console = Console(file=StringIO(), width=160)
        report = reproduce("microbiology", out=tmp_path / "here", n_jobs=1, console=console)
        pages.append((tmp_path / "here" / "README.md").read_text())
        assert "79.3" in console.file.getvalue()
        assert "under five minutes" in console.file.getvalue()
    assert pages[0] == pages[1]
    assert "`gapkernel reproduce microbiology --quick`" in pages[0]
    assert report.folder == tmp_path / "here"
    assert {p.suffix for p in report.folder.iterdir()} >= {".md", ".png", ".csv", ".sqlite"}
    assert len(pd.read_csv(report.folder / "results_microbiology.csv")) == 10
    table = pd.read_csv(report.folder / "table_1.csv")
    assert table["approach"].tolist() == ["1KE", "2KE", "1MI", "2MI", "naive Bayes"]
    with gk.studies.Store(tmp_path / "here" / "results.sqlite") as store:
        assert len(store.metadata("microbiology")["runs"]) == 2
        assert len(store.finished("microbiology")) == 10


def test_a_stopped_run_is_reported_by_its_whole_rounds(tmp_path, monkeypatch):
    monkeypatch.setattr(microbiology, "DATASETS", {"source_tracking": "simulated source tracking"})
    small = microbiology.Size(1, FoldOfTable1(Cs=(1.0,), n_folds=3, n_imputations=2))
    monkeypatch.setitem(microbiology.SIZES, "quick", small)
    options = {"out": tmp_path, "n_jobs": 1, "console": Console(file=StringIO())}
    with pytest.raises(ValueError, match="No round of microbiology is finished"):
        reproduce("microbiology", so_far=True, **options)
    done, one_fold = [], FoldOfTable1.result

    def until_killed(self, task):
        if len(done) == 12:  # two rounds of five methods, and two tasks more
            raise KeyboardInterrupt
        done.append(task)
        return one_fold(self, task)

    monkeypatch.setattr(FoldOfTable1, "result", until_killed)
    with pytest.raises(KeyboardInterrupt):
        reproduce("microbiology", **options)
    report = reproduce("microbiology", so_far=True, **options)
    assert report.findings[0] == "Not finished; what is counted here: microbiology: 2 of 3 rounds."
    assert "`gapkernel reproduce microbiology --quick --so-far`" in (tmp_path / "README.md").read_text()
    monkeypatch.setattr(FoldOfTable1, "result", one_fold)
    whole = reproduce("microbiology", **options)
    assert not whole.findings[0].startswith("Not finished")
    assert reproduce("microbiology", so_far=True, **options).tables == whole.tables


def test_papers_say_what_they_do():
    for paper in PAPERS.values():
        assert paper.what.endswith(".")
        assert paper.standard_time
        assert paper.full_time
        assert list(import_module(f"gapkernel.papers.{paper.room}.experiment").SIZES) == ["quick", "standard", "full"]
    with pytest.raises(ValueError, match="Known are expected-kernel, ehk, cccp, microbiology, genrbf"):
        reproduce("pagerank")
    with pytest.raises(ValueError, match="size must be one of quick, standard, full, got 'huge'"):
        reproduce("genrbf", size="huge")


def test_no_number_of_a_wide_table_is_cut_at_80_columns():
    header = ("data", "removed", *(f"method {k}" for k in range(9)))
    rows = [
        (name, "10 %", *(f"{k}.{place}2345 ± 0.1" for k in range(9))) for place, name in enumerate(("heart", "iris"))
    ]
    shown = Console(file=StringIO(), width=80)
    Report("A paper", tables=[ReportTable("Errors", header, rows, "a note", keys=2)]).show(shown)
    told = shown.file.getvalue()
    assert max(map(len, told.splitlines())) <= 80
    assert all(cell in told for line in (header, *rows) for cell in line)
    assert told.count("Errors") == told.count("a note") == 1
    assert told.count("heart") == told.count("removed") > 1  # a part by itself says what its lines are about


@pytest.mark.parametrize("ahead", ["ehk", "ehk_alpha"])
def test_a_finding_says_where_another_column_is_better(ahead):
    size = replace(ehk.QUICK, data=("servo",))
    best = {("servo", method): 0.3 if method == ahead else 0.4 for method in ehk.TABLE_LABELS}
    points = pd.DataFrame({"fraction": [0.2], "label": ["EHK2"], "error": [0.1]})
    told = ehk.findings(size, best, {("servo", "ehk_alpha"): 0.5}, points)[0]
    assert ("EHK is ahead of it, 0.300." in told) == (ahead == "ehk")
