"""Whatever is passed to a public name, it works or says in plain words what is wrong."""

import inspect
import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import calls


def test_every_public_name_is_called():
    assert len(calls.NAMES) > 40
    assert {"SVC", "kernels.Sum", "density.Gaussian", "missingness.ampute", "inspection.shapley"} <= calls.NAMES.keys()


def test_some_wrong_calls():
    outcomes = [calls.outcome(number) for number in range(300)]
    assert not set(outcomes) - {*calls.FINE}
    called = itertools.cycle(calls.NAMES.values())
    answered = [inspect.isclass(thing) for thing, told in zip(called, outcomes, strict=False) if told == "answered"]
    assert answered.count(True) > 15, "estimators and kernels are refused whatever is asked"
    assert answered.count(False) > 20, "functions are refused whatever is asked"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 21_000, 1000))
def test_many_wrong_calls(first):
    assert not set(map(calls.outcome, range(first, first + 1000))) - {*calls.FINE}
