"""A file is written whole or not at all, by every verb that writes one."""

import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import gapkernel as gk
from gapkernel.compute.runtime.writing import written_whole
from gapkernel.papers.study.report import Report, ReportTable
from gapkernel.persistence import save
from gapkernel.studies import Store, Study, Task, run
from gapkernel.tables.files import write_csv

resource = pytest.importorskip("resource", reason="limits on the size of files are for POSIX systems")

MODEL = gk.density.Gaussian().fit(np.random.default_rng(0).normal(size=(20, 3)))
STUDY = Study("demo", tuple(Task("a", "b", fold=k) for k in range(9)), lambda task: {"score": float(task.fold)})


def report(folder):
    made = Report("A title", tables=[ReportTable("Scores", ("a", "b"), [("1", "2")] * 99)])
    made.add_figure("drawn", Figure(), "A figure.")
    made.write(folder / "report", "gapkernel reproduce")


def exported(form):
    def write(folder):
        with Store(":memory:") as store:
            run(STUDY, store)
            getattr(store, f"export_{form}")("demo", folder / f"results.{form}")

    return write


WRITERS = {
    "model": lambda folder: save(MODEL, folder / "model.skops"),
    "table": lambda folder: write_csv(pd.DataFrame({"a": np.arange(99.0)}), folder / "table.csv"),
    "report": report,
    "csv": exported("csv"),
    "parquet": exported("parquet"),
}


@contextmanager
def full_disk(n_bytes):
    """No file may grow beyond ``n_bytes``."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_full_disk_leaves_what_was_there(write, tmp_path):
    write(tmp_path)
    before = content(tmp_path)
    assert before
    with full_disk(150), pytest.raises(OSError, match=r"(?s)disk is full: .*unchanged"):
        write(tmp_path)
    assert content(tmp_path) == before


def test_a_store_on_a_full_disk_says_so_and_keeps_its_results(tmp_path):
    path = tmp_path / "results.sqlite"
    with full_disk(100), pytest.raises(OSError, match="disk is full"):
        Store(path)
    with Store(path) as store:
        first = store.begin(STUDY)
        store.put(first, STUDY.tasks[0], {"score": 1.0})
        with full_disk(path.stat().st_size), pytest.raises(OSError, match="disk is full"):
            store.put(first, STUDY.tasks[1], {"score": 1.0, "long": "x" * 1_000_000})
        assert len(store.finished("demo")) == 1


def test_an_error_or_a_kill_while_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(TypeError, match="data must be str"), written_whole(path) as beside:
        beside.write_text(None)
    assert [child.name for child in tmp_path.iterdir()] == ["file.txt"]
    killed = (
        "import os, sys; from gapkernel.compute.runtime.writing import written_whole\n"
        "with written_whole(sys.argv[1]) as beside: beside.write_text('new'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", killed, str(path)], check=False)
    assert path.read_text() == "old"


def test_links_and_rights_stay_and_a_device_is_written_to(tmp_path):
    path, link = tmp_path / "file.txt", tmp_path / "link.txt"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with written_whole(link) as beside:
        beside.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    with written_whole("/dev/null") as beside:
        beside.write_text("new")
