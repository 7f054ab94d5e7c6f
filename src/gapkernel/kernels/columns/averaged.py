"""A kernel on one column with its values in the gaps filled in: g, G and the same-row value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gapkernel.rows import Feature
from gapkernel.rows.column_law import Law


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


class One(Extension):
    """1 everywhere: a column that says nothing."""

    def cross(self, x, z):
        return np.ones((len(x), len(z)))

    def profile(self, x):
        return np.ones(len(x))

    def same(self, x):
        return np.ones(len(x))


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
    """A kernel given by a function of two arrays."""

    def __init__(self, function: Callable):
        self.function = function

    def with_law(self, one_missing: Callable, both_missing: float, same_draw: float) -> OfFunction:
        """Give the values in the gaps: g as a function, G, and the average over one draw."""
        self.one_missing, self.both_missing, self.same_draw = one_missing, both_missing, same_draw
        return self

    def summed(self, feature: Feature) -> OfFunction:
        """The values in the gaps by a sum over the values that the law has."""
        law = feature.law
        assert law is not None
        if not law.exact:
            raise ValueError(
                f"The kernel of column {feature.label} has no closed form under {type(law).__name__}. Use a law with "
                f"finitely many values, density=Marginals(numeric='empirical')."
            )
        points, weights = law.nodes(0)
        inner = self.function(points[:, None], points[None])
        return self.with_law(
            lambda x: np.sum(weights * self.function(x[:, None], points[None]), axis=1),
            float(weights @ inner @ weights),
            float(weights @ self.function(points, points)),
        )

    def pointwise(self, x, z):
        return np.array(self.function(x[:, None], z[None]), dtype=np.float64)

    def same(self, x):
        return np.where(np.isnan(x), self.same_draw, self.function(x, x))
