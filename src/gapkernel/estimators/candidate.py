"""Something to try on a table with gaps: an estimator, its settings, and how they are tried together.

The Gap estimators, `gapkernel compare` and `fit`, and the studies of papers all try candidates. Settings that share
work on a split have it done once: its density, its kernel matrices, or what the first steps of a pipeline make of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as CompleteSVC, SVR as CompleteSVR
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from gapkernel.compute.runtime.config import thread_count
from gapkernel.compute.runtime.threads import run_tasks
from gapkernel.estimators.base import part_of
from gapkernel.estimators.kernel_ridge import KernelRidge
from gapkernel.estimators.search import Search, Settings
from gapkernel.estimators.svm import SVC, SVR
from gapkernel.solvers.base import Folds
from gapkernel.tables import Table, schema_of

Metric = Callable[[np.ndarray, np.ndarray], float]
"""From the true and the predicted targets to a score; the higher the better."""

Answer = Callable[[Any, Any], np.ndarray]
"""From a fitted model and new rows to its answers."""

SEARCHED = (SVC, SVR, KernelRidge)
"""Kernel machines whose settings a `Search` tries together."""

SAME_ON_COMPLETE_ROWS: dict[type, type] = {CompleteSVC: SVC, CompleteSVR: SVR}
"""RBF machines of scikit-learn, and ours that give the same answers on complete rows and try settings together."""


def share_right(truth: np.ndarray, guess: np.ndarray) -> float:
    """The accuracy; scikit-learn's takes longer to look at two lists of labels than libsvm to solve a small SVM."""
    return float(np.mean(truth == guess))


METRICS: dict[str, Metric] = {"classification": share_right, "regression": r2_score}
"""What settings are chosen by, for each task."""


@dataclass(frozen=True)
class Grid:
    """Values to try; a candidate takes those it has a use for.

    Attributes
    ----------
    C, gamma : tuple of float
        Penalties and widths.
    alpha : tuple of float or None
        Exponents of EHK_alpha; None is EHK.
    degree : tuple of int
        Longest words of KARMA.
    epsilon : tuple of float
        For regression: errors below it cost nothing.

    Examples
    --------
    >>> from gapkernel.studies import CANDIDATES, Grid
    >>> CANDIDATES["genrbf"].settings(Grid(C=(1.0, 10.0), gamma=(0.1,)))
    [{'gamma': 0.1, 'C': 1.0}, {'gamma': 0.1, 'C': 10.0}]
    """

    C: tuple[float, ...]
    gamma: tuple[float, ...]
    alpha: tuple[float | None, ...] = (0.1, 0.5, 0.8, 0.95, 0.99)
    degree: tuple[int, ...] = (1, 2)
    epsilon: tuple[float, ...] = (0.05,)


GridRule = Callable[[Grid, str], Mapping[str, Sequence]]
"""From a grid and the task to the values of each parameter that is tried."""


def from_grid(*names: str, **own: Sequence) -> GridRule:
    """The rule that takes parameters from a grid ("epsilon" for regression only), after values of its own."""

    def rule(grid: Grid, task: str) -> dict[str, Sequence]:
        taken = [name for name in names if name != "epsilon" or task == "regression"]
        return own | {name: getattr(grid, name) for name in taken}

    return rule


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An estimator to try, and the settings among which it is chosen.

    Attributes
    ----------
    name : str
        How tasks and the command line call it.
    estimator : estimator or callable
        Unfitted; or what makes it from the task and from whether the table has columns of categories.
    grid : mapping or callable
        The values to try of each parameter, or a rule that takes them from a `Grid`. A parameter of a kernel or of a
        step of a pipeline goes by its last name.
    family : str
        What it is, in a word. Candidates of one family err alike.
    label, short : str
        How people call it, in full and where room is scarce.
    tasks : tuple of str
        "classification", "regression" or both.
    ours : bool
        Whether it treats rows as laws.
    scales_target : bool
        Whether numbers to predict are standardised first, so that C and epsilon mean the same for every table.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from gapkernel.studies import Candidate, Grid
    >>> trees = Candidate(
    ...     name="trees", estimator=HistGradientBoostingClassifier(random_state=0), grid={"max_leaf_nodes": (7, 31)}
    ... )
    >>> trees.settings(Grid(C=(), gamma=()))
    [{'max_leaf_nodes': 7}, {'max_leaf_nodes': 31}]
    >>> trees.build({"max_leaf_nodes": 7})
    HistGradientBoostingClassifier(max_leaf_nodes=7, random_state=0)
    """

    name: str
    estimator: BaseEstimator | Callable[[str, bool], BaseEstimator]
    grid: Mapping[str, Sequence] | GridRule = field(default_factory=dict)
    family: str = ""
    label: str = ""
    short: str = ""
    tasks: tuple[str, ...] = tuple(METRICS)
    ours: bool = False
    scales_target: bool = False

    def settings(self, grid: Grid, task: str = "classification") -> list[Settings]:
        """Every combination of the values that are tried, the last parameter changing fastest."""
        if task not in self.tasks:
            raise ValueError(f"The candidate {self.name!r} does {' and '.join(self.tasks)} only, got task={task!r}.")
        values = self.grid(grid, task) if callable(self.grid) else self.grid
        return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]

    def unfitted(self, task: str = "classification", categories: bool = False) -> BaseEstimator:
        """The estimator, before any setting and any scaling of the target."""
        return clone(self.estimator) if hasattr(self.estimator, "fit") else self.estimator(task, categories)

    def build(self, setting: Settings, task: str = "classification", categories: bool = False, cv=None):
        """An unfitted estimator with a setting.

        Parameters
        ----------
        setting : dict
        task : {"classification", "regression"}, default="classification"
        categories : bool, default=False
            Whether the table has columns of categories.
        cv : splitter, default=None
            Folds by which a classifier that has no probabilities of its own learns them; None leaves it without.
        """
        estimator = with_setting(self.unfitted(task, categories), setting)
        if task == "regression":
            return _in_its_units(estimator) if self.scales_target else estimator
        return estimator if cv is None else with_probabilities(estimator, cv)

    def code(self, setting: Settings, task: str = "classification", categories: bool = False, cv=None) -> str:
        """The lines that make ``model``, the estimator that `build` makes."""
        estimator = self.build(setting, task, categories, cv)
        text = " ".join(estimator.__repr__(N_CHAR_MAX=10**6).split())  # whole, in one line
        return "\n".join([*_imports(_classes_in(estimator)), f"model = {text}"])

    def scores(
        self, X, y: np.ndarray, cv, settings: list[Settings], task: str = "classification", metric: Metric | None = None
    ) -> np.ndarray:
        """What ``metric(y, predictions)`` says about each setting on each split, shape (n_splits, n_settings).

        None is accuracy or R squared. Each score is that of the estimator fitted to the training rows of the split.
        """
        splits = list(cv.split(X, y))
        if self.scales_target and task == "regression":
            y = (y - y.mean()) / (y.std() or 1.0)
        metric = metric or METRICS[task]
        answers = self._answers(SplitTable(X, y, splits), settings, task)
        return np.array([
            [metric(y[test], guess) for guess in guesses] for (_, test), guesses in zip(splits, answers, strict=True)
        ])  # fmt: skip

    def _answers(self, table: SplitTable, settings: list[Settings], task: str) -> list[list[np.ndarray]]:
        """For each split, the predictions of each setting for its test rows."""
        return table.answers(
            self.unfitted(task, has_categories(table.X)), settings, lambda model, new: model.predict(new)
        )


@dataclass(frozen=True, eq=False)
class SplitTable:
    """A table, its targets and its splits, and the work that candidates share on them.

    Attributes
    ----------
    X : array-like, frame or Table
    y : ndarray
    splits : list
        Pairs of training and test rows.
    weight : ndarray or None
    """

    X: Any
    y: np.ndarray
    splits: Folds
    weight: np.ndarray | None = None
    _searches: dict[str, Search] = field(default_factory=dict, init=False, repr=False)

    def answers(self, estimator, settings: list[Settings], answer: Answer) -> list[list[np.ndarray]]:
        """For each split, the answers to its test rows by the estimator with each setting."""
        if isinstance(estimator, SEARCHED):
            named = [full_names(estimator, one) for one in settings]
            return self._search(estimator).results(named, lambda model, new, truth, weight: answer(model, new))

        def of_split(number: int) -> list[np.ndarray]:
            here, there = self._parts(number)
            return _answers_of_split(estimator, here, there, settings, answer)

        return run_tasks(of_split, range(len(self.splits)))

    def out_of_fold(self, estimator, settings: list[Settings], answer: Answer) -> list[np.ndarray]:
        """For each setting the answers to all rows, each by the split that tests it."""
        order = np.argsort(np.concatenate([test for _, test in self.splits]))
        by_split = self.answers(estimator, settings, answer)
        return [np.concatenate(parts)[order] for parts in zip(*by_split, strict=True)]

    def fit(self, estimator, setting: Settings, split: int | None = None):
        """The estimator with a setting, fitted to all rows, or to those that a split learns from."""
        if isinstance(estimator, SEARCHED):
            return self._search(estimator).fit(full_names(estimator, setting), split=split)
        return fitted(with_setting(estimator, setting), *self.learned_from(split))

    def learned_from(self, split: int | None) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """The rows that a split learns from, their targets and weights; None is all rows."""
        return (self.X, self.y, self.weight) if split is None else self._parts(split)[0]

    def _search(self, machine) -> Search:
        """One for all that ask for an equal machine, so that they share the densities of the splits."""
        key = joblib.hash(machine)
        if key not in self._searches:
            options = {"sample_weight": self.weight, "n_jobs": thread_count()}
            self._searches[key] = Search(machine, self.X, self.y, self.splits, **options)
        return self._searches[key]

    def _parts(self, split: int) -> tuple[tuple[Any, np.ndarray, np.ndarray | None], Any]:
        """What a split learns from, and its test rows; a level of a `Table` that only test rows have is a gap."""
        train, test = self.splits[split]
        rows = (
            self.X.as_learned_from(train).__getitem__ if isinstance(self.X, Table) else partial(_safe_indexing, self.X)
        )
        return (rows(train), self.y[train], part_of(self.weight, train)), rows(test)


def _answers_of_split(estimator, learned, new, settings: list[Settings], answer: Answer) -> list[np.ndarray]:
    """The answers in each setting; the first steps of a pipeline, which no setting changes, are fitted once."""
    X, y, weight = learned
    if isinstance(estimator, Pipeline):
        names = [name for name, _ in estimator.steps]
        changed = {full.partition("__")[0] for one in settings for full in full_names(estimator, one)}
        n_fixed = next((k for k, name in enumerate(names) if name in changed), len(names) - 1)
        if n_fixed:
            fixed = clone(estimator[:n_fixed])
            X, new = fixed.fit_transform(X), fixed.transform(new)
        estimator = estimator[-1] if n_fixed == len(names) - 1 else estimator[n_fixed:]
    ours = SAME_ON_COMPLETE_ROWS.get(type(estimator))
    if ours and estimator.get_params() == type(estimator)().get_params():
        return answers_on_complete_rows(ours(kernel="rbf"), X, new, y, settings, answer)
    return [answer(fitted(with_setting(estimator, one), X, y, weight), new) for one in settings]


def answers_on_complete_rows(machine, here, there, y, settings: list[Settings], answer: Answer) -> list[np.ndarray]:
    """What a kernel machine trained on ``here`` answers to ``there`` in each setting; one matrix serves a width."""
    places, n = np.arange(len(here) + len(there)), len(here)
    unused = np.resize(y, len(there))
    both = SplitTable(np.vstack([here, there]), np.append(y, unused), [(places[:n], places[n:])])
    return both.answers(machine, settings, answer)[0]


def full_names(estimator, setting: Settings) -> Settings:
    """A setting by the names that `set_params` has for its parameters: the deepest that end in theirs."""
    known = estimator.get_params()

    def full(name: str) -> str:
        return max((one for one in known if one == name or one.endswith(f"__{name}")), key=lambda one: one.count("__"))

    return {full(name): value for name, value in setting.items()}


def with_setting(estimator, setting: Settings):
    """A clone of an estimator, with a setting."""
    return clone(estimator).set_params(**full_names(estimator, setting))


def fitted(estimator, X, y, weight: np.ndarray | None):
    """The estimator, fitted with the weights if it takes them."""
    takes = weight is not None and has_fit_parameter(estimator, "sample_weight")
    return estimator.fit(X, y, **({"sample_weight": weight} if takes else {}))


def has_categories(X) -> bool:
    """Whether a table has columns of categories."""
    return bool(schema_of(X).categorical.any())


def with_probabilities(estimator, cv):
    """A classifier that says how sure it is: the one given, or with Platt's sigmoid learned on held-out rows."""
    from sklearn.calibration import CalibratedClassifierCV  # slow to import

    if hasattr(estimator, "predict_proba"):
        return estimator
    return CalibratedClassifierCV(estimator, ensemble=False, cv=cv)


def _in_its_units(estimator):
    """A regressor for a target in its own units."""
    from sklearn.compose import TransformedTargetRegressor

    return TransformedTargetRegressor(estimator, transformer=StandardScaler())


def _imports(used) -> list[str]:
    """A line for each package that these classes and functions come from."""
    homes: dict[str, set[str]] = {}
    for one in used:
        home = ".".join(one.__module__.split(".")[:2]).removesuffix(".estimators")
        homes.setdefault(home, set()).add(one.__name__)
    return [f"from {home} import {', '.join(sorted(homes[home]))}" for home in sorted(homes)]


def _classes_in(estimator: BaseEstimator) -> list[type]:
    """The classes of an estimator and of what it is made of, such as kernels, densities and folds."""
    parts = [type(part) for part in (estimator, *estimator.get_params().values())]
    return [kind for kind in parts if kind.__module__.split(".")[0] in ("gapkernel", "sklearn")]
