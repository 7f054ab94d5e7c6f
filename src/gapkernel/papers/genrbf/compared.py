"""The methods that the genRBF paper compares, and those that stand beside them here."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as CompleteSVC

from gapkernel import studies
from gapkernel.estimators import SVC, GaussianProcessClassifier, MultipleImputationClassifier
from gapkernel.imputation import ChainedEquations, GapFiller
from gapkernel.kernels import GenRBF
from gapkernel.papers.genrbf.geometric_margin import GeometricMarginSVC
from gapkernel.papers.genrbf.karma import Karma
from gapkernel.studies import FilledMethod, MadeMethod, Method, PreparedMethod, answers_on_complete_rows, on_laws


@dataclass(frozen=True, kw_only=True)
class GeometricMethod(PreparedMethod):
    """The geometric margin in the columns that a row has."""

    kernel: str
    tasks: tuple[str, ...] = ("classification",)
    preparation: BaseEstimator | None = field(default_factory=StandardScaler)

    def settings(self, grid, task="classification"):
        """As for every method, but no penalty above 8 without a width: a linear SVM then only takes longer."""
        return [one for one in super().settings(grid, task) if one["C"] <= 8 or self.kernel != "linear"]

    def _last(self, setting, task):
        return GeometricMarginSVC(kernel=self.kernel, **setting)


@dataclass(frozen=True, kw_only=True)
class MultipleImputationMethod(PreparedMethod):
    """Chained equations, an RBF support vector machine for each completion, decision values averaged (2MI)."""

    parameters: tuple[str, ...] = ("gamma", "C")
    tasks: tuple[str, ...] = ("classification",)
    preparation: BaseEstimator | None = field(default_factory=StandardScaler)

    def _last(self, setting, task):
        return MultipleImputationClassifier(CompleteSVC(**setting), self._imputer(), pooling="average")

    def _answers(self, here, y, there, settings, task):
        imputer = self._imputer()
        completed, others = imputer.fit_transform_all(here), imputer.transform_all(there)
        pairs = list(zip(completed, others, strict=True))[: None if np.isnan(here).any() else 1]
        values = [answers_on_complete_rows(SVC(), *pair, y, settings, "decision_function") for pair in pairs]
        return [_voted(total, y) for total in np.sum(values, axis=0)]

    def _imputer(self) -> ChainedEquations:
        return ChainedEquations(n_imputations=5, random_state=0)


def _voted(values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The class with the largest decision value."""
    return np.unique(y)[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]


def _process(task: str) -> BaseEstimator:
    return GaussianProcessClassifier()


def _on_one_table(name: str, short: str, draws: str) -> FilledMethod:
    """An SVM on one table of chained equations, as many use them."""
    chain = make_pipeline(StandardScaler(), ChainedEquations(n_imputations=1, draws=draws, random_state=0))
    return FilledMethod(name=name, label=f"{short} SVM", short=short, preparation=chain, tasks=("classification",))


METHODS: dict[str, Method] = studies.METHODS | {
    method.name: method
    for method in (
        on_laws("genrbf_white", "genRBF, whitened", GenRBF(metric="mahalanobis"), "gamma"),
        on_laws("karma", "karma", Karma(form="distance"), "degree", "gamma"),
        on_laws("karma_linear", "karma, linear", Karma(), "degree"),
        on_laws("karma_columns", "karma, RBF of columns", Karma(form="featurewise"), "degree", "gamma"),
        FilledMethod(name="zero", label="zero SVM", short="zero", preparation=GapFiller(name="zero", random_state=0)),
        MultipleImputationMethod(name="mice", label="multiple imputation SVM", short="mice"),
        _on_one_table("mice_one", "mice, one table", draws="proper"),
        _on_one_table("mice_mean", "mice, without draws", draws="expected"),
        GeometricMethod(name="geom", label="geometric margin SVM", short="geom", kernel="linear", parameters=("C",)),
        GeometricMethod(
            name="geom_rbf",
            label="geometric margin RBF SVM",
            short="geom, RBF",
            kernel="rbf",
            parameters=("gamma", "C"),
        ),
        MadeMethod(
            name="process",
            label="Gaussian process",
            short="process",
            make=_process,
            preparation=StandardScaler(),
            ours=True,
            tasks=("classification",),
        ),
    )
}
"""The methods by name."""
