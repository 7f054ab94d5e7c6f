"""Tables that do not fit in memory, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from gapkernel.tables.table_in_parts import Batches
from gapkernel.tables.user_columns import refuse_lazy

SUFFIXES = (".parquet", ".csv")
SCANNED_ROWS = 65_536
"""Rows held at once while the types of the columns of a CSV file are found."""


class Files:
    """Parquet and CSV files of the same columns, read as frames."""

    def __init__(self, paths: list[Path], target: str | None, batch_size: int):
        self.paths, self.target, self.batch_size = paths, target, batch_size
        self.all_parquet = all(path.suffix == ".parquet" for path in paths)

    def batches(self) -> Iterator[tuple]:
        """(X, y) for each batch."""
        for path in self.paths:
            for frame in self._parquet(path) if path.suffix == ".parquet" else self._csv(path):
                if self.target is None:
                    yield frame, None
                elif self.target not in frame.columns:
                    raise ValueError(f"{path.name} has no column {self.target!r}. It has {list(frame.columns)}.")
                else:
                    yield frame.drop(columns=self.target), frame[self.target].to_numpy()

    def count_rows(self) -> int:
        """The rows of all files, which Parquet files know without being read."""
        import pyarrow.parquet as parquet

        return sum(parquet.read_metadata(path).num_rows for path in self.paths)

    def _parquet(self, path: Path) -> Iterator:
        import pyarrow.parquet as parquet

        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(self.batch_size):
                yield batch.to_pandas()

    def _csv(self, path: Path) -> Iterator:
        import pandas as pd

        with pd.read_csv(path, chunksize=self.batch_size, dtype=self._csv_dtypes) as chunks:
            yield from chunks

    @cached_property
    def _csv_dtypes(self) -> dict[str, str]:
        """The type of each column over all its cells: a few rows of a column of text may all look like numbers."""
        import pandas as pd

        kinds: dict[str, set[str]] = {}
        for path in (path for path in self.paths if path.suffix == ".csv"):
            how = {"chunksize": SCANNED_ROWS, "low_memory": False, "dtype_backend": "numpy_nullable"}
            with pd.read_csv(path, **how) as chunks:
                for frame in chunks:
                    for name, values in frame.items():
                        found = {values.dtype.kind} if values.count() else set()
                        kinds.setdefault(name, set()).update(found, {"gap"} if values.isna().any() else ())
        return {name: _dtype(found) for name, found in kinds.items()}


def batches(source, target=None, *, batch_size: int = 65_536) -> Batches:
    """A table read batch by batch, for tables that do not fit in memory.

    Parameters
    ----------
    source : path, list of paths, array or function
        Parquet or CSV files, a folder of them (read in the order of their names), an ``.npy`` file (which is
        memory-mapped), an array such as a memory map, or a function without arguments that returns an iterator over
        (X, y) or (X, y, sample_weight): it is called anew each time the table is read. The first pass over CSV files
        only finds the types of the columns, which hold numbers if all their cells are numbers.
    target : str, path or array, default=None
        The target: the name of a column for Parquet and CSV; an array or an ``.npy`` file for arrays.
    batch_size : int, default=65_536
        Most rows in one batch. It changes no result beyond rounding.

    Returns
    -------
    batches : Batches
        Iterating gives (X, y) for each batch. The Gap and the Fourier estimators, `FourierFeatures` and `Nystroem`
        fit it; every kernel machine predicts it.

    Examples
    --------
    >>> import numpy as np
    >>> import gapkernel as gk
    >>> X, y = np.arange(10.0).reshape(5, 2), np.array([0, 0, 0, 1, 1])
    >>> [len(part) for part, _ in gk.batches(X, y, batch_size=2)]
    [2, 2, 1]
    >>> gk.FourierClassifier(16).fit(gk.batches(X, y, batch_size=2)).predict(X)
    array([0, 0, 0, 1, 1])
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}.")
    if callable(source):
        if target is not None:
            raise ValueError("The function returns the targets too, as (X, y): leave target out.")
        return Batches(source)
    if _is_path(source) or (isinstance(source, list | tuple) and all(map(_is_path, source)) and source):
        paths = _listed(source)
        if paths[0].suffix != ".npy":
            if target is not None and not isinstance(target, str):
                raise ValueError(f"target must be the name of a column of the files, got {type(target).__name__}.")
            files = Files(paths, target, batch_size)
            return Batches(files.batches, files.count_rows if files.all_parquet else None)
        if len(paths) > 1:
            raise ValueError("Give one .npy file, or several Parquet or CSV files.")
        source = np.load(paths[0], mmap_mode="r")
    refuse_lazy(source)
    if not isinstance(source, np.ndarray) or source.ndim != 2:
        raise ValueError("source must be a path, a list of paths, an array (n_rows, n_columns) or a function.")
    if _is_path(target):
        target = np.load(target, mmap_mode="r")
    if target is not None and len(target) != len(source):
        raise ValueError(f"The target has {len(target)} values, but the table has {len(source)} rows.")
    return Batches(partial(_slices, source, target, batch_size), source.__len__)


def _slices(array: np.ndarray, target, batch_size: int) -> Iterator[tuple]:
    for i in range(0, len(array), batch_size):
        rows = slice(i, i + batch_size)
        yield array[rows], None if target is None else target[rows]


def _is_path(value) -> bool:
    return isinstance(value, str | Path)


def _listed(source) -> list[Path]:
    sources = [Path(source)] if _is_path(source) else [Path(path) for path in source]
    paths = [
        file
        for path in sources
        for file in (sorted(f for f in path.iterdir() if f.suffix in SUFFIXES) if path.is_dir() else [path])
    ]
    for path in paths:
        if not path.exists():
            kind = "file" if path.suffix else "file or folder"
            raise ValueError(f"There is no {kind} {path}. Paths start at the folder {Path.cwd()}.")
        if path.suffix not in (*SUFFIXES, ".npy"):
            raise ValueError(f"{path.name}: only .parquet, .csv and .npy files can be read in batches.")
    if not paths:
        raise ValueError(f"There is no .parquet or .csv file in {source}.")
    return paths


def _dtype(kinds: set[str]) -> str:
    """The type of a column from the letters that numpy has for the types of its parts, and "gap"."""
    if kinds == {"i"}:
        return "int64"
    if kinds <= {"i", "u", "f", "gap"}:
        return "float64"
    return {frozenset("b"): "bool", frozenset(("b", "gap")): "boolean"}.get(frozenset(kinds), "str")
