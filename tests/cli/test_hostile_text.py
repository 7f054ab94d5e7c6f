"""Names and cells from a stranger's table: a terminal does not obey them, and a spreadsheet does not run them."""

import csv
from io import StringIO

import pandas as pd
import pytest
from rich.console import Console

from gapkernel.cli import main
from gapkernel.cli.describe import show_gaps
from gapkernel.cli.output import note
from gapkernel.tables.files import write_csv

ORDERS = "\x1b[31mred\x07\u202e"


def test_a_terminal_is_given_no_orders(tmp_path, capsys):
    written = StringIO()
    console = Console(file=written, width=200)
    show_gaps(pd.DataFrame({ORDERS: [1.0, None], "b": pd.Categorical([ORDERS, None])}), ORDERS, console)
    note(console, f"About {ORDERS}.")
    assert "\\x1b[31mred\\x07\\u202e" in written.getvalue()
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit):
        main(["fit", str(path), "--target", ORDERS, "--out", str(tmp_path / "m.skops")])
    for told in (written.getvalue(), capsys.readouterr().err):
        assert not set(ORDERS[:1] + ORDERS[-2:]) & set(told)


def test_a_spreadsheet_is_given_no_formula(tmp_path):
    labels = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx", "-1.5", "plain", "a=b", None]
    write_csv(pd.DataFrame({"=name": labels, "number": [-1.0] * 9}), tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["'=name", "number"]
    assert [row[0] for row in rows] == ["'=1+1", "'+cmd", "'-2+3", "'@SUM(A1)", "'\tx", "-1.5", "plain", "a=b", ""]
    assert {row[1] for row in rows} == {"-1.0"}
