"""Points of a figure: means in per cent with their standard errors."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from gapkernel.papers.study import curves, points_of


def test_points_are_means_with_their_standard_errors_in_the_order_of_the_lines():
    lines = [("b", 0.5, 0.1), ("b", 0.5, 0.3), ("a", 0.5, 0.2), ("b", 0.1, 0.4), ("b", 0.5, 0.5)]
    points = points_of(pd.DataFrame(lines, columns=["label", "fraction", "error"]), "label", "error")
    assert list(points) == ["b", "a"]
    assert_allclose(points["b"], [(50, 30, 20 / np.sqrt(3)), (10, 40, 0)])
    assert_allclose(points["a"], [(50, 20, 0)])


def test_curves_have_a_panel_for_each_title_and_a_line_for_each_label():
    figure = curves(
        {"left": {"a": [(50.0, 2.0, 0.1), (10.0, 1.0, 0.0)]}, "right": {"b": [(10.0, 3.0, 0.0)]}}, "error, %"
    )
    left, right = figure.axes
    assert (left.get_title(), right.get_title()) == ("left", "right")
    assert_allclose(left.lines[0].get_xdata(), [10.0, 50.0])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a"]
