"""Rooms of frozen answers: groups of named arrays, the table that keeps them, and what counts as the same."""

import csv
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

FOLDER = Path(__file__).parent
TOLERANCE = 1e-10
"""Of the largest number in an array, or of 1 if that is larger."""

Answers = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Room:
    """Groups of answers that are kept in one table.

    A group is a function that computes arrays by name; the name of each begins with that of its group.
    """

    name: str
    groups: dict[str, Callable[[], Answers]] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.csv"

    def add(self, group: str, compute: Callable[[], Mapping], slow: bool = False) -> None:
        if group in self.groups:
            raise ValueError(f"There are two groups {group!r} in {self.name}.")
        self.groups[group] = compute
        if slow:
            self.slow.add(group)

    def group(self, name: str, slow: bool = False):
        """Decorator that adds a function."""

        def added(compute):
            self.add(name, compute, slow)
            return compute

        return added

    def compute(self, group: str) -> Answers:
        """The answers of a group as the library gives them now, whatever it warns of; files go to an empty folder."""
        here = Path.cwd()
        with (
            warnings.catch_warnings(action="ignore"),
            threadpool_limits(1),
            tempfile.TemporaryDirectory() as folder,
        ):
            os.chdir(folder)
            try:
                arrays = self.groups[group]()
            finally:
                os.chdir(here)
        return {f"{group}: {name}": np.asarray(values) for name, values in arrays.items()}


def written(name: str, values: np.ndarray) -> tuple[str, str, str]:
    """A line of a table: name, shape, and values at full precision; text for anything that is no number."""
    if values.dtype.kind in "biu":
        cells = [str(int(value)) for value in values.ravel()]
    elif values.dtype.kind == "f":
        cells = [repr(float(value)) for value in values.ravel()]
    else:
        cells = [str(value) for value in values.ravel()]
    return name, " ".join(map(str, values.shape)), "|".join(cells)


def read(path: Path) -> dict[str, tuple[str, str]]:
    """The lines of a table: shape and values by name."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {name: (shape, values) for name, shape, values in csv.reader(file)}


def write(path: Path, lines: Iterable[tuple[str, str, str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


def difference(frozen: tuple[str, str], values: np.ndarray) -> str:
    """What differs, or nothing."""
    shape, cells = frozen
    _, now_shape, now_cells = written("", values)
    if shape != now_shape:
        return f"shape ({now_shape}) in place of ({shape})"
    if cells == now_cells:
        return ""
    if values.dtype.kind not in "biuf":
        pairs = list(zip(cells.split("|"), now_cells.split("|"), strict=False))
        apart = [f"{now!r} in place of {old!r}" for old, now in pairs if old != now]
        return f"{len(apart)} of {len(pairs)} differ: {apart[0] if apart else now_cells}"
    old, now = (np.array(text.split("|"), dtype=float) for text in (cells, now_cells))
    if not np.array_equal(np.isfinite(old), np.isfinite(now)):
        return "other numbers are finite"
    finite = np.isfinite(old)
    if not np.array_equal(old[~finite], now[~finite], equal_nan=True):
        return "other numbers are infinite or NaN"
    size = max(1.0, np.abs(old[finite]).max(initial=0.0))
    largest = np.abs(now[finite] - old[finite]).max(initial=0.0) / size
    return f"{largest:.1e} times its size apart" if largest > TOLERANCE else ""
