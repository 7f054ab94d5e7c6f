"""The members that a Gap estimator tries: kernel machines, Gaussian processes, random features and trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if

from gapkernel.estimators.candidate import Candidate, Grid, fitted
from gapkernel.estimators.fourier import FourierClassifier, FourierRegressor
from gapkernel.estimators.gap.shared_data import GAP_WIDTHS, Judge, Judged, SharedData
from gapkernel.estimators.kernel_ridge import KernelRidge
from gapkernel.estimators.search import Settings
from gapkernel.estimators.svm import SVC
from gapkernel.kernels import HeterogeneousKernel, Missingness
from gapkernel.tables import Table

RIDGES = (0.001, 0.01, 0.1, 1.0, 10.0)
LINEAR_PENALTIES, LINEAR_RIDGES = (0.001, 0.01, 0.1, 1.0), (1.0, 10.0, 100.0, 1000.0)
"""alphas of ridge regression, and Cs and alphas of the linear kernel, which of d standardised columns is d large."""

ALPHAS = (None, 0.5, 0.9)

N_FEATURES = 1024
"""Random features for tables with many rows."""

SEARCH_ROWS = 1000
"""Rows from which the width of random features is found; more change it little and cost much."""

MANY_CLASSES = 4
"""Classes up to which a process has length scales for each column: one process for each class takes its time."""


@dataclass(frozen=True, eq=False)
class Tried:
    """A member with its best setting.

    Attributes
    ----------
    member : Member
    estimator : estimator
        Unfitted.
    setting : dict
    view : str
    method : str
        What answers: "predict", "decision_function" or "predict_proba".
    judged : Judged
        The out-of-fold answers, and what they are worth.
    shown : dict
        The setting as a user sees it.
    seconds : float
        What trying it took.
    """

    member: Member
    estimator: Any
    setting: Settings
    view: str
    method: str
    judged: Judged
    shown: Settings
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Member(Candidate):
    """A candidate that sees a prepared table in one of its views.

    Attributes
    ----------
    view : str
    needs_gaps : bool
        Whether it is tried only where cells are missing; without gaps the kernel "rbf" is "genrbf".
    """

    view: str = "plain"
    needs_gaps: bool = False
    takes_many_rows: ClassVar[bool] = False
    """Whether its settings can be chosen on a sample of many rows, and the member then be fitted to all of them."""
    takes_parts: ClassVar[bool] = False
    """Whether it can be fitted to a table in parts."""

    def suits(self, data: SharedData) -> bool:
        """Whether there is any point in trying it."""
        return self.view in data.views and (not self.needs_gaps or data.has_gaps)

    def tried(self, data: SharedData, judge: Judge) -> Tried:
        """The member with the setting that has the highest score by ``judge(raw, method, data)`` out of fold."""
        return self._best(data, self.unfitted(data.task), self.settings(data.grid, data.task), judge)

    def _best(self, data: SharedData, estimator, settings: list[Settings], judge: Judge, view: str = "") -> Tried:
        method, view = _method(estimator, data), view or self.view
        answers = data.out_of_fold(estimator, settings, method, view)
        judged = [judge(raw, method, data) for raw in answers]
        place = int(np.argmax([one.score for one in judged]))
        return Tried(self, estimator, settings[place], view, method, judged[place], shown=settings[place])


class GapKernelMember(Member):
    """A kernel machine with a kernel on the gaps, tried in several widths, as a factor and as a summand."""

    def tried(self, data: SharedData, judge: Judge) -> Tried:
        plain = super().tried(data, judge)  # the widths of the gaps' kernel are tried at the best width of the other
        penalty = "C" if data.n_classes else "alpha"
        values = {setting[penalty]: None for setting in self.settings(data.grid, data.task)}
        around = [value for value in values if 0.05 < value / plain.setting[penalty] < 20.0]
        gaps = [Missingness(gamma, rule) for gamma in GAP_WIDTHS for rule in ("product", "sum")]
        settings = [{**plain.setting, penalty: value, "indicator": gap} for gap in gaps for value in around]
        return self._best(data, plain.estimator, settings, judge)


class FourierMember(Member):
    """Logistic or ridge regression on random Fourier features: for any number of rows."""

    takes_many_rows = takes_parts = True

    def tried(self, data: SharedData, judge: Judge) -> Tried:
        estimator = self.unfitted(data.task).set_params(random_state=data.seed)
        fewer = clone(estimator).set_params(n_components=N_FEATURES // 4)
        settings = self.settings(data.grid, data.task)
        setting = self._best(data.sample(SEARCH_ROWS), fewer, settings, judge).setting
        return self._best(data, estimator, [setting], judge)


class EstimatorMember(Member):
    """An estimator that takes NaN, on the numbers and the one-hot codes of the categories."""

    takes_many_rows = True

    def tried(self, data: SharedData, judge: Judge) -> Tried:
        estimator = self.unfitted(data.task)
        seeds = [name for name, value in estimator.get_params().items() if _is_seed(name) and value is None]
        seeded = estimator.set_params(**dict.fromkeys(seeds, data.seed))
        return self._best(data, OnCodes(seeded, data.targets.labels), [{}], judge)


@dataclass(frozen=True, kw_only=True)
class ProcessMember(Member):
    """A Gaussian process; whether gaps of categories are levels and gaps count is chosen by its evidence.

    Attributes
    ----------
    shrunk : bool
        Whether every column has a length scale of its own, shrunk to a common one.
    """

    estimator: None = None  # the process that the shared data choose
    shrunk: bool = False

    def suits(self, data: SharedData) -> bool:
        few = data.n_classes <= MANY_CLASSES and data.table.shape[1] > 1
        return super().suits(data) and (few or not self.shrunk)

    def tried(self, data: SharedData, judge: Judge) -> Tried:
        _, view, estimator = data.process_without_offsets if self.view == "offsets" else data.process
        if self.shrunk:
            estimator = clone(estimator).set_params(length_scale="shrunk", gamma=estimator.length_scale**-2 / 2.0)
        scales = "shrunk" if self.shrunk else "common"
        shown = {"view": view, "indicator": estimator.indicator, "length_scale": scales}
        return replace(self._best(data, data.settled(view, estimator), [{}], judge, view), shown=shown)


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
        self.model_ = fitted(clone(self.estimator), self._cells(table), targets, sample_weight)
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The places of the classes that the estimator has seen."""
        return np.searchsorted(self.labels, self.model_.classes_)

    def predict(self, table: Table) -> np.ndarray:
        """Values of new rows."""
        return self.model_.predict(self._cells(table))

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, table: Table) -> np.ndarray:
        """Probabilities of new rows."""
        return self.model_.predict_proba(self._cells(table))

    def decision_function(self, table: Table) -> np.ndarray:
        """Decision values of new rows."""
        return self.model_.decision_function(self._cells(table))

    def _cells(self, table: Table) -> np.ndarray:
        return np.where(self.empty_, 0.0, table.one_hot())


def _method(estimator, data: SharedData) -> str:
    """What an estimator answers by: values, probabilities, or decision values if it has no probabilities."""
    if not data.n_classes:
        return "predict"
    return "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"


def _is_seed(name: str) -> bool:
    return name.rpartition("__")[2] == "random_state"


def _machine(task: str, categories: bool) -> BaseEstimator:
    """The same for every kernel, so that all of a view share one search and the densities of its folds."""
    return KernelRidge() if task == "regression" else SVC(tol=1e-3)


def _kernel_values(grid: Grid, task: str, kernel: str) -> Mapping[str, Sequence]:
    """The values to try with a kernel."""
    penalty, values = ("alpha", RIDGES) if task == "regression" else ("C", grid.C)
    if kernel == "linear":
        values = LINEAR_RIDGES if task == "regression" else LINEAR_PENALTIES
    widths = {"gamma": grid.gamma} if kernel in ("genrbf", "rbf") else {}
    kernels = [HeterogeneousKernel(alpha) for alpha in ALPHAS] if kernel == "ehk" else [kernel]
    return {penalty: values, **widths, "kernel": kernels, "indicator": [False]}


def _kernel(name: str) -> Member:
    """A support vector machine for classes, ridge regression for numbers; the name says the kernel, then the view."""
    kernel, _, addition = name.partition(", ")
    kind = GapKernelMember if addition == "indicator" else Member
    return kind(
        name=name,
        estimator=_machine,
        grid=partial(_kernel_values, kernel=kernel),
        family="linear" if kernel == "linear" else "kernel",
        view=addition if addition in ("levels", "offsets") else "plain",
        needs_gaps=kernel == "rbf" or addition == "indicator",
    )


def _process(name: str) -> Member:
    """A process; one with a length scale for each column weighs columns, which others treat alike."""
    shrunk, view = "shrunk" in name, "offsets" if "offsets" in name else "plain"
    return ProcessMember(name=name, family="process, shrunk" if shrunk else "process", view=view, shrunk=shrunk)


def _features(task: str, categories: bool) -> BaseEstimator:
    kind = FourierRegressor() if task == "regression" else FourierClassifier(loss="log_loss")
    return kind.set_params(n_components=N_FEATURES)


def _feature_values(grid: Grid, task: str, kernel: str) -> Mapping[str, Sequence]:
    return {"gamma": grid.gamma[1:], "kernel": [kernel]}


def _fourier(name: str, kernel: str) -> Member:
    values = partial(_feature_values, kernel=kernel)
    return FourierMember(name=name, estimator=_features, grid=values, family="kernel", needs_gaps=kernel == "rbf")


def _trees(task: str, categories: bool, kind: str, **parameters) -> BaseEstimator:
    from sklearn import ensemble  # slow to import

    kind += "Regressor" if task == "regression" else "Classifier"
    return getattr(ensemble, kind)(**parameters, random_state=0)


_boosting = partial(_trees, kind="HistGradientBoosting")


def of_estimator(name: str, estimator, family: str = "") -> Member:
    """An estimator of scikit-learn as a member; by default it is a family of its own."""
    return EstimatorMember(name=name, estimator=estimator, family=family or repr(estimator))


def _named(*members: Member) -> dict[str, Member]:
    return {member.name: member for member in members}


KERNELS: dict[str, Member] = _named(
    *map(_process, ("process", "process, shrunk", "process, offsets", "process, shrunk, offsets")),
    *map(_kernel, ("genrbf", "ehk", "rbf", "linear", "genrbf, indicator", "rbf, levels", "ehk, levels")),
    *map(_kernel, ("genrbf, offsets", "rbf, offsets", "linear, offsets")),
)
"""The members on all pairs of rows, in the order in which they are tried."""

FEATURES: dict[str, Member] = _named(_fourier("fourier", "genrbf"), _fourier("fourier, rbf", "rbf"))
"""The members for more than ``n_exact`` rows, beside the trees."""

TREES: dict[str, Member] = _named(
    of_estimator("trees", _boosting, "boosting"),
    of_estimator("trees, small", partial(_boosting, max_iter=60, max_leaf_nodes=6, l2_regularization=1.0), "boosting"),
    of_estimator("forest", partial(_trees, kind="RandomForest", n_estimators=300, min_samples_leaf=2), "forest"),
)
"""Trees, beside the kernels and the features."""
