"""Displays draw what they are given."""

import matplotlib as mpl
import numpy as np
import pytest

from gapkernel.experiments import friedman_nemenyi
from gapkernel.plots import CriticalDifferenceDisplay, PatternDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def test_patterns_show_their_rows_and_shares():
    X = np.array([[1.0, np.nan, 1.0]] * 3 + [[1.0, 2.0, np.nan]] + [[1.0, 2.0, 3.0]] * 2)
    display = PatternDisplay.from_table(X)
    assert texts(display)[:3] == ["3 rows", "2 rows", "1 rows"]
    assert texts(display)[3:] == ["0%", "50%", "17%"]
    few = PatternDisplay.from_table(X, max_patterns=2)
    assert few.ax_.get_xlabel() == "1 more patterns, 1 rows"


def test_patterns_draw_into_given_axes():
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    assert PatternDisplay.from_table(np.array([[1.0, np.nan]]), ax=ax).ax_ is ax


def test_the_rank_diagram_names_every_method_and_joins_those_that_do_not_differ():
    random = np.random.default_rng(0)
    scores = random.random((20, 5)) + np.array([0.0, 0.1, 1.0, 1.1, 3.0])
    display = CriticalDifferenceDisplay.from_scores(scores, names=list("abcde"))
    result = friedman_nemenyi(scores)
    for name, rank in zip("abcde", result.ranks, strict=True):
        assert f"{name}  {rank:.2f}" in texts(display)
    assert f"CD = {result.critical_difference:.2f}" in texts(display)
    bars = [line for line in display.ax_.lines if line.get_linewidth() == 4]
    assert len(bars) == len(result.groups()) > 0
    same = CriticalDifferenceDisplay(result=friedman_nemenyi(np.ones((3, 2)))).plot()
    assert len([line for line in same.ax_.lines if line.get_linewidth() == 4]) == 1
