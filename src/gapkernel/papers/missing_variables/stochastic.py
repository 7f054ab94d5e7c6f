"""Stochastic gradient descent on the regularised loss of rows with gaps (the paper's third way).

The gradient of a batch is corrected by that of the same batch at the start of the round, where the gradient of all
rows is known (Johnson and Zhang's variance reduction): the steps need not shrink for the noise to vanish.
"""

from __future__ import annotations

import numpy as np

from gapkernel.papers.missing_variables.objective import IncompleteProblem
from gapkernel.papers.missing_variables.procedure import IncompleteSolution, Watch, through_smooth_losses

BATCH_ROWS = 16
COLDEST = 3e-3
"""Least temperature of the smooth losses: nearer the hinge, its curvature would allow tiny steps only."""

PATIENCE = 8
"""Rounds in a row that may fail to lower J, each with half the step, before the end."""


def solve_sgd(
    problem: IncompleteProblem, theta, *, tol: float, max_iter: int, watch: Watch, random: np.random.Generator
) -> IncompleteSolution:
    """Rounds over all rows in random order, for the hinge through smooth losses."""

    def solve(problem, theta, max_iter, watch):
        return _descend(problem, theta, tol, max_iter, watch, random)

    return through_smooth_losses(problem, theta, solve, max_iter, watch, coldest=COLDEST)


def _descend(problem: IncompleteProblem, theta, tol, max_iter, watch, random) -> IncompleteSolution:
    """A round that does not lower J is taken back, and the step is halved."""
    value, gradient = problem.objective(theta)
    history, failures, converged = [value], 0, False
    step = 1.0 / _curvature(problem)
    while len(history) <= max_iter and not converged:
        proposal = _round(problem, theta, gradient, step, random)
        new_value, new_gradient = problem.objective(proposal)
        fallen = value - new_value
        if fallen >= 0:
            theta, value, gradient, step, failures = proposal, new_value, new_gradient, 1.2 * step, 0
        else:
            step, failures = 0.5 * step, failures + 1
        history.append(value)
        watch(len(history) - 1, value)
        converged = 0 <= fallen <= tol * (1.0 + abs(value)) or failures >= PATIENCE
    return IncompleteSolution(theta, np.array(history), len(history) - 1, converged)


def _round(problem: IncompleteProblem, anchor, gradient, step, random) -> np.ndarray:
    """One pass over the rows. Blocks come in random order, and batches within a block too."""
    theta, n = anchor.copy(), problem.n_rows
    for b in random.permutation(len(problem.labels)):
        block, labels = problem.blocks[b], problem.labels[b]
        order = random.permutation(len(labels))
        for begin in range(0, len(order), BATCH_ROWS):
            rows = np.sort(order[begin : begin + BATCH_ROWS])
            batch = block[rows]
            _, now = problem.loss.value(batch.scores(theta), batch.counts, labels[rows])
            _, then = problem.loss.value(batch.scores(anchor), batch.counts, labels[rows])
            change = batch.pull_back(now - then) * (n / len(rows))
            change += problem.quadratic(theta)[1] - problem.quadratic(anchor)[1]
            theta -= step / n * (gradient + change)
    return theta


def _curvature(problem: IncompleteProblem) -> float:
    """A bound of the curvature of J / n_rows, from the longest feature vector and the largest weight."""
    longest = max(
        float(labels.weight.max(initial=0.0) * np.einsum("sr,sr->s", block.features, block.features).max(initial=0.0))
        for block, labels in problem
    )
    extra = problem.penalty
    if problem.balance is not None:
        extra += problem.balance.strength * float(problem.balance.mean_feature @ problem.balance.mean_feature)
    return longest + extra / problem.n_rows
