"""The concave-convex procedure for missing inputs and labels, and direct minimisation beside it.

(Smola, Vishwanathan, Hofmann: Kernel methods for missing variables.) One step of the procedure replaces the part of J
that is subtracted by its tangent plane at theta_t and minimises the convex rest. For "gp" that is the EM algorithm:
the plane averages the features of each row's completions by their probability *given the row's label* (the paper
prints the unconditional probability, whose only fixed point is theta = 0), and the rest is a smooth function for
L-BFGS. For "svm" the rest has maxima of log-sum-exp, so it is not a quadratic program as printed; a bundle method
solves it.
Either way J never rises, and the limit is a stationary point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from gapkernel.papers.missing_variables.bundle import Bundle
from gapkernel.papers.missing_variables.losses import Margin
from gapkernel.papers.missing_variables.objective import IncompleteProblem

INNER_STEPS = 10
"""L-BFGS steps inside one step of the procedure."""

TEMPERATURES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
"""How the smooth stand-ins of the hinge approach it."""

NEAR_HINGE = 1e-3
"""The temperature at whose minimum the procedure begins: a bundle finds the corners of the hinge sooner from there."""

START_TOL = 1e-5
"""The least relative tolerance of the stand-ins at the start."""

ROUNDING = 1e-9
"""A change of the objective by this share of itself is no more than rounding."""

SINGLE_ROUNDING = 1e-5
"""The same for features in single precision."""

SETTLED = 1e-6
"""A line search that fails after a fall, or at a gradient, of this share of the objective has reached rounding."""

Watch = Callable[[int, float], None]


@dataclass(frozen=True)
class IncompleteSolution:
    """Where a solver ended.

    Attributes
    ----------
    theta : ndarray of shape (n_classes, n_basis)
    objective : ndarray
        J at the start and after every iteration.
    n_iter : int
    converged : bool
    """

    theta: np.ndarray
    objective: np.ndarray
    n_iter: int
    converged: bool


def solve_cccp(problem: IncompleteProblem, theta, *, tol: float, max_iter: int, watch: Watch) -> IncompleteSolution:
    """Alternate tangent planes and convex minimisation until J falls by less than ``tol`` of itself."""
    history, bundle = [problem.objective(theta)[0]], None if problem.loss.smooth else Bundle(problem)
    single = len(problem.blocks) > 0 and problem.blocks[0].features.dtype == np.float32
    rounding = SINGLE_ROUNDING if single else ROUNDING
    fallen, slack, converged = 0.3 * abs(history[0]), np.inf, False
    while len(history) <= max_iter and not converged:
        finest = 0.5 * tol * (1.0 + abs(history[-1]))
        slack = max(finest, min(slack, 0.03 * fallen))  # no finer than the last step was long
        tangents = problem.tangent(theta)
        if bundle is None:
            proposal = _few_steps(problem, tangents, theta)
        else:
            proposal = bundle.minimise(tangents, theta, gap=slack, max_iter=500).theta
        value = problem.objective(proposal)[0]
        fallen = max(history[-1] - value, 0.0)
        if not value - history[-1] <= rounding * (1.0 + abs(history[-1])):
            raise RuntimeError(
                f"The objective rose from {history[-1]:.12g} to {value:.12g} in step {len(history)} of the procedure, "
                f"which cannot be unless the kernel gives values that are not finite or differ from call to call."
            )
        theta = proposal if value <= history[-1] else theta  # else rounding, at the optimum
        history.append(min(value, history[-1]))
        converged = slack <= tol * (1.0 + abs(value)) and fallen <= tol * (1.0 + abs(value))
        watch(len(history) - 1, history[-1])
    return IncompleteSolution(theta, np.array(history), len(history) - 1, converged)


def starting_point(problem: IncompleteProblem, solver: str, *, tol: float, max_iter: int, watch: Watch) -> np.ndarray:
    """theta = 0, and for the hinge the minimum of its smoothest stand-in: from there all solvers go the same way.

    The procedure, which does not take that way, is brought along it to where a bundle has little left to do.
    """
    zero, tol = np.zeros(problem.shape), max(tol, START_TOL)
    if problem.loss.smooth:
        return zero
    coldest = NEAR_HINGE if solver == "cccp" else TEMPERATURES[0]
    return solve_lbfgs(problem, zero, tol=tol, max_iter=max_iter, watch=watch, coldest=coldest).theta


def solve_lbfgs(
    problem: IncompleteProblem, theta, *, tol: float, max_iter: int, watch: Watch, coldest: float = TEMPERATURES[-1]
) -> IncompleteSolution:
    """Minimise J itself, the hinge through smooth losses."""

    def solve(problem, theta, max_iter, watch):
        return _lbfgs(problem.objective, theta, tol, max_iter, watch)

    return through_smooth_losses(problem, theta, solve, max_iter, watch, coldest)


def through_smooth_losses(
    problem: IncompleteProblem, theta, solve, max_iter: int, watch: Watch, coldest: float = TEMPERATURES[-1]
) -> IncompleteSolution:
    """Solve a smooth problem as it is; approach the hinge by smooth losses, and keep a stage only if J fell."""
    if problem.loss.smooth:
        return solve(problem, theta, max_iter, watch)
    history, n_iter, converged = [problem.objective(theta)[0]], 0, False
    for temperature in (t for t in TEMPERATURES if t >= coldest):
        stage = solve(problem.with_loss(Margin(temperature)), theta, max_iter - n_iter, lambda *_: None)
        value = problem.objective(stage.theta)[0]
        theta = stage.theta if value <= history[-1] else theta
        history.append(min(value, history[-1]))
        n_iter += stage.n_iter
        fallen = history[-2] - history[-1]
        stuck = converged and fallen <= SETTLED * (1.0 + abs(value))  # the hinge's corner, or rounding
        converged = (stage.converged or stuck) and n_iter < max_iter
        watch(n_iter, history[-1])
        if n_iter >= max_iter:
            break
    return IncompleteSolution(theta, np.array(history), n_iter, converged)


def _few_steps(problem, tangents, theta) -> np.ndarray:
    """Towards the minimum of the smooth bound: any decrease of it is one of J."""
    return _lbfgs(lambda t: problem.majorant(t, tangents), theta, 1e-13, INNER_STEPS, lambda *_: None).theta


def _lbfgs(function, theta, tol, max_iter, watch: Watch) -> IncompleteSolution:
    history: list[float] = []

    def value_and_gradient(flat):
        value, gradient = function(flat.reshape(theta.shape))
        if not history:
            history.append(value)
        return value, gradient.ravel()

    def callback(intermediate_result):
        history.append(float(intermediate_result.fun))
        watch(len(history) - 1, history[-1])

    options = {"maxiter": max(max_iter, 1), "maxfun": 10 * max(max_iter, 1), "ftol": tol, "gtol": 1e-10, "maxcor": 20}
    result = minimize(
        value_and_gradient, theta.ravel(), jac=True, method="L-BFGS-B", callback=callback, options=options
    )
    converged = result.status == 0 or (result.status == 2 and _settled(history, result))
    return IncompleteSolution(result.x.reshape(theta.shape), np.array(history), int(result.nit), converged)


def _settled(history: list[float], result) -> bool:
    """Whether a failed line search (status 2) is the end of what rounding lets one see, and not a broken gradient."""
    room = SETTLED * (1.0 + abs(result.fun))
    return history[-2] - history[-1] <= room if len(history) > 1 else float(np.abs(result.jac).max()) <= room
