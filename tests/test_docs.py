"""The pages: their code runs as it stands, from top to bottom, and their links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))

BLOCK = re.compile(r"^(<!-- not run: .*? -->\n)?```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A block of code, and the comment before it that keeps it from being run and says why."""


@every_page
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in BLOCK.finditer(page.read_text()):
        if not block[1]:
            lines_above = page.read_text()[: block.start(2)].count("\n")
            exec(compile("\n" * lines_above + block[2], str(page), "exec"), names)


@every_page
def test_the_links_of_a_page_lead_somewhere(page):
    text = page.read_text()
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, section = target.partition("#")
        if not file.startswith("http"):
            linked = (page.parent / file) if file else page
            assert linked.exists(), f"{target} is not there"
            if section:
                assert section in _anchors(linked.read_text()), f"{target}: there is no such section"


def _anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
