"""The candidates that the genRBF paper compares, and those that stand beside them here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as CompleteSVC

from gapkernel import studies
from gapkernel.estimators import SVC, GaussianProcessClassifier, MultipleImputationClassifier
from gapkernel.imputation import ChainedEquations, GapFiller
from gapkernel.kernels import GenRBF
from gapkernel.papers.genrbf.geometric_margin import GeometricMarginSVC
from gapkernel.papers.genrbf.karma import Karma
from gapkernel.studies import Candidate, answers_on_complete_rows, from_grid, on_filled, on_laws

CLASSES = ("classification",)


@dataclass(frozen=True, kw_only=True)
class MultipleImputation(Candidate):
    """Chained equations, an RBF support vector machine for each completion, decision values averaged (2MI).

    The completions of a split serve all settings.
    """

    def _answers(self, table, settings, task):
        return [self._of_split(table, split, settings) for split in table.splits]

    def _of_split(self, table, split, settings):
        train, test = split
        scaler, machines = (step for _, step in clone(self.estimator).steps)
        here, y = scaler.fit_transform(table.X[train]), table.y[train]
        completed = machines.imputer.fit_transform_all(here)
        pairs = zip(completed, machines.imputer.transform_all(scaler.transform(table.X[test])), strict=True)
        few = [*pairs][: None if np.isnan(here).any() else 1]
        values = [answers_on_complete_rows(SVC(kernel="rbf"), *pair, y, settings, _decisions) for pair in few]
        return [_voted(total, y) for total in np.sum(values, axis=0)]


def _decisions(model, new) -> np.ndarray:
    return model.decision_function(new)


def _voted(values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The class with the largest decision value."""
    return np.unique(y)[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]


def _on_one_table(name: str, short: str, draws: str) -> Candidate:
    """An SVM on one table of chained equations, as many use them."""
    chain = make_pipeline(StandardScaler(), ChainedEquations(n_imputations=1, draws=draws, random_state=0))
    return on_filled(name, short, chain, tasks=CLASSES)


def _geometric(name: str, kernel: str, grid, **fields) -> Candidate:
    """The geometric margin in the columns that a row has."""
    estimator = make_pipeline(StandardScaler(), GeometricMarginSVC(kernel=kernel))
    return Candidate(name=name, estimator=estimator, grid=grid, **fields, tasks=CLASSES)


def _penalties_up_to_8(grid, task):
    """A linear machine only takes longer with larger ones."""
    return {"C": [C for C in grid.C if C <= 8]}


CANDIDATES: dict[str, Candidate] = studies.CANDIDATES | {
    candidate.name: candidate
    for candidate in (
        on_laws("genrbf_white", "genRBF, whitened", GenRBF(metric="mahalanobis"), "gamma"),
        on_laws("karma", "karma", Karma(form="distance"), "degree", "gamma"),
        on_laws("karma_linear", "karma, linear", Karma(), "degree"),
        on_laws("karma_columns", "karma, RBF of columns", Karma(form="featurewise"), "degree", "gamma"),
        on_filled("mean", "mean", GapFiller(name="mean", random_state=0)),
        on_filled("zero", "zero", GapFiller(name="zero", random_state=0)),
        MultipleImputation(
            name="mice",
            estimator=make_pipeline(
                StandardScaler(),
                MultipleImputationClassifier(
                    CompleteSVC(), ChainedEquations(n_imputations=5, random_state=0), pooling="average"
                ),
            ),
            grid=from_grid("gamma", "C"),
            label="multiple imputation SVM",
            short="mice",
            tasks=CLASSES,
        ),
        _on_one_table("mice_one", "mice, one table", draws="proper"),
        _on_one_table("mice_mean", "mice, without draws", draws="expected"),
        _geometric("geom", "linear", _penalties_up_to_8, label="geometric margin SVM", short="geom"),
        _geometric("geom_rbf", "rbf", from_grid("gamma", "C"), label="geometric margin RBF SVM", short="geom, RBF"),
        Candidate(
            name="process",
            estimator=make_pipeline(StandardScaler(), GaussianProcessClassifier()),
            label="Gaussian process",
            short="process",
            ours=True,
            tasks=CLASSES,
        ),
    )
}
"""The candidates by name."""
