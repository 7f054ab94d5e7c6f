"""The limits of the engine: who sees them, and for how long."""

from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

import gapkernel as gk
from gapkernel.compute.runtime.tasks import run_tasks


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
