"""The laws that the synthetic problem draws its columns from, as those of its gaps (EHK1 and EHKF1 of Figure 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.papers.kernel_extension.synthetic import ehk_laws
from gapkernel.rows import Atoms, Law, Normal, UniformWindows

TAIL = 1e-15
"""Probability left out on each side where a law on the integers is cut."""


def true_laws() -> dict[str, Law]:
    """The true law of each column of numbers, for ``Marginals(laws=)``.

    Returns
    -------
    laws : dict of str to Law
    """
    return {name: law_of(distribution) for name, distribution in ehk_laws().items()}


def law_of(distribution) -> Law:
    """The law of a frozen distribution of scipy.stats: normal, uniform, exponential, or on the integers.

    Parameters
    ----------
    distribution : frozen distribution

    Returns
    -------
    law : Law
    """
    name, mean = distribution.dist.name, float(distribution.mean())
    low, high = distribution.support()
    if name == "norm":
        return Normal(mean, float(distribution.std()))
    if name == "uniform":
        return UniformWindows.around([mean], 0.5 * (high - low))
    if name == "expon":
        return Exponential(mean)
    low, high = max(low, distribution.ppf(TAIL)), min(high, distribution.ppf(1.0 - TAIL))
    points = np.arange(low, high + 1.0)
    probabilities = distribution.pmf(points)
    return Atoms(points, probabilities / probabilities.sum())


@dataclass(frozen=True, eq=False)
class Exponential(Law):
    """An exponential law.

    Attributes
    ----------
    mean : float
    """

    mean: float

    @property
    def variance(self) -> float:  # type: ignore[override]
        """The square of the mean."""
        return self.mean**2

    def integral_of_cdf(self, z) -> np.ndarray:
        z = np.maximum(z, 0.0)
        return z + self.mean * np.expm1(-z / self.mean)

    def mean_spread(self, low: float = -np.inf, high: float = np.inf) -> float:
        above = np.exp(-np.maximum([low, high], 0.0) / self.mean)
        return float(self.mean * -np.diff(2.0 * above - above**2)[0])

    def ppf(self, share) -> np.ndarray:
        return -self.mean * np.log1p(-np.asarray(share))

    def log_density(self, z) -> np.ndarray:
        return np.where(z < 0, -np.inf, -z / self.mean - np.log(self.mean))
