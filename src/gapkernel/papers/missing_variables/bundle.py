"""A bundle method for convex risks with a quadratic penalty (Teo et al.; the line search of Franc and Sonnenburg).

The risk R is replaced by the largest of its cutting planes <a_j, theta> + b_j, and of 0. The minimiser of this model
plus the quadratic 1/2 <theta, H theta> - <h, theta> (the penalty, and the balance if there is one) comes from a small
program in the weights of the planes,

    max_alpha  b'alpha - 1/2 <h - a, H^-1 (h - a)>,    a = sum_j alpha_j a_j,    alpha >= 0, sum alpha <= 1,

whose value is a lower bound of the minimum. So the distance to the optimum is always known. One plane is new from
round to round, so the program is solved by an active set that begins with the last weights.

From one step of the concave-convex procedure to the next only the tangents P_i change that the risk subtracts,
R = sum_i w_i [1 + max_k G_ik - P_i]+. Where a plane is cut, k is the worst rival of row i, v_i is 1 if its bracket is
above 0 and else 0, and T_i is the tangent of the convex G_ik. Everywhere

    R >= sum_i w_i v_i (1 + T_i - P_i),

for the P_i of any step. So a step begins with the planes of the last, its own P_i in them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.compute import starts_of
from gapkernel.papers.missing_variables.losses import Plane
from gapkernel.papers.missing_variables.objective import Block, IncompleteProblem

TOWARDS_MODEL = 0.1
"""Where the next plane is cut: this share of the way from the best point to the model's minimiser."""

BISECTIONS = 5
"""Steps of the line search, each on the scores alone."""

ROUNDING = 1e-10
"""A gap of this share of the value is no more than rounding."""

IDLE = 20
"""Rounds without weight after which a plane is forgotten."""

RIDGE = 1e-13
"""Added to the scaled products of planes, of which some may be the same."""

MOST_JOINING = 10
"""Planes that may join the active set, for each plane there is; a bound that only rounding would reach."""

TOGETHER = 30
"""Columns of derivatives that are pulled back at once when planes are carried on, as each time reads all features."""

VIOLATION = 1e-12
"""How far above the model, in the scale of the program, a plane must be to get weight."""


@dataclass(frozen=True)
class BundleResult:
    """The best point, its value, and a lower bound of the minimum."""

    theta: np.ndarray
    value: float
    lower_bound: float
    n_iter: int


class Bundle:
    """Minimises the convex bounds of a problem, one after the other, with the cutting planes of the last.

    Parameters
    ----------
    problem : IncompleteProblem
        Its rows, labels and loss are those of every bound.
    """

    def __init__(self, problem: IncompleteProblem):
        self._problem, self._quadratic = problem, _Quadratic(problem)
        self._model: _Model | None = None
        self._tangents: list[Plane] = []
        # the rivals of a transductive row change with its tangent, so its part of a plane does not outlive it
        self._lasting = not any(labels.transductive.any() for labels in problem.labels)

    def minimise(self, tangents: list[Plane], theta: np.ndarray, gap: float, max_iter: int) -> BundleResult:
        """Minimise the bound of some tangents from ``theta``, until at most ``gap`` above the minimum.

        The value never rises above that of the start.
        """
        bound = _ConvexBound(self._problem, tangents)
        best = bound.point(theta)
        value = bound.value_and_slope(best, best)[0]
        model = self._model_of(tangents)
        self._model, self._tangents = model, tangents
        model.add(bound.cut(best))
        lower, rounds = -np.inf, 0
        while rounds < max_iter:
            rounds += 1
            minimiser, lowest = model.minimise()
            lower = max(lower, lowest)
            if value - lower <= max(gap, ROUNDING * (1.0 + abs(value))):
                break
            target = bound.point(minimiser)
            best, value = bound.line_search(best, value, target)
            model.add(bound.cut(best.towards(target, TOWARDS_MODEL)))
        return BundleResult(best.theta, value, lower, rounds)

    def _model_of(self, tangents: list[Plane]) -> _Model:
        """The cutting planes that have weight, with these tangents in place of the last."""
        old, model = self._model, _Model(self._quadratic, self._problem.n_rows)
        if old is None or not self._lasting:
            return model
        used = old.alpha > 0
        slopes, heights, held = old.slopes[used], old.heights[used], old.held[used]
        begin = 0
        for (block, _), before, after in zip(self._problem, self._tangents, tangents, strict=True):
            nowhere = np.broadcast_to(block.log_weight[:, None], after.slope.shape)  # the scores of theta = 0
            higher = before(nowhere) - after(nowhere)
            weights = held[:, begin : begin + len(higher)]
            begin += len(higher)
            heights += weights @ higher
            slopes += _pulled_back(block, weights, before.slope - after.slope, after.counts)
        for parts in zip(slopes, heights, held, strict=True):
            model.add(_Cut(*parts))
        model.alpha = old.alpha[used]
        return model


def _pulled_back(block: Block, weights: np.ndarray, apart: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """`Block.pull_back` of derivatives that are weighted by rows, for each of some weights."""
    (m, _), n_classes = weights.shape, apart.shape[1]
    out = np.empty((m, n_classes, block.features.shape[1]))
    for begin in range(0, m, max(1, TOGETHER // n_classes)):
        some = slice(begin, begin + max(1, TOGETHER // n_classes))
        derivatives = np.repeat(weights[some].T, counts, axis=0)[:, :, None] * apart[:, None]
        out[some] = block.pull_back(derivatives.reshape(len(apart), -1)).reshape(out[some].shape)
    return out


@dataclass(frozen=True, eq=False)
class _Cut:
    """A cutting plane <slope, theta> + height, and the weights w_i v_i of the tangents in it."""

    slope: np.ndarray
    height: float
    held: np.ndarray


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

    def value_and_slope(self, point: _Point, step: _Point) -> tuple[float, float]:
        """The majorant, and its derivative along ``step``."""
        risk, derivatives = self.problem.risk(point.scores, self.planes)
        value, direct = self.problem.quadratic(point.theta)
        slope = float(np.vdot(direct, step.theta))
        slope += sum(float(np.vdot(d, along)) for d, along in zip(derivatives, step.scores, strict=True))
        return risk + value, slope

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

    def cut(self, point: _Point) -> _Cut:
        """The plane that touches the risk here."""
        risk, derivatives = self.problem.risk(point.scores, self.planes)
        slope = self.problem.pull_back(derivatives)
        held = [_tangent_weights(*part) for part in zip(derivatives, self.planes, strict=True)]
        return _Cut(slope, risk - float(np.vdot(slope, point.theta)), np.concatenate([np.empty(0), *held]))


def _tangent_weights(derivatives: np.ndarray, tangent: Plane) -> np.ndarray:
    """w_i v_i of each row from the derivatives of the risk by the scores.

    Of the row's own classes, which are no rivals, they are -w_i v_i times the slopes of the tangent, which sum to 1.
    """
    by_class = np.add.reduceat(derivatives, starts_of(tangent.counts)[:-1])
    return -np.sum(by_class, axis=1, where=tangent.own > 0)


class _Quadratic:
    """The penalty and the balance of a problem: 1/2 <theta, H theta> - <h, theta> + constant."""

    def __init__(self, problem: IncompleteProblem):
        self.penalty, self.balance = problem.penalty, problem.balance
        self.linear, self.constant = np.zeros(problem.shape), 0.0
        if self.balance is not None:
            strength, target = self.balance.strength, self.balance.target
            self.linear = strength * np.outer(target, self.balance.mean_feature)
            self.constant = 0.5 * strength * float(target @ target)

    def solve(self, theta: np.ndarray) -> np.ndarray:
        """H^-1 theta, with H = lambda I + strength m m' for each class (Sherman, Morrison)."""
        if self.balance is None:
            return theta / self.penalty
        m, strength = self.balance.mean_feature, self.balance.strength
        along = strength / (self.penalty + strength * float(m @ m)) * (theta @ m)
        return (theta - along[..., None] * m) / self.penalty


class _Model:
    """The quadratic plus the largest of the cutting planes and 0."""

    def __init__(self, quadratic: _Quadratic, n_rows: int):
        self.quadratic = quadratic
        self.slopes, self.heights = np.empty((0, *quadratic.linear.shape)), np.empty(0)
        self.held = np.empty((0, n_rows))
        self.gram, self.idle = np.empty((0, 0)), np.empty(0, int)  # <a_i, H^-1 a_j>; rounds without weight
        self.alpha = np.empty(0)
        self.free = quadratic.solve(quadratic.linear)  # the minimiser without planes, H^-1 h

    def add(self, cut: _Cut) -> None:
        self.slopes, self.heights = np.concatenate([self.slopes, cut.slope[None]]), np.append(self.heights, cut.height)
        self.held = np.concatenate([self.held, cut.held[None]])
        products = np.tensordot(self.slopes, self.quadratic.solve(cut.slope), axes=2)
        self.gram = np.block([[self.gram, products[:-1, None]], [products[None]]])
        self.alpha, self.idle = np.append(self.alpha, 0.0), np.append(self.idle, 0)

    def minimise(self) -> tuple[np.ndarray, float]:
        """The minimiser of the model, and the minimum."""
        linear = self.heights + np.tensordot(self.slopes, self.free, axes=2)  # of the program: b + <a, H^-1 h>
        alpha = plane_weights(self.gram, linear, self.alpha)
        minimum = float(linear @ alpha - 0.5 * alpha @ self.gram @ alpha) + self.quadratic.constant
        minimum -= 0.5 * float(np.vdot(self.quadratic.linear, self.free))
        theta = self.free - self.quadratic.solve(np.tensordot(alpha, self.slopes, axes=1))
        self.idle = np.where(alpha > 0, 0, self.idle + 1)
        kept = self.idle < IDLE
        self.alpha, self.gram = alpha[kept], self.gram[np.ix_(kept, kept)]
        self.slopes, self.heights, self.idle = self.slopes[kept], self.heights[kept], self.idle[kept]
        self.held = self.held[kept]
        return theta, minimum


def plane_weights(gram: np.ndarray, linear: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The weights of the planes: max linear'alpha - 1/2 alpha' gram alpha, alpha >= 0, sum alpha <= 1.

    An active set from feasible weights: the planes with weight are solved for, those that would fall below 0 leave, and
    the plane that lies highest above the model joins, until none does. Every alpha on the way is feasible, so that the
    value of the program is a bound wherever it ends.
    """
    scale = max(1.0, np.abs(linear).max(), gram.diagonal().max())
    gram = np.pad(gram, (0, 1)) / scale  # the last plane is 0: it has what is left of the sum
    linear = np.append(linear, 0.0) / scale
    alpha = np.append(start, max(1.0 - start.sum(), 0.0))
    support = alpha > 0
    level = _settle(gram, linear, alpha, support)
    for _ in range(MOST_JOINING * len(linear)):
        above = np.where(support, -np.inf, linear - gram @ alpha - level)
        highest = int(above.argmax())
        if above[highest] <= VIOLATION:
            break
        support[highest] = True
        level = _settle(gram, linear, alpha, support)
        if not support[highest]:  # it was above by rounding only
            break
    return alpha[:-1] / max(1.0, alpha[:-1].sum())  # feasible to the last digit


def _settle(gram: np.ndarray, linear: np.ndarray, alpha: np.ndarray, support: np.ndarray) -> float:
    """The best weights of the planes in ``support`` that sum to 1, written to ``alpha``; the height they share.

    On the way there a plane whose weight reaches 0 leaves ``support``.
    """
    while True:
        places = np.flatnonzero(support)
        system = np.ones((len(places) + 1, len(places) + 1))
        system[:-1, :-1] = gram[np.ix_(places, places)] + RIDGE * np.eye(len(places))
        system[-1, -1] = 0.0
        solution = np.linalg.solve(system, np.append(linear[places], 1.0))
        wanted, present = solution[:-1], alpha[places]
        falling = np.flatnonzero(wanted < 0)
        if not len(falling):
            alpha[places] = wanted
            return float(solution[-1])
        shares = present[falling] / (present[falling] - wanted[falling])
        alpha[places] = np.maximum(present + shares.min() * (wanted - present), 0.0)
        gone = places[falling[shares == shares.min()]]
        alpha[gone], support[gone] = 0.0, False
