"""A folder to work in."""

import pytest
from cli.commands import table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with a good table in it."""
    monkeypatch.chdir(tmp_path)
    table().to_csv("good.csv", index=False)
    return tmp_path
