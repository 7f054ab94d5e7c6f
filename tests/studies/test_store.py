"""A study that is stopped, started again, or run twice at once always ends with the same table."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from gapkernel.studies import Store, Study, Task, run
from gapkernel.studies.store import COLUMNS

TASKS = tuple(
    Task(dataset, method, "mcar", fraction, draw, 0, fold)
    for dataset in ("heart", "pima")
    for method in ("mean", "genrbf")
    for fraction in (0.1, 0.5)
    for draw in range(2)
    for fold in range(3)
)


def score(task):
    """A result that depends on the task only."""
    random = np.random.default_rng([task.data_seed, task.split_seed, task.fold, len(task.method)])
    return {"accuracy": random.random(), "settings": {"C": float(task.fold)}}


score.__module__ = "__main__"  # pickled whole: some packages install a module "tests", where workers would look for it

STUDY = Study("demo", TASKS, score, {"grid": [1, 2]})


def same_but_for_the_run(left, right):
    assert_frame_equal(left.drop(columns="run"), right.drop(columns="run"))


@pytest.fixture
def reference(tmp_path):
    with Store(tmp_path / "reference.sqlite") as store:
        return run(STUDY, store)


def test_keys_and_seeds_are_the_same_in_every_process():
    task = Task("heart", "genrbf", "mcar", 0.5, 1, 0, 3)
    assert task.key == "dataset=heart|method=genrbf|mechanism=mcar|fraction=0.5|draw=1|repeat=0|fold=3"
    assert task.data_seed == 903500432
    assert len({t.key for t in TASKS}) == len(TASKS)
    other_method = Task("heart", "mean", "mcar", 0.5, 1, 0, 4)
    assert other_method.data_seed == task.data_seed
    assert other_method.split_seed == task.split_seed
    assert Task("heart", "mean", "mcar", 0.5, 2, 0, 4).data_seed != task.data_seed


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_run_ends_with_one_line_for_each_task_whatever_the_order(tmp_path, reference, n_jobs):
    backwards = Study("demo", TASKS[::-1], score, {"grid": [1, 2]})
    with Store(tmp_path / "other.sqlite") as store:
        frame = run(backwards, store, n_jobs=n_jobs)
    same_but_for_the_run(frame, reference)
    assert len(frame) == len(TASKS)
    assert frame["accuracy"].tolist() == [
        score(Task(**line))["accuracy"] for line in frame[list(COLUMNS)].to_dict("records")
    ]


def test_finished_tasks_are_not_done_again(tmp_path, reference):
    calls = []

    def counted(task):
        calls.append(task)
        if len(calls) == 10:
            raise KeyboardInterrupt
        return score(task)

    study = Study("demo", TASKS, counted, {"grid": [1, 2]})
    path = tmp_path / "stopped.sqlite"
    with Store(path) as store, pytest.raises(KeyboardInterrupt):
        run(study, store)
    with Store(path) as store:
        assert len(store.finished("demo")) == 9
        frame = run(study, store)
    assert len(calls) == len(TASKS) + 1
    same_but_for_the_run(frame, reference)


def test_a_failing_task_is_named_and_the_others_are_kept(tmp_path):
    def failing(task):
        if task == TASKS[5]:
            raise ValueError("the Gram matrix is no good")
        return score(task)

    with Store(tmp_path / "results.sqlite") as store:
        with pytest.raises(RuntimeError, match=r"dataset=heart\|method=mean.* failed: ValueError: the Gram"):
            run(Study("demo", TASKS, failing), store)
        assert len(store.finished("demo")) == 5


def test_a_second_result_does_not_replace_the_first(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        number = store.begin(STUDY)
        assert store.put(number, TASKS[0], {"accuracy": 0.1})
        assert not store.put(number, TASKS[0], {"accuracy": 0.9})
        assert store.frame("demo")["accuracy"].tolist() == [0.1]


def test_other_settings_need_another_file(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        store.begin(STUDY)
        with pytest.raises(ValueError, match="with other settings"):
            store.begin(Study("demo", TASKS, score, {"grid": [1]}))
        store.begin(Study("another", TASKS, score, {"grid": [1]}))


def test_a_file_that_is_something_else_is_refused(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear all, " * 200)
    with pytest.raises(ValueError, match="not a store of results"):
        Store(path)


def test_a_study_with_a_task_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        Study("demo", (TASKS[0], TASKS[0]), score)


def test_exports_hold_results_versions_and_settings(tmp_path, reference):
    with Store(tmp_path / "reference.sqlite") as store:
        store.export_csv("demo", tmp_path / "demo.csv")
        store.export_parquet("demo", tmp_path / "demo.parquet")
    from_csv = pd.read_csv(tmp_path / "demo.csv", engine="pyarrow")
    assert from_csv["accuracy"].tolist() == reference["accuracy"].tolist()
    assert json.loads(from_csv["settings"][1]) == reference["settings"][1]
    about = json.loads((tmp_path / "demo.json").read_text())
    assert about["settings"] == {"grid": [1, 2]}
    assert about["runs"][0]["versions"]["numpy"] == np.__version__
    assert_frame_equal(pd.read_parquet(tmp_path / "demo.parquet"), from_csv, check_dtype=False)


def test_dask_gives_the_same_table(tmp_path, reference):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        Store(tmp_path / "dask.sqlite") as store,
    ):
        same_but_for_the_run(run(STUDY, store, client=client), reference)


def test_a_new_store_begins_with_the_results_that_were_kept_as_text(tmp_path, reference):
    with Store(tmp_path / "demo.sqlite") as store:
        run(STUDY, store)
        store.export_csv("demo", tmp_path / "kept_demo.csv")
    with Store(tmp_path / "kept.sqlite") as store:
        assert store.finished("demo") == {task.key for task in TASKS}
        same_but_for_the_run(run(STUDY, store), reference)  # nothing is left to do
        assert len(store.metadata("demo")["runs"]) == 2
    with Store(tmp_path / "kept.sqlite") as store:  # the second time it is not new
        assert len(store.metadata("demo")["runs"]) == 2


SCRIPT = textwrap.dedent(
    """
    import sys, time
    from joblib import Parallel, delayed
    sys.path.insert(0, sys.argv[2])
    from test_store import TASKS, score
    from gapkernel.studies import Store, Study, run

    def slow(task):
        time.sleep(0.02)
        return score(task)

    n_jobs = int(sys.argv[3])
    Parallel(n_jobs)(delayed(score)(task) for task in TASKS[:n_jobs])  # workers take long to start
    with Store(sys.argv[1]) as store:
        print("ready", flush=True)
        run(Study("demo", TASKS, slow, {"grid": [1, 2]}), store, n_jobs=n_jobs)
    """
)


def started(path, n_jobs=1):
    command = [sys.executable, "-c", SCRIPT, str(path), str(Path(__file__).parent), str(n_jobs)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def test_two_runs_at_once_do_no_harm(tmp_path, reference):
    path = tmp_path / "shared.sqlite"
    runs = [started(path), started(path)]
    for process in runs:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    with Store(path) as store:
        same_but_for_the_run(store.frame("demo"), reference)


@pytest.mark.slow
@pytest.mark.parametrize(("n_jobs", "n_kills"), [(1, 20), (2, 5)])
def test_a_run_killed_at_random_moments_loses_and_repeats_nothing(tmp_path, reference, n_jobs, n_kills):
    """Kill -9 again and again: what was finished stays as it was, and the end is the same."""
    random = np.random.default_rng(0)
    path = tmp_path / "killed.sqlite"
    before: dict = {}
    for _ in range(n_kills):
        process = started(path, n_jobs)
        process.stdout.readline()
        time.sleep(random.uniform(0.0, 0.12))
        os.killpg(process.pid, signal.SIGKILL)  # with its workers
        process.communicate()
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            rows = dict(connection.execute("SELECT key, result || run FROM results").fetchall())
        assert before.items() <= rows.items()
        before = rows
    assert len(before) > 0
    process = started(path, n_jobs)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    with Store(path) as store:
        same_but_for_the_run(store.frame("demo"), reference)
