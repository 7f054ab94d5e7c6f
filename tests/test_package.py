"""The package as a whole: its names and its imports."""

import ast
import graphlib
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import gapkernel as gk

ROOT = Path(gk.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))
MODULES = {
    ".".join(("gapkernel", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in SOURCES
}
PUBLIC = [(module, name) for module in (gk, gk.kernels, gk.density) for name in module.__all__]
LATE = {"gapkernel.tables.dask_parts", "gapkernel.tables.files"}
"""Modules that need dask or pandas, which are optional, and are imported where they are used."""


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=lambda v: getattr(v, "__name__", v))
def test_public_names_exist_and_say_what_they_are(module, name):
    assert inspect.getdoc(getattr(module, name)), f"{module.__name__}.{name} has no docstring"


@pytest.mark.parametrize(
    "cls", [getattr(m, n) for m, n in PUBLIC if inspect.isclass(getattr(m, n))], ids=lambda c: c.__name__
)
def test_public_methods_say_what_they_do(cls):
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_") and method.__module__.startswith("gapkernel"):
            assert inspect.getdoc(getattr(cls, name)), f"{cls.__name__}.{name} has no docstring"


@pytest.mark.parametrize("module", ["kernels", "density", "rows", "imputation", "inspection", "plots", "estimators"])
def test_public_functions_and_methods_have_types(module):
    """At least that of the result: for a caller who checks types an unannotated function is an error."""
    module = import_module(f"gapkernel.{module}")
    for public in (getattr(module, name) for name in module.__all__):
        named = inspect.getmembers(public, inspect.isfunction) if inspect.isclass(public) else [("", public)]
        for name, function in named:
            if inspect.isfunction(function) and function.__module__.startswith("gapkernel"):
                private = name.startswith("_") and name != "__init__"
                assert private or function.__annotations__, f"{public.__name__}.{name} has no types"


def test_importing_brings_no_heavy_guests_of_its_own():
    code = """
import sys, sklearn.svm
before = set(sys.modules)
import gapkernel
guests = {"pandas", "polars", "matplotlib", "rich", "mpmath", "dask", "distributed", "pyarrow", "clarabel"}
print(guests & (set(sys.modules) - before) or "none")
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "none", "import gapkernel loads packages that scikit-learn does not"


def modules_imported(tree):
    """Our own modules that a file imports anywhere, each with the name that it takes from it (None for the module)."""
    guarded = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    for_types = {id(child) for node in guarded for child in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "gapkernel":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield (whole, None) if whole in MODULES else (node.module, alias.name)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_imports_a_private_name_of_another(path):
    imported = {name for _, name in modules_imported(ast.parse(path.read_text())) if name}
    assert not {name for name in imported if name.startswith("_") and name != "__version__"}


def test_imports_form_no_cycle_wherever_they_stand():
    graph = {
        module: {found for found, _ in modules_imported(ast.parse(path.read_text()))}
        for module, path in MODULES.items()
    }
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) >= len(MODULES)


EAGER = [path for path in SOURCES if path.parent.name != "cli"]
"""A command loads what it needs when it is called, so that the others start fast."""


@pytest.mark.parametrize("path", EAGER, ids=lambda p: str(p.relative_to(ROOT)))
def test_functions_import_only_what_is_optional(path):
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    assert {found for function in functions for found, _ in modules_imported(function)} <= LATE


def test_a_density_never_sees_a_label():
    for module, path in MODULES.items():
        if module.startswith("gapkernel.density"):
            names = {name for _, name in modules_imported(ast.parse(path.read_text()))}
            assert not names & {"read_labelled", "read_classes"}, f"{module} reads labels"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_files_stay_short(path):
    assert len(path.read_text().splitlines()) < 400


def test_the_words_of_the_design_are_names_of_the_package():
    for name in ("rows.Rows", "kernels.Kernel", "density.Density", "solvers.Solver", "estimators.KernelMachine"):
        room, kind = name.split(".")
        assert inspect.isabstract(getattr(getattr(gk, room), kind)), f"gapkernel.{name} is the abstract word"
