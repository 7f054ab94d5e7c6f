"""What the EHK paper does to a data set: six methods, a grid, and the best cell of repeated cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapkernel import ampute
from gapkernel.datasets import load, make_source_tracking
from gapkernel.density import Marginals
from gapkernel.imputation import GapFiller
from gapkernel.kernels import HeterogeneousKernel
from gapkernel.papers.kernel_extension.synthetic import make_ehk_synthetic, true_laws
from gapkernel.studies import (
    Candidate,
    Grid,
    Metric,
    Protocol,
    Task,
    fold_of,
    folds,
    from_grid,
    on_filled,
    on_laws,
    try_out,
)

REGRESSION = ("servo", "water_treatment")
FEW_ITERATIONS = {"max_iter": 200_000}


def _ehk(name: str, *parameters: str, known: bool = False) -> Candidate:
    density = Marginals(laws=true_laws(), categorical="uniform") if known else Marginals()
    return on_laws(
        name, name, HeterogeneousKernel(), *parameters, density=density, options=FEW_ITERATIONS, scales_target=False
    )


def _rbf(name: str) -> Candidate:
    grid = from_grid("gamma", "C", "epsilon", **{name: (value,) for name, value in FEW_ITERATIONS.items()})
    return on_filled(name, name, GapFiller(name=name, random_state=0), grid=grid, scales_target=False)


CANDIDATES = {
    candidate.name: candidate
    for candidate in (
        _rbf("rbf1"),
        _rbf("rbf2"),
        _ehk("ehk"),
        _ehk("ehk_alpha", "alpha"),
        _ehk("ehk_known", known=True),
        _ehk("ehk_alpha_known", "alpha", known=True),
    )
}


@dataclass(frozen=True, kw_only=True)
class GridCV(Protocol):
    """The paper's protocol for one repetition: the loss of every cell of the grid, averaged over folds.

    Attributes
    ----------
    grids : mapping of str to Grid
        One for "classification", one for "regression".
    n_folds : int
    """

    grids: Mapping[str, Grid]
    n_folds: int = 10

    def result(self, task: Task) -> dict[str, Any]:
        X, y = data(task, self.data_dir)
        candidate, kind = CANDIDATES[task.method], kind_of(task)
        cv = folds(self.n_folds, task.split_seed, kind)
        losses = candidate.scores(X, y, cv, candidate.settings(self.grids[kind], kind), kind, loss_of(task, y))
        return {"losses": losses.mean(axis=0).tolist()}


@dataclass(frozen=True, kw_only=True)
class NestedGridCV(GridCV):
    """The same grid, its best cell found by folds inside the training part of the task's fold."""

    n_inner_folds: int = 5

    def result(self, task: Task) -> dict[str, Any]:
        X, y = data(task, self.data_dir)
        candidate, kind, loss = CANDIDATES[task.method], kind_of(task), loss_of(task, y)
        train, test = fold_of(task, y, self.n_folds, kind)
        cv, grid = folds(self.n_inner_folds, task.split_seed, kind), self.grids[kind]
        trial = try_out(candidate, X, y, train, test, cv, grid, kind, lambda truth, guess: -loss(truth, guess))
        return {"loss": loss(y[test], trial.guess), "rows": len(test), "settings": trial.choice.settings}


def data(task: Task, data_dir: str | None):
    """The table and target of a task; cells removed if it says so."""
    if task.dataset == "synthetic":
        X, y = make_ehk_synthetic(500, random_state=task.draw)
        return (ampute(X, task.fraction, random_state=task.data_seed) if task.fraction else X), y
    if task.dataset == "source_tracking":
        X, y = make_source_tracking(random_state=task.draw)
        return X.astype("category"), y
    return load(task.dataset, data_dir)


def kind_of(task: Task) -> str:
    """Whether classes or numbers are predicted."""
    return "regression" if task.dataset in REGRESSION else "classification"


def loss_of(task: Task, y: np.ndarray) -> Metric:
    """Share of errors, or the root mean square error over that of the mean."""
    if task.dataset not in REGRESSION:
        return lambda truth, guess: float(np.mean(guess != truth))
    return lambda truth, guess: float(np.sqrt(np.mean((truth - guess) ** 2) / np.mean((truth - y.mean()) ** 2)))
