"""The limits of the engine: who sees them, and for how long."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import gapkernel as gk
from gapkernel.compute.runtime.progress import tracked
from gapkernel.compute.runtime.threads import one_blas_thread, run_tasks


@pytest.fixture(autouse=True)
def _limits_restored():
    before = gk.get_config()
    yield
    gk.set_config(memory_budget=before.memory_budget, n_threads=before.n_threads)


@pytest.mark.parametrize("changes", [{"memory_budget": 0}, {"n_threads": 0}, {"n_threads": -1}])
def test_limits_must_make_sense(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        gk.set_config(**changes)
    with pytest.raises(ValueError, match=next(iter(changes))), gk.config_context(**changes):
        pass


def test_limits_return_after_the_context():
    before = gk.get_config()
    with gk.config_context(n_threads=1, memory_budget=10):
        assert (gk.get_config().n_threads, gk.get_config().memory_budget) == (1, 10)
    assert gk.get_config() == before


def test_limits_hold_in_threads_started_later():
    gk.set_config(memory_budget=12345)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(gk.get_config).result().memory_budget == 12345


def test_an_unknown_limit_is_refused():
    with pytest.raises(TypeError, match="memory"):
        gk.set_config(memory=1)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_limits_of_a_context_hold_in_tasks_and_in_tasks_of_tasks(n_threads):
    def inner(_):
        return gk.get_config()

    def outer(_):
        return [gk.get_config(), *run_tasks(inner, range(3))]

    with gk.config_context(memory_budget=777, n_threads=n_threads, progress=True):
        seen = run_tasks(outer, range(5))
        assert gk.get_config().progress
    for config in chain.from_iterable(seen):
        assert (config.memory_budget, config.n_threads, config.progress) == (777, n_threads, False)


def test_a_task_leaves_no_settings_behind():
    def changing(_):
        with gk.config_context(memory_budget=5):
            return gk.get_config().memory_budget

    before = gk.get_config()
    assert run_tasks(changing, range(4)) == [5] * 4
    assert gk.get_config() == before


def test_loops_of_scikit_learn_take_one_thread_in_each_task():
    def threads(_):
        return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "openmp"}

    assert run_tasks(threads, range(4)) == [{1}] * 4  # each would start as many as there are cores, and wait for them


def test_without_a_terminal_a_line_comes_now_and_then(monkeypatch, capsys):
    clock = iter(range(0, 1000, 4))  # seconds at each look
    monkeypatch.setattr("gapkernel.compute.runtime.progress.monotonic", lambda: next(clock))
    assert list(tracked(range(9), 9, "Comparing", verbose=True)) == list(range(9))
    told = capsys.readouterr()
    assert told.err.splitlines() == ["Comparing: 3 of 9, about 24 s left", "Comparing: 6 of 9, about 12 s left"]
    assert told.out == ""


def test_a_notebook_without_widgets_shows_a_bar(monkeypatch, capsys):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("gapkernel.compute.runtime.progress.find_spec", lambda name: None)
    assert list(tracked(range(3), 3, "Filling", verbose=True)) == [0, 1, 2]
    shown = capsys.readouterr().err
    assert "Filling" in shown
    assert "100%" in shown


def test_compiling_is_told_once_and_what_is_on_disk_is_silent(tmp_path):
    code = "import numpy as np; one = np.ones(1)"
    code += "; from gapkernel.compute.linalg.covariance_blocks import scale_blocks as f"
    code += (
        "; f(one, np.array([0, 1]), np.array([0]), one); f(one[::1], np.array([0, 1]), np.array([0]), np.ones(2)[::2])"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stderr
        for _ in range(2)
    ]
    assert told[0].count("compiling loops") == told[0].count("\n") == 1
    assert told[1] == ""


def test_a_limit_on_matrix_products_ends_with_the_last_that_wants_it():
    """Blocks of several threads may overlap in any way: the limit is one for all threads."""

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before, first, second = threads(), one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(threads()) == {1}
        second.__exit__(None, None, None)
        assert threads() == before
