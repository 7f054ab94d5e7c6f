"""Kernels on one column, and what becomes of them where the value is missing.

A kernel k on a column with law P is extended to gaps by averaging (Nebot-Troyano, Belanche):

    k(x, gap) = g(x) = E k(x, T)        k(gap, gap) = G = E k(T, T')        the same row: E k(T, T)

in closed form where there is one, and by a finite sum where the law has finitely many values; anything else is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.special import erf
from sklearn.base import BaseEstimator

from gapkernel.kernels.width import POSITIVE
from gapkernel.rows import Feature, Law


class Extension:
    """A kernel on one column, gaps included. Values are numbers or codes, NaN in the gaps."""

    both_missing: float
    """G, between two gaps."""
    one_missing: Callable[[np.ndarray], np.ndarray]
    """g, from values to the kernel between each and a gap."""

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The kernel between two columns of values, (n, m), all independent."""
        out = self.pointwise(x, z)
        gaps = np.isnan(x)
        out[:, np.isnan(z)] = self.profile(x)[:, None]
        out[gaps] = self.profile(z)
        return out

    def pointwise(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The kernel between values; anything where one is missing."""
        raise NotImplementedError

    def profile(self, x: np.ndarray) -> np.ndarray:
        """Each value against a missing one: g(x), or G for a gap."""
        out = np.full(len(x), self.both_missing)
        seen = ~np.isnan(x)
        out[seen] = self.one_missing(x[seen])
        return out

    def same(self, x: np.ndarray) -> np.ndarray:
        """Each value against itself, a missing one in the same draw."""
        raise NotImplementedError


class OfTable(Extension):
    """A kernel between levels as a table, one line and column more than there are levels for a gap.

    Attributes
    ----------
    table : ndarray of shape (n_levels + 1, n_levels + 1)
    itself : ndarray of shape (n_levels + 1,)
        Each level against itself, and a gap in the same draw.
    """

    def __init__(self, table: np.ndarray, itself: np.ndarray):
        self.table = table
        self.itself = itself

    @classmethod
    def of(cls, levels: np.ndarray, probabilities: np.ndarray) -> OfTable:
        """Average over a missing level."""
        embedding = np.vstack([np.eye(len(levels)), probabilities])  # a gap is the mean of the levels
        itself = np.append(levels.diagonal(), probabilities @ levels.diagonal())
        return cls(embedding @ levels @ embedding.T, itself)

    def codes(self, x: np.ndarray) -> np.ndarray:
        """Lines of the table."""
        return np.where(np.isnan(x), len(self.table) - 1, x).astype(np.int32)

    def cross(self, x, z):
        return self.table[self.codes(x)[:, None], self.codes(z)[None]]

    def profile(self, x):
        return self.table[-1][self.codes(x)]

    def same(self, x):
        return self.itself[self.codes(x)]


class OfDistance(Extension):
    """1 - |x - z| / R, on the range widened by R/2 on both sides."""

    def __init__(self, law: Law, low: float, high: float):
        self.law = law
        self.range = high - low
        self.low, self.high = low - 0.5 * self.range, high + 0.5 * self.range
        self.both_missing = 1.0 - law.mean_spread(self.low, self.high) / self.range  # G_1

    def clipped(self, x: np.ndarray) -> np.ndarray:
        """Values moved into the interval where the kernel is positive semi-definite."""
        return np.clip(x, self.low, self.high)

    def pointwise(self, x, z):
        return 1.0 - np.abs(np.subtract.outer(self.clipped(x), self.clipped(z))) / self.range

    def one_missing(self, x):
        return 1.0 - self.law.mean_distance(self.clipped(x), self.low, self.high) / self.range  # g_1

    def same(self, x):
        return np.ones(len(x))


class OfFunction(Extension):
    """A kernel given by a function of two arrays, with g as a function, G, and the average over one draw."""

    def __init__(self, function: Callable, one_missing: Callable, both_missing: float, same_draw: float):
        self.function, self.one_missing = function, one_missing
        self.both_missing, self.same_draw = both_missing, same_draw

    @classmethod
    def summed(cls, function: Callable, feature: Feature) -> OfFunction:
        """The values in the gaps by a sum over the values that the law has."""
        law = feature.law
        assert law is not None
        if not law.exact:
            raise ValueError(
                f"The kernel of column {feature.label} has no closed form under {type(law).__name__}. Use a law with "
                f"finitely many values, density=Marginals(numeric='empirical')."
            )
        points, weights = law.nodes(0)
        return cls(
            function,
            lambda x: np.sum(weights * function(x[:, None], points[None]), axis=1),
            float(weights @ function(points[:, None], points[None]) @ weights),
            float(weights @ function(points, points)),
        )

    def pointwise(self, x, z):
        return np.array(self.function(x[:, None], z[None]), dtype=np.float64)

    def same(self, x):
        return np.where(np.isnan(x), self.same_draw, self.function(x, x))


ONE = OfFunction(lambda x, z: np.ones(np.broadcast_shapes(x.shape, z.shape)), np.ones_like, 1.0, 1.0)
"""1 everywhere: a column that says nothing."""


class Univariate(BaseEstimator, ABC):
    """A kernel on the values of one column."""

    _parameter_constraints: ClassVar[dict] = {}
    kind: ClassVar[str] = ""
    """"numbers" or "categories" where the kernel is for one kind only."""

    def extend(self, feature: Feature) -> Extension:
        """This kernel on a column, gaps included; a column that never varied is 1 everywhere."""
        self._validate_params()
        held = "categories" if feature.is_category else "numbers"
        if self.kind not in ("", held):
            raise ValueError(f"{self!r} is for {self.kind}, but column {feature.label} holds {held}.")
        if feature.law is None or (not feature.is_category and feature.low == feature.high):
            return ONE
        return self._extend(feature)

    @abstractmethod
    def _extend(self, feature: Feature) -> Extension:
        """`extend`, after the checks."""


class OnCategories(Univariate):
    """A kernel on categories: a table over pairs of levels."""

    kind = "categories"

    def _extend(self, feature: Feature) -> Extension:
        return OfTable.of(self.table(feature), feature.probabilities)

    @abstractmethod
    def table(self, feature: Feature) -> np.ndarray:
        """The kernel between all pairs of levels."""


class Gower(Univariate):
    """1 - |x - z| / R, R the range seen at fit.

    Positive semi-definite on an interval of length 2R and on none longer. So values are moved to the nearer end of
    the range widened by R/2 on both sides, and so is a missing value whose law reaches further.
    """

    kind = "numbers"

    def _extend(self, feature: Feature) -> Extension:
        assert feature.law is not None
        return OfDistance(feature.law, feature.low, feature.high)


class Stationary(Univariate):
    """A kernel of the distance, in units of the range seen at fit.

    Under windows, its average is a difference of antiderivatives: with A' = k and B' = A,
    g(x) = mean of (A(u + h) - A(u - h)) / 2h and G = mean of (B(D + 2h) - 2B(D) + B(D - 2h)) / 4h^2.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width.
    """

    kind = "numbers"
    _parameter_constraints: ClassVar[dict] = {"gamma": [POSITIVE]}

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def _extend(self, feature: Feature) -> Extension:
        unit = feature.high - feature.low

        def function(x, z):
            return self.value((x - z) / unit)

        assert feature.law is not None
        blur = feature.law.blur
        if blur is None or blur.shape not in self.shapes:
            return OfFunction.summed(function, feature)
        centres, weights, width = blur.centres / unit, blur.weights, blur.width / unit
        once, twice = self.shapes[blur.shape]

        def profile(x):
            at = once(self, np.subtract.outer(x / unit, centres), width)
            return np.sum(weights * at, axis=-1)  # not BLAS: its rounding depends on the other rows

        blocks = np.array_split(centres, max(1, len(centres) // 256))
        apart = [twice(self, np.subtract.outer(block, centres), width) @ weights for block in blocks]
        return OfFunction(function, profile, float(np.concatenate(apart) @ weights), 1.0)

    def value(self, u: np.ndarray) -> np.ndarray:
        """k(u)."""
        raise NotImplementedError

    def first(self, u: np.ndarray) -> np.ndarray:
        """A(u), an odd antiderivative of k."""
        raise NotImplementedError

    def second(self, u: np.ndarray) -> np.ndarray:
        """B(u), an antiderivative of A."""
        raise NotImplementedError

    def over_box(self, u, h):
        """E k(u + h S), S uniform between -1 and 1."""
        return (self.first(u + h) - self.first(u - h)) / (2.0 * h)

    def over_two_boxes(self, u, h):
        """E k(u + h (S - S'))."""
        return (self.second(u + 2.0 * h) - 2.0 * self.second(u) + self.second(u - 2.0 * h)) / (4.0 * h**2)

    shapes: ClassVar[dict[str, tuple[Callable, Callable]]] = {"box": (over_box, over_two_boxes)}
    """The mean of k over one blurred point and over two, for the shapes where it is known in closed form."""


class RBF(Stationary):
    """exp(-gamma u^2), u the distance in units of the range.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width.
    """

    def value(self, u):
        return np.exp(-self.gamma * u**2)

    def first(self, u):
        return 0.5 * np.sqrt(np.pi / self.gamma) * erf(np.sqrt(self.gamma) * u)

    def second(self, u):
        return u * self.first(u) + np.exp(-self.gamma * u**2) / (2.0 * self.gamma)

    def over_normal(self, u, deviation):
        """E k(u + deviation S), S standard normal."""
        wide = 1.0 + 2.0 * self.gamma * deviation**2
        return np.exp(-self.gamma * np.square(u) / wide) / np.sqrt(wide)

    def over_two_normals(self, u, deviation):
        """E k(u + deviation (S - S'))."""
        return self.over_normal(u, np.sqrt(2.0) * deviation)

    shapes: ClassVar = {**Stationary.shapes, "normal": (over_normal, over_two_normals)}


class Laplacian(Stationary):
    """exp(-gamma |u|), u the distance in units of the range.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width.
    """

    def value(self, u):
        return np.exp(-self.gamma * np.abs(u))

    def first(self, u):
        return -np.sign(u) * np.expm1(-self.gamma * np.abs(u)) / self.gamma

    def second(self, u):
        return np.abs(u) / self.gamma + np.exp(-self.gamma * np.abs(u)) / self.gamma**2


class Overlap(OnCategories):
    """1 for equal levels, 0 for others. g is the frequency of a level, G the sum of their squares."""

    def table(self, feature):
        return np.eye(len(feature.levels))


class Ordinal(OnCategories):
    """1 - |r - s| / (m - 1) between the places r, s of two levels among m."""

    def table(self, feature):
        place = np.arange(len(feature.levels), dtype=np.float64)
        return 1.0 - np.abs(np.subtract.outer(place, place)) / max(1, len(place) - 1)


class Dichotomous(OnCategories):
    """Gower's rule for presence and absence: 1 where both are present, 0 otherwise, also where both are absent.

    Parameters
    ----------
    present : level, default=None
        The level that means presence; None is the last of two.
    """

    def __init__(self, present=None):
        self.present = present

    def table(self, feature):
        if len(feature.levels) > 2:
            raise ValueError(f"{self!r} needs two levels, but column {feature.label} has {len(feature.levels)}.")
        if self.present is not None and self.present not in feature.levels:
            raise ValueError(f"Column {feature.label} has no level {self.present!r}: {feature.levels}.")
        present = np.zeros(len(feature.levels))
        present[-1 if self.present is None else feature.levels.index(self.present)] = 1.0
        return np.outer(present, present)


class Custom(Univariate):
    """Any kernel, as a function of two arrays that broadcast.

    On categories it gets their codes, places among the levels. On numbers it needs laws with finitely many values, such
    as those of ``Marginals(numeric="empirical")``.

    Parameters
    ----------
    function : callable
        Called as k(x, z); positive semi-definite.
    """

    _parameter_constraints: ClassVar[dict] = {"function": [callable]}

    def __init__(self, function):
        self.function = function

    def _extend(self, feature: Feature) -> Extension:
        if feature.is_category:
            codes = np.arange(len(feature.levels), dtype=np.float64)  # type: ignore[arg-type]
            return OfTable.of(self.function(codes[:, None], codes[None]), feature.probabilities)
        return OfFunction.summed(self.function, feature)


NAMES = {
    "gower": Gower,
    "rbf": RBF,
    "laplacian": Laplacian,
    "overlap": Overlap,
    "ordinal": Ordinal,
    "dichotomous": Dichotomous,
}


def univariate(kernel, what: str) -> Univariate:
    """A kernel on one column from a name, a function or an object; ``what`` names the parameter in errors."""
    if isinstance(kernel, Univariate):
        return kernel
    if isinstance(kernel, str) and kernel in NAMES:
        return NAMES[kernel]()
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel)
    raise ValueError(f"{what} must be one of {sorted(NAMES)}, a function k(x, z) or a kernel object, got {kernel!r}.")
