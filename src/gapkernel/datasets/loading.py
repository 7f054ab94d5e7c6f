"""Data sets of the papers, from a local folder, from OpenML or from the archives that have them; and your own files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gapkernel.datasets.download import DOWNLOADS, fetch
from gapkernel.tables import schema_of
from gapkernel.tables.user_tables import pandas_files

ENVIRONMENT = "GAPKERNEL_DATA"


class Dataset(NamedTuple):
    """Columns and target; unpacks as ``X, y``.

    Attributes
    ----------
    X : DataFrame or ndarray
        Numbers as float64, categories as pandas categories of text; gaps as NaN. USPS is an array.
    y : ndarray
        Classes as the file has them, or numbers.

    Examples
    --------
    >>> from gapkernel.datasets import Dataset
    >>> X, y = Dataset([[1.0, 2.0]], [0])
    >>> X, y
    ([[1.0, 2.0]], [0])
    """

    X: Any
    y: np.ndarray


class OnOpenML(NamedTuple):
    """Where OpenML has a data set, and what it must look like."""

    id: int
    shape: tuple[int, int]
    class_counts: tuple[int, ...]
    drop: tuple[str, ...] = ()


OPENML = {
    "australian": OnOpenML(40981, (690, 14), (307, 383)),
    "banknote": OnOpenML(1462, (1372, 4), (610, 762)),
    "breast_wisconsin": OnOpenML(15, (699, 9), (241, 458)),
    "climate_crashes": OnOpenML(40994, (540, 18), (46, 494), ("V1", "V2", "Study", "Run")),
    "heart_statlog": OnOpenML(53, (270, 13), (120, 150)),
    "ionosphere": OnOpenML(59, (351, 34), (126, 225)),
    "pima": OnOpenML(37, (768, 8), (268, 500)),
    "credit_crx": OnOpenML(29, (690, 15), (307, 383)),
    "house_votes": OnOpenML(56, (435, 16), (168, 267)),
    "primary_tumor": OnOpenML(
        171, (339, 17), (1, 1, 1, 2, 2, 2, 6, 6, 7, 9, 10, 14, 14, 16, 20, 24, 24, 28, 29, 39, 84)
    ),
}
PUBLIC = (*OPENML, *DOWNLOADS)
"""The data sets that need no local folder. Those of `DOWNLOADS` OpenML has with other columns, targets or splits."""


def available(data_dir=None) -> tuple[str, ...]:
    """The names that `load` takes: those of the local folder, if there is one, and the public ones.

    Parameters
    ----------
    data_dir : path, default=None
        As in `load`.

    Returns
    -------
    names : tuple of str

    Examples
    --------
    >>> from gapkernel.datasets import available
    >>> "horse_colic_24" in available()
    True
    """
    folder = _local_folder(data_dir)
    return tuple(sorted({*PUBLIC, *(_index(folder) if folder else ())}))


def load(name, data_dir=None) -> Dataset:
    """A data set of the papers.

    Parameters
    ----------
    name : str
        One of `available`; for example "heart_statlog", "horse_colic_24", "servo", "usps".
    data_dir : path, default=None
        A folder with an ``index.json`` that lists its files, their columns and their checksums. None is the folder that
        the environment variable GAPKERNEL_DATA names. Without a folder the data come from OpenML, or from the archives
        that `gapkernel.datasets.download` names, into scikit-learn's data folder; that they are the papers' is checked.

    Returns
    -------
    dataset : Dataset
        ``X, y = load(name)``. Rows without a target are left out. The first 7291 rows of "usps" are its training
        part; its grey levels go from -1 to 1.

    Examples
    --------
    >>> from gapkernel.datasets import load
    >>> X, y = load("heart_statlog")  # doctest: +SKIP
    """
    folder = _local_folder(data_dir)
    if folder is not None:
        index = _index(folder)
        if name in index:
            return _from_folder(folder, name, index[name])
    known = available(data_dir)
    if name not in known:
        raise ValueError(f"There is no data set {name!r}. Known are {', '.join(known)}.")
    on_openml = OPENML.get(name)
    where = f"OpenML (id {on_openml.id})" if on_openml else " and ".join(DOWNLOADS[name].addresses)
    try:
        return Dataset(*(_from_openml(name, on_openml) if on_openml else fetch(name, DOWNLOADS[name])))
    except OSError as error:
        raise ConnectionError(
            f"The data set {name!r} could not be fetched from {where}: {error}. Without a connection, put it into a "
            f"folder and name that in {ENVIRONMENT} or data_dir."
        ) from error


def read_xy(
    path,
    target: str,
    *,
    task: str = "auto",
    rows: int | None = None,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    gap_marks: Sequence[str] = (),
    decimal: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    """Read a table to learn from, and its target, as the command line reads them.

    An empty cell is a gap, and so are "?", "NA", "null" and the like. A column whose values are all numbers holds
    numbers; any other holds categories. Columns of dates, free text or numbers mixed with text are refused, all of them
    in one error.

    Parameters
    ----------
    path : str or Path
        A CSV, Parquet or Excel file.
    target : str
        The column to predict.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes text, and at most ten different whole numbers, for classes.
    rows : int, default=None
        Draw this many rows of a larger table, always the same; None takes all.
    drop : sequence of str, default=()
        Columns to leave out.
    categories : sequence of str, default=()
        Columns of numbers that are codes of categories.
    gap_marks : sequence of str, default=()
        Further text or numbers that mean a gap, in every column.
    decimal : {".", ","} or None, default=None
        The decimal sign of numbers in text; None finds it from each column.
    encoding : str, default=None
        Of a CSV file; None is UTF-8, or what the first bytes say.

    Returns
    -------
    dataset : Dataset
        Unpacks as ``X, y``: a frame of numbers and categories without rows that have no target and columns that have
        no value, and the classes as text, or numbers.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gapkernel.datasets import read_xy
    >>> lines = ["size,kind,class", *["1.5,a,yes", "?,b,no", "-9,a,yes", "2.5,,no", "3,b,yes"] * 4]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "table.csv"
    ...     _ = path.write_text("\\n".join(lines))
    ...     X, y = read_xy(path, "class", gap_marks=["-9"])
    >>> X.isna().sum().to_dict()
    {'size': 8, 'kind': 4}
    >>> y[:3].tolist()
    ['yes', 'no', 'yes']
    """
    files = pandas_files()
    reading = files.Reading(drop, categories, gap_marks, decimal, encoding)
    found = files.read_labelled_file(path, target, reading, task=task, rows=rows)
    return Dataset(found.X, found.y)


def _local_folder(data_dir) -> Path | None:
    """The folder of data sets: the argument, or GAPKERNEL_DATA; None if neither is given."""
    origin, named = ("data_dir", data_dir) if data_dir is not None else (ENVIRONMENT, os.environ.get(ENVIRONMENT))
    if not named:
        return None
    if not Path(named).is_dir():
        raise FileNotFoundError(f"{origin} names the folder {str(named)!r}, which does not exist.")
    return Path(named)


def _index(folder: Path) -> dict:
    path = folder / "index.json"
    if not path.is_file():
        raise FileNotFoundError(f"The data folder {str(folder)!r} has no index.json that lists its data sets.")
    return json.loads(path.read_text(encoding="utf-8"))


def _from_folder(folder: Path, name: str, entry: dict) -> Dataset:
    path = folder / entry["file"]
    if not path.is_file():
        raise FileNotFoundError(f"The data set {name!r} should be {entry['file']!r} in {str(folder)!r}; it is missing.")
    if hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
        raise ValueError(f"{path.name} is not the file that index.json describes: its SHA-256 differs. Fetch it again.")
    if path.suffix == ".npz":
        with np.load(path) as parts:
            X, y = (np.concatenate([parts[f"{name}_train"], parts[f"{name}_test"]]) for name in "Xy")
        return Dataset(X / 1000.0, y.astype(np.int64))
    return Dataset(*pandas_files().read_known(path, entry["target"], entry["categorical"]))


def _from_openml(name: str, source: OnOpenML) -> tuple[Any, np.ndarray]:
    files = pandas_files()
    from sklearn.datasets import fetch_openml

    try:
        found = fetch_openml(data_id=source.id, as_frame=True, parser="auto")
    except ValueError as error:  # an answer that is not a data set
        raise OSError(str(error)) from error
    X = found.data.drop(columns=list(source.drop), errors="ignore")
    counts = tuple(sorted(count for count in found.target.value_counts() if count))
    if X.shape != source.shape or counts != source.class_counts:
        raise ValueError(
            f"OpenML's data set {source.id} is not the {name!r} of the papers: expected {source.shape} with classes of "
            f"{source.class_counts} rows, got {X.shape} and {counts}. Use a local folder ({ENVIRONMENT} or data_dir)."
        )
    return files.known_types(X, found.target, X.columns[schema_of(X).categorical])
