"""The members that are tried: kernels with grids of settings, processes by their evidence, and any other estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import has_fit_parameter

from gapkernel.estimators.fourier import FourierClassifier, FourierRegressor
from gapkernel.estimators.gap.problem import Member, Problem, Tried
from gapkernel.estimators.process import GaussianProcessClassifier, GaussianProcessRegressor
from gapkernel.estimators.ridge import KernelRidge
from gapkernel.estimators.search import Search
from gapkernel.estimators.svm import SVC
from gapkernel.kernels import HeterogeneousKernel, Missingness
from gapkernel.tables import Table

PENALTIES, RIDGES = (0.1, 1.0, 10.0, 100.0), (0.001, 0.01, 0.1, 1.0, 10.0)
WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0)
"""gamma as a multiple of one over the number of columns, which are standardised."""

ALPHAS = (None, 0.5, 0.9)
GAP_WIDTHS = (0.05, 0.2, 1.0)
"""gamma of the kernel on the gaps: two rows with k gaps in one of them only are alike by exp(-k gamma)."""

N_FEATURES = 1024
"""Random features for tables with many rows."""

SEARCH_ROWS = 1000
"""Rows from which the hyperparameters of a process are found; more change them little and cost much."""

LEAST_GAIN = 1.0
"""Log evidence that a change to the plain process has to gain."""

MANY_CLASSES = 4
"""Classes up to which a process has length scales for each column: one process for each class takes its time."""

Score = Callable[[np.ndarray, str, Problem], float]
"""From the raw answers to a problem, and the method that gave them, to a score; the higher the better."""


@dataclass(frozen=True)
class KernelMember(Member):
    """A kernel machine on one kind of kernel: a support vector machine for classes, ridge regression for numbers.

    Attributes
    ----------
    name : str
    kernel : str
        "genrbf", "rbf" or "ehk".
    view : str
    indicator : bool
        Whether a kernel on the gaps is tried, in several widths, as a factor and as a summand.
    """

    name: str
    kernel: str
    view: str = "plain"
    indicator: bool = False

    def suits(self, problem: Problem) -> bool:
        needs_gaps = self.indicator or self.kernel == "rbf"  # without gaps "rbf" is "genrbf"
        return self.view in problem.views and (not needs_gaps or bool(problem.table.missing.any()))

    def tried(self, problem: Problem, score: Score) -> Tried:
        table = problem.seen(self.view)
        penalty, method = ("C", "decision_function") if problem.n_classes else ("alpha", "predict")
        estimator = SVC(tol=1e-3) if problem.n_classes else KernelRidge()
        search = Search(estimator, table, problem.y, problem.splits, sample_weight=problem.weight)
        values = PENALTIES if problem.n_classes else RIDGES
        grid: dict[str, list] = {penalty: list(values)}
        if self.kernel == "ehk":
            grid["kernel"] = [HeterogeneousKernel(alpha) for alpha in ALPHAS]
        else:
            grid |= {"kernel": [self.kernel], "gamma": [width / table.shape[1] for width in WIDTHS]}
        candidates = [{**one, "indicator": False} for one in ParameterGrid(grid)]
        best, raw = _best(search, candidates, method, score, problem)
        if self.indicator:  # the widths of the gaps' kernel at the best width of the other one
            gaps = [Missingness(gamma, rule) for gamma in GAP_WIDTHS for rule in ("product", "sum")]
            around = [value for value in values if 0.05 < value / best[penalty] < 20.0]
            candidates = [{**best, penalty: value, "indicator": gap} for gap in gaps for value in around]
            best, raw = _best(search, candidates, method, score, problem)
        return Tried(self.name, best, raw, self.view, method, partial(search.fit, best))


def _best(
    search: Search, candidates: list[dict], method: str, score: Score, problem: Problem
) -> tuple[dict[str, Any], np.ndarray]:
    """The candidate with the highest score, and its out-of-fold answers."""

    def judge(model, X, y, weight):
        return all_scores(model, getattr(model, method)(X), problem.n_classes)

    by_split = search.results(candidates, judge)
    order = np.argsort(np.concatenate([test for _, test in search.splits]))
    answers = [np.concatenate(pieces)[order] for pieces in zip(*by_split, strict=True)]
    place = int(np.argmax([score(raw, method, problem) for raw in answers]))
    return candidates[place], answers[place]


@dataclass(frozen=True)
class ProcessMember(Member):
    """A Gaussian process; the view of the table and whether gaps count are chosen by its evidence.

    Attributes
    ----------
    name : str
    shrunk : bool
        Whether every column has a length scale of its own, shrunk to a common one.
    """

    name: str
    shrunk: bool = False

    def suits(self, problem: Problem) -> bool:
        return not self.shrunk or (problem.n_classes <= MANY_CLASSES and problem.table.shape[1] > 1)

    def tried(self, problem: Problem, score: Score) -> Tried:
        view, estimator = process_choice(problem)
        table = problem.seen(view)
        if self.shrunk:
            estimator = clone(estimator).set_params(length_scale="shrunk", gamma=estimator.length_scale**-2 / 2.0)
        if len(table) > SEARCH_ROWS:
            estimator = _settled(estimator, _sampled(problem, table, estimator))

        def fitted(table: Table, y: np.ndarray, weight: np.ndarray | None):
            return clone(estimator).fit(table, y, **_weighted(estimator, weight))

        def answers(table, y, weight, new):
            model = fitted(table, y, weight)
            if problem.n_classes:
                return all_classes(model, model.predict_proba(new), problem.n_classes)
            return model.predict(new)

        raw = problem.out_of_fold(table, answers)
        scales = "shrunk" if self.shrunk else "common"
        settings = {"view": view, "indicator": estimator.indicator, "length_scale": scales}
        method = "predict_proba" if problem.n_classes else "predict"
        return Tried(self.name, settings, raw, view, method, partial(fitted, table, problem.y, problem.weight))


def process_choice(problem: Problem) -> tuple[str, Any]:
    """The view and the process, one length scale for all columns, with the highest evidence; found once.

    A change to the plain process has to gain more than `LEAST_GAIN`.
    """
    if "process" not in problem.found:
        kind = GaussianProcessClassifier(prior="share") if problem.n_classes else GaussianProcessRegressor()
        best = _tried_process(problem, "plain", kind)
        for view in problem.views:
            if view != "plain":
                best = max(best, _tried_process(problem, view, best[2], LEAST_GAIN), key=lambda found: found[0])
        if problem.table.missing.any():
            for gamma in GAP_WIDTHS:
                other = clone(best[2]).set_params(indicator=Missingness(gamma))
                best = max(best, _tried_process(problem, best[1], other, LEAST_GAIN), key=lambda found: found[0])
        problem.found["process"] = best
    return problem.found["process"][1:]


def process_evidence(problem: Problem) -> float:
    """The log evidence of that process."""
    process_choice(problem)
    return problem.found["process"][0]


def _tried_process(problem: Problem, view: str, estimator, handicap: float = 0.0) -> tuple[float, str, Any]:
    """The evidence less a handicap, the view, and the process with the hyperparameters that were found as its start."""
    model = _sampled(problem, problem.seen(view), estimator)
    start = {"constant_value": _middle(model.constant_value_), "length_scale": _middle(model.length_scale_)}
    if not problem.n_classes:
        start["noise_level"] = model.noise_level_
    return model.log_marginal_likelihood_value_ - handicap, view, clone(estimator).set_params(**start)


def _sampled(problem: Problem, table: Table, estimator):
    """The estimator fitted to at most `SEARCH_ROWS` rows, drawn once."""
    rows = problem.some_rows(SEARCH_ROWS)
    weight = None if problem.weight is None else problem.weight[rows]
    return clone(estimator).fit(table[rows], problem.y[rows], **_weighted(estimator, weight))


def _settled(estimator, model):
    """The estimator with the hyperparameters of a fitted one, which are not searched for again."""
    found = {"constant_value": _middle(model.constant_value_), "length_scale": model.length_scale_}
    if is_classifier(estimator):
        found["length_scale"] = _middle(model.length_scale_, axis=0)  # over the processes of several classes
    else:
        found["noise_level"] = model.noise_level_
    return clone(estimator).set_params(**found, gamma="scale", optimizer=None)


def _middle(values, axis=None):
    """The geometric mean, over the processes of several classes."""
    return np.exp(np.mean(np.log(values), axis=axis))


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

    def suits(self, problem: Problem) -> bool:
        return self.kernel == "genrbf" or bool(problem.table.missing.any())

    def tried(self, problem: Problem, score: Score) -> Tried:
        kind = FourierClassifier(loss="log_loss") if problem.n_classes else FourierRegressor()
        method = "predict_proba" if problem.n_classes else "predict"
        kind.set_params(kernel=self.kernel, n_components=N_FEATURES, random_state=problem.seed)

        def answers(estimator, table, y, weight, new):
            model = clone(estimator).fit(table, y, **_weighted(estimator, weight))
            raw = getattr(model, method)(new)
            return all_classes(model, raw, problem.n_classes) if problem.n_classes else raw

        sample = problem.sample(SEARCH_ROWS)
        widths = [{"gamma": width / problem.table.shape[1]} for width in WIDTHS[1:]]
        tried = [clone(kind).set_params(**one, n_components=N_FEATURES // 4) for one in widths]
        scores = [score(sample.out_of_fold(sample.table, partial(answers, one)), method, sample) for one in tried]
        best = widths[int(np.argmax(scores))]
        estimator = clone(kind).set_params(**best)
        raw = problem.out_of_fold(problem.table, partial(answers, estimator))
        fit = partial(estimator.fit, problem.table, problem.y, **_weighted(estimator, problem.weight))
        return Tried(self.name, {**best, "kernel": self.kernel}, raw, "plain", method, fit)


@dataclass(frozen=True)
class EstimatorMember(Member):
    """An estimator that takes NaN, on the numbers and the one-hot codes of the categories.

    Attributes
    ----------
    name : str
    estimator : estimator
    """

    name: str
    estimator: Any

    def tried(self, problem: Problem, score: Score) -> Tried:
        seeded = clone(self.estimator)
        unset = {name: problem.seed for name, value in seeded.get_params().items() if _is_seed(name) and value is None}
        seeded.set_params(**unset)

        def fitted(table: Table, y: np.ndarray, weight: np.ndarray | None) -> OnCodes:
            return OnCodes(seeded).fit(table, y, weight)

        def answers(table, y, weight, new):
            model = fitted(table, y, weight)
            raw = getattr(model, method)(new)
            if method == "predict_proba":
                return all_classes(model, raw, problem.n_classes)
            return all_scores(model, raw, problem.n_classes)

        method = "predict" if not problem.n_classes else "predict_proba"
        if problem.n_classes and not hasattr(self.estimator, "predict_proba"):
            method = "decision_function"
        raw = problem.out_of_fold(problem.table, answers)
        return Tried(self.name, {}, raw, "plain", method, partial(fitted, problem.table, problem.y, problem.weight))


class OnCodes(BaseEstimator):
    """An estimator on standardised numbers and one-hot codes; a column without a value at fit is a column of zeros.

    Parameters
    ----------
    estimator : estimator
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, table: Table, y, weight=None) -> OnCodes:
        """Fit a clone of the estimator."""
        codes = table.one_hot()
        self.empty_ = np.isnan(codes).all(axis=0)
        self.model_ = clone(self.estimator)
        self.model_.fit(np.where(self.empty_, 0.0, codes), y, **_weighted(self.model_, weight))
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The classes that the estimator has seen."""
        return self.model_.classes_

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


def all_classes(model, probabilities: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities with a column for each class, 0 for those that the model has not seen."""
    if probabilities.shape[1] == n_classes:
        return probabilities
    out = np.zeros((len(probabilities), n_classes))
    out[:, model.classes_] = probabilities
    return out


def all_scores(model, scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Decision values with a column for each class of more than two; a class that the model has not seen is last."""
    if n_classes <= 2 or scores.shape[1:] == (n_classes,):
        return scores
    seen = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    out = np.repeat(seen.min(axis=1, keepdims=True) - 1.0, n_classes, axis=1)
    out[:, model.classes_] = seen
    return out


def _is_seed(name: str) -> bool:
    return name.rpartition("__")[2] == "random_state"


def _weighted(estimator, weight: np.ndarray | None) -> dict[str, Any]:
    """Weights for an estimator that takes them."""
    return {} if weight is None or not has_fit_parameter(estimator, "sample_weight") else {"sample_weight": weight}
