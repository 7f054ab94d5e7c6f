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
from scipy.stats import rankdata
from sklearn import config_context as sklearn_context
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, gen_batches, indexable

from gapkernel.compute.runtime.config import config_context, get_config, thread_count
from gapkernel.compute.runtime.progress import tracked
from gapkernel.compute.runtime.threads import one_blas_thread, run_tasks
from gapkernel.density import Density, make_density
from gapkernel.estimators.base import DecisionValues, KernelMachine, Laws, OnTestRows, Training, part_of, splits_among
from gapkernel.kernels import Kernel
from gapkernel.rows import Rows
from gapkernel.solvers.base import Folds, Solver
from gapkernel.tables import Table, read_splits
from gapkernel.tables.takes_gaps import copy_columns

Settings = dict[str, Any]
"""Parameters of the estimator by name, nested ones as in scikit-learn (``kernel__alpha``, ``density__n_factors``)."""

Judge = Callable[["OnTestRows", Any, Any, np.ndarray | None], Any]
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
    """The rows of a split, and the densities fitted to it; without a number all rows, and no test rows."""

    training: Training
    number: int | None = None
    new_table: Table | None = None
    X_test: Any = None
    y_test: Any = None
    weight_test: np.ndarray | None = None
    shared: dict[tuple, Shared] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Trial:
    """An unfitted estimator with some settings, and what of them its density, its kernel and its solver depend on."""

    estimator: KernelMachine
    density: tuple
    kernel: tuple
    width: tuple
    solver: tuple

    @classmethod
    def of(cls, estimator: KernelMachine, settings: Settings) -> Trial:
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
        Tasks at the same time, in threads. None is 1 unless in a `joblib.parallel_config`, -1 is all processors. The
        number never changes a result.

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
    >>> candidates = ParameterGrid({"C": [1.0, 10.0]})
    >>> search.scores(candidates, lambda model, X, y: model.score(X, y)).shape
    (3, 2)
    """

    def __init__(self, estimator: KernelMachine, X, y, cv=None, *, sample_weight=None, groups=None, n_jobs=None):
        self.estimator = clone(estimator)
        self.estimator._validate_params()
        self.n_jobs = joblib.effective_n_jobs(n_jobs)
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

    def results(self, candidates, judge: Judge) -> list[list]:
        """What ``judge`` finds about each candidate, one list for each split."""
        checked: set[tuple] = set()
        chosen = [self._candidate(settings, checked) for settings in candidates]
        self._prepare(chosen, self.folds)
        with one_blas_thread():
            folds = tracked(self.folds, len(self.folds), "Choosing the settings")
            return [self._judged(fold, chosen, judge) for fold in folds]

    def laws(self, settings: Settings, split: int | None = None) -> Laws:
        """Density, kernel and laws of all rows, or of those that a split learns from; all densities are fitted."""
        candidate = self._candidate(settings)
        self._prepare([candidate], [self.all_rows, *self.folds])
        fold = self.all_rows if split is None else self.folds[split]
        density, rows, _ = fold.shared[_density_key(candidate, fold)]
        return Laws(density, candidate.estimator._kernel().resolve(density.moments(), rows), rows)

    def fit(self, settings: Settings, *, calibrate: bool = False, split: int | None = None) -> KernelMachine:
        """The estimator with these settings, fitted to all rows, its intervals calibrated by the splits if asked.

        With ``split`` it is fitted to the rows that the split learns from.
        """
        training = (self.all_rows if split is None else self.folds[split]).training
        estimator = self._candidate(settings).estimator
        if calibrate:
            training = replace(training, folds=splits_among(self.splits, training.kept))
        return estimator._learn(training, self.laws(settings, split), estimator._solver(training))

    def _fold(self, number: int, X, y, table: Table, targets: np.ndarray, weight: np.ndarray | None) -> Fold:
        train, test = self.splits[number]
        table = table.as_learned_from(train)  # a level that only test rows have is a gap
        with _naming_the_split(number):
            training = self.estimator._training(table[train], targets[train], part_of(weight, train))
        here = _safe_indexing(X, test), _safe_indexing(y, test), part_of(weight, test)
        return Fold(training, number, table[test], *here)

    def _candidate(self, settings: Settings, checked: set[tuple] | None = None) -> Trial:
        """The estimator with these settings, checked; steps of a fit whose settings are in ``checked`` are right."""
        if "categorical_features" in settings:
            raise ValueError("categorical_features cannot be searched: the table is read once, for all settings.")
        inside = any("__" in name for name in settings)  # of the kernel or the density, which candidates must not share
        estimator = clone(self.estimator) if inside else copy(self.estimator)
        estimator.set_params(**settings)
        copy_columns(self.estimator, estimator)
        candidate = Trial.of(estimator, settings)
        steps = {candidate.density, candidate.kernel, candidate.width, candidate.solver}
        if checked is None or not steps <= checked:  # a grid repeats them
            estimator._validate_params()
            estimator._solver(self.all_rows.training)
        if checked is not None:
            checked |= steps
        return candidate

    def _prepare(self, candidates: list[Trial], folds: list[Fold]) -> None:
        """Fit the densities of the candidates that are not there yet, side by side."""
        tasks: dict[tuple, tuple[Fold, KernelMachine]] = {}
        for candidate in {candidate.density: candidate for candidate in candidates}.values():
            for k, fold in enumerate(folds):
                key = _density_key(candidate, fold)
                if key not in fold.shared:
                    tasks[k, key] = fold, candidate.estimator
        n_threads = 1 if self.n_jobs > 1 else thread_count()  # of tasks side by side more would wait for each other

        def fitted(task: tuple[Fold, KernelMachine]) -> Shared:
            fold, estimator = task
            with config_context(n_threads=n_threads), _naming_the_split(fold.number):
                density, rows = estimator._fit_density(fold.training.table, fold.training.weight, estimator._kernel())
                new_rows = None if fold.new_table is None else estimator._condition(density, fold.new_table)
                return Shared(density, rows, new_rows)

        with one_blas_thread(), config_context(n_threads=self.n_jobs):
            fits = run_tasks(fitted, list(tasks.values()), "Fitting the densities")
        for (k, key), shared in zip(tasks, fits, strict=True):
            folds[k].shared[key] = shared

    def _judged(self, fold: Fold, candidates: list[Trial], judge: Judge) -> list:
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
            solved = dict(zip(keys, solutions, strict=True))
            for places, laws, cross in parts:
                for place in places:
                    candidate = candidates[place]
                    solution = solved[candidate.solver]
                    machine = copy(candidate.estimator)._keep(fold.training, laws, solution)
                    model = OnTestRows(machine, fold.X_test, DecisionValues(solution.values(cross)))
                    results[place] = judge(model, fold.X_test, fold.y_test, fold.weight_test)

        for by_width in by_kernel.values():
            groups = list(by_width.values())
            shared = fold.shared[_density_key(candidates[groups[0][0]], fold)]
            n_bytes = 8 * len(shared.rows) * (len(shared.rows) + len(fold.y_test))
            at_once = max(1, get_config().memory_budget // n_bytes)
            for places in (groups[some] for some in gen_batches(len(groups), at_once)):
                with config_context(progress=False):  # one bar is enough
                    kernels, grams, crosses = _matrices([candidates[group[0]].estimator for group in places], shared)
                laws = [Laws(shared.density, kernel, shared.rows) for kernel in kernels]
                parts = list(zip(places, laws, crosses, strict=True))
                with config_context(n_threads=self.n_jobs):
                    run_tasks(solve, [(grams[same[0]], [parts[k] for k in same]) for same in _equal(grams)])
        return results


def _density_key(candidate: Trial, fold: Fold) -> tuple:
    """A key of the density of a candidate on a split, and of the laws of its rows: two kernels may ask for the same."""
    estimator, table = candidate.estimator, fold.training.table
    density = make_density(estimator.density, estimator._kernel(), table.schema, len(table))
    try:
        return joblib.hash(density), bool(estimator.indicator)
    except (PicklingError, AttributeError, TypeError):  # a class that was made inside a function: go by the settings
        return candidate.density


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
        pairs = zip(first, grams[k], strict=True)  # row by row: a copy of both would take as much memory as they do
        if all(np.abs(row - other).max() <= rounding * np.abs(row).max() for row, other in pairs):
            runs[-1].append(k)
        else:
            runs.append([k])
    return runs


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


def cv_results(candidates: list[dict], scores: np.ndarray) -> dict[str, Any]:
    """`cv_results_` in the form of `GridSearchCV`, from scores of shape (n_splits, n_candidates)."""
    results: dict[str, Any] = {}
    for name in candidates[0]:
        values = [candidate[name] for candidate in candidates]
        words = any(isinstance(value, str) for value in values)
        results[f"param_{name}"] = np.ma.masked_array(np.array(values, dtype=object if words else None), mask=False)
    results["params"] = candidates
    results |= {f"split{k}_test_score": split for k, split in enumerate(scores)}
    by_candidate = np.ascontiguousarray(scores.T)  # summed in scikit-learn's order, so that ties are ties there too
    mean = by_candidate.mean(axis=1)
    results |= {"mean_test_score": mean, "std_test_score": by_candidate.std(axis=1)}
    worst = np.nanmin(mean) if not np.isnan(mean).all() else 0.0
    ranks = rankdata(-np.where(np.isnan(mean), worst - 1.0, mean), method="min")  # a score of NaN ranks last
    results["rank_test_score"] = ranks.astype(np.int32)
    return results
