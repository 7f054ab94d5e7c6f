"""What the EHK paper does to a data set: four kernels, a grid, and the best cell of repeated cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from time import process_time
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from gapkernel.compute.runtime.config import config_context
from gapkernel.datasets import ehk_laws, load, make_ehk_synthetic, make_source_tracking
from gapkernel.density import Marginals
from gapkernel.experiments.tasks import Task
from gapkernel.imputation import baseline
from gapkernel.kernels import HeterogeneousKernel
from gapkernel.missingness import ampute

Matrices = Iterator[tuple[np.ndarray, np.ndarray]]
REGRESSION = ("servo", "water_treatment")


@dataclass(frozen=True)
class EHKGrid:
    """Widths of the RBF kernels, alphas of EHK_alpha, penalties, and epsilons of regression."""

    gamma: tuple[float, ...]
    alpha: tuple[float, ...]
    smooth_alpha: tuple[float, ...]
    C: tuple[float, ...]
    regression_C: tuple[float, ...]
    epsilon: tuple[float, ...]

    def machines(self, regression: bool) -> list[dict]:
        """Settings of the SVM."""
        if not regression:
            return [{"C": C} for C in self.C]
        return [{"C": C, "epsilon": e, "max_iter": 200_000} for C in self.regression_C for e in self.epsilon]


@dataclass(frozen=True)
class GridCV:
    """The paper's protocol for one repetition: the loss of every cell of the grid, averaged over folds."""

    grid: EHKGrid
    n_folds: int = 10
    data_dir: str | None = None

    def __call__(self, task: Task) -> dict[str, Any]:
        begin = process_time()
        X, y = data(task, self.data_dir)
        splits = _folds(task, self.n_folds).split(np.zeros(len(y)), y)
        losses = np.mean([loss_table(task, self.grid, X, y, train, test) for train, test in splits], axis=0)
        return {"losses": losses.tolist(), "seconds": process_time() - begin}

    @property
    def settings(self) -> dict[str, Any]:
        """What changes the results, for the record."""
        return {name: value for name, value in asdict(self).items() if name != "data_dir"}


@dataclass(frozen=True)
class NestedGridCV(GridCV):
    """The same grid, its best cell found by folds inside the training part of the task's fold."""

    n_inner_folds: int = 5

    def __call__(self, task: Task) -> dict[str, Any]:
        begin = process_time()
        X, y = data(task, self.data_dir)
        train, test = list(_folds(task, self.n_folds).split(np.zeros(len(y)), y))[task.fold]
        inside = _folds(task, self.n_inner_folds).split(np.zeros(len(train)), y[train])
        losses = np.mean([loss_table(task, self.grid, X, y, train[a], train[b]) for a, b in inside], axis=0)
        best = np.unravel_index(int(losses.argmin()), losses.shape)
        loss = loss_table(task, self.grid, X, y, train, test, only=best)
        return {"loss": float(loss[0, 0]), "rows": len(test), "seconds": process_time() - begin}


def data(task: Task, data_dir: str | None):
    """The table and target of a task; cells removed if it says so."""
    if task.dataset == "synthetic":
        X, y = make_ehk_synthetic(500, random_state=task.draw)
        return (ampute(X, task.fraction, random_state=task.data_seed) if task.fraction else X), y
    if task.dataset == "source_tracking":
        X, y = make_source_tracking(random_state=task.draw)
        return X.astype("category"), y
    return load(task.dataset, data_dir)


def loss_table(task: Task, grid: EHKGrid, X, y, train, test, only=None) -> np.ndarray:
    """Loss of every (kernel, machine) of the grid, or of one cell; laws are those of the training rows."""
    regression = task.dataset in REGRESSION
    machines = grid.machines(regression)
    machines = machines if only is None else [machines[only[1]]]
    make = SVR if regression else SVC

    def loss(guess) -> float:
        if not regression:
            return float(np.mean(guess != y[test]))
        return float(np.sqrt(np.mean((y[test] - guess) ** 2) / np.mean((y[test] - y.mean()) ** 2)))

    rows = []
    with warnings.catch_warnings(), config_context(n_threads=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        pairs = METHODS[task.method](grid, regression, X.iloc[train], X.iloc[test])
        for place, (gram, cross) in enumerate(pairs):
            if only is None or place == only[0]:
                fitted = (make(kernel="precomputed", **machine).fit(gram, y[train]) for machine in machines)
                rows.append([loss(machine.predict(cross)) for machine in fitted])
    return np.array(rows)


def _rbf(rule: str) -> Callable[..., Matrices]:
    def matrices(grid: EHKGrid, regression: bool, train, test) -> Matrices:
        categorical = [c for c in train if train[c].dtype.kind not in "fi"]
        filler = baseline(rule, categorical_features=categorical).fit(_plain(train, categorical))
        here, there = (filler.transform(_plain(part, categorical)) for part in (train, test))
        for gamma in grid.gamma:
            yield rbf_kernel(here, gamma=gamma), rbf_kernel(there, here, gamma=gamma)

    return matrices


def _ehk(activation: bool, known: bool) -> Callable[..., Matrices]:
    def matrices(grid: EHKGrid, regression: bool, train, test) -> Matrices:
        density = Marginals(laws=ehk_laws(), categorical="uniform") if known else Marginals()
        rows, kernel = density.fit(train).condition(train), HeterogeneousKernel()
        gram, cross = kernel.gram(rows), kernel.cross(density.condition(test), rows)
        if not activation:
            yield gram, cross
            return
        for alpha in grid.smooth_alpha if regression else grid.alpha:
            yield activated(gram, alpha), activated(cross, alpha)

    return matrices


def activated(mean: np.ndarray, alpha: float) -> np.ndarray:
    """EHK_alpha from EHK, scaled to 1 on the diagonal so that C means the same for every alpha."""
    return ((1 - alpha) / (1 - alpha * mean)) ** (1 / alpha)


METHODS: dict[str, Callable[..., Matrices]] = {
    "rbf1": _rbf("rbf1"),
    "rbf2": _rbf("rbf2"),
    "ehk": _ehk(activation=False, known=False),
    "ehk_alpha": _ehk(activation=True, known=False),
    "ehk_known": _ehk(activation=False, known=True),
    "ehk_alpha_known": _ehk(activation=True, known=True),
}


def _folds(task: Task, n_folds: int):
    kind = KFold if task.dataset in REGRESSION else StratifiedKFold
    return kind(n_folds, shuffle=True, random_state=task.split_seed)


def _plain(frame, categorical):
    """Categories as objects with None in the gaps, for scikit-learn's encoders."""
    plain = {c: frame[c].astype(object).where(frame[c].notna(), np.nan) for c in categorical}
    return frame.assign(**plain)
