"""Gaussian processes as members: the view of the table and whether gaps count are chosen by their evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from gapkernel.estimators.class_weights import part_of
from gapkernel.estimators.gap.members import GAP_WIDTHS
from gapkernel.estimators.gap.problem import Member, Problem, Score, Tried, fitted
from gapkernel.estimators.process import GaussianProcessClassifier, GaussianProcessRegressor
from gapkernel.kernels import Missingness
from gapkernel.tables import Table

FEWEST_SEARCHED, MOST_SEARCHED = 100, 1000
"""Rows from which hyperparameters are found; more change them little and cost much."""

SEARCH_COST = 5e8
"""Rows squared times the missing codes of a row cubed, by which the time of one step of that search grows."""

LEAST_GAIN = 1.0
"""Log evidence that a change to the plain process has to gain."""

MANY_CLASSES = 4
"""Classes up to which a process has length scales for each column: one process for each class takes its time."""


@dataclass(frozen=True)
class ProcessMember(Member):
    """A Gaussian process; whether gaps of categories are levels and gaps count is chosen by its evidence.

    Attributes
    ----------
    name : str
    shrunk : bool
        Whether every column has a length scale of its own, shrunk to a common one.
    offsets : bool
        Whether the offsets of gap patterns are taken out of the numbers.
    """

    name: str
    shrunk: bool = False
    offsets: bool = False

    @property
    def family(self) -> str:
        return "process, shrunk" if self.shrunk else "process"  # the one weighs columns, the other treats them alike

    def suits(self, problem: Problem) -> bool:
        if self.offsets and "offsets" not in problem.views:
            return False
        return not self.shrunk or (problem.n_classes <= MANY_CLASSES and problem.table.shape[1] > 1)

    def tried(self, problem: Problem, score: Score) -> Tried:
        view, estimator = _without_offsets(problem) if self.offsets else process_choice(problem)
        table = problem.seen(view)
        if self.shrunk:
            estimator = clone(estimator).set_params(length_scale="shrunk", gamma=estimator.length_scale**-2 / 2.0)
        if len(table) > searched_rows(problem):
            estimator = _settled(estimator, _sampled(problem, table, estimator))
        scales = "shrunk" if self.shrunk else "common"
        settings = {"view": view, "indicator": estimator.indicator, "length_scale": scales}
        method = "predict_proba" if problem.n_classes else "predict"
        raw = problem.out_of_fold(estimator, method, view)
        return Tried(self.name, settings, raw, view, method, partial(problem.fitted, estimator, view))


def process_choice(problem: Problem) -> tuple[str, Any]:
    """The view and the process, one length scale for all columns, with the highest evidence; found once.

    A change to the plain process has to gain more than `LEAST_GAIN`.
    """
    if "process" not in problem.found:
        kind = GaussianProcessClassifier(prior="share") if problem.n_classes else GaussianProcessRegressor()
        best = _tried_process(problem, "plain", kind)
        if "levels" in problem.views:
            best = max(best, _tried_process(problem, "levels", best[2], LEAST_GAIN), key=lambda found: found[0])
        if problem.table.missing.any():
            for gamma in GAP_WIDTHS:
                other = clone(best[2]).set_params(indicator=Missingness(gamma))
                best = max(best, _tried_process(problem, best[1], other, LEAST_GAIN), key=lambda found: found[0])
        problem.found["process"] = best
    return problem.found["process"][1:]


def _without_offsets(problem: Problem) -> tuple[str, Any]:
    """The same for numbers without the offsets of gap patterns, which counts gaps as that process does."""
    if "process, offsets" not in problem.found:
        problem.found["process, offsets"] = _tried_process(problem, "offsets", process_choice(problem)[1])
    return problem.found["process, offsets"][1:]


def process_evidence(problem: Problem) -> float:
    """The log evidence of that process."""
    process_choice(problem)
    return problem.found["process"][0]


def _tried_process(problem: Problem, view: str, estimator, handicap: float = 0.0) -> tuple[float, str, Any]:
    """The evidence less a handicap, the view, and the process with the hyperparameters that were found as its start.

    Of several classes the largest one against the rest speaks for all: a process for each would take as many times as
    long to choose.
    """
    y = problem.y == np.bincount(problem.y).argmax() if problem.n_classes > 2 else problem.y
    model = _sampled(replace(problem, y=y), problem.seen(view), estimator)
    start = _found(model, length_scale=_middle(model.length_scale_))
    return model.log_marginal_likelihood_value_ - handicap, view, clone(estimator).set_params(**start)


def searched_rows(problem: Problem) -> int:
    """Most rows to find hyperparameters from: the more codes a row misses, the fewer."""
    gaps = max(1.0, np.isnan(problem.table.one_hot()).sum(axis=1).mean())
    return int(np.clip(np.sqrt(SEARCH_COST / gaps**3), FEWEST_SEARCHED, MOST_SEARCHED))


def _sampled(problem: Problem, table: Table, estimator):
    """The estimator fitted to as many rows as the search for hyperparameters takes, drawn once."""
    rows = problem.some_rows(searched_rows(problem))
    return fitted(estimator, table[rows], problem.y[rows], part_of(problem.weight, rows))


def _settled(estimator, model):
    """The estimator with the hyperparameters of a fitted one, which are not searched for again."""
    scale = _middle(model.length_scale_, axis=0) if is_classifier(model) else model.length_scale_
    return clone(estimator).set_params(**_found(model, length_scale=scale), gamma="scale", optimizer=None)


def _found(model, length_scale) -> dict[str, Any]:
    """The hyperparameters of a fitted process, with these length scales."""
    found = {"constant_value": _middle(model.constant_value_), "length_scale": length_scale}
    return found if is_classifier(model) else found | {"noise_level": model.noise_level_}


def _middle(values, axis=None):
    """The geometric mean, over the processes of several classes."""
    return np.exp(np.mean(np.log(values), axis=axis))
