"""Trying many settings of a kernel machine on the same splits, with everything shared that they have in common.

The table is read once. A split fits its density once and turns its rows into laws once. A kernel gives one Gram matrix,
and kernels that differ by their width one pass for all of them; on each Gram matrix every penalty is solved. A search
that fits each candidate by itself repeats all of this for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from inspect import signature
from numbers import Real
from pickle import PicklingError
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn import config_context as sklearn_context
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, gen_batches, indexable

from gapkernel.compute.runtime.config import config_context, get_config, thread_count
from gapkernel.compute.runtime.threads import one_blas_thread, run_tasks
from gapkernel.density import Density, make_density
from gapkernel.estimators.base import KernelMachine, Laws, Training
from gapkernel.estimators.class_weights import part_of, splits_among
from gapkernel.kernels import Kernel
from gapkernel.rows import Rows
from gapkernel.solvers.base import Folds, Solution, Solver
from gapkernel.tables import Table, read_splits
from gapkernel.tables.takes_gaps import copy_columns

Settings = dict[str, Any]
"""Parameters of the estimator by name, nested ones as in scikit-learn (``kernel__alpha``, ``density__n_factors``)."""

Judge = Callable[[KernelMachine, Any, Any, np.ndarray | None], Any]
"""From a fitted candidate, the test rows and targets as the user gave them, and their weights, to any result."""


WIDTH = "(kernel__)*gamma"
"""What the parameter with the width is called: a multiple of a kernel, or a kernel on some columns, has it inside."""


class Shared(NamedTuple):
    """What the candidates with one density have in common on one split; without test rows no ``new_rows``."""

    density: Density
    rows: Rows
    new_rows: Rows | None


@dataclass(eq=False)
class Fold:
    """The training and test rows of a split; without a number all rows, and no test rows.

    ``shared`` is by what candidates say of the density and the kernel, ``fitted`` by the density that this means: two
    kernels may ask for the same one.
    """

    training: Training
    number: int | None = None
    new_table: Table | None = None
    X_test: Any = None
    y_test: Any = None
    weight_test: np.ndarray | None = None
    shared: dict[tuple, Shared] = field(default_factory=dict)
    fitted: dict[tuple, Shared] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Candidate:
    """An unfitted estimator with some settings, and what of them its density, its kernel and its solver depend on."""

    estimator: KernelMachine
    density: tuple
    kernel: tuple
    width: tuple
    solver: tuple

    @classmethod
    def of(cls, estimator: KernelMachine, settings: Settings) -> Candidate:
        """Sort the settings by the first step of a fit that they change."""
        steps: dict[str, list] = {"density": [], "kernel": [], "width": [], "solver": []}
        for name, value in settings.items():
            root = name.partition("__")[0]
            if root == "density" or name in ("kernel", "indicator"):  # density="auto" depends on the kernel
                step = "density"
            elif re.fullmatch(WIDTH, name):
                step = "width"
            else:
                step = "kernel" if root in ("kernel", "indicator") else "solver"
            steps[step].append((name, value if isinstance(value, Hashable) else joblib.hash(value)))
        return cls(estimator, **{step: tuple(chosen) for step, chosen in steps.items()})


class Search:
    """A kernel machine on the splits of a table, to be tried with many settings.

    Parameters
    ----------
    estimator : KernelMachine
        Unfitted; `SVC`, `SVR`, `KernelRidge` or any other whose solver takes a Gram matrix.
    X : array-like or frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
    cv : int, splitter or iterable of splits, default=None
        Number of folds, splitter of scikit-learn, or pairs of training and test rows. None is five folds, stratified
        for a classifier.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights in every fit, and in every score if the scorer takes them.
    groups : array-like of shape (n_samples,), default=None
        Groups for the splitter.
    n_jobs : int, default=None
        Threads. None is as many as the engine has (`set_config`). The number never changes a result.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import ParameterGrid
    >>> from gapkernel import SVC
    >>> from gapkernel.estimators.search import Search
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((60, 3))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> X[random.random(X.shape) < 0.2] = np.nan
    >>> search = Search(SVC(), X, y, cv=3)
    >>> first, second = search.predictions(ParameterGrid({"C": [1.0, 10.0]}))
    >>> first.shape
    (60,)
    """

    def __init__(self, estimator: KernelMachine, X, y, cv=None, *, sample_weight=None, groups=None, n_jobs=None):
        self.estimator = clone(estimator)
        self.estimator._validate_params()
        self.n_threads = thread_count() if n_jobs is None else joblib.effective_n_jobs(n_jobs)
        X, y = indexable(X, y)
        table, targets, weight = self.estimator._read(X, y, sample_weight)
        self.n_rows = len(table)
        folds = check_cv(cv, y, classifier=is_classifier(estimator))
        self.splits = read_splits(folds.split(X, y, groups), self.n_rows)
        self.all_rows = Fold(self.estimator._training(table, targets, weight))
        self.estimator._solver(self.all_rows.training)  # refuses wrong parameters
        self.folds = [self._fold(k, X, y, table, targets, weight) for k in range(len(self.splits))]

    def scores(self, candidates, scorer) -> np.ndarray:
        """The score of each candidate on each split.

        Parameters
        ----------
        candidates : iterable of dict
            Settings, for example a `sklearn.model_selection.ParameterGrid`.
        scorer : callable
            ``scorer(estimator, X, y)`` gets a fitted candidate and the test rows as they were given, and returns a
            number. If it takes ``sample_weight``, it gets the weights of the test rows too.

        Returns
        -------
        scores : ndarray of shape (n_splits, n_candidates)
        """

        def judge(model, X, y, weight):
            return float(scorer(model, X, y, **weights_for(scorer, weight)))

        return np.array(self.results(candidates, judge))

    def predictions(self, candidates, method: str = "predict") -> list[np.ndarray]:
        """For each candidate the answers of ``method`` to all rows, each by the split that tests the row."""
        return self.out_of_fold(candidates, lambda model, X, y, weight: getattr(model, method)(X))

    def out_of_fold(self, candidates, judge: Judge) -> list[np.ndarray]:
        """For each candidate what ``judge`` finds about each row, an array with a line for each, by that split."""
        check_partition(self.splits, self.n_rows, "Predictions of all rows")
        order = np.argsort(np.concatenate([test for _, test in self.splits]))
        by_split = self.results(candidates, judge)
        return [np.concatenate(pieces)[order] for pieces in zip(*by_split, strict=True)]

    def results(self, candidates, judge: Judge) -> list[list]:
        """What ``judge`` finds about each candidate, one list for each split."""
        checked: set[tuple] = set()
        chosen = [self._candidate(settings, checked) for settings in candidates]
        self._prepare(chosen, self.folds)
        with one_blas_thread(), config_context(n_threads=1):  # one split at a time, all threads inside it
            return run_tasks(lambda fold: self._judged(fold, chosen, judge), self.folds, "Choosing the settings")

    def laws(self, settings: Settings, split: int | None = None) -> Laws:
        """Density, kernel and laws of all rows, or of those that a split learns from; all densities are fitted."""
        candidate = self._candidate(settings)
        self._prepare([candidate], [self.all_rows, *self.folds])
        density, rows, _ = self._learned_from(split).shared[candidate.density]
        return Laws(density, candidate.estimator._kernel().resolve(density.moments(), rows), rows)

    def fit(self, settings: Settings, *, calibrate: bool = False, split: int | None = None) -> KernelMachine:
        """The estimator with these settings, fitted to all rows, its intervals calibrated by the splits if asked.

        With ``split`` it is fitted to the rows that the split learns from.
        """
        estimator, training = self._candidate(settings).estimator, self._learned_from(split).training
        if calibrate:
            training = replace(training, folds=splits_among(self.splits, training.kept))
        return estimator._learn(training, self.laws(settings, split), estimator._solver(training))

    def _fold(self, number: int, X, y, table: Table, targets: np.ndarray, weight: np.ndarray | None) -> Fold:
        train, test = self.splits[number]
        table = table.as_learned_from(train)  # a level that only test rows have is a gap
        with _naming_the_split(number):
            training = self.estimator._training(table[train], targets[train], part_of(weight, train))
        return Fold(
            training, number, table[test], _safe_indexing(X, test), _safe_indexing(y, test), part_of(weight, test)
        )

    def _candidate(self, settings: Settings, checked: set[tuple] | None = None) -> Candidate:
        """The estimator with these settings, checked; steps of a fit whose settings are in ``checked`` are right."""
        if "categorical_features" in settings:
            raise ValueError("categorical_features cannot be searched: the table is read once, for all settings.")
        inside = any("__" in name for name in settings)  # of the kernel or the density, which candidates must not share
        estimator = clone(self.estimator) if inside else copy(self.estimator)
        estimator.set_params(**settings)
        copy_columns(self.estimator, estimator)
        candidate = Candidate.of(estimator, settings)
        steps = {candidate.density, candidate.kernel, candidate.width, candidate.solver}
        if checked is None or not steps <= checked:  # a grid repeats them
            estimator._validate_params()
            estimator._solver(self.all_rows.training)
        if checked is not None:
            checked |= steps
        return candidate

    def _prepare(self, candidates: list[Candidate], folds: list[Fold]) -> None:
        """Fit the densities of the candidates that are not there yet, side by side."""
        estimators = {candidate.density: candidate.estimator for candidate in candidates}
        places: dict[tuple[int, tuple], list[tuple]] = {}  # of what is to be fitted, and the keys that it serves
        for key, estimator in estimators.items():
            for k, fold in enumerate(folds):
                if key not in fold.shared:
                    places.setdefault((k, _meant(estimator, fold.training) or key), []).append(key)
        tasks = [(folds[k], meant, estimators[keys[0]]) for (k, meant), keys in places.items()]

        def fitted(task) -> Shared:
            fold, meant, estimator = task
            if meant in fold.fitted:
                return fold.fitted[meant]
            with config_context(n_threads=1), _naming_the_split(fold.number):
                training = fold.training
                density, rows = estimator._fit_density(training.table, training.weight, estimator._kernel())
                new_rows = None if fold.new_table is None else estimator._condition(density, fold.new_table)
                return Shared(density, rows, new_rows)

        # many small problems side by side: threads inside each would only wait
        with one_blas_thread(), config_context(n_threads=self.n_threads):
            found = run_tasks(fitted, tasks, "Fitting the densities")
        for (fold, meant, _), keys, shared in zip(tasks, places.values(), found, strict=True):
            fold.fitted[meant] = shared
            fold.shared |= dict.fromkeys(keys, shared)

    def _learned_from(self, split: int | None) -> Fold:
        return self.all_rows if split is None else self.folds[split]

    def _judged(self, fold: Fold, candidates: list[Candidate], judge: Judge) -> list:
        """The results of all candidates on one split."""
        results: list = [None] * len(candidates)
        solvers: dict[tuple, Solver] = {}
        by_kernel: dict[tuple, dict[tuple, list[int]]] = {}
        for place, candidate in enumerate(candidates):
            if candidate.solver not in solvers:
                with _naming_the_split(fold.number):
                    solvers[candidate.solver] = candidate.estimator._solver(fold.training)
            by_width = by_kernel.setdefault((candidate.density, candidate.kernel), {})
            by_width.setdefault(candidate.width, []).append(place)

        def solve(task) -> None:
            gram, parts = task
            keys = list(dict.fromkeys(candidates[place].solver for places, *_ in parts for place in places))
            own = [solvers[key] for key in keys]
            with sklearn_context(assume_finite=True):
                solutions = type(own[0]).solve_all(own, gram, fold.training.y, fold.training.weight)
            found = dict(zip(keys, solutions, strict=True))
            for places, kernel, cross in parts:
                for place in places:
                    candidate = candidates[place]
                    results[place] = _judge(candidate, found[candidate.solver], fold, kernel, cross, judge)

        with config_context(n_threads=self.n_threads):
            for by_width in by_kernel.values():
                groups = list(by_width.values())
                shared = fold.shared[candidates[groups[0][0]].density]
                n_cells = len(shared.rows) * (len(shared.rows) + len(fold.y_test))
                at_once = max(1, get_config().memory_budget // (8 * n_cells))
                for places in (groups[some] for some in gen_batches(len(groups), at_once)):
                    kernels, grams, crosses = _matrices([candidates[group[0]].estimator for group in places], shared)
                    parts = list(zip(places, kernels, crosses, strict=True))
                    run_tasks(solve, [(grams[same[0]], [parts[k] for k in same]) for same in _equal(grams)])
        return results


def _meant(estimator: KernelMachine, training: Training) -> tuple | None:
    """What decides the density that an estimator fits to a table, and the laws of its rows; None if nobody can say."""
    table = training.table
    density = make_density(estimator.density, estimator._kernel(), table.schema, len(table))
    try:
        return joblib.hash(density), bool(estimator.indicator)
    except (PicklingError, AttributeError, TypeError):  # of a class that was made inside a function
        return None


def check_partition(splits: Folds, n_rows: int, purpose: str) -> None:
    """Refuse splits that do not test every row once."""
    tested = np.sort(np.concatenate([test for _, test in splits]))
    if not np.array_equal(tested, np.arange(n_rows)):
        raise ValueError(f"{purpose}: this needs a cv that tests every row once, such as KFold. Change cv.")


def _matrices(estimators: list[KernelMachine], shared: Shared) -> tuple[list[Kernel], Any, Any]:
    """Kernels that differ by their width only, their Gram matrices, and their matrices from test to training rows."""
    density, rows, new_rows = shared
    assert new_rows is not None, "only splits are judged, and they have test rows"
    kernels = [estimator._kernel().resolve(density.moments(), rows) for estimator in estimators]
    widths = [width_of(kernel) for kernel in kernels]
    if len(kernels) > 1 and None not in widths:
        return kernels, kernels[0].over_widths(widths, rows), kernels[0].over_widths(widths, new_rows, rows)
    return kernels, [kernel.gram(rows) for kernel in kernels], [kernel.cross(new_rows, rows) for kernel in kernels]


def _equal(grams) -> list[list[int]]:
    """Places of matrices that follow each other and agree to the last digit.

    Beyond some width no row is near another, and every larger gamma gives the same matrix, which one solution serves.
    """
    runs = [[0]]
    for k in range(1, len(grams)):
        first, rounding = grams[runs[-1][0]], np.finfo(np.float64).eps
        if all(
            np.abs(row - other).max() <= rounding * np.abs(row).max()
            for row, other in zip(first, grams[k], strict=True)
        ):
            runs[-1].append(k)
        else:
            runs.append([k])
    return runs


def _judge(candidate: Candidate, solution: Solution, fold: Fold, kernel: Kernel, cross, judge: Judge):
    """Judge a candidate that was solved; the kernel values of the test rows are known already."""
    training, shared = fold.training, fold.shared[candidate.density]
    model = copy(candidate.estimator)._keep(training, Laws(shared.density, kernel, shared.rows), solution)
    model._remembered = fold.X_test, solution.values(cross)
    result = judge(model, fold.X_test, fold.y_test, fold.weight_test)
    del model._remembered
    return result


def width_name(kernel: Kernel) -> str | None:
    """The parameter of a kernel that holds its width, None if it has none."""
    return next((name for name in kernel.get_params() if re.fullmatch(WIDTH, name)), None)


def width_of(kernel: Kernel) -> float | None:
    """The width of a resolved kernel, None if it has none."""
    gamma = kernel.get_params().get(width_name(kernel))
    return float(gamma) if isinstance(gamma, Real) else None


@contextmanager
def _naming_the_split(number: int | None) -> Iterator[None]:
    """Let an error say on which split it happened; None stands for all rows."""
    try:
        yield
    except ValueError as error:
        if number is None:
            raise
        raise ValueError(f"Split {number} of cv cannot be trained on: {error}") from error


def weights_for(scorer, weight: np.ndarray | None) -> dict[str, np.ndarray]:
    """Weights for a scorer that takes them, by the rule of `GridSearchCV`."""
    if hasattr(scorer, "_accept_sample_weight"):
        takes = scorer._accept_sample_weight()
    else:
        takes = "sample_weight" in signature(scorer).parameters
    return {"sample_weight": weight} if takes and weight is not None else {}
