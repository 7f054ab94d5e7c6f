"""Tables and figures of a report: claims beside the paper's, wide tables in parts, points with their errors."""

from io import StringIO

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose
from rich.console import Console

from gapkernel.papers.study.report import (
    Claim,
    Report,
    ReportTable,
    beside_the_paper,
    curves,
    percent,
    points_of,
    with_error,
)


def test_no_number_of_a_wide_table_is_cut_at_80_columns():
    header = ("data", "removed", *(f"method {k}" for k in range(9)))
    rows = [
        (name, "10 %", *(f"{k}.{place}2345 ± 0.1" for k in range(9))) for place, name in enumerate(("heart", "iris"))
    ]
    shown = Console(file=StringIO(), width=80)
    Report("A paper", tables=[ReportTable("Errors", header, rows, "a note", keys=2)]).show(shown)
    told = shown.file.getvalue()
    assert max(map(len, told.splitlines())) <= 80
    assert all(cell in told for line in (header, *rows) for cell in line)
    assert told.count("Errors") == told.count("a note") == 1
    assert told.count("heart") == told.count("removed") > 1  # a part by itself says what its lines are about


def test_a_claim_holds_or_not_or_is_open_within_two_errors():
    leads = [(1.0, 0.0), (-1.0, 0.4), (1.0, 0.6), (-1.0, float("nan"))]
    table = beside_the_paper([Claim("a", "1", "2", *lead) for lead in leads])
    assert [row[3] for row in table.rows] == ["yes", "no", "open", "no"]


def test_a_frame_of_text_is_a_table_with_its_index_first():
    frame = pd.DataFrame({"a": ["1", None]}, index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["k", "l"]))
    table = ReportTable.of("Errors", frame)
    assert (table.header, table.rows, table.keys) == (("k", "l", "a"), [("x", "1", "1"), ("y", "2", "")], 2)


def test_numbers_are_written_with_their_units_and_errors():
    values = pd.Series([1.0, 2.0, 3.0])
    assert percent(0.05) == "5 %"
    assert with_error(values) == "2.0 ± 0.6"
    assert with_error(values, 2, "+") == "+2.00 ± 0.58"
    assert with_error(values[:1]) == "1.0"


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


def test_a_page_shows_its_figures(tmp_path):
    report = Report("A paper", note="Half of it.")
    report.add_figure("one", curves({"left": {"a": [(10.0, 1.0, 0.0)]}}, "error, %"), "What it shows.")
    page = report.write(tmp_path, "a command").read_text()
    assert page.startswith("# A paper\n\nHalf of it.\n")
    assert "![What it shows.](one.png)" in page
    assert (tmp_path / "one.png").stat().st_size > 1000
