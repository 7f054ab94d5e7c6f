"""The study behind ``gapkernel compare``: every machine on the same folds, with more and more cells hidden."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, r2_score, root_mean_squared_error

import gapkernel as gk
from gapkernel.cli.machines import COMPARED, INNER_FOLDS, MACHINES, folds, with_probabilities
from gapkernel.cli.problem import Problem
from gapkernel.experiments import Study, Task
from gapkernel.experiments.store import versions

FOLDS = 5
REPEATS = 2
FRACTIONS = (0.2, 0.4, 0.6)
DRAWS = 2


@dataclass(frozen=True)
class CompareTask:
    """Does one task: chooses settings and fits inside the training fold, scores on the test fold.

    Attributes
    ----------
    problem : Problem
    """

    problem: Problem

    def __call__(self, task: Task) -> dict[str, Any]:
        problem, machine = self.problem, MACHINES[task.method]
        X = problem.X
        if task.fraction:
            X = gk.ampute(X, task.fraction, task.mechanism, random_state=task.data_seed)
        train, test = list(folds(problem, FOLDS, task.split_seed).split(X, problem.y))[task.fold]
        y = np.unique(problem.y, return_inverse=True)[1] if problem.task == "classification" else problem.y
        with warnings.catch_warnings(), gk.config_context(n_threads=1):  # tasks are what runs in parallel
            warnings.simplefilter("ignore")  # of single machines, such as an imputer that did not converge
            begin = perf_counter()
            inner = folds(problem, INNER_FOLDS, task.split_seed)
            choice = machine.choose(problem, X.iloc[train], y[train], inner)
            chosen = perf_counter()
            model = choice.estimator.fit(X.iloc[train], y[train])
            fitted = perf_counter()
            answer = _scores(model, X.iloc[test], y[test], problem.task)
            if problem.task == "classification" and not task.fraction:
                sure = with_probabilities(choice.estimator, problem, task.split_seed).fit(X.iloc[train], y[train])
                answer |= _promises(sure, X.iloc[test], y[test])
        return answer | {
            "settings": choice.settings,
            "rows": test.tolist(),
            "tune_seconds": chosen - begin,
            "fit_seconds": fitted - chosen,
        }


def compare_study(problem: Problem, machines=COMPARED, *, fractions=FRACTIONS, draws=DRAWS, repeats=REPEATS) -> Study:
    """The tasks: ``repeats`` cross-validations of the table as it is, and ``draws`` at each share of hidden cells."""
    natural = [
        Task(problem.name, method, repeat=repeat, fold=fold)
        for repeat in range(repeats)
        for fold in range(FOLDS)
        for method in machines
    ]
    hidden = [
        Task(problem.name, method, mechanism="mcar", fraction=fraction, draw=draw, fold=fold)
        for fraction in fractions
        for draw in range(draws)
        for fold in range(FOLDS)
        for method in machines
    ]
    settings = {"task": problem.task, "target": problem.target, "folds": FOLDS, "versions": versions()}
    name = f"{problem.name} {fingerprint(problem, settings)}"
    return Study(name, tuple(natural + hidden), CompareTask(problem), settings)


def fingerprint(problem: Problem, settings) -> str:
    """A short name for a table and what is done to it: results of one never pass for those of another."""
    digest = hashlib.sha256(repr((sorted(settings.items()), list(problem.X), problem.target)).encode())
    digest.update(pd.util.hash_pandas_object(problem.X, index=False).to_numpy().tobytes())
    digest.update(repr(problem.y.tolist()).encode())
    return digest.hexdigest()[:8]


def _scores(model, X, y, task: str) -> dict[str, Any]:
    """How good the answers on new rows are."""
    guess = model.predict(X)
    if task == "classification":
        return {"score": accuracy_score(y, guess), "balanced_accuracy": balanced_accuracy_score(y, guess)}
    return {"score": r2_score(y, guess), "rmse": root_mean_squared_error(y, guess), "answers": guess.tolist()}


def _promises(model, X, y) -> dict[str, Any]:
    """How good the probabilities are, and the probabilities."""
    chances = model.predict_proba(X)
    return {"log_loss": log_loss(y, chances, labels=model.classes_), "answers": chances.tolist()}
