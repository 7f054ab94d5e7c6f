"""The limits of the engine: who sees them, and for how long."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import gapkernel as gk


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
