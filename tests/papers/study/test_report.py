"""Tables of a report: claims beside the paper's, and wide tables in parts."""

from io import StringIO

import pandas as pd
from rich.console import Console

from gapkernel.papers.study.report import Claim, Report, ReportTable, beside_the_paper, percent, with_error


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


def test_a_claim_is_found_or_not_or_open():
    table = beside_the_paper([Claim("a", "1", "2", True), Claim("b", "1", "2", False, "c"), Claim("d", "1", "", None)])
    assert [row[3:] for row in table.rows] == [("yes", ""), ("no", "c"), ("open", "")]


def test_numbers_are_written_with_their_units_and_errors():
    values = pd.Series([1.0, 2.0, 3.0])
    assert percent(0.05) == "5 %"
    assert with_error(values) == "2.0 ± 0.6"
    assert with_error(values, 2, "+") == "+2.00 ± 0.58"
    assert with_error(values[:1]) == "1.0"
