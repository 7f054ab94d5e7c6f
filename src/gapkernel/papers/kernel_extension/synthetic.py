"""The synthetic problem of the paper, and the laws that its columns are drawn from: those of gaps in EHK1 and EHKF1."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state

from gapkernel.rows import Atoms, Law, Normal, UniformWindows

TAIL = 1e-15
"""Probability left out on each side where a law on the integers is cut."""


def ehk_laws() -> dict:
    """The true law of each numeric column of `make_ehk_synthetic`, as `gapkernel.density.Marginals` takes them.

    Returns
    -------
    laws : dict of frozen laws of scipy.stats

    Examples
    --------
    >>> from gapkernel.papers.kernel_extension import ehk_laws
    >>> float(ehk_laws()["v2"].mean())
    3.0
    """
    return {
        "v1": stats.norm(3.0, 0.5**0.5),  # the table gives variances
        "v2": stats.poisson(3.0),
        "v3": stats.geom(0.6, loc=-1),  # failures before the first success
        "v4": stats.uniform(-3.0, 13.0),
        "v5": stats.uniform(100.0, 100.0),
        "v6": stats.expon(scale=0.25),  # rate 4
        "v7": stats.norm(0.0, 1.0),
        "v8": stats.norm(0.5, 2.0**0.5),
        "v9": stats.binom(20, 1 / 3),
        "v10": stats.bernoulli(0.28),
    }


def make_ehk_synthetic(n_samples=500, random_state=None) -> tuple:
    """The synthetic problem of the EHK paper (section 4.1): ten numbers, one category, two rules.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    random_state : int, RandomState or None, default=None
        Seed of the rows.

    Returns
    -------
    X : DataFrame of shape (n_samples, 11)
        Complete; use `gapkernel.ampute` to remove cells. The last column is a category.
    y : ndarray of shape (n_samples,)
        1 with probability 0.525, else -1.

    Notes
    -----
    The second number of a Gaussian is its variance, the exponential has rate 4, the geometric counts failures. The
    paper does not say so; this is R's reading, and the one under which the classes are near balance.

    Examples
    --------
    >>> from gapkernel.papers.kernel_extension import make_ehk_synthetic
    >>> X, y = make_ehk_synthetic(1000, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 11), [-1, 1])
    """
    import pandas as pd

    random = check_random_state(random_state)
    if not isinstance(n_samples, Integral) or n_samples < 1:
        raise ValueError(f"n_samples must be a whole number of at least 1, got {n_samples!r}.")
    v = {name: law.rvs(int(n_samples), random_state=random).astype(np.float64) for name, law in ehk_laws().items()}
    letter = random.choice(list("ABCD"), n_samples)
    first = (
        (v["v1"] > 2) & (v["v2"] >= 1) & (v["v3"] < 4) & (v["v4"] > -2.4) & (v["v5"] >= 103) & (v["v6"] <= 1)
        & (v["v7"] >= -1.9) & (v["v8"] < 4) & (v["v9"] >= 4) & (v["v10"] == 0) & np.isin(letter, ["B", "C"])
    )  # fmt: skip
    second = (
        (v["v1"] < 3.8) & (v["v2"] <= 6) & (v["v3"] <= 2) & (v["v4"] <= 9.4) & (v["v5"] < 196) & (v["v6"] > 0.01)
        & (v["v7"] <= 2) & (v["v8"] >= -3) & (v["v9"] <= 8) & np.isin(letter, ["A", "D"])
    )  # fmt: skip
    X = pd.DataFrame({**v, "v11": pd.Categorical(letter, list("ABCD"))})
    return X, np.where(first | second, 1, -1)


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
