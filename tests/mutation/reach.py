"""Which tests may notice a mutant: the lines that each test reaches, recorded once, and who imports what."""

import ast
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path

import pytest
from mutation.points import Mutant, defaults_of, generates_code, is_compiled

QUICK = 6.0
"""Seconds of tests that come first."""


class Reach:
    """Lines of the package by the tests that reach them.

    What runs while a file of tests is collected counts for that file.

    Attributes
    ----------
    seconds : dict
        How long each test took.
    tests : dict
        For each file of the package and line, the tests that reach it.
    collected : dict
        The same for the files of tests.
    """

    def __init__(self, seconds, tests, collected):
        self.seconds, self.tests, self.collected = seconds, tests, collected

    @classmethod
    def load(cls, path: Path) -> "Reach":
        seconds, *tables = json.loads(path.read_text())
        names = list(seconds)
        tests, collected = ({(file, line): found for file, line, found in table} for table in tables)
        return cls(seconds, {place: {names[k] for k in found} for place, found in tests.items()}, collected)

    def save(self, path: Path) -> None:
        numbers = {test: k for k, test in enumerate(self.seconds)}
        tests = [(*place, sorted(numbers[test] for test in found)) for place, found in self.tests.items()]
        collected = [(*place, sorted(found)) for place, found in self.collected.items()]
        path.write_text(json.dumps([self.seconds, tests, collected]))

    def first_tests(self, places: set[tuple[str, int]]) -> list[str]:
        """A few quick tests that reach a place; the first cases of all test functions come before the second ones."""
        cases, order = defaultdict(int), []
        for test in sorted(self._tests_at(places), key=lambda test: (self.seconds[test], test)):
            function = test.partition("[")[0]
            order.append((cases[function], self.seconds[test], test))
            cases[function] += 1
        chosen, spent = [], 0.0
        for _, seconds, test in sorted(order):
            spent += seconds
            if not chosen or spent < QUICK:
                chosen.append(test)
        return chosen

    def files_of_tests(self, places: set[tuple[str, int]]) -> list[str]:
        """The files of tests that reach a place: their other tests may look at what one of them computed."""
        collected = set().union(*(self.collected.get(place, ()) for place in places))
        return sorted(collected | {test.partition("::")[0] for test in self._tests_at(places)})

    def _tests_at(self, places) -> set[str]:
        return set().union(*(self.tests.get(place, ()) for place in places))


class Recorder:
    """A plugin of pytest that fills a `Reach`."""

    def __init__(self, package: Path):
        self.reach = Reach({}, defaultdict(set), defaultdict(set))
        self._package, self._names, self._lines = package, {}, set()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        with self._traced():
            report = yield
        for place in self._lines:
            self.reach.collected[place].add(collector.nodeid)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        start = time.perf_counter()
        with self._traced():
            result = yield
        self.reach.seconds[item.nodeid] = round(time.perf_counter() - start, 4)
        for place in self._lines:
            self.reach.tests[place].add(item.nodeid)
        return result

    @contextmanager
    def _traced(self):
        self._lines = set()
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def _on_call(self, frame, event, arg):
        code = frame.f_code
        if code not in self._names:
            path = Path(code.co_filename)
            inside = path.is_relative_to(self._package) and code.co_name != "<module>"
            self._names[code] = path.relative_to(self._package).as_posix() if inside else None
        return None if self._names[code] is None else self._on_line

    def _on_line(self, frame, event, arg):
        self._lines.add((self._names[frame.f_code], frame.f_lineno))
        return self._on_line


class Uses:
    """Where Python runs what may see a mutant.

    A line of a plain function is such a place itself. Constants, defaults and compiled functions are seen by the lines
    that name them, also through other constants and compiled functions.
    """

    def __init__(self, package: Path):
        self.importers = _importers(package)
        self._lines: dict[str, set[tuple[str, int]]] = defaultdict(set)  # by name, in plain functions
        self._through: dict[str, set[tuple[str, str]]] = defaultdict(set)  # by name, in what is named itself
        for file in self.importers:
            source = (package / file).read_bytes()
            self._read(file, ast.parse(source).body, generates_code(source))

    def places(self, mutant: Mutant) -> set[tuple[str, int]]:
        """Files and lines."""
        if mutant.function is not None:
            return {(mutant.file, line) for line in range(mutant.lines[0], mutant.lines[1] + 1)}
        files = self.all_importers(mutant.file)
        return {place for name in self.names(mutant) for place in self._lines[name] if place[0] in files}

    def names(self, mutant: Mutant) -> set[str]:
        """The mutated constant or compiled function, and those that it changes."""
        found, waiting, files = set(), {mutant.name}, self.all_importers(mutant.file)
        while waiting:
            found |= waiting
            waiting = {other for name in waiting for file, other in self._through[name] if file in files} - found
        return found

    def all_importers(self, file: str) -> set[str]:
        """The file, the files that import it, those that import them, and so on."""
        found, files = set(), {file}
        while files:
            found |= files
            files = set().union(*(self.importers[file] for file in files)) - found
        return found

    def _read(self, file: str, body: list[ast.stmt], generates: bool) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                self._read(file, node.body, generates)
            elif isinstance(node, ast.FunctionDef) and not generates and not is_compiled(node):
                for name, line in _named(node.body):
                    self._lines[name].add((file, line))
                for name, _ in _named(defaults_of(node)):
                    self._through[name].add((file, node.name))
            elif isinstance(node, ast.FunctionDef | ast.Assign | ast.AnnAssign):
                target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
                own = node.name if target is None else ast.unparse(target)
                for name, _ in _named([node]):
                    self._through[name].add((file, own))


def imported_by(path: Path) -> set[str]:
    """What a file of tests imports by name."""
    imports = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports for alias in node.names}


def _named(nodes: Iterable[ast.AST]) -> set[tuple[str, int]]:
    """Names and attributes that are read, with their lines; not variables that are set there."""
    inner = [node for outer in nodes for node in ast.walk(outer)]
    own = {node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names = {(node.id, node.lineno) for node in inner if isinstance(node, ast.Name) and node.id not in own}
    names |= {(node.attr, node.lineno) for node in inner if isinstance(node, ast.Attribute)}
    return names | {(node.arg, node.value.lineno) for node in inner if isinstance(node, ast.keyword) and node.arg}


def _importers(package: Path) -> dict[str, set[str]]:
    """For each file of the package, the files that import it, or a name from it, by themselves."""
    paths = {path.relative_to(package).as_posix(): path for path in sorted(package.rglob("*.py"))}
    importers: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package.name}."):
                folder = node.module.partition(".")[2].replace(".", "/")
                inside = [f"{folder}/{alias.name}" for alias in node.names]
                for file in (f"{place}{end}" for place in (folder, *inside) for end in (".py", "/__init__.py")):
                    importers.get(file, set()).add(name)
    return importers
