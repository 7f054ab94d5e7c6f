"""Three ways to minimise the objective of rows with gaps: the concave-convex procedure, L-BFGS, stochastic gradients.

The objective J is a difference of convex functions. One step of the procedure replaces the part that is subtracted by
its tangent plane and lowers the convex rest, so that J never rises, and the limit is a stationary point. For "gp" that
is the EM algorithm: the plane averages the features of each row's completions by their probability given the row's
label (equation 5 of docs/theory/cccp.md).

The hinge of "svm" has corners. All three approach it by smooth losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from gapkernel.papers.missing_variables.losses import Margin
from gapkernel.papers.missing_variables.objective import IncompleteProblem

ROUNDING, SINGLE_ROUNDING = 1e-9, 1e-5
"""A change of the objective by this share of itself is no more than rounding, for features in double and in single
precision."""

SETTLED = 1e-6
"""A line search that fails after a fall, or at a gradient, of this share of the objective has reached rounding."""

LINE_SEARCH = 100
"""Most evaluations of a line search: from one smooth loss to a much sharper one the first step is far too long."""

BATCH_ROWS = 16
"""Rows whose gradient makes a stochastic step."""

PATIENCE = 8
"""Rounds of stochastic steps in a row that may fail to lower J, each with half the step, before the end."""

Watch = Callable[[int, float], None]


@dataclass(frozen=True)
class IncompleteSolution:
    """Where a minimiser ended.

    Attributes
    ----------
    theta : ndarray of shape (n_classes, n_basis)
    objective : ndarray
        J at the start and after every iteration; of the hinge, after every smooth loss.
    n_iter : int
    converged : bool
    """

    theta: np.ndarray
    objective: np.ndarray
    n_iter: int
    converged: bool


@dataclass(eq=False, repr=False)
class Minimiser(BaseEstimator, ABC):
    """What the three ways have in common."""

    tol: float = 1e-5
    _: KW_ONLY
    max_iter: int = 1000

    _parameter_constraints: ClassVar[dict] = {
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    temperatures: ClassVar[tuple[float, ...]]
    """Temperatures of the smooth losses by which the hinge is approached."""

    shuffles: ClassVar[bool] = False
    """Whether the rows should come in random order."""

    def minimise(
        self, problem: IncompleteProblem, theta: np.ndarray, *, watch: Watch, random: np.random.Generator | None
    ) -> IncompleteSolution:
        """Minimise J from ``theta``, the hinge through smooth losses of which each is kept only if the hinge fell."""
        if problem.loss.smooth:
            return self._descend(problem, theta, self.max_iter, watch, random)
        history, n_iter, converged = [problem.objective(theta)[0]], 0, False
        for temperature in self.temperatures:
            smooth = replace(problem, loss=Margin(temperature))
            stage = self._descend(smooth, theta, self.max_iter - n_iter, quiet, random)
            value = problem.objective(stage.theta)[0]
            theta = stage.theta if value <= history[-1] else theta
            history.append(min(value, history[-1]))
            n_iter += stage.n_iter
            fallen = history[-2] - history[-1]
            stuck = converged and fallen <= SETTLED * (1.0 + abs(value))  # the hinge's corner, or rounding
            converged = (stage.converged or stuck) and n_iter < self.max_iter
            watch(n_iter, history[-1])
            if n_iter >= self.max_iter:
                break
        return IncompleteSolution(theta, np.array(history), n_iter, converged)

    @abstractmethod
    def _descend(self, problem: IncompleteProblem, theta, max_iter: int, watch: Watch, random) -> IncompleteSolution:
        """Minimise a smooth J."""


class CCCP(Minimiser):
    """The concave-convex procedure, the paper's: for loss="gp" the EM algorithm.

    Each step takes a few L-BFGS steps towards the minimum of a convex bound; the objective never rises.

    Parameters
    ----------
    tol : float, default=1e-5
        Stop when the objective falls by less than this share of itself in a step.
    max_iter : int, default=1000
        Maximum number of steps.

    Examples
    --------
    >>> from gapkernel.papers.missing_variables import CCCP, CCCPClassifier
    >>> X, y = [[0.0, 0.1], [0.2, None], [None, 1.9], [2.1, 2.0]], [0, 0, 1, 1]
    >>> CCCPClassifier(C=10.0, solver=CCCP(1e-8), random_state=0).fit(X, y).converged_
    True
    """

    temperatures: ClassVar[tuple[float, ...]] = (1.0, 0.1, 0.01, 1e-3, 1e-4, 3e-5)

    def _descend(self, problem, theta, max_iter, watch, random):
        history, converged = [problem.objective(theta)[0]], False
        single = len(problem.blocks) > 0 and problem.blocks[0].features.dtype == np.float32
        rounding = SINGLE_ROUNDING if single else ROUNDING
        while len(history) <= max_iter and not converged:
            bound = partial(problem.majorant, planes=problem.tangent(theta))
            proposal = _lbfgs(bound, theta, problem.loss.inner_tol, problem.loss.inner_steps, quiet).theta
            value = problem.objective(proposal)[0]
            fallen = history[-1] - value
            if not -fallen <= rounding * (1.0 + abs(history[-1])):
                raise RuntimeError(
                    f"The objective rose from {history[-1]:.12g} to {value:.12g} in step {len(history)} of the "
                    f"procedure, which cannot be unless the kernel gives values that are not finite or differ from "
                    f"call to call."
                )
            theta = proposal if fallen >= 0 else theta  # else rounding, at the optimum
            history.append(min(value, history[-1]))
            # one short step may be chance
            converged = len(history) > 2 and fallen <= self.tol * (1.0 + abs(value))
            watch(len(history) - 1, history[-1])
        return IncompleteSolution(theta, np.array(history), len(history) - 1, converged)


class LBFGS(Minimiser):
    """L-BFGS on the objective itself: usually the fastest.

    Parameters
    ----------
    tol : float, default=1e-5
        Stop when the objective falls by less than this share of itself in an iteration.
    max_iter : int, default=1000
        Maximum number of iterations.

    Examples
    --------
    >>> from gapkernel.papers.missing_variables import CCCPClassifier, LBFGS
    >>> X, y = [[0.0, 0.1], [0.2, None], [None, 1.9], [2.1, 2.0]], [0, 0, 1, 1]
    >>> CCCPClassifier(C=10.0, solver=LBFGS(1e-8), random_state=0).fit(X, y).converged_
    True
    """

    temperatures: ClassVar[tuple[float, ...]] = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)

    def _descend(self, problem, theta, max_iter, watch, random):
        return _lbfgs(problem.objective, theta, self.tol, max_iter, watch)


class SGD(Minimiser):
    """Stochastic gradient descent with variance reduction, the paper's third way: for many rows.

    The gradient of a batch is corrected by that of the same batch at the start of the round, where the gradient of all
    rows is known (Johnson and Zhang's variance reduction): the steps need not shrink for the noise to vanish.

    Parameters
    ----------
    tol : float, default=1e-5
        Stop when the objective falls by less than this share of itself in a round.
    max_iter : int, default=1000
        Maximum number of rounds over all rows.

    Examples
    --------
    >>> from gapkernel.papers.missing_variables import CCCPClassifier, SGD
    >>> X, y = [[0.0, 0.1], [0.2, None], [None, 1.9], [2.1, 2.0]], [0, 0, 1, 1]
    >>> CCCPClassifier(C=10.0, solver=SGD(1e-4), random_state=0).fit(X, y).converged_
    True
    """

    temperatures: ClassVar[tuple[float, ...]] = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3)  # beyond, steps would be tiny
    shuffles: ClassVar[bool] = True

    def _descend(self, problem, theta, max_iter, watch, random):
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
            converged = 0 <= fallen <= self.tol * (1.0 + abs(value)) or failures >= PATIENCE
        return IncompleteSolution(theta, np.array(history), len(history) - 1, converged)


def quiet(*_) -> None:
    """Nobody watches."""


def _lbfgs(function, theta, tol: float, max_iter: int, watch: Watch) -> IncompleteSolution:
    history: list[float] = []

    def value_and_gradient(flat):
        value, gradient = function(flat.reshape(theta.shape))
        if not history:
            history.append(value)
        return value, gradient.ravel()

    def callback(intermediate_result):
        history.append(float(intermediate_result.fun))
        watch(len(history) - 1, history[-1])

    limits = {"maxiter": max(max_iter, 1), "maxfun": 10 * max(max_iter, 1), "maxls": LINE_SEARCH}
    options = limits | {"ftol": tol, "gtol": 1e-10, "maxcor": 20}
    result = minimize(
        value_and_gradient, theta.ravel(), jac=True, method="L-BFGS-B", callback=callback, options=options
    )
    converged = result.status == 0 or (result.status == 2 and _settled(history, result))
    return IncompleteSolution(result.x.reshape(theta.shape), np.array(history), int(result.nit), converged)


def _settled(history: list[float], result) -> bool:
    """Whether a failed line search (status 2) is the end of what rounding lets one see, and not a broken gradient."""
    room = SETTLED * (1.0 + abs(result.fun))
    return history[-2] - history[-1] <= room if len(history) > 1 else float(np.abs(result.jac).max()) <= room


def _round(problem: IncompleteProblem, anchor: np.ndarray, gradient: np.ndarray, step: float, random) -> np.ndarray:
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
