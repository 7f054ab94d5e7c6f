"""Nested cross-validation of one task: everything is learned inside the training fold."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from functools import lru_cache
from time import process_time
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from gapkernel.compute.runtime.config import config_context
from gapkernel.datasets import load
from gapkernel.experiments.methods import METHODS, PAPER_GRID, Grid, Method
from gapkernel.experiments.tasks import Task
from gapkernel.missingness import ampute


@dataclass(frozen=True)
class NestedCV:
    """Scores one task: accuracy on its outer fold, settings chosen by folds inside the training part.

    Density, scaling, imputation and choice see the training rows only. The data set is read, cells are removed by the
    task's mechanism (with a seed of their own, so every method gets the same gaps), and nothing else is done to it.

    Attributes
    ----------
    grid : Grid
    n_folds, n_inner_folds : int
    data_dir : str or None
        Where data sets are; None as in `datasets.load`.
    max_rows : int or None
        Draw this many rows of larger data sets, for quick runs.
    drop : tuple of (dataset, column)
        Columns to leave out.
    """

    grid: Grid = PAPER_GRID
    n_folds: int = 5
    n_inner_folds: int = 5
    data_dir: str | None = None
    max_rows: int | None = None
    drop: tuple[tuple[str, str], ...] = ()

    def __call__(self, task: Task) -> dict[str, Any]:
        begin = process_time()
        X, y = self.data(task)
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=task.split_seed)
        train, test = list(folds.split(np.zeros(len(y)), y))[task.fold]
        with warnings.catch_warnings(), config_context(n_threads=1):  # tasks are what runs in parallel
            warnings.simplefilter("ignore")  # of single methods, such as an RBF repaired by geom
            result = nested(METHODS[task.method], X, y, train, test, self.grid, self.n_inner_folds, task.split_seed)
        return result | {"gaps": float(np.isnan(X).mean()), "seconds": process_time() - begin}

    def data(self, task: Task) -> tuple[np.ndarray, np.ndarray]:
        """The table of a task as numbers with gaps, and its classes."""
        X, y = _numbers(task.dataset, self.data_dir, tuple(c for name, c in self.drop if name == task.dataset))
        if self.max_rows is not None and len(y) > self.max_rows:
            chosen = np.sort(np.random.default_rng(0).choice(len(y), self.max_rows, replace=False))
            X, y = X[chosen], y[chosen]
        if task.mechanism != "natural":
            X = ampute(X, task.fraction, task.mechanism, random_state=task.data_seed)
        return X, y

    @property
    def settings(self) -> dict[str, Any]:
        """What changes the results, for the record."""
        return {name: value for name, value in asdict(self).items() if name != "data_dir"}


def nested(method: Method, X, y, train, test, grid: Grid, n_inner_folds: int = 5, seed: int = 0) -> dict[str, Any]:
    """Accuracy on the test rows of the setting that does best in folds of the training rows.

    Parameters
    ----------
    method : Method
    X, y : table and classes
    train, test : ndarray of int
        Rows.
    grid : Grid
    n_inner_folds : int, default=5
    seed : int, default=0
        Of the inner folds.

    Returns
    -------
    result : dict
        "accuracy", "inner_accuracy" (of the chosen setting in the inner folds), "settings", "fit_seconds" (of the last
        fit and prediction).
    """
    settings = method.settings(grid)
    inside, y_inside = _safe_indexing(X, train), y[train]
    right = np.zeros(len(settings))
    inner = StratifiedKFold(n_inner_folds, shuffle=True, random_state=seed)
    for a, b in inner.split(np.zeros(len(train)), y_inside):
        guesses = method.predictions(_safe_indexing(inside, a), y_inside[a], _safe_indexing(inside, b), settings)
        right += [np.sum(guess == y_inside[b]) for guess in guesses]
    best = int(right.argmax())  # the first of equals
    begin = process_time()
    guess = method.predictions(inside, y_inside, _safe_indexing(X, test), [settings[best]])[0]
    return {
        "accuracy": float(np.mean(guess == y[test])),
        "inner_accuracy": float(right[best] / len(train)),
        "settings": settings[best],
        "fit_seconds": process_time() - begin,
    }


@lru_cache(maxsize=16)
def _numbers(name: str, data_dir: str | None, drop: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """A data set with category codes taken as numbers, as the papers with numeric methods do."""
    X, y = load(name, data_dir)
    return X.drop(columns=list(drop)).astype(np.float64).to_numpy(), np.asarray(y)
