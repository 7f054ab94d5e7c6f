"""Papers are reproduced into a folder, go on where they stopped, and report what is finished."""

from dataclasses import replace
from importlib import import_module
from io import StringIO

import pandas as pd
import pytest
from rich.console import Console

import gapkernel as gk
from gapkernel.papers import PAPERS, reproduce
from gapkernel.papers.genrbf import experiment as genrbf
from gapkernel.papers.microbiology import experiment as microbiology
from gapkernel.papers.microbiology.experiment import FoldOfTable1
from gapkernel.papers.study.reproduction import Context
from gapkernel.studies import Store, tasks_of


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


def test_a_paper_is_reproduced_into_a_folder_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(microbiology, "DATASETS", {"source_tracking": "simulated source tracking"})
    small = microbiology.Size(protocol=FoldOfTable1(Cs=(1.0,), n_folds=2, n_imputations=2))
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
    assert {p.suffix for p in report.folder.iterdir()} >= {".md", ".csv", ".sqlite"}
    assert len(pd.read_csv(report.folder / "results_microbiology.csv")) == 10
    table = pd.read_csv(report.folder / "table_1.csv")
    assert table["approach"].tolist() == ["1KE", "2KE", "1MI", "2MI", "naive Bayes"]
    with gk.studies.Store(tmp_path / "here" / "results.sqlite") as store:
        assert len(store.metadata("microbiology")["runs"]) == 2
        assert len(store.finished("microbiology")) == 10


def test_a_stopped_run_is_reported_by_its_whole_rounds(tmp_path, monkeypatch):
    monkeypatch.setattr(microbiology, "DATASETS", {"source_tracking": "simulated source tracking"})
    small = microbiology.Size(protocol=FoldOfTable1(Cs=(1.0,), n_folds=3, n_imputations=2))
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
    assert report.note == "Not finished; what is counted here: microbiology: 2 of 3 rounds."
    assert "`gapkernel reproduce microbiology --quick --so-far`" in (tmp_path / "README.md").read_text()
    monkeypatch.setattr(FoldOfTable1, "result", one_fold)
    whole = reproduce("microbiology", **options)
    assert not whole.note
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
