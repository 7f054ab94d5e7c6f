"""Would the tests notice? A sample of small mistakes in the source, one at a time, against the tests that may tell.

usage: python tests/mutants.py [--jobs 2] [--sample 400] [--seed 0] [--limit 90] [--only rows/base.py] [--again]

The tests run once as they are, and the lines that each of them reaches are kept. Then each mutant is written into a
copy of the package and tested in a process of its own: by quick tests that reach its line, then by the others of the
same files, until one fails or the time is up. Constants and compiled functions are seen by the lines that name them,
or, where there are none, by all tests of their room and of tests/laws. Compiled code is compiled anew where the mutant
changes it: that takes less time than to run it as plain Python.

Results go to tests/mutants.csv, one line each, and are not computed twice; without that file all begins anew. A mutant
is killed, survived, timeout (a test hung) or unreached (no test runs its line). tests/mutants_survivors.csv says why
some mutants cannot be killed.
"""

import argparse
import csv
import hashlib
import importlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from mutation.points import Mutant, mutants_of
from mutation.reach import Reach, Recorder, Uses, imported_by

ROOMS = {
    "rows": "rows",
    "density/em": "density",
    "kernels": "kernels",
    "compute/linalg": "compute",
    "estimators/calibration": "estimators/calibration",
}
"""Folders of the package, and those below tests/ that mirror them."""

LAWS = "laws"
"""Tests of every room."""

LIMIT = 90.0
"""Seconds for a mutant."""

STUCK = 45.0
"""Seconds after which one test hangs; the longest takes 8, with what it compiles."""

ERROR = 99
"""How a process ends that could not run the tests."""

MEMORY = 16 << 30
"""Bytes of addresses that a process may have."""

LIBRARIES = ("scipy.stats", "sklearn.ensemble", "sklearn.svm", "pandas", "numba", "joblib", "hypothesis.extra.numpy")
"""Imported once, before processes fork."""

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "gapkernel"
RESULTS = ROOT / "tests" / "mutants.csv"
REASONS = ROOT / "tests" / "mutants_survivors.csv"
FIELDS = ("file", "line", "column", "what", "result", "seconds")

OPTIONS = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
OPTIONS += ["-o", "addopts=--strict-markers --strict-config --import-mode=importlib -m 'not slow'"]


def main() -> None:
    options = _options()
    sample = [m for m in _sampled(options.sample, options.seed) if m.file.startswith(options.only)]
    results, reasons = _read_results(), _read_reasons()
    if options.again:
        for mutant in _survivors(sample, results):
            if (mutant.file, mutant.what) not in reasons:
                del results[mutant.key]
    waiting = [m for m in sample if m.key not in results]
    if waiting:
        for name in LIBRARIES:
            importlib.import_module(name)
        _run(waiting, _tested_copy(), options.jobs, options.limit, results)
    _print_summary(sample, results, reasons)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--sample", type=int, default=400, help="how many mutants; fewer are the first of more")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each")
    parser.add_argument("--only", default="", help="of the sample, those in this file or folder of the package")
    parser.add_argument("--again", action="store_true", help="run survivors without a reason again")
    return parser.parse_args()


def _sampled(size: int, seed: int) -> list[Mutant]:
    paths = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
    mutants = list({m.key: m for path in paths for m in mutants_of(PACKAGE, path)}.values())
    random.Random(seed).shuffle(mutants)
    return mutants[:size]


# The tests as they are.


def _tested_copy() -> Path:
    """A copy of package and tests with what the tests reach and all compiled code; made once for each state of them."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), ROOT / "pyproject.toml"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()[:12]
    copy = Path(tempfile.gettempdir()) / f"gapkernel-mutants-{digest}"
    if (copy / "reach.json").exists():
        return copy
    shutil.rmtree(copy, ignore_errors=True)
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", copy)
    print("running the tests as they are ...", flush=True)
    _, status = os.waitpid(_forked(copy, lambda: _record(copy)), 0)
    if status:
        sys.exit("\n".join((copy / "log.txt").read_text().splitlines()[-40:]) + "\nThe tests fail as they are.")
    return copy


def _record(copy: Path) -> int:
    recorder = Recorder(copy / "src" / PACKAGE.name)
    code = pytest.main(
        [*OPTIONS, *(f"tests/{folder}" for folder in sorted({*ROOMS.values(), LAWS}))], plugins=[recorder]
    )
    if code == 0:
        recorder.reach.save(copy / "reach.json")
    return code


# Mutants.


class Course:
    """A plugin of pytest: first the tests named, in their order, then the others; and a note of when each begins."""

    def __init__(self, first: list[str], note: Path):
        self.first, self.note, self.others = first, note, not first

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        by_name = {item.nodeid: item for item in items}
        if self.others:
            items[:] = [item for name, item in by_name.items() if name not in set(self.first)]
        else:
            items[:] = [by_name[name] for name in self.first if name in by_name]  # a mutant may change a name

    def pytest_runtest_logstart(self, nodeid):
        self.note.write_text(nodeid)


class Bench:
    """A copy of the package for one mutant at a time."""

    def __init__(self, tested: Path, uses: Uses, reach: Reach):
        self.tested, self.uses, self.reach = tested, uses, reach
        self.copy = Path(tempfile.mkdtemp(prefix="gapkernel-mutant-"))
        shutil.copytree(tested, self.copy, dirs_exist_ok=True)
        self.note = self.copy / "note.txt"

    def start(self, mutant: Mutant) -> None:
        self.mutant, self.begin, self.pid = mutant, time.time(), 0
        self.places = self.uses.places(mutant)
        self.files = self._files_of_tests()
        self._stale = self._compiled_code() if mutant.function is None else []
        for path in self._stale:
            path.unlink()
        self.source.write_bytes(mutant.mutated(self.source.read_bytes()))
        self.note.write_text("")
        if self.files:
            self.pid = _forked(self.copy, self._tests)

    def finish(self) -> None:
        """Put back what the mutant changed: the file, and compiled code, also that of its own."""
        self._restore(self.source)
        for path in self._compiled_code() if self.mutant.function is None else ():
            path.unlink()
        for path in self._stale:
            self._restore(path)

    def outcome(self, limit: float) -> str | None:
        """Killed, survived, timeout, unreached, or None: it still runs."""
        if not self.pid:
            return "unreached"
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            if os.waitstatus_to_exitcode(status) == ERROR:
                raise RuntimeError(f"{_line_of(self.mutant)}\n{(self.copy / 'log.txt').read_text()}")
            return "killed" if status else "survived"
        now = time.time()
        stuck = now - self.note.stat().st_mtime > STUCK
        if not stuck and now - self.begin < limit:
            return None
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return "timeout" if stuck else "survived"

    @property
    def source(self) -> Path:
        return self.copy / "src" / PACKAGE.name / self.mutant.file

    def _tests(self) -> int:
        sys.dont_write_bytecode = True  # its date would be that of the next mutant's source
        course = Course(self.reach.first_tests(self.places), self.note)
        first_files = sorted({test.partition("::")[0] for test in course.first})
        for files in filter(None, (first_files, self.files)):
            code = pytest.main([*OPTIONS, *files], plugins=[course])
            if code == pytest.ExitCode.USAGE_ERROR:
                return ERROR
            if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                return 1
            course.others = True
        return 0

    def _files_of_tests(self) -> list[str]:
        files = set(self.reach.files_of_tests(self.places))
        if self.mutant.function is None:  # a test may call compiled functions itself
            names = self.uses.names(self.mutant)
            tests = {test.partition("::")[0] for test in self.reach.seconds}
            files |= {file for file in tests if names & imported_by(self.copy / file)}
            room = next(tests for folder, tests in ROOMS.items() if self.mutant.file.startswith(f"{folder}/"))
            files = files or {f"tests/{room}", f"tests/{LAWS}"}
        return sorted(files)

    def _compiled_code(self) -> list[Path]:
        """What numba keeps of the mutated file and of all that import it: it does not see changes of callees."""
        found = self.uses.all_importers(self.mutant.file)
        package = self.copy / "src" / PACKAGE.name
        return [p for f in found for p in (package / f).parent.glob(f"__pycache__/{Path(f).stem}.*.nb[ic]")]

    def _restore(self, path: Path) -> None:
        shutil.copy2(self.tested / path.relative_to(self.copy), path)


def _run(waiting: list[Mutant], tested: Path, jobs: int, limit: float, results: dict) -> None:
    """Try the mutants, ``jobs`` at a time."""
    uses, reach = Uses(PACKAGE), Reach.load(tested / "reach.json")
    idle = [Bench(tested, uses, reach) for _ in range(jobs)]
    benches, busy, left = list(idle), [], list(reversed(waiting))
    try:
        while left or busy:
            while left and idle:
                busy.append(idle.pop())
                busy[-1].start(left.pop())
            time.sleep(0.05)
            for bench in list(busy):
                outcome = bench.outcome(limit)
                if outcome is not None:
                    seconds = time.time() - bench.begin
                    results[bench.mutant.key] = (outcome, f"{seconds:.1f}")
                    _write_results(results)
                    bench.finish()
                    busy.remove(bench)
                    idle.append(bench)
                    print(f"{outcome:8s} {seconds:5.1f} s  {_line_of(bench.mutant)}", flush=True)
    finally:
        for bench in busy:
            if bench.pid:
                os.killpg(bench.pid, signal.SIGKILL)
        for bench in benches:
            shutil.rmtree(bench.copy, ignore_errors=True)


def _forked(copy: Path, work: Callable[[], int]) -> int:
    """The number of a process that works in a copy and ends with what ``work`` returns."""
    pid = os.fork()
    if pid:
        return pid
    code = ERROR
    try:
        os.setsid()
        log = os.open(copy / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(copy)
        sys.path[:] = [str(copy / "src"), *(p for p in sys.path if not p.startswith(str(ROOT / "tests")))]
        os.environ["PYTHONPATH"] = str(copy / "src")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        code = int(work())
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


# Results.


def _read_results() -> dict[tuple, tuple[str, str]]:
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {(name, int(line), int(column), what): tuple(found) for name, line, column, what, *found in rows}


def _write_results(results: dict) -> None:
    fresh = RESULTS.with_suffix(".part")
    with fresh.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows((*key, *found) for key, found in sorted(results.items()))
    fresh.replace(RESULTS)


def _read_reasons() -> dict[tuple[str, str], str]:
    """Why mutants survive, by file and what is done; lines may move."""
    with REASONS.open(newline="") as file:
        return {(row["file"], row["what"]): row["reason"] for row in csv.DictReader(file)}


def _survivors(sample: list[Mutant], results: dict) -> list[Mutant]:
    return [m for m in sample if results.get(m.key, ("",))[0] in ("survived", "unreached")]


def _print_summary(sample: list[Mutant], results: dict, reasons: dict) -> None:
    survivors = sorted(_survivors(sample, results), key=lambda mutant: mutant.key)
    explained = [m for m in survivors if (m.file, m.what) in reasons]
    unexplained = [m for m in survivors if (m.file, m.what) not in reasons]
    print(f"\nSurvivors with a reason: {len(explained)}")
    for mutant in explained:
        print(f"  {_line_of(mutant)}\n      {reasons[mutant.file, mutant.what]}")
    print(f"\nSurvivors without a reason: {len(unexplained)}")
    for mutant in unexplained:
        print(f"  {_line_of(mutant)} ({results[mutant.key][0]})")
    for mutant in sample:
        if results.get(mutant.key, ("",))[0] == "killed" and (mutant.file, mutant.what) in reasons:
            print(f"\nA test kills it, so it needs no reason: {_line_of(mutant)}")
    counts = Counter(results[m.key][0] for m in sample if m.key in results)
    killed, tried = counts["killed"] + counts["timeout"], max(1, counts.total())
    print(f"\n{counts.total()} of {len(sample)} mutants tried: {dict(counts)}")
    print(f"{killed / tried:.1%} killed, {killed / max(1, tried - len(explained)):.1%} of those that can be")


def _line_of(mutant: Mutant) -> str:
    return f"{mutant.file}:{mutant.line}:{mutant.column} {mutant.what}"


if __name__ == "__main__":
    main()
