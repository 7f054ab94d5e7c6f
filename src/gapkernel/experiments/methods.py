"""The methods that studies compare: how each is built, which settings it tries, and how it tries them fast.

Every method answers two questions. `Method.estimator` is a scikit-learn estimator with given settings.
`Method.predictions` is what those estimators would predict for a whole list of settings, with the work they share (the
density, the imputations, the kernel matrix of one width) done once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as CompleteSVC

from gapkernel.density import Gaussian, Marginals
from gapkernel.estimators import SVC, GeometricMarginSVC, MultipleImputationClassifier
from gapkernel.imputation import ChainedEquations, baseline
from gapkernel.kernels import ExpectedRBF, GenRBF, HeterogeneousKernel, Karma, Kernel

Setting = dict[str, Any]
EM_TOLERANCE = 1e-4
"""Relative; that of the R package norm, which the genRBF paper used. With most cells missing it also spares a long tail
of iterations that overfit the covariance."""


@dataclass(frozen=True)
class Grid:
    """Values to try; a method takes those it has a use for."""

    C: tuple[float, ...]
    gamma: tuple[float, ...]
    alpha: tuple[float, ...] = (0.1, 0.5, 0.8, 0.95, 0.99)
    degree: tuple[int, ...] = (1, 2)


def powers_of_two(*exponents: int) -> tuple[float, ...]:
    """2^k for each k."""
    return tuple(2.0**k for k in exponents)


PAPER_GRID = Grid(C=powers_of_two(*range(-5, 10, 2)), gamma=powers_of_two(*range(-5, 16, 2)))
"""The grid of the genRBF paper."""
QUICK_GRID = Grid(C=powers_of_two(-1, 3, 7), gamma=powers_of_two(-5, -3, -1, 1), alpha=(0.5, 0.95), degree=(1, 2))
"""Every second value of it in the part that is ever chosen on standardised columns."""


@dataclass(frozen=True)
class Method(ABC):
    """A way to classify rows with gaps.

    Attributes
    ----------
    name : str
        How tasks call it.
    label : str
        How tables and figures call it.
    """

    name: str
    label: str
    parameters: tuple[str, ...] = ("gamma",)

    def settings(self, grid: Grid) -> list[Setting]:
        """Every combination of the grid that the method knows, the penalty C last."""
        found: list[Setting] = [{}]
        for parameter in (*self.parameters, "C"):
            found = [one | {parameter: value} for one in found for value in getattr(grid, parameter)]
        return found

    @abstractmethod
    def estimator(self, setting: Setting, categorical=()):
        """An unfitted estimator; ``categorical`` names the columns of categories in a frame."""

    def predictions(self, X, y, new, settings: list[Setting]) -> list[np.ndarray]:
        """What the estimator of each setting, fitted to (X, y), predicts for new rows; tables of numbers."""
        return [self.estimator(setting).fit(X, y).predict(new) for setting in settings]


@dataclass(frozen=True)
class KernelMethod(Method):
    """A kernel between rows with gaps, and an SVM."""

    kernel: type[Kernel] = GenRBF
    fixed: dict = field(default_factory=dict)

    def estimator(self, setting, categorical=()):
        density = self._density() if not len(categorical) else "auto"
        machine = SVC(kernel=self._kernel(setting), C=setting["C"], density=density)
        return machine if len(categorical) else make_pipeline(StandardScaler(), machine)

    def predictions(self, X, y, new, settings):
        scaler = StandardScaler().fit(X)
        X, new = scaler.transform(X), scaler.transform(new)
        density = self._density().fit(X)
        rows, others = density.condition(X), density.condition(new)

        def matrices(setting):
            kernel = self._kernel(setting).resolve(density.moments(), rows)
            return [(kernel.gram(rows), kernel.cross(others, rows))]

        return _svm_predictions(matrices, self.parameters, y, settings)

    def _density(self):
        return Gaussian(tol=EM_TOLERANCE) if self.kernel.compares("gaussian") else Marginals()

    def _kernel(self, setting: Setting) -> Kernel:
        return self.kernel(**self.fixed, **{name: setting[name] for name in self.parameters})


@dataclass(frozen=True)
class FillingMethod(Method):
    """Gaps filled by a rule, then an RBF SVM."""

    rule: str = "mean"

    def estimator(self, setting, categorical=()):
        return baseline(
            self.rule, CompleteSVC(C=setting["C"], gamma=setting["gamma"]), categorical_features=list(categorical)
        )

    def predictions(self, X, y, new, settings):
        filler = baseline(self.rule).fit(X)
        X, new = filler.transform(X), filler.transform(new)

        def matrices(setting):
            return [(rbf_kernel(X, gamma=setting["gamma"]), rbf_kernel(new, X, gamma=setting["gamma"]))]

        return _svm_predictions(matrices, self.parameters, y, settings)


@dataclass(frozen=True)
class MultipleImputationMethod(Method):
    """Chained equations, an RBF SVM for each completion, decision values averaged (2MI)."""

    n_imputations: int = 5

    def estimator(self, setting, categorical=()):
        machine = CompleteSVC(C=setting["C"], gamma=setting["gamma"])
        pooled = MultipleImputationClassifier(machine, self._imputer(), pooling="average")
        return make_pipeline(StandardScaler(), pooled)

    def predictions(self, X, y, new, settings):
        scaler = StandardScaler().fit(X)
        X, new = scaler.transform(X), scaler.transform(new)
        imputer = self._imputer()
        completed, others = imputer.fit_transform_all(X), imputer.transform_all(new)
        pairs = list(zip(completed, others, strict=True))[: None if np.isnan(X).any() else 1]

        def matrices(setting):
            gamma = setting["gamma"]
            return [(rbf_kernel(here, gamma=gamma), rbf_kernel(there, here, gamma=gamma)) for here, there in pairs]

        return _svm_predictions(matrices, self.parameters, y, settings)

    def _imputer(self) -> ChainedEquations:
        return ChainedEquations(n_imputations=self.n_imputations, random_state=0)


@dataclass(frozen=True)
class GeometricMethod(Method):
    """The geometric margin in the columns that a row has."""

    kernel: str = "linear"

    def settings(self, grid):
        """As for every method, but no penalty above 8: a linear SVM then only takes longer."""
        return [one for one in super().settings(grid) if one["C"] <= 8 or self.kernel != "linear"]

    def estimator(self, setting, categorical=()):
        return make_pipeline(StandardScaler(), GeometricMarginSVC(kernel=self.kernel, **setting))


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        FillingMethod("mean", "mean", rule="mean"),
        FillingMethod("zero", "zero", rule="zero"),
        MultipleImputationMethod("mice", "mice"),
        GeometricMethod("geom", "geom", parameters=()),
        GeometricMethod("geom_rbf", "geom, RBF", kernel="rbf"),
        KernelMethod("karma", "karma", ("degree", "gamma"), kernel=Karma, fixed={"form": "rbf"}),
        KernelMethod("genrbf", "genRBF", kernel=GenRBF),
        KernelMethod("genrbf_white", "genRBF, whitened", kernel=GenRBF, fixed={"metric": "mahalanobis"}),
        KernelMethod("rbf", "expected RBF", kernel=ExpectedRBF),
        KernelMethod("ehk", "EHK", ("alpha",), kernel=HeterogeneousKernel),
    )
}
"""The methods by name; `estimator` and `settings` serve any comparison."""


def _svm_predictions(matrices, parameters, y, settings: list[Setting]) -> list[np.ndarray]:
    """Predictions of SVMs on given kernel matrices; one matrix at a time, all its penalties in turn."""
    out: list[np.ndarray] = [np.empty(0)] * len(settings)
    for places in _groups(settings, parameters):
        pairs = matrices(settings[places[0]])
        for place in places:
            machines = [CompleteSVC(kernel="precomputed", C=settings[place]["C"]).fit(gram, y) for gram, _ in pairs]
            if len(machines) == 1:
                out[place] = machines[0].predict(pairs[0][1])
                continue
            values = sum(machine.decision_function(cross) for machine, (_, cross) in zip(machines, pairs, strict=True))
            choice = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
            out[place] = machines[0].classes_[choice]
    return out


def _groups(settings: list[Setting], parameters) -> Iterator[list[int]]:
    """Places of settings that share the kernel."""
    found: dict[tuple, list[int]] = {}
    for place, setting in enumerate(settings):
        found.setdefault(tuple(setting[name] for name in parameters), []).append(place)
    yield from found.values()
