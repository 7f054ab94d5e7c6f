"""Displays draw what they are given."""

import re
from base64 import b64decode

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose

from gapkernel import SVC, KernelRidge
from gapkernel.inspection import shapley, value_of_information
from gapkernel.missingness import patterns
from gapkernel.plots import (
    BeeswarmDisplay,
    CriticalDifferenceDisplay,
    PatternDisplay,
    TiltDisplay,
    ValueOfInformationDisplay,
    WaterfallDisplay,
)
from gapkernel.plots.page_figures import (
    LINE,
    Look,
    as_image,
    curve_figure,
    interval_figure,
    pattern_figure,
    prediction_figure,
    reliability_figure,
)
from gapkernel.studies import CANDIDATES, friedman_nemenyi

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
    assert texts(display)[:3] == ["3 rows, 50%", "2 rows, 33%", "1 row, 17%"]
    assert texts(display)[3:] == ["0%", "50%", "17%"]
    wide = PatternDisplay.from_table(np.tile(X, 3))
    assert texts(wide)[3:] == ["% missing", *["0", "50", "17"] * 3]
    few = PatternDisplay.from_table(X, max_patterns=2)
    assert few.ax_.get_xlabel() == "1 more pattern, 1 row"


def test_patterns_draw_into_given_axes():
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    assert PatternDisplay.from_table(np.array([[1.0, np.nan]]), ax=ax).ax_ is ax


def test_cells_are_in_the_order_of_what_they_are_worth_for_their_cost():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3))
    model, row = KernelRidge(kernel="linear").fit(X, X @ [3.0, 2.0, 1.0]), [np.nan, np.nan, np.nan]
    plain = ValueOfInformationDisplay.from_estimator(model, row, n_nodes=16)
    assert [label.get_text() for label in plain.ax_.get_yticklabels()] == ["column 2", "column 1", "column 0"]
    assert plain.ax_.get_xlabel().endswith("if measured")
    priced = ValueOfInformationDisplay.from_estimator(model, row, costs=[100.0, 2.0, 4.0])
    assert [label.get_text() for label in priced.ax_.get_yticklabels()] == ["column 0", "column 2", "column 1"]
    widths = [bar.get_width() for bar in priced.ax_.patches]
    assert_allclose(widths, np.sort(value_of_information(model, row, costs=[100.0, 2.0, 4.0]).worth))
    assert priced.ax_.get_xlabel().endswith("for each unit of cost")


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


def test_names_at_the_ends_of_curves_never_overlap_and_stand_in_their_order():
    random = np.random.default_rng(0)
    for n in (1, 2, 8):
        looks = [Look(f"method {k}", "#0b6fb8") for k in range(n)]
        values = random.uniform(0.5, 0.5 + 0.1 * random.random(), (n, 3))
        figure = curve_figure(looks, np.array([0.0, 0.2, 0.4]), values, np.full((n, 3), 0.01), "{:.0%}".format, "")
        names = [text for text in figure.axes[0].texts if text.get_text().startswith("method")]
        heights = {text.get_text(): text.get_position()[1] for text in names}
        assert np.all(np.diff(sorted(heights.values())) >= LINE - 1e-9)
        assert max(heights.values()) <= figure.axes[0].bbox.y1 + 1e-9
        assert sorted(heights, key=heights.get) == [f"method {k}" for k in np.argsort(values[:, -1], kind="stable")]


def drawn_in(image):
    """The text of the SVG in an image element."""
    return b64decode(re.fullmatch(r'<img alt="[^"]*" src="data:image/svg\+xml;base64,([^"]*)">', image)[1]).decode()


def test_a_figure_for_a_page_is_whole_and_refers_to_nothing_outside():
    looks = [Look("a & <b>", "#0b6fb8"), Look("costs $5, not $6", "#c0632b", hollow=True)]
    shares, values, margins = np.array([0.0, 0.4]), np.array([[0.9, 0.8], [0.91, 0.7]]), np.full((2, 2), 0.05)
    figure = curve_figure(looks, shares, values, margins, "{:.0%}".format, "hidden")
    image = as_image(figure, 'a "figure"')
    assert image.startswith('<img alt="a &quot;figure&quot;" src="data:image/svg+xml;base64,')
    drawn = drawn_in(image)
    assert 'viewBox="0 0 440 330"' in drawn
    assert "a &amp; &lt;b&gt;" in drawn
    assert "costs $5, not $6" in drawn  # no formula
    assert all(place.startswith("#") for place in re.findall(r'href="([^"]*)"', drawn))
    assert all(place.startswith("#") for place in re.findall(r"url\(([^)]*)\)", drawn))
    assert image == as_image(figure, 'a "figure"')


def texts_outside(figure):
    """Texts of a figure that reach over its edge."""
    figure.canvas.draw()
    texts = [text for text in figure.findobj(mpl.text.Text) if text.get_text() and text.get_visible()]
    boxes = {text.get_text(): text.get_window_extent() for text in texts}
    return [text for text, box in boxes.items() if box.x0 < -1 or box.x1 > figure.bbox.x1 + 1]


def test_no_text_of_a_figure_for_a_page_is_cut_off():
    """matplotlib's own font is wider than those that browsers have."""
    looks = [Look(one.short, "#0b6fb8") for one in CANDIDATES.values()]
    values = np.random.default_rng(0).uniform(0.5, 0.9, (len(looks), 3))
    margins = np.full(values.shape, 0.05)
    X = np.where(np.random.default_rng(0).random((400, 8)) < 0.3, np.nan, 1.0)
    figures = [
        interval_figure(looks, values[:, 0], margins[:, 0], values, "{:.1%}".format, "{:.0%}".format),
        curve_figure(looks, np.array([0.0, 0.2, 0.4]), values, margins, "{:.0%}".format, "cells hidden"),
        reliability_figure("#0b6fb8", values[0], values[1], values[1] - 0.1, values[1] + 0.1, "promised"),
        prediction_figure("#0b6fb8", 1e5 * values[0], 1e5 * values[1], "predicted"),
        pattern_figure(patterns(X)),
    ]
    assert [texts_outside(figure) for figure in figures] == [[]] * len(figures)


def test_patterns_of_a_wide_table_fit_the_page():
    wide = np.where(np.random.default_rng(0).random((50, 60)) < 0.2, np.nan, 1.0)
    [ax] = pattern_figure(patterns(wide)).axes
    assert ax.get_xlim() == (0, 60)
    assert len(ax.texts) == 10  # no name, no share below so narrow a column


def test_a_waterfall_ends_at_the_answer_and_a_swarm_has_a_point_for_each_observed_cell():
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 4))
    model = KernelRidge().fit(X, X[:, 0] - 2 * X[:, 1])
    rows = X[:5].copy()
    rows[2, 3] = np.nan
    whole = WaterfallDisplay.from_estimator(model, rows, row=2)
    bars = whole.ax_.patches
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    assert_allclose(ends[0][1], model.predict(rows[[2]])[0])
    assert_allclose(ends[-1][0], whole.shapley.base_value)
    assert "missing: 3" in whole.ax_.get_xlabel()
    found = shapley(model, rows)
    few = WaterfallDisplay(shapley=found, row=0, max_display=2).plot()
    assert [label.get_text() for label in few.ax_.get_yticklabels()][1] == "3 other cells"
    swarm = BeeswarmDisplay(shapley=found).plot()
    assert sorted(len(points.get_offsets()) for points in swarm.ax_.collections[:4]) == [4, 5, 5, 5]
    assert "20%" in texts(swarm)


def test_tilt_curves_pass_through_the_prediction_and_tip_at_the_dots():
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 3))
    model = KernelRidge(kernel="linear", alpha=0.1).fit(X, X[:, 0] - 2 * X[:, 1])
    rows = np.array([[1.0, 1.0, 1.0], [np.nan, 0.5, np.nan]])
    display = TiltDisplay.from_estimator(model, rows, row=1, n_shifts=7, tolerance=1.0)
    assert_allclose(display.curves[:, 3], model.predict(rows)[1])
    assert_allclose(np.diff(display.curves, 2), 0.0, atol=1e-9)  # straight lines
    dots = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert_allclose([abs(dot.get_ydata()[0] - model.predict(rows)[1]) for dot in dots], 1.0, atol=1e-3)
    assert len(dots) == 1  # the third column does nothing
    assert "does not tip" in display.ax_.get_legend().get_texts()[1].get_text()
    classes = SVC().fit(X, np.where(X[:, 0] > 0, "b", "a"))
    assert TiltDisplay.from_estimator(classes, rows, row=1).ylabel.startswith("decision value of")
