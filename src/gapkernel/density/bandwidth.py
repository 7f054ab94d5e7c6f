"""How wide the windows of a density estimate should be (Sheather, Jones 1991)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq

from gapkernel.compute.doors import as_floats

EXACT_UP_TO = 1000
"""Values up to which every pair is summed; beyond, they are binned."""

BINS_PER_WIDTH = 100
"""Bins in the narrowest pilot width; their error is below 1e-4 of the result."""

MOST_BINS = 2**21
"""Bins are widened beyond this number; only a sample with values thousands of deviations away needs it."""

FOURTH, SIXTH = (1.0, -6.0, 3.0), (1.0, -15.0, 45.0, -15.0)
"""Derivatives of a Gaussian, divided by it, as polynomials in the squared distance."""

REACH = 12.0
"""Pairs further apart than this many widths add less than 1e-27."""


def sheather_jones(x: Any, method: str = "ste") -> float:
    """Bandwidth of a kernel density estimate by Sheather and Jones.

    The result is the standard deviation of a Gaussian window, as in R's ``bw.SJ``. A uniform window of the same
    deviation has a half-width of sqrt(3) times that.

    Parameters
    ----------
    x : array-like of shape (n_values,)
        NaN is left out.
    method : {"ste", "dpi"}, default="ste"
        "ste" solves the equation, "dpi" plugs the estimates in directly.

    Returns
    -------
    bandwidth : float
        0 for fewer than two distinct values.

    Notes
    -----
    Up to 1,000 values every pair is summed. Beyond, values are shared out linearly between the two nearest of up to
    2**21 bins, at least a hundred in the narrowest pilot width, and pairs are counted by a Fourier transform; the
    bandwidth moves by less than 1e-4 of its size. Where the equation has no root (few distinct values), it is the
    normal reference 0.9 s n**(-1/5).

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import sheather_jones
    >>> x = np.random.default_rng(0).standard_normal(500)
    >>> round(sheather_jones(x), 3), round(sheather_jones(x, "dpi"), 3)
    (0.309, 0.309)
    """
    if method not in ("ste", "dpi"):
        raise ValueError(f"method must be 'ste' or 'dpi', got {method!r}.")
    x = as_floats(x, "x").ravel()
    x = np.sort(x[~np.isnan(x)])
    if not np.isfinite(x).all():
        raise ValueError("x holds infinity. Leave it out.")
    if len(x) < 2 or x[0] == x[-1]:
        return 0.0
    n, unit = len(x), x[-1] - x[0]
    x = (x - x[0]) / unit
    quarter, three_quarters = np.percentile(x, [25, 75])
    deviation = x.std(ddof=1)
    scale = min(deviation, (three_quarters - quarter) / 1.349) or deviation
    distances, counts = _pairs(x, scale)
    fourth, sixth = (partial(_derivative, polynomial, distances, counts, n) for polynomial in (FOURTH, SIXTH))
    bandwidth = (_direct if method == "dpi" else _solved)(fourth, sixth, scale, n)
    reference = 0.9 * scale * n**-0.2
    return float(unit * (bandwidth if bandwidth is not None and np.isfinite(bandwidth) else reference))


def _solved(fourth: Callable[[float], float], sixth: Callable[[float], float], scale: float, n: int) -> float | None:
    """The root of h = (2 sqrt(pi) n S4(alpha h^(5/7)))^(-1/5), None if there is none."""
    curvature, slope = fourth(1.24 * scale * n ** (-1 / 7)), -sixth(1.23 * scale * n ** (-1 / 9))
    if not (slope > 0 and curvature > 0):
        return None
    alpha = 1.357 * (curvature / slope) ** (1 / 7)

    def excess(h: float) -> float:
        return _optimal(fourth(alpha * h ** (5 / 7)), n) - h

    high = 1.144 * scale * n**-0.2
    low = 0.1 * high
    for attempt in range(100):
        if excess(low) * excess(high) <= 0:
            return brentq(excess, low, high, xtol=1e-12 * high, rtol=1e-12)
        low, high = (low, 1.2 * high) if attempt % 2 == 0 else (low / 1.2, high)
    return None


def _direct(fourth: Callable[[float], float], sixth: Callable[[float], float], scale: float, n: int) -> float | None:
    slope = -sixth(1.23 * scale * n ** (-1 / 9))
    return _optimal(fourth((2.394 / (n * slope)) ** (1 / 7)), n) if slope > 0 else None


def _optimal(curvature: float, n: int) -> float:
    """The width that is best for a density of this integrated squared second derivative."""
    return (1.0 / (2.0 * np.sqrt(np.pi) * n * curvature)) ** 0.2 if curvature > 0 else np.inf


def _derivative(polynomial: Sequence[float], distances: np.ndarray, counts: np.ndarray, n: int, h: float) -> float:
    """S4 or S6: a derivative of a Gaussian summed over all pairs, a value with itself too."""
    near = slice(0, np.searchsorted(distances, REACH * h))
    t = (distances[near] / h) ** 2
    total = 2.0 * np.sum(counts[near] * np.polyval(polynomial, t) * np.exp(-0.5 * t)) + polynomial[-1] * n
    return total / (n * (n - 1.0) * h ** (2 * len(polynomial) - 1) * np.sqrt(2.0 * np.pi))


def _pairs(x: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Distances between values in rising order, and how many pairs have them; ``x`` is sorted in [0, 1]."""
    n = len(x)
    if n <= EXACT_UP_TO:
        rows, columns = np.triu_indices(n, 1)
        return np.unique(x[columns] - x[rows], return_counts=True)
    width = 0.1 * 1.144 * scale * n**-0.2  # where the search for a root begins
    bins = int(min(MOST_BINS, np.ceil(BINS_PER_WIDTH / width))) + 1
    place = x * (bins - 1)
    left = np.minimum(place.astype(np.int64), bins - 2)
    share = place - left
    weight = np.bincount(left, 1.0 - share, bins) + np.bincount(left + 1, share, bins)
    length = next_fast_len(2 * bins, real=True)
    spectrum = rfft(weight, length)
    counts = irfft(np.abs(spectrum) ** 2, length)[:bins]  # pairs at each lag, the two orders of lag 0
    counts[0] = 0.5 * (counts[0] - np.sum(share**2 + (1.0 - share) ** 2))
    counts[1] -= np.sum(share * (1.0 - share))  # the two halves of one value are not a pair
    return np.arange(bins) / (bins - 1), counts
