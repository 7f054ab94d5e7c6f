"""What a method of a comparison is: how it builds its estimator, what it tries, and how it tries that fast.

A method scores a whole list of settings with the work done once that they share: the density of a fold, its kernel
matrices, its filled table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC as CompleteSVC, SVR as CompleteSVR
from sklearn.utils import _safe_indexing

from gapkernel.density import Density, Gaussian, JointGaussian
from gapkernel.estimators import SVC, SVR
from gapkernel.estimators.search import Search
from gapkernel.kernels import Kernel
from gapkernel.studies.grid import Grid
from gapkernel.tables import schema_of

Setting = dict[str, Any]
Splits = list[tuple[np.ndarray, np.ndarray]]
Metric = Callable[[np.ndarray, np.ndarray], float]


def share_right(truth: np.ndarray, guess: np.ndarray) -> float:
    """The accuracy; scikit-learn's takes longer to look at two lists of labels than libsvm to solve a small SVM."""
    return float(np.mean(truth == guess))


METRICS: dict[str, Metric] = {"classification": share_right, "regression": r2_score}
"""What settings are chosen by, for each task a method may be built for."""

EM_TOLERANCE = 1e-4
"""Relative; that of the R package norm, which the genRBF paper used. With most cells missing it also spares a long tail
of iterations that overfit the covariance."""


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to learn from rows with gaps.

    Attributes
    ----------
    name : str
        How tasks and the command line call it.
    label, short : str
        How people call it, in full and where room is scarce.
    parameters : tuple of str
        What it takes from a `Grid`; "epsilon" is left out for classes.
    own_values : mapping of str to tuple
        Values to try of parameters that are its own.
    ours : bool
        Whether it treats rows as laws.
    tasks : tuple of str
        "classification", "regression" or both.
    scales_target : bool
        Whether numbers to predict are standardised first, so that C and epsilon mean the same for every table.
    """

    name: str
    label: str
    short: str
    parameters: tuple[str, ...] = ()
    own_values: Mapping[str, tuple] = field(default_factory=dict)
    ours: bool = False
    tasks: tuple[str, ...] = tuple(METRICS)
    scales_target: bool = True

    def settings(self, grid: Grid, task: str = "classification") -> list[Setting]:
        """Every combination of the values that the method tries, the last parameter changing fastest."""
        if task not in self.tasks:
            raise ValueError(f"The method {self.name!r} does {' and '.join(self.tasks)} only, got task={task!r}.")
        names = [name for name in self.parameters if name != "epsilon" or task == "regression"]
        values = {**self.own_values, **{name: getattr(grid, name) for name in names}}
        return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]

    def build(self, setting: Setting, task: str = "classification", categories: bool = False, cv=None):
        """An unfitted estimator.

        Parameters
        ----------
        setting : dict
        task : {"classification", "regression"}, default="classification"
        categories : bool, default=False
            Whether the table has columns of categories.
        cv : splitter, default=None
            Folds by which a classifier that has no probabilities of its own learns them; None leaves it without.
        """
        estimator = self._estimator(setting, task, categories)
        if task == "regression":
            return _in_its_units(estimator) if self.scales_target else estimator
        return estimator if cv is None else with_probabilities(estimator, cv)

    def code(self, setting: Setting, task: str = "classification", categories: bool = False, cv=None) -> str:
        """The lines that make ``model``, the estimator that `build` makes."""
        estimator = self.build(setting, task, categories, cv)
        text = " ".join(estimator.__repr__(N_CHAR_MAX=10**6).split())  # whole, in one line
        return "\n".join([*_imports(_classes_in(estimator)), f"model = {text}"])

    def scores(
        self, X, y: np.ndarray, cv, settings: list[Setting], task: str = "classification", metric: Metric | None = None
    ) -> np.ndarray:
        """What ``metric(y, predictions)`` says about each setting on each split, shape (n_splits, n_settings).

        None is accuracy or R squared. Each score is that of the estimator fitted to the training rows of the split.
        """
        splits = list(cv.split(X, y))
        if self.scales_target and task == "regression":
            y = (y - y.mean()) / (y.std() or 1.0)
        metric = metric or METRICS[task]
        answers = self._predictions(X, y, splits, settings, task)
        return np.array([
            [metric(y[test], guess) for guess in guesses] for (_, test), guesses in zip(splits, answers, strict=True)
        ])  # fmt: skip

    @abstractmethod
    def _estimator(self, setting: Setting, task: str, categories: bool):
        """The estimator for a target that needs no scaling."""

    @abstractmethod
    def _predictions(self, X, y, splits: Splits, settings: list[Setting], task: str) -> list[list[np.ndarray]]:
        """For each split, the predictions of each setting for its test rows."""


@dataclass(frozen=True, kw_only=True)
class KernelMethod(Method):
    """A kernel between rows with gaps, and a support vector machine; all settings by one `Search`.

    Attributes
    ----------
    kernel : Kernel
    density : Density, "auto" or None
        None is one Gaussian over standardised columns.
    options : mapping
        Further parameters of `SVC` or `SVR`.
    """

    kernel: Kernel
    density: Density | str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    ours: bool = True

    def _estimator(self, setting, task, categories):
        density = clone(self.density, safe=False)
        if density is None:
            density = JointGaussian(gaussian=None if categories else Gaussian(tol=EM_TOLERANCE))
        kind = SVR if task == "regression" else SVC
        estimator = kind(kernel=clone(self.kernel), density=density, **self.options)
        return estimator.set_params(**self._nested(setting))

    def _predictions(self, X, y, splits, settings, task):
        search = Search(self._estimator(settings[0], task, has_categories(X)), X, y, splits)
        return search.results(map(self._nested, settings), lambda model, new, truth, weight: model.predict(new))

    def _nested(self, setting: Setting) -> Setting:
        """The settings by the names that the estimator has for them."""
        return {name if name in ("C", "epsilon") else f"kernel__{name}": value for name, value in setting.items()}


@dataclass(frozen=True, kw_only=True)
class PreparedMethod(Method):
    """A table prepared in a way that no setting changes, then an estimator; each fold is prepared once.

    Attributes
    ----------
    preparation : transformer or None
        None if there is nothing to prepare.
    """

    preparation: BaseEstimator | None = None

    @abstractmethod
    def _last(self, setting: Setting, task: str):
        """The estimator."""

    def _estimator(self, setting, task, categories):
        last = self._last(setting, task)
        return last if self.preparation is None else make_pipeline(clone(self.preparation), last)

    def _predictions(self, X, y, splits, settings, task):
        found = []
        for train, test in splits:
            preparation = FunctionTransformer() if self.preparation is None else clone(self.preparation)
            here = preparation.fit_transform(_safe_indexing(X, train))
            there = preparation.transform(_safe_indexing(X, test))
            found.append(self._answers(here, y[train], there, settings, task))
        return found

    def _answers(self, here, y, there, settings: list[Setting], task: str) -> list[np.ndarray]:
        """The predictions of each setting for prepared rows."""
        return [self._last(one, task).fit(here, y).predict(there) for one in settings]


@dataclass(frozen=True, kw_only=True)
class FilledMethod(PreparedMethod):
    """A table filled by its preparation, then an RBF support vector machine."""

    parameters: tuple[str, ...] = ("gamma", "C", "epsilon")

    def _last(self, setting, task):
        return (CompleteSVR if task == "regression" else CompleteSVC)(**setting)

    def _answers(self, here, y, there, settings, task):
        return answers_on_complete_rows(SVR() if task == "regression" else SVC(), here, there, y, settings, "predict")


@dataclass(frozen=True, kw_only=True)
class LandmarkMethod(PreparedMethod):
    """A table filled by its preparation, an RBF kernel with 300 landmarks, and a linear model: for many rows."""

    parameters: tuple[str, ...] = ("gamma",)
    own_values: Mapping[str, tuple] = field(default_factory=lambda: {"C": (0.1, 1.0, 10.0)})

    def _last(self, setting, task):
        from sklearn.kernel_approximation import Nystroem  # these are slow to import
        from sklearn.linear_model import LogisticRegression, Ridge

        C = setting["C"]
        linear = Ridge(alpha=1.0 / C) if task == "regression" else LogisticRegression(C=C, max_iter=1000)
        return make_pipeline(Nystroem(gamma=setting["gamma"], n_components=300, random_state=0), linear)


@dataclass(frozen=True, kw_only=True)
class MadeMethod(PreparedMethod):
    """An estimator that has its own way with gaps and with the scale of a target.

    Attributes
    ----------
    make : callable
        ``make(task)`` is the estimator; its settings are set afterwards.
    """

    make: Callable[[str], BaseEstimator]
    scales_target: bool = False

    def _last(self, setting, task):
        return self.make(task).set_params(**setting)


def answers_on_complete_rows(estimator, here, there, y, settings: list[Setting], method: str) -> list[np.ndarray]:
    """What an RBF support vector machine trained on ``here`` answers to ``there`` in each setting.

    One matrix serves a width.
    """
    places, n = np.arange(len(here) + len(there)), len(here)
    unused = np.resize(y, len(there))
    search = Search(
        estimator.set_params(kernel="rbf"), np.vstack([here, there]), np.append(y, unused), [(places[:n], places[n:])]
    )
    return search.results(settings, lambda model, new, truth, weight: getattr(model, method)(new))[0]


def has_categories(X) -> bool:
    """Whether a table has columns of categories."""
    return bool(schema_of(X).categorical.any())


def with_probabilities(estimator, cv):
    """A classifier that says how sure it is: the one given, or with Platt's sigmoid learned on held-out rows."""
    from sklearn.calibration import CalibratedClassifierCV  # slow to import

    return (
        estimator if hasattr(estimator, "predict_proba") else CalibratedClassifierCV(estimator, ensemble=False, cv=cv)
    )


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
