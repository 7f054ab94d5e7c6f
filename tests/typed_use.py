"""A program of a user who checks types: `make lint` runs mypy --strict on it. It is never run itself."""

from typing import Any

import numpy as np

import gapkernel as gk
from gapkernel.missingness.summary import GapSummary
from gapkernel.persistence import load, save


def use() -> None:
    """One line for each part of the public surface."""
    X: np.ndarray = np.zeros((4, 2))
    y: np.ndarray = np.array([0, 1, 0, 1])

    classifier: gk.SVC = gk.SVC(C=1.0, kernel="genrbf").fit(X, y)
    answers: np.ndarray = classifier.predict(X)
    chances: np.ndarray = gk.GapClassifier(random_state=0).fit(X, y).predict_proba(X)
    process: gk.GaussianProcessRegressor = gk.GaussianProcessRegressor(conformal="count").fit(X, y)
    mean, std = process.predict(X, return_std=True)
    intervals: np.ndarray = process.predict_interval(X, coverage=0.9)
    chosen: gk.SVCCV = gk.SVCCV(Cs=[1.0, 10.0]).fit(X, y)
    many: gk.FourierClassifier = gk.FourierClassifier(64).fit(gk.batches(X, y))

    laws: gk.rows.Rows = gk.density.Gaussian().fit(X).condition(X)
    gram: np.ndarray = (gk.kernels.GenRBF(gamma=0.5) * 2.0 + gk.kernels.ExpectedLinear()).gram(laws)
    tables: Any = gk.ChainedEquations(n_imputations=2).fit_transform_all(gk.ampute(X, 0.3, random_state=0))
    gaps: GapSummary = gk.missingness.summary(X)
    covered: np.ndarray = gk.inspection.coverage(process, X, y).covered

    save(classifier, "model.skops")
    model: Any = load("model.skops")
    with gk.config_context(n_threads=1) as config:
        threads: int | None = config.n_threads
    gk.set_config(progress=False)
