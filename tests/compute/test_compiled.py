"""How loops are compiled: with flags that keep NaN alive, through one module, and kept on disk."""

import ast
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

import gapkernel as gk
from gapkernel.compute.linalg import vectors

ROOT = Path(gk.__file__).parent
doors = import_module("gapkernel.compute.compiled")  # of the same name as the function that the package offers
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}
DOOR = "compute/compiled.py"

ALLOWED_FLAGS = {"reassoc", "contract", "arcp", "nsz", "afn"}
WAYS_TO_COMPILE = {
    "njit", "jit", "pjit", "jit_module", "generated_jit", "jitclass", "register_jitable", "cfunc", "stencil",
    "vectorize", "guvectorize", "fastmath", "jit_options", "targetoptions", "nnan", "ninf",
}  # fmt: skip
"""What only one module may name: numba's compilers, and the options and flags that could make isnan false."""


@pytest.mark.parametrize("reorder", [False, True])
@pytest.mark.parametrize("door", ["compiled", "inner"])
def test_no_flag_makes_isnan_false(door, reorder, monkeypatch):
    for compiler in ("njit", "register_jitable"):
        monkeypatch.setattr(doors, compiler, lambda **options: options)
    fastmath = getattr(doors, door)(reorder)["fastmath"]
    assert isinstance(fastmath, set), f"fastmath={fastmath} makes isnan false"
    assert fastmath <= ALLOWED_FLAGS, f"flags {fastmath - ALLOWED_FLAGS} are not allowed"
    assert ("reassoc" in fastmath) == reorder
    assert set(vectors.FUSED) == doors.FUSED <= doors.REORDERED <= ALLOWED_FLAGS


def words(tree):
    """The names that code uses, also as keywords, in imports and as keys of dictionaries."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.keyword(arg=word) | ast.Constant(value=str(word)):
                yield word
            case ast.alias(name=word):
                yield from word.split(".")


def test_only_one_module_compiles():
    found = {path: WAYS_TO_COMPILE.intersection(words(tree)) for path, tree in TREES.items()}
    assert {"njit", "register_jitable", "fastmath"} <= found.pop(DOOR)
    offenders = {path: here for path, here in found.items() if here}
    assert not offenders, f"compile through {DOOR}: {offenders}"


@pytest.mark.parametrize("reorder", [False, True])
def test_compiled_code_knows_nan(reorder, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # code that was kept has the flags of its day

    @doors.inner(reorder)
    def is_gap(value):
        return np.isnan(value)

    @doors.compiled(reorder)
    def gaps_and_sum(values):
        gaps, inner_gaps, total = 0, 0, 0.0
        for value in values:
            gaps += np.isnan(value)
            inner_gaps += is_gap(value)
            total += value
        return gaps, inner_gaps, total

    gaps, inner_gaps, total = gaps_and_sum(np.array([1.0, np.nan, 2.0, np.nan, np.inf]))
    assert (gaps, inner_gaps) == (2, 2)
    assert np.isnan(total)
    assert gaps_and_sum(np.array([1.0, 2.0])) == (0, 0, 3.0)


def test_compiled_functions_are_kept_on_disk():
    functions = {
        f"{path}: {node.name}": getattr(import_module(module), node.name)
        for path, tree in TREES.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any(map(is_compiled, node.decorator_list))
        for module in [".".join(("gapkernel", *Path(path).with_suffix("").parts))]
    }
    calls = sum(is_compiled(node) for path, tree in TREES.items() if path != DOOR for node in ast.walk(tree))
    assert len(functions) == calls > 0, "a function that is compiled elsewhere than in a module is compiled anew"
    assert all(isinstance(function, Dispatcher) for function in functions.values())
    assert not [name for name, function in functions.items() if isinstance(function._cache, NullCache)]


def is_compiled(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "compiled"
