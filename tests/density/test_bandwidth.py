"""Sheather-Jones bandwidths: known values, the binned form against all pairs, and hopeless samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gapkernel.density import bandwidth, sheather_jones

# average yearly rainfall of 70 American cities, R's `precip`
RAIN = [
    67.0, 54.7, 7.0, 48.5, 14.0, 17.2, 20.7, 13.0, 43.4, 40.2, 38.9, 54.5, 59.8, 48.3, 22.9, 11.5, 34.4, 35.1, 38.7,
    30.8, 30.6, 43.1, 56.8, 40.8, 41.8, 42.5, 31.0, 31.7, 30.2, 25.9, 49.2, 37.0, 35.9, 15.0, 30.2, 7.2, 36.2, 45.5,
    7.8, 33.4, 36.1, 40.2, 42.7, 42.5, 16.2, 39.0, 35.0, 37.0, 31.4, 37.6, 39.9, 36.2, 42.8, 46.4, 24.7, 49.1, 46.0,
    35.9, 7.8, 48.2, 15.2, 32.5, 44.7, 42.6, 38.8, 17.4, 40.8, 29.1, 14.6, 59.2,
]  # fmt: skip

SAMPLES = {
    "normal": lambda random, n: random.standard_normal(n),
    "skewed": lambda random, n: random.exponential(size=n) ** 2,
    "heavy tails": lambda random, n: random.standard_t(2, size=n),
    "rounded": lambda random, n: np.round(random.standard_normal(n), 1),
    "two groups": lambda random, n: np.where(np.arange(n) % 2, 0.0, 8.0) + 0.3 * random.standard_normal(n),
}


def plain(x, method):
    """The same by a plain double loop over pairs."""
    n = len(x)
    t = lambda h: ((x[:, None] - x) / h) ** 2  # noqa: E731
    off = ~np.eye(n, dtype=bool)

    def s4(h):
        u = t(h)[off]
        total = np.sum((u**2 - 6 * u + 3) * np.exp(-u / 2)) + 3 * n
        return total / (n * (n - 1) * h**5 * np.sqrt(2 * np.pi))

    def s6(h):
        u = t(h)[off]
        total = np.sum((u**3 - 15 * u**2 + 45 * u - 15) * np.exp(-u / 2)) - 15 * n
        return total / (n * (n - 1) * h**7 * np.sqrt(2 * np.pi))

    quarters = np.percentile(x, [25, 75])
    s = min(x.std(ddof=1), (quarters[1] - quarters[0]) / 1.349)
    slope = -s6(1.23 * s * n ** (-1 / 9))
    if method == "dpi":
        return (1 / (2 * np.sqrt(np.pi) * n * s4((2.394 / (n * slope)) ** (1 / 7)))) ** 0.2
    alpha = 1.357 * (s4(1.24 * s * n ** (-1 / 7)) / slope) ** (1 / 7)
    low, high = 0.01 * s, 2 * s
    for _ in range(80):  # bisection
        middle = 0.5 * (low + high)
        wide = (1 / (2 * np.sqrt(np.pi) * n * s4(alpha * middle ** (5 / 7)))) ** 0.2
        low, high = (middle, high) if wide > middle else (low, middle)
    return 0.5 * (low + high)


def test_rainfall():
    assert_allclose(sheather_jones(RAIN), 3.942, atol=5e-4)
    assert_allclose(sheather_jones(np.array(RAIN) * 1e6 - 5), 3.942e6, rtol=1e-4)


@pytest.mark.parametrize("method", ["ste", "dpi"])
@pytest.mark.parametrize("name", ["normal", "skewed", "two groups"])
def test_all_pairs_by_a_plain_loop(name, method):
    x = SAMPLES[name](np.random.default_rng(0), 150)
    assert_allclose(sheather_jones(x, method), plain(x, method), rtol=1e-9)


@pytest.mark.parametrize("method", ["ste", "dpi"])
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())
def test_bins_agree_with_all_pairs(sample, method, monkeypatch):
    x = sample(np.random.default_rng(1), 1500)
    binned = sheather_jones(x, method)
    monkeypatch.setattr(bandwidth, "EXACT_UP_TO", 2000)
    assert_allclose(binned, sheather_jones(x, method), rtol=1e-4)


def test_the_rate_for_a_normal_sample():
    x = np.random.default_rng(3).standard_normal(100_000)
    assert_allclose(sheather_jones(x), (4 / 3 / len(x)) ** 0.2, rtol=0.05)


@pytest.mark.parametrize("x", [[], [1.0], [2.0, 2.0, 2.0], [np.nan, 3.0]], ids=repr)
def test_fewer_than_two_values_have_no_width(x):
    assert sheather_jones(x) == 0.0


@pytest.mark.parametrize("x", [[0.0, 1.0], [0.0] * 50 + [1.0], [0, 1] * 30, [1.0, 2.0, 4.0], [0.0, 1e-300]], ids=str)
@pytest.mark.parametrize("method", ["ste", "dpi"])
def test_samples_with_few_values_get_a_positive_width(x, method):
    width = sheather_jones(x, method)
    assert 0 < width < 2 * np.ptp(x)


def test_gaps_are_left_out_and_infinity_refused():
    x = np.random.default_rng(0).standard_normal(60)
    assert sheather_jones(np.append(x, np.nan)) == sheather_jones(x)
    with pytest.raises(ValueError, match="infinity"):
        sheather_jones([0.0, 1.0, np.inf])
    with pytest.raises(ValueError, match="method"):
        sheather_jones(x, "silverman")
