"""``gapkernel warmup``: compile the loops now, for example while an image is built, so that hardly any fit waits."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from rich.console import Console

import gapkernel as gk
from gapkernel.cli.output import say


def warm_up() -> None:
    """Fit and predict by every engine once, on a small table."""
    begin = perf_counter()
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 5))
    y, classes = X[:, 0].copy(), (X[:, 0] > 0).astype(int)
    X[random.random(X.shape) < 0.3] = np.nan
    for kernel in ("genrbf", "ehk"):
        gk.SVC(kernel=kernel).fit(X, classes).predict(X)
    gk.SVC(density=gk.density.FactorAnalysis(2)).fit(X, classes).predict(X)
    gk.SVC(density=gk.density.GaussianMixture(2, random_state=0)).fit(X, classes).predict(X)
    mixed = [[f"{number:.0f}", *row] for number, row in zip(random.poisson(1.0, len(X)), X.tolist(), strict=True)]
    gk.GapClassifier(cv=2, categorical_features=[0], random_state=0).fit(mixed, classes).predict_proba(mixed)
    gk.SVCCV(Cs=[1.0], gammas=3, cv=2).fit(X, classes)
    gk.GaussianProcessRegressor().fit(X, y).predict(X, return_std=True)
    gk.FourierRegressor(16, random_state=0).fit(X, y).predict(X)
    gk.ChainedEquations(n_imputations=2, random_state=0).fit(X)
    say(Console(), f"The loops are compiled, in {perf_counter() - begin:.0f} seconds, and kept on disk.")
