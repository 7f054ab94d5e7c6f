"""Every system of the five papers is where docs/reference/systems.md says, and so is the test that holds it."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import gapkernel

ROOT = Path(__file__).parents[2]
LINE = re.compile(r"^\| (?P<system>.+) \| `(?P<name>[\w.]+)` \| `(?P<file>[\w/.]+)::(?P<test>\w+)` \|$")
TABLES = (ROOT / "docs" / "reference" / "systems.md").read_text(encoding="utf-8")
SYSTEMS = [match for line in TABLES.splitlines() if (match := LINE.match(line))]


def found(name: str):
    """What a dotted name below gapkernel stands for; modules are imported on the way."""
    thing, path = gapkernel, "gapkernel"
    for part in name.split("."):
        path = f"{path}.{part}"
        thing = getattr(thing, part) if hasattr(thing, part) else import_module(path)
    return thing


@pytest.mark.parametrize("line", SYSTEMS, ids=lambda line: line["system"])
def test_a_system_is_where_the_table_says(line):
    assert callable(found(line["name"]))
    assert f"\ndef {line['test']}(" in (ROOT / line["file"]).read_text(encoding="utf-8")


def test_every_line_of_the_tables_is_a_system():
    lines = [line for line in TABLES.splitlines() if line.startswith("| ")]
    titles = [line for line in lines if line == "| system | name | test |"]
    assert len(titles) == 5
    assert len(SYSTEMS) == len(lines) - len(titles)
