"""The members with grids of settings on kernels, on random features, and any other estimator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid

from gapkernel.compute.runtime.config import thread_count
from gapkernel.estimators.fourier import FourierClassifier, FourierRegressor
from gapkernel.estimators.gap.problem import Member, Problem, Score, Tried, fitted, raw_answers
from gapkernel.estimators.kernel_ridge import KernelRidge
from gapkernel.estimators.search import Search
from gapkernel.estimators.svm import SVC
from gapkernel.kernels import HeterogeneousKernel, Missingness
from gapkernel.tables import Table

PENALTIES, RIDGES = (0.1, 1.0, 10.0, 100.0), (0.001, 0.01, 0.1, 1.0, 10.0)
LINEAR_PENALTIES, LINEAR_RIDGES = (0.001, 0.01, 0.1, 1.0), (1.0, 10.0, 100.0, 1000.0)
"""Cs of support vector machines and alphas of ridge regression; the linear kernel of d standardised columns is d large.
"""

WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0)
"""gamma as a multiple of one over the number of columns, which are standardised."""

ALPHAS = (None, 0.5, 0.9)
GAP_WIDTHS = (0.05, 0.2, 1.0)
"""gamma of the kernel on the gaps: two rows with k gaps in one of them only are alike by exp(-k gamma)."""

N_FEATURES = 1024
"""Random features for tables with many rows."""

SEARCH_ROWS = 1000
"""Rows from which the width of random features is found; more change it little and cost much."""


@dataclass(frozen=True)
class KernelMember(Member):
    """A kernel machine on one kind of kernel: a support vector machine for classes, ridge regression for numbers.

    Attributes
    ----------
    name : str
    kernel : str
        "genrbf", "rbf", "ehk" or "linear".
    view : str
    indicator : bool
        Whether a kernel on the gaps is tried, in several widths, as a factor and as a summand.
    """

    name: str
    kernel: str
    view: str = "plain"
    indicator: bool = False

    @property
    def family(self) -> str:
        return "linear" if self.kernel == "linear" else "kernel"

    def suits(self, problem: Problem) -> bool:
        needs_gaps = self.indicator or self.kernel == "rbf"  # without gaps "rbf" is "genrbf"
        return self.view in problem.views and (not needs_gaps or bool(problem.table.missing.any()))

    def tried(self, problem: Problem, score: Score) -> Tried:
        search = _search(problem, self.view)
        penalty, method = ("C", "decision_function") if problem.n_classes else ("alpha", "predict")
        values: tuple[float, ...]
        if self.kernel == "linear":
            values = LINEAR_PENALTIES if problem.n_classes else LINEAR_RIDGES
        else:
            values = PENALTIES if problem.n_classes else RIDGES
        grid: dict[str, list] = {penalty: list(values), "kernel": [self.kernel]}
        if self.kernel == "ehk":
            grid["kernel"] = [HeterogeneousKernel(alpha) for alpha in ALPHAS]
        elif self.kernel != "linear":
            grid["gamma"] = [width / problem.table.shape[1] for width in WIDTHS]
        candidates = [{**one, "indicator": False} for one in ParameterGrid(grid)]
        best, raw = _best(search, candidates, method, score, problem)
        if self.indicator:  # the widths of the gaps' kernel at the best width of the other one
            gaps = [Missingness(gamma, rule) for gamma in GAP_WIDTHS for rule in ("product", "sum")]
            around = [value for value in values if 0.05 < value / best[penalty] < 20.0]
            candidates = [{**best, penalty: value, "indicator": gap} for gap in gaps for value in around]
            best, raw = _best(search, candidates, method, score, problem)
        return Tried(self.name, best, raw, self.view, method, partial(search.fit, best))


def _search(problem: Problem, view: str) -> Search:
    """The search on a view, which all kernels share, and with it the densities of the folds."""
    if ("search", view) not in problem.found:
        estimator = SVC(tol=1e-3) if problem.n_classes else KernelRidge()
        options = {"sample_weight": problem.weight, "n_jobs": thread_count()}
        search = Search(estimator, problem.seen(view), problem.y, problem.splits, **options)
        problem.found["search", view] = search
    return problem.found["search", view]


def _best(
    search: Search, candidates: list[dict], method: str, score: Score, problem: Problem
) -> tuple[dict[str, Any], np.ndarray]:
    """The candidate with the highest score, and its out-of-fold answers."""

    def judge(model, X, y, weight):
        return raw_answers(model, method, X, problem.n_classes)

    answers = search.out_of_fold(candidates, judge)
    place = int(np.argmax([score(raw, method, problem) for raw in answers]))
    return candidates[place], answers[place]


@dataclass(frozen=True)
class FourierMember(Member):
    """Logistic or ridge regression on random Fourier features: for any number of rows.

    Attributes
    ----------
    name : str
    kernel : str
        "genrbf" or "rbf".
    """

    name: str
    kernel: str = "genrbf"
    takes_many_rows: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True

    @property
    def family(self) -> str:
        return "kernel"

    def suits(self, problem: Problem) -> bool:
        return self.kernel == "genrbf" or bool(problem.table.missing.any())

    def tried(self, problem: Problem, score: Score) -> Tried:
        kind = FourierClassifier(loss="log_loss") if problem.n_classes else FourierRegressor()
        method = "predict_proba" if problem.n_classes else "predict"
        kind.set_params(kernel=self.kernel, n_components=N_FEATURES, random_state=problem.seed)
        sample = problem.sample(SEARCH_ROWS)
        widths = [{"gamma": width / problem.table.shape[1]} for width in WIDTHS[1:]]
        tried = [clone(kind).set_params(**one, n_components=N_FEATURES // 4) for one in widths]
        scores = [score(sample.out_of_fold(one, method), method, sample) for one in tried]
        best = widths[int(np.argmax(scores))]
        estimator = clone(kind).set_params(**best)
        raw, fit = problem.out_of_fold(estimator, method), partial(problem.fitted, estimator)
        return Tried(self.name, {**best, "kernel": self.kernel}, raw, "plain", method, fit)


@dataclass(frozen=True)
class EstimatorMember(Member):
    """An estimator that takes NaN, on the numbers and the one-hot codes of the categories.

    Attributes
    ----------
    name : str
    estimator : estimator
    kind : str
        Its family; by default it is one of its own.
    """

    name: str
    estimator: Any
    kind: str = ""
    takes_many_rows: ClassVar[bool] = True

    @property
    def family(self) -> str:
        return self.kind or repr(self.estimator)

    def tried(self, problem: Problem, score: Score) -> Tried:
        seeded = clone(self.estimator)
        unset = {name: problem.seed for name, value in seeded.get_params().items() if _is_seed(name) and value is None}
        estimator = OnCodes(seeded.set_params(**unset), problem.labels)
        method = "predict" if not problem.n_classes else "predict_proba"
        if problem.n_classes and not hasattr(self.estimator, "predict_proba"):
            method = "decision_function"
        raw = problem.out_of_fold(estimator, method)
        return Tried(self.name, {}, raw, "plain", method, partial(problem.fitted, estimator))


class OnCodes(BaseEstimator):
    """An estimator on standardised numbers and one-hot codes; a column without a value at fit is a column of zeros.

    Parameters
    ----------
    estimator : estimator
    labels : ndarray, default=None
        The classes, which the estimator is given in place of their places; None for numbers.
    """

    def __init__(self, estimator, labels=None):
        self.estimator = estimator
        self.labels = labels

    def fit(self, table: Table, y, sample_weight=None) -> OnCodes:
        """Fit a clone of the estimator."""
        self.empty_ = np.isnan(table.one_hot()).all(axis=0)
        targets = y if self.labels is None else self.labels[y]
        self.model_ = fitted(self.estimator, self._cells(table), targets, sample_weight)
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The places of the classes that the estimator has seen."""
        return np.searchsorted(self.labels, self.model_.classes_)

    def predict(self, table: Table) -> np.ndarray:
        """Values of new rows."""
        return self.model_.predict(self._cells(table))

    def predict_proba(self, table: Table) -> np.ndarray:
        """Probabilities of new rows."""
        return self.model_.predict_proba(self._cells(table))

    def decision_function(self, table: Table) -> np.ndarray:
        """Decision values of new rows."""
        return self.model_.decision_function(self._cells(table))

    def _cells(self, table: Table) -> np.ndarray:
        return np.where(self.empty_, 0.0, table.one_hot())


def _is_seed(name: str) -> bool:
    return name.rpartition("__")[2] == "random_state"
