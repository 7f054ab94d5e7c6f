"""A bundle method for convex risks with a quadratic penalty (Teo et al.; the line search of Franc and Sonnenburg).

The risk R is replaced by the largest of its cutting planes <a_j, theta> + b_j, and of 0. The minimiser of this model
plus lambda/2 ||theta||^2 comes from a small quadratic program in the weights of the planes,

    max_alpha  b'alpha - 1/(2 lambda) ||sum_j alpha_j a_j||^2,    alpha >= 0, sum alpha <= 1,

whose value is a lower bound of the minimum. So the distance to the optimum is always known.
"""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
from scipy import sparse

from gapkernel.solvers.incomplete_losses import Plane
from gapkernel.solvers.incomplete_problem import IncompleteProblem

TOWARDS_MODEL = 0.1
"""Where the next plane is cut: this share of the way from the best point to the model's minimiser."""

BISECTIONS = 8
"""Steps of the line search, each on the scores alone."""

ROUNDING = 1e-10
"""A gap of this share of the value is no more than rounding."""

IDLE = 20
"""Rounds without weight after which a plane is forgotten."""


@dataclass(frozen=True)
class BundleResult:
    """The best point, its value, and a lower bound of the minimum."""

    theta: np.ndarray
    value: float
    lower_bound: float
    n_iter: int


def minimise_majorant(
    problem: IncompleteProblem, planes: list[Plane], theta: np.ndarray, gap: float, max_iter: int
) -> BundleResult:
    """Minimise the convex bound of ``problem`` from ``theta``, until at most ``gap`` above the minimum.

    The value never rises above that of the start.
    """
    bound = _ConvexBound(problem, planes)
    best = bound.point(theta)
    value = bound.value_and_slope(best, best)[0]
    model = _Model(problem.penalty, theta.size)
    model.add(*bound.cut(best))
    lower, rounds = -np.inf, 0
    while rounds < max_iter:
        rounds += 1
        minimiser, lowest = model.minimise()
        lower = max(lower, lowest)
        if value - lower <= max(gap, ROUNDING * (1.0 + abs(value))):
            break
        target = bound.point(minimiser.reshape(theta.shape))
        best, value = bound.line_search(best, value, target)
        model.add(*bound.cut(best.towards(target, TOWARDS_MODEL)))
    return BundleResult(best.theta, value, lower, rounds)


@dataclass(frozen=True, eq=False)
class _Point:
    """theta and the scores there, which are linear in it."""

    theta: np.ndarray
    scores: list[np.ndarray]

    def towards(self, other: _Point, share: float) -> _Point:
        scores = [old + share * (new - old) for old, new in zip(self.scores, other.scores, strict=True)]
        return _Point(self.theta + share * (other.theta - self.theta), scores)


@dataclass(frozen=True, eq=False)
class _ConvexBound:
    """The majorant of a problem, seen from points."""

    problem: IncompleteProblem
    planes: list[Plane]

    def point(self, theta: np.ndarray) -> _Point:
        return _Point(theta, self.problem.scores(theta))

    def risk(self, point: _Point) -> tuple[float, list[np.ndarray], np.ndarray]:
        """The risk, its derivatives by the scores, and those by theta that do not come through the scores."""
        value, derivatives = self.problem.risk(point.scores, self.planes)
        extra, direct = (
            self.problem.balance(point.theta) if self.problem.balance else (0.0, np.zeros(self.problem.shape))
        )
        return value + extra, derivatives, direct

    def value_and_slope(self, point: _Point, step: _Point) -> tuple[float, float]:
        """The majorant, and its derivative along ``step``."""
        risk, derivatives, direct = self.risk(point)
        value = risk + 0.5 * self.problem.penalty * float(np.vdot(point.theta, point.theta))
        slope = float(np.vdot(self.problem.penalty * point.theta + direct, step.theta))
        slope += sum(float(np.vdot(d, along)) for d, along in zip(derivatives, step.scores, strict=True))
        return value, slope

    def line_search(self, start: _Point, value: float, target: _Point) -> tuple[_Point, float]:
        """The best point seen between two points by bisection of the slope, ``start`` if none is better."""
        step = _Point(target.theta - start.theta, [b - a for a, b in zip(start.scores, target.scores, strict=True)])
        best, low, high = start, 0.0, 1.0
        for _ in range(BISECTIONS):
            share = 0.5 * (low + high)
            middle = start.towards(target, share)
            middle_value, slope = self.value_and_slope(middle, step)
            if middle_value < value:
                best, value = middle, middle_value
            low, high = (share, high) if slope < 0 else (low, share)
        return best, value

    def cut(self, point: _Point) -> tuple[np.ndarray, float]:
        """Slope and height at 0 of the plane that touches the risk here."""
        risk, derivatives, direct = self.risk(point)
        slope = self.problem.pull_back(derivatives) + direct
        return slope.ravel(), risk - float(np.vdot(slope, point.theta))


class _Model:
    """The largest of the cutting planes and 0."""

    def __init__(self, penalty: float, size: int):
        self.penalty = penalty
        self.slopes, self.heights = np.empty((0, size)), np.empty(0)
        self.gram, self.idle = np.empty((0, 0)), np.empty(0, int)

    def add(self, slope: np.ndarray, height: float) -> None:
        products = self.slopes @ slope
        self.gram = np.block([[self.gram, products[:, None]], [products[None], slope @ slope]])
        self.slopes, self.heights = np.vstack([self.slopes, slope]), np.append(self.heights, height)
        self.idle = np.append(self.idle, 0)

    def minimise(self) -> tuple[np.ndarray, float]:
        """The minimiser of the model with its penalty, and the minimum."""
        m = len(self.heights)
        scale = max(1.0, np.abs(self.heights).max(), self.gram.diagonal().max() / self.penalty)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
        P = sparse.csc_array(np.triu(self.gram) / (self.penalty * scale))
        A = sparse.csc_array(np.vstack([-np.eye(m), np.ones((1, m))]))
        b = np.append(np.zeros(m), 1.0)
        solver = clarabel.DefaultSolver(P, -self.heights / scale, A, b, [clarabel.NonnegativeConeT(m + 1)], settings)
        alpha = np.maximum(np.array(solver.solve().x), 0.0)
        alpha /= max(1.0, alpha.sum())  # feasible to the last digit, so that the bound is one
        self.idle = np.where(alpha > 1e-10, 0, self.idle + 1)
        minimum = float(self.heights @ alpha - 0.5 / self.penalty * alpha @ self.gram @ alpha)
        theta = -(alpha @ self.slopes) / self.penalty
        kept = self.idle < IDLE
        self.slopes, self.heights, self.idle = self.slopes[kept], self.heights[kept], self.idle[kept]
        self.gram = self.gram[np.ix_(kept, kept)]
        return theta, minimum
