"""Measuring time and peak memory side by side, and writing the tables that are committed."""

import ctypes
import os
import platform
import threading
import time
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
console = Console()


def seconds(task, repeats=3):
    """Best wall time of several runs, after one that compiles and warms up."""
    task()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        task()
        times.append(time.perf_counter() - begin)
    return min(times)


def peak_mib(task):
    """Memory that the process gained at its highest while ``task`` ran, sampled every millisecond."""
    page = os.sysconf("SC_PAGE_SIZE")

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * page

    ctypes.CDLL(None).malloc_trim(0)  # or else what earlier runs freed is used again, and nothing seems to be gained
    before, highest, done = resident(), 0, threading.Event()

    def watch():
        nonlocal highest
        while not done.wait(0.001):
            highest = max(highest, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        task()
    finally:
        highest = max(highest, resident())
        done.set()
        watcher.join()
    return max(0.0, (highest - before) / 2**20)


def report(name, title, header, rows, notes="", command=None):
    """Print a table and write it to results/<name>.md."""
    table = Table(title=title)
    for column in header:
        table.add_column(column)
    for row in rows:
        table.add_row(*map(str, row))
    console.print(table)
    RESULTS.mkdir(exist_ok=True)
    packages = ", ".join(f"{p} {version(p)}" for p in ("gapkernel", "numpy", "scipy", "scikit-learn", "numba"))
    lines = [f"# {title}", "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    lines += ["", notes.strip(), "", f"`{command or f'python benchmarks/run.py {name}'}`; {os.cpu_count()} cores, "]
    lines[-1] += f"Python {platform.python_version()}, {packages}."
    (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n")


def mcar(X, fraction, rng):
    """Remove cells completely at random."""
    return X.copy() if fraction == 0 else _with_gaps(X, rng.random(X.shape) < fraction)


def few_patterns(X, fraction, n_patterns, rng):
    """Remove cells in a given number of patterns."""
    patterns = rng.random((n_patterns, X.shape[1])) < fraction
    return _with_gaps(X, patterns[rng.integers(0, n_patterns, len(X))])


def _with_gaps(X, holes):
    X = X.copy()
    X[holes] = float("nan")
    return X


def correlated(n_rows, n_columns, rng):
    """Gaussian rows with a few strong directions, as in most real tables."""
    loadings = rng.normal(size=(n_columns, max(1, n_columns // 4)))
    return rng.normal(size=(n_rows, loadings.shape[1])) @ loadings.T + rng.normal(size=(n_rows, n_columns))
