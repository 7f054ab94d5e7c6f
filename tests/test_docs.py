"""The pages: their code runs as it stands, from top to bottom, and their links lead somewhere."""

import re
from dataclasses import is_dataclass
from importlib import import_module
from inspect import isabstract, isclass, ismodule, isroutine
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc
from numpydoc.validate import validate
from sklearn.base import BaseEstimator

import gapkernel as gk
from gapkernel.plots.drawing import Display

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
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
            linked = _source((page.parent / file).resolve()) if file else page
            assert linked.exists(), f"{target} is not there"
            if section:
                assert section in _anchors(linked.read_text()), f"{target}: there is no such section"


def _source(path):
    """Where a page comes from: those of the gallery are made from the examples."""
    if not path.is_relative_to(GALLERY):
        return path
    example = ROOT / "examples" / path.relative_to(GALLERY).with_suffix(".py")
    return example.with_name("GALLERY_HEADER.rst") if path.stem == "index" else example


ROOMS = (
    *("kernels", "density", "rows", "imputation", "missingness", "inspection", "plots", "datasets", "studies"),
    *("persistence", "papers", "papers.expected_kernel", "papers.genrbf", "papers.kernel_extension"),
    *("papers.microbiology", "papers.missing_variables"),
)
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (gk, *(import_module(f"gapkernel.{room}") for room in ROOMS))
    for name in module.__all__
    if not ismodule(getattr(module, name))
}


def test_the_reference_lists_every_public_name():
    listed = {
        f"{module}.{name}"
        for page in (ROOT / "docs" / "reference").glob("*.rst")
        for module, names in re.findall(
            r"currentmodule:: (\S+)\n\n\.\. autosummary::\n.*?\n\n((?:   \S+\n)+)", page.read_text()
        )
        for name in names.split()
    }
    twice = {"gapkernel.imputation.ChainedEquations", "gapkernel.missingness.ampute"}  # they are names of gapkernel too
    assert PUBLIC.keys() - twice <= listed


def _is_result(found):
    """Whether an object holds what a function found, and is described by its attributes."""
    return isclass(found) and (is_dataclass(found) and not issubclass(found, BaseEstimator | Display))


DESCRIBED = sorted(
    name
    for name, found in PUBLIC.items()
    if isroutine(found) or (isclass(found) and not isabstract(found) and not _is_result(found))
    if not (isclass(found) and issubclass(found, Exception | tuple))
)


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_docstring_tells_all_parameters(name):
    found = PUBLIC[name]
    errors = validate(f"{found.__module__}.{found.__qualname__}")["errors"]
    assert [text for code, text in errors if code in ("GL08", "PR01", "PR02")] == []


@pytest.mark.parametrize("name", [name for name, found in PUBLIC.items() if isclass(found) or isroutine(found)])
def test_each_parameter_and_attribute_has_a_text(name):
    found = PUBLIC[name]
    document = ClassDoc(found, config={"show_class_members": False}) if isclass(found) else FunctionDoc(found)
    described = [*document["Parameters"], *document["Attributes"]]
    assert [entry.name for entry in described if not any(line.strip() for line in entry.desc)] == []


SHOWN = [name for name, found in PUBLIC.items() if isroutine(found) or (isclass(found) and not isabstract(found))]
NOT_SHOWN = (
    *("UnsupportedLaws", "DamagedFileError", "UntrustedFileError"),  # errors
    *("OnColumns", "Product", "Scaled", "Sum"),  # what operators make
)


@pytest.mark.parametrize("name", [name for name in SHOWN if not name.endswith(NOT_SHOWN)])
def test_a_docstring_has_an_example(name):
    assert ">>> " in PUBLIC[name].__doc__


def _anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
