"""From labels to a solution: the solvers by name, and the way into the transductive problem.

A row whose label is wholly missing adds nothing to the paper's objective. Transduction (ours) asks of such rows that
their label be clear, see `incomplete_losses`. That has many minima, so the weight of these rows grows from little to
all of it, starting at the solution of the labelled rows; and as all of them could agree on one class, their mean
scores are held near the logarithms of the classes' shares among the labelled rows (`Balance`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gapkernel.papers.missing_variables.losses import IncompleteLoss, Margin, Softmax
from gapkernel.papers.missing_variables.objective import Balance, IncompleteProblem
from gapkernel.papers.missing_variables.procedure import (
    IncompleteSolution,
    Watch,
    solve_cccp,
    solve_lbfgs,
    starting_point,
)
from gapkernel.papers.missing_variables.stochastic import solve_sgd

LOSSES: dict[str, type[IncompleteLoss]] = {"gp": Softmax, "svm": Margin}

SMOOTH: dict[str, IncompleteLoss] = {"gp": Softmax(), "svm": Margin(temperature=0.1)}
"""The same losses, or one near, where a few steps of L-BFGS must do."""

STAGES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Shares of the transductive weight, from the solution of the labelled rows on."""

ON_THE_WAY = 1e-4
"""Tolerance of the stages before the last."""


def solve_incomplete(
    problem: IncompleteProblem,
    solver: str,
    *,
    tol: float,
    max_iter: int,
    watch: Watch,
    random: np.random.Generator,
    balance: float,
) -> IncompleteSolution:
    """Solve ``problem``, by stages if some of its rows are transductive.

    ``objective`` of the result is that of the last stage.
    """

    def solve(problem, theta, tol=tol):
        if solver == "sgd":
            return solve_sgd(problem, theta, tol=tol, max_iter=max_iter, watch=watch, random=random)
        method = solve_cccp if solver == "cccp" else solve_lbfgs
        return method(problem, theta, tol=tol, max_iter=max_iter, watch=watch)

    supervised = _at_stage(problem, 0.0)
    start = starting_point(supervised, solver, tol=tol, max_iter=max_iter, watch=watch)
    if not any(labels.transductive.any() for labels in problem.labels):
        return solve(problem, start)
    solution = solve(supervised, start, max(tol, ON_THE_WAY))
    problem = replace(problem, balance=_balance(problem, balance))
    for share in STAGES[:-1]:
        solution = solve(_at_stage(problem, share), solution.theta, max(tol, ON_THE_WAY))
    return solve(problem, solution.theta)


def _at_stage(problem: IncompleteProblem, share: float) -> IncompleteProblem:
    labels = [replace(part, transductive=share * part.transductive) for part in problem.labels]
    return replace(problem, labels=labels)


def _balance(problem: IncompleteProblem, strength: float) -> Balance:
    """Mean scores over the transductive rows: centred logarithms of the classes' shares, one row added to each."""
    total, weight = np.zeros(problem.shape[1]), 0.0
    known = np.ones(problem.shape[0])
    for block, labels in problem:
        mine = labels.weight * (labels.transductive > 0)
        total += np.exp(block.log_weight) * np.repeat(mine, block.counts) @ block.features
        weight += mine.sum()
        certain = labels.candidates.sum(axis=1) == 1
        known += labels.weight[certain] @ labels.candidates[certain]
    target = np.log(known)
    return Balance(strength * weight, total / weight, target - target.mean())
