"""How settings are chosen, and how one task of a study is done: all is learned inside the training fold."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from time import process_time
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from gapkernel.compute.runtime.config import config_context
from gapkernel.datasets import load
from gapkernel.estimators.candidate import Candidate, Grid, Metric, has_categories
from gapkernel.estimators.search import Settings
from gapkernel.missingness import ampute
from gapkernel.studies.candidates import CANDIDATES, PAPER_GRID
from gapkernel.studies.study import Study, Task


class Choice(NamedTuple):
    """Settings, and their mean score in the cross-validation that chose them; None if there was nothing to choose."""

    settings: Settings
    score: float | None


class Tuned(NamedTuple):
    """The settings that were chosen, the estimator with them, its answers to the test rows, and processor seconds."""

    choice: Choice
    estimator: BaseEstimator
    guess: np.ndarray
    tune_seconds: float
    fit_seconds: float


def choose(
    candidate: Candidate, X, y, cv, grid: Grid, task: str = "classification", metric: Metric | None = None
) -> Choice:
    """The setting that does best by a metric in a cross-validation of the rows given, the first of equals.

    Parameters
    ----------
    candidate : Candidate
        What to tune.
    X : array-like or frame of shape (n_samples, n_features)
        The table, gaps included.
    y : array-like of shape (n_samples,)
        The classes or numbers to predict.
    cv : splitter
        The splits that all settings share.
    grid : Grid
        The settings to try.
    task : {"classification", "regression"}, default="classification"
        What ``y`` holds.
    metric : Metric, default=None
        What is best; None is the accuracy, or R squared for numbers.

    Returns
    -------
    choice : Choice
        Its ``settings``, and their mean ``score`` over the splits; None if there was nothing to choose.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from gapkernel.studies import CANDIDATES, Grid, choose
    >>> X = np.random.default_rng(0).standard_normal((40, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> X[::4, 1] = np.nan
    >>> choice = choose(CANDIDATES["genrbf"], X, y, StratifiedKFold(2), Grid(C=(0.001, 10.0), gamma=(0.1,)))
    >>> choice.settings
    {'gamma': 0.1, 'C': 10.0}
    """
    settings = candidate.settings(grid, task)
    if len(settings) == 1:
        return Choice(settings[0], None)
    means = candidate.scores(X, y, cv, settings, task, metric).mean(axis=0)
    best = int(means.round(12).argmax())  # sums of equal scores may differ by rounding
    return Choice(settings[best], float(means[best]))


def try_out(
    candidate: Candidate,
    X,
    y,
    train,
    test,
    cv,
    grid: Grid,
    task: str = "classification",
    metric: Metric | None = None,
    probabilities: bool = False,
) -> Tuned:
    """Choose by ``cv`` among the training rows, fit to all of them, and answer the test rows.

    With ``probabilities`` a classifier that has none of its own learns them by the same folds.
    """
    here, there = _safe_indexing(X, train), _safe_indexing(X, test)
    begin = process_time()
    choice = choose(candidate, here, y[train], cv, grid, task, metric)
    chosen = process_time()
    folds = cv if probabilities else None
    estimator = candidate.build(choice.settings, task, has_categories(X), folds).fit(here, y[train])
    return Tuned(choice, estimator, estimator.predict(there), chosen - begin, process_time() - chosen)


@dataclass(frozen=True, kw_only=True)
class Protocol(ABC):
    """Does one task, in one thread: tasks are what runs in parallel. Warnings of single methods are not shown.

    Attributes
    ----------
    data_dir : str or None
        Where data sets are; None as in `datasets.load`.
    """

    data_dir: str | None = None

    def __call__(self, task: Task) -> dict[str, Any]:
        begin = process_time()
        with warnings.catch_warnings(action="ignore"), config_context(n_threads=1), threadpool_limits(1):
            result = self.result(task)
        return result | {"seconds": process_time() - begin}

    @abstractmethod
    def result(self, task: Task) -> dict[str, Any]:
        """Scores and whatever else is to be kept; JSON must be able to hold it."""

    @property
    def settings(self) -> dict[str, Any]:
        """What changes the results, for the record."""
        return {name: value for name, value in asdict(self).items() if name != "data_dir"}

    def study(self, name: str, tasks) -> Study:
        """Tasks done by this protocol."""
        return Study(name, tuple(tasks), self, self.settings)


@dataclass(frozen=True, kw_only=True)
class NestedCV(Protocol):
    """Scores one task: accuracy on its outer fold, settings chosen by folds inside the training part.

    Density, scaling, imputation and choice see the training rows only. The data set is read, cells are removed by the
    task's mechanism (with a seed of their own, so every method gets the same gaps), and nothing else is done to it.

    Attributes
    ----------
    grid : Grid
        The settings to choose from.
    n_folds, n_inner_folds : int
        Folds for the scores, and for the choice within each of them.
    max_rows : int or None
        Draw this many rows of larger data sets, for quick runs.
    drop : tuple of (dataset, column)
        Columns to leave out.

    Examples
    --------
    >>> from gapkernel.studies import NestedCV, tasks_of
    >>> study = NestedCV(n_folds=3).study("small", tasks_of(dataset=["pima"], method=["genrbf"], fold=range(3)))
    >>> len(study.tasks), study.settings["n_folds"]
    (3, 3)
    """

    grid: Grid = PAPER_GRID
    n_folds: int = 5
    n_inner_folds: int = 5
    max_rows: int | None = None
    drop: tuple[tuple[str, str], ...] = ()

    candidates: ClassVar[Mapping[str, Candidate]] = CANDIDATES
    """Those that a task may name as its method."""

    def result(self, task: Task) -> dict[str, Any]:
        X, y = self.data(task)
        train, test = fold_of(task, y, self.n_folds)
        found = nested(self.candidates[task.method], X, y, train, test, self.grid, self.n_inner_folds, task.split_seed)
        return found | {"gaps": float(np.isnan(X).mean())}

    def data(self, task: Task) -> tuple[np.ndarray, np.ndarray]:
        """The table of a task as numbers with gaps, and its classes."""
        X, y = _numbers(task.dataset, self.data_dir, tuple(c for name, c in self.drop if name == task.dataset))
        if self.max_rows is not None and len(y) > self.max_rows:
            chosen = np.sort(np.random.default_rng(0).choice(len(y), self.max_rows, replace=False))
            X, y = X[chosen], y[chosen]
        if task.mechanism != "natural":
            X = ampute(X, task.fraction, task.mechanism, random_state=task.data_seed)
        return X, y


def nested(
    candidate: Candidate, X, y, train, test, grid: Grid, n_inner_folds: int = 5, random_state: int | None = None
) -> dict[str, Any]:
    """Accuracy on the test rows of the setting that does best in folds of the training rows.

    Parameters
    ----------
    candidate : Candidate
        What to tune and to score.
    X, y : table and classes
        All rows.
    train, test : ndarray of int
        Rows.
    grid : Grid
        The settings to try.
    n_inner_folds : int, default=5
        Folds of the training rows by which settings are chosen.
    random_state : int, RandomState or None, default=None
        Seed of the inner folds.

    Returns
    -------
    result : dict
        "accuracy", "inner_accuracy" (of the chosen setting in the inner folds), "settings", "fit_seconds" (of the last
        fit and prediction).

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.studies import CANDIDATES, Grid, nested
    >>> X = np.random.default_rng(0).standard_normal((40, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> X[::4, 1] = np.nan
    >>> grid = Grid(C=(1.0, 10.0), gamma=(0.1, 1.0))
    >>> train, test = np.arange(30), np.arange(30, 40)
    >>> found = nested(CANDIDATES["genrbf"], X, y, train, test, grid, n_inner_folds=2, random_state=0)
    >>> found["accuracy"] > 0.8
    True
    """
    trial = try_out(candidate, X, y, train, test, folds(n_inner_folds, random_state), grid)
    return {
        "accuracy": float(np.mean(trial.guess == y[test])),
        "inner_accuracy": trial.choice.score,
        "settings": trial.choice.settings,
        "fit_seconds": trial.fit_seconds,
    }


def folds(number: int, random_state, task: str = "classification"):
    """Random folds, with the classes in their proportions.

    Parameters
    ----------
    number : int
        How many.
    random_state : int or RandomState
        Seed of the order of the rows.
    task : {"classification", "regression"}, default="classification"
        Numbers have no proportions to keep.

    Returns
    -------
    folds : StratifiedKFold or KFold

    Examples
    --------
    >>> from gapkernel.studies import folds
    >>> folds(3, random_state=0)
    StratifiedKFold(n_splits=3, random_state=0, shuffle=True)
    """
    kind = KFold if task == "regression" else StratifiedKFold
    return kind(number, shuffle=True, random_state=random_state)


def fold_of(task: Task, y, number: int, kind: str = "classification") -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows of the fold that a task names."""
    return list(folds(number, task.split_seed, kind).split(np.zeros(len(y)), y))[task.fold]


def remove_by_row(X: np.ndarray, counts: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The table with ``counts`` cells of each row removed, drawn at random."""
    places = random.random(X.shape).argsort(axis=1).argsort(axis=1)
    return np.where(places < counts[:, None], np.nan, X)


@lru_cache(maxsize=16)
def _numbers(name: str, data_dir: str | None, drop: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """A data set with category codes taken as numbers, as the papers with numeric methods do."""
    X, y = load(name, data_dir)
    return X.drop(columns=list(drop)).astype(np.float64).to_numpy(), np.asarray(y)
