"""Laws of one missing value: atoms, windows around the values seen, or a normal law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from gapkernel.compute.record import Record

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(10)


@dataclass(frozen=True, eq=False)
class Blur:
    """A law as points that are spread out: X = centre + width S, S of one shape.

    Attributes
    ----------
    centres, weights : ndarray
        The points, and how much each counts; the weights sum to 1.
    width : float
    shape : {"box", "normal"}
        S is uniform between -1 and 1, or standard normal.
    """

    centres: np.ndarray
    weights: np.ndarray
    width: float
    shape: Literal["box", "normal"]


class Law(Record):
    """The law of a missing number X.

    A subclass writes `integral_of_cdf`, `mean_spread`, `ppf` and `log_density`; distances follow, because E|X - z| is
    the integral of F below z plus that of 1 - F above it.

    Examples
    --------
    >>> from gapkernel.density import Marginals
    >>> from gapkernel.rows import Law
    >>> law = Marginals().fit([[1.0], [2.0], [4.0]]).features_[0].law
    >>> isinstance(law, Law), round(law.mean, 2)
    (True, 2.33)
    """

    exact = False
    """Whether `nodes` gives the law itself, not an approximation."""

    @property
    def blur(self) -> Blur | None:
        """The law as points that are spread out; None where it has no such form."""
        return None

    def integral_of_cdf(self, z: Any) -> np.ndarray:
        """E (z - X)+, the integral of the distribution function up to ``z``."""
        raise NotImplementedError

    def mean_distance(self, z: Any, low: float = -np.inf, high: float = np.inf) -> np.ndarray:
        """E|X - z| for ``z`` from ``low`` to ``high``, X moved to the nearer end where it falls outside."""
        z = np.asarray(z, dtype=np.float64)
        if np.isinf(low) and np.isinf(high):
            return 2.0 * self.integral_of_cdf(z) + self.mean - z
        ends = self.integral_of_cdf(np.array([low, high]))
        return 2.0 * self.integral_of_cdf(z) - ends[0] - ends[1] + high - z

    def mean_spread(self, low: float = -np.inf, high: float = np.inf) -> float:
        """E|X - X'| for two independent draws, each moved to the nearer end of ``low`` to ``high``.

        It is the integral of 2 F (1 - F) from ``low`` to ``high``.
        """
        raise NotImplementedError

    def nodes(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """About ``n`` points and weights that replace the law in a sum: ten Gauss points on panels of quantiles."""
        panels = max(1, round(n / len(POINTS)))
        shares = (np.arange(panels)[:, None] + 0.5 * (POINTS + 1.0)) / panels
        return self.ppf(shares.ravel()), np.tile(0.5 * WEIGHTS / panels, panels)

    def ppf(self, share: Any) -> np.ndarray:
        """Quantiles."""
        raise NotImplementedError

    def log_density(self, z: Any) -> np.ndarray:
        """Log density at ``z``, or log probability of a law with finitely many values."""
        raise NotImplementedError

    mean: float
    variance: float


@dataclass(frozen=True, eq=False)
class Atoms(Law):
    """Finitely many values with probabilities: the empirical law, or the frequencies of categories.

    Attributes
    ----------
    points : ndarray
        The values, sorted.
    probabilities : ndarray
        How likely each value is; they sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.rows import Atoms
    >>> law = Atoms(np.array([0.0, 1.0, 3.0]), np.array([0.2, 0.5, 0.3]))
    >>> round(law.mean, 2), law.mean_distance([1.0]).round(2)
    (1.4, array([0.8]))
    """

    points: np.ndarray
    probabilities: np.ndarray
    exact = True

    @classmethod
    def empirical(cls, values: np.ndarray, weight: np.ndarray | None = None) -> Atoms:
        """The values seen, each as likely as it was frequent."""
        points, place = np.unique(values, return_inverse=True)
        counts = np.bincount(place, weights=weight, minlength=len(points)).astype(np.float64)
        return cls(points, counts / counts.sum())

    @cached_property
    def mean(self) -> float:  # type: ignore[override]
        return float(self.points @ self.probabilities)

    @cached_property
    def variance(self) -> float:  # type: ignore[override]
        return float((self.points - self.mean) ** 2 @ self.probabilities)

    @cached_property
    def _sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Probability, and probability times distance from the mean, of the first 0, 1, ... atoms."""
        first = self.probabilities * (self.points - self.mean)
        return np.concatenate([[0.0], np.cumsum(self.probabilities)]), np.concatenate([[0.0], np.cumsum(first)])

    def integral_of_cdf(self, z: Any) -> np.ndarray:
        mass, first = self._sums
        below = np.searchsorted(self.points, z, side="right")
        return (z - self.mean) * mass[below] - first[below]

    def mean_spread(self, low: float = -np.inf, high: float = np.inf) -> float:
        points = np.clip(self.points, low, high)
        return float(2.0 * np.sum(np.diff(points) * self._sums[0][1:-1] * (1.0 - self._sums[0][1:-1])))

    def nodes(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        return self.points, self.probabilities

    def ppf(self, share: Any) -> np.ndarray:
        place = np.searchsorted(self._sums[0][1:], share, side="left")
        return self.points[np.minimum(place, len(self.points) - 1)]

    def log_density(self, z: Any) -> np.ndarray:
        place = np.minimum(np.searchsorted(self.points, z), len(self.points) - 1)
        with np.errstate(divide="ignore"):
            return np.log(np.where(self.points[place] == z, self.probabilities[place], 0.0))


@dataclass(frozen=True, eq=False)
class UniformWindows(Law):
    """A density of boxes: each value seen, spread evenly over ``half_width`` on both sides.

    Attributes
    ----------
    centres : ndarray
        The values seen, sorted.
    half_width : float
        How far a window reaches on both sides.
    weights : ndarray
        How much each window counts; they sum to 1.

    Examples
    --------
    >>> from gapkernel.rows import UniformWindows
    >>> law = UniformWindows.around([0.0, 1.0, 3.0], 0.5)
    >>> law.mean_distance([0.7]).round(4), round(law.mean_spread(), 4)
    (array([1.1133]), 1.4444)
    """

    centres: np.ndarray
    half_width: float
    weights: np.ndarray

    @property
    def blur(self) -> Blur:
        return Blur(self.centres, self.weights, self.half_width, "box")

    @classmethod
    def around(cls, values: Any, half_width: float, weight: np.ndarray | None = None) -> UniformWindows:
        """Windows around values in any order."""
        values = np.asarray(values, dtype=np.float64)
        order = np.argsort(values, kind="stable")
        weight = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
        return cls(values[order], float(half_width), weight[order] / weight.sum())

    @cached_property
    def mean(self) -> float:  # type: ignore[override]
        return float(self.centres @ self.weights)

    @cached_property
    def variance(self) -> float:  # type: ignore[override]
        return float((self.centres - self.mean) ** 2 @ self.weights + self.half_width * self.half_width / 3.0)

    @cached_property
    def _powers(self) -> np.ndarray:
        """Sums of the powers 0 to 3 of the first 0, 1, ... centres, measured from the mean against cancellation."""
        away = (self.centres - self.mean)[:, None] ** np.arange(4)
        return np.vstack([np.zeros(4), np.cumsum(self.weights[:, None] * away, axis=0)])

    def integral_of_cdf(self, z: Any) -> np.ndarray:
        """A window below z gives z - x_i, one around z gives (z - x_i + h)^2 / 4h. O(log n) for each z."""
        z, h = np.asarray(z, dtype=np.float64), self.half_width
        if z.size > len(self.centres):  # sorted, they walk through memory in order
            order = np.argsort(z, axis=None)
            out = np.empty(z.size)
            out[order] = self._below(z.ravel()[order], h)
            return out.reshape(z.shape)
        return self._below(z, h)

    def _below(self, z: np.ndarray, h: float) -> np.ndarray:
        lower, upper = self.centres.searchsorted(z - h, "right"), self.centres.searchsorted(z + h, "right")
        power, at = self._powers, z - self.mean
        inside = [power[upper, k] - power[lower, k] for k in range(3)]
        window = ((at + h) ** 2 * inside[0] - 2.0 * (at + h) * inside[1] + inside[2]) / (4.0 * h)
        return at * power[lower, 0] - power[lower, 1] + window

    def mean_spread(self, low: float = -np.inf, high: float = np.inf) -> float:
        """``|D| + [2h - |D|]+^3 / 12h^2`` averaged over all pairs of windows, in O(n log n)."""
        rounding = 1e-9 * self.half_width
        if self.centres[0] - self.half_width < low - rounding or self.centres[-1] + self.half_width > high + rounding:
            raise ValueError("A window reaches over half the range beyond the values seen. Use narrower ones.")
        x, h, place = self.centres - self.mean, self.half_width, np.arange(len(self.centres))
        near = np.searchsorted(x, x - 2.0 * h, side="right")
        s = [self._powers[place, k] - self._powers[near, k] for k in range(4)]
        a = 2.0 * h - x  # 2h - D = x_i + a
        window = (s[3] + 3.0 * a * s[2] + 3.0 * a**2 * s[1] + a**3 * s[0]) / (12.0 * h**2)
        distance = x * self._powers[place, 0] - self._powers[place, 1]
        return float(2.0 * self.weights @ (distance + window) + self.weights @ self.weights * 2.0 * h / 3.0)

    def ppf(self, share: Any) -> np.ndarray:
        begins, ends = self.centres - self.half_width, self.centres + self.half_width
        edges = np.sort(np.concatenate([begins, ends]))
        mass = self._powers[:, 0]
        open_windows = mass[begins.searchsorted(edges, "right")] - mass[ends.searchsorted(edges, "right")]
        steps = open_windows[:-1] * np.diff(edges) / (2.0 * self.half_width)
        return np.interp(share, np.concatenate([[0.0], np.cumsum(steps)]), edges)

    def log_density(self, z: Any) -> np.ndarray:
        mass, reach = self._powers[:, 0], self.half_width * (1.0 + 1e-9)  # an end belongs to its window
        first, last = self.centres.searchsorted(z - reach), self.centres.searchsorted(z + reach, "right")
        with np.errstate(divide="ignore"):
            return np.log((mass[last] - mass[first]) / (2.0 * self.half_width))


@dataclass(frozen=True, eq=False)
class Normal(Law):
    """A normal law.

    Attributes
    ----------
    mean : float
        The mean.
    deviation : float
        The standard deviation.

    Examples
    --------
    >>> from gapkernel.density import Marginals
    >>> from gapkernel.rows import Normal
    >>> density = Marginals(laws={0: Normal(2.0, 0.5)}).fit([[1.0], [3.0]])
    >>> density.moments().mean
    array([2.])
    """

    mean: float
    deviation: float

    @property
    def blur(self) -> Blur:
        return Blur(np.array([self.mean]), np.ones(1), self.deviation, "normal")

    @property
    def variance(self) -> float:  # type: ignore[override]
        return self.deviation**2

    def integral_of_cdf(self, z: Any) -> np.ndarray:
        t = (np.asarray(z, dtype=np.float64) - self.mean) / self.deviation
        return self.deviation * (t * ndtr(t) + np.exp(-0.5 * t**2) / np.sqrt(2.0 * np.pi))

    def mean_spread(self, low: float = -np.inf, high: float = np.inf) -> float:
        ends = (np.array([low, high]) - self.mean) / self.deviation
        below, above = ndtr(ends), ndtr(-ends)
        weighted = np.multiply(ends, below * above, out=np.zeros(2), where=np.isfinite(ends))
        density = np.exp(-0.5 * ends**2) / np.sqrt(2.0 * np.pi)
        spread = weighted + density * (above - below) + ndtr(np.sqrt(2.0) * ends) / np.sqrt(np.pi)  # of F (1 - F)
        return float(2.0 * self.deviation * (spread[1] - spread[0]))

    def ppf(self, share: Any) -> np.ndarray:
        return self.mean + self.deviation * ndtri(share)

    def log_density(self, z: Any) -> np.ndarray:
        return -0.5 * ((z - self.mean) / self.deviation) ** 2 - np.log(self.deviation * np.sqrt(2.0 * np.pi))


ZERO = Atoms(np.zeros(1), np.ones(1))
"""0 for certain: the law of a column without any value."""
