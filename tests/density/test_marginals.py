"""Laws of single columns: closed forms against plain sums and quadrature, and the density that fits them."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, stats
from strategies import without_address

from gapkernel.density import Marginals
from gapkernel.rows import Atoms, Normal, UniformWindows


def window_distance(u, h):
    u = np.abs(u)
    return np.where(u >= h, u, (u**2 + h**2) / (2 * h))


def window_spread(d, h):
    d = np.abs(d)
    return d + np.maximum(2 * h - d, 0) ** 3 / (12 * h**2)


def test_golden_values_of_the_uniform_density():
    law = UniformWindows.around([3.0, 0.0, 1.0], 0.5)
    assert_allclose(1 - law.mean_distance([0.7, 5.0]) / 3, [0.628888888889, -0.222222222222], atol=1e-11)
    assert_allclose(1 - law.mean_spread() / 3, 0.518518518519, atol=1e-11)


@given(seed=st.integers(0, 10_000), h=st.floats(0.01, 6.0), ties=st.booleans(), weighted=st.booleans())
def test_windows_equal_the_plain_sums(seed, h, ties, weighted):
    random = np.random.default_rng(seed)
    x = 100 + 5 * random.standard_normal(random.integers(2, 60))
    x = np.round(x) if ties else x
    weight = random.integers(1, 4, len(x)) if weighted else np.ones(len(x))
    law, share = UniformWindows.around(x, h, weight), weight / weight.sum()
    z = np.concatenate([random.uniform(x.min() - 8, x.max() + 8, 70), x, x - h, x + h])
    assert_allclose(law.mean_distance(z), window_distance(np.subtract.outer(z, x), h) @ share, rtol=1e-11, atol=1e-11)
    assert_allclose(law.mean_spread(), share @ window_spread(np.subtract.outer(x, x), h) @ share, rtol=1e-10)


@pytest.mark.parametrize("centres", [(0.0, 0.0), (0.0, 0.3), (0.0, 1.4), (0.0, 2.0)], ids=str)
def test_every_branch_of_the_windows_equals_quadrature(centres):
    h = 0.7
    law = UniformWindows.around(centres, h)
    parts = [stats.uniform(c - h, 2 * h) for c in centres]
    edges = np.sort([c + s * h for c in centres for s in (-1, 1)])

    def mean(f, *more):
        knots = np.unique([*edges, *more])
        density = lambda t: 0.5 * sum(p.pdf(t) for p in parts)  # noqa: E731
        return sum(integrate.quad(lambda t: f(t) * density(t), a, b)[0] for a, b in pairwise(knots))

    for z in (-2.0, -0.7, 0.1, 0.7, 1.0, 5.0):
        assert_allclose(law.mean_distance(z), mean(lambda t, z=z: abs(t - z), z), atol=1e-9)
    assert_allclose(law.mean_spread(), mean(lambda t: float(law.mean_distance(t))), atol=1e-8)


def plain_atoms():
    return Atoms(np.array([0.0, 1.0, 3.0]), np.array([0.2, 0.5, 0.3]))


LAWS = {
    "atoms": plain_atoms(),
    "windows": UniformWindows.around([0.0, 1.0, 1.2, 3.0], 0.4),
    "normal": Normal(1.0, 0.8),
    "narrow normal": Normal(1.4, 0.05),
}
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())


@every_law
@pytest.mark.parametrize("ends", [(-np.inf, np.inf), (-0.5, 2.5)], ids=["free", "clipped"])
def test_distances_equal_the_average_over_quantiles(law, ends):
    if isinstance(law, UniformWindows) and np.isfinite(ends[0]):
        ends = (-0.4, 3.4)  # windows are held inside the ends by their makers
    draws = np.clip(law.ppf((np.arange(200_000) + 0.5) / 200_000), *ends)
    z = np.linspace(max(ends[0], -1), min(ends[1], 4), 7)
    assert_allclose(law.mean_distance(z, *ends), np.abs(np.subtract.outer(z, draws)).mean(axis=1), atol=2e-4)
    place = 2 * np.arange(len(draws)) - len(draws) + 1
    assert_allclose(law.mean_spread(*ends), 2 * np.sum(np.sort(draws) * place) / len(draws) ** 2, atol=2e-4)


def test_one_window_and_the_normal_law_have_the_closed_forms():
    z = np.array([0.0, 0.2, 1.0, 3.0])
    uniform = UniformWindows.around([3.5], 6.5)
    assert_allclose(uniform.mean_distance(z), ((z + 3) ** 2 + (10 - z) ** 2) / 26, atol=1e-12)
    assert_allclose(uniform.mean_spread(), 13 / 3, atol=1e-12)
    t, law = (z - 3) / 0.7, Normal(3, 0.7)
    normal = 2 * 0.7 * stats.norm.pdf(t) + (z - 3) * (2 * stats.norm.cdf(t) - 1)
    assert_allclose(law.mean_distance(z), normal, atol=1e-12)
    assert_allclose(law.mean_spread(), 1.4 / np.sqrt(np.pi), atol=1e-12)


@pytest.mark.parametrize("ends", [(-40.0, 3.1), (2.9, 3.0), (3.5, 90.0), (-np.inf, 2.0)])
def test_the_spread_of_a_normal_law_between_two_ends_equals_quadrature(ends):
    law = stats.norm(3, 0.7)
    expected = integrate.quad(
        lambda t: 2 * law.cdf(t) * law.sf(t), max(ends[0], -10.0), min(ends[1], 15.0), points=[3.0]
    )
    assert_allclose(Normal(3, 0.7).mean_spread(*ends), expected[0], atol=1e-12)


def test_a_window_outside_the_ends_is_refused():
    with pytest.raises(ValueError, match="A window reaches over half the range"):
        UniformWindows.around([0.0, 1.0], 0.5).mean_spread(-0.4, 3.0)
    assert UniformWindows.around([0.0, 1.0], 0.5).mean_spread(-0.5, 1.5) > 0


def test_a_fit_learns_one_law_for_each_column():
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 4.0, None], "c": ["u", "v", "u", None], "gone": [np.nan] * 4, "one": [3.0] * 4}
    )
    given = Normal(0.0, 1.0)
    assert Marginals(laws={"x": given}).fit(frame).features_[0].law is given
    density = Marginals(laws={"x": "gaussian"}).fit(frame)
    x, c, gone, one = density.features_
    assert isinstance(x.law, Normal)
    assert_allclose((x.law.mean, x.law.deviation), (7 / 3, np.std([1, 2, 4])))
    assert_allclose(c.probabilities, [2 / 3, 1 / 3])
    assert gone.law is None
    assert one.law.points.tolist() == [3.0]


@pytest.mark.parametrize(("settings", "expected"), [
    ({}, [3 / 4, 1 / 4]), ({"categorical": "uniform"}, [0.5, 0.5]),
    ({"laws": {0: "uniform"}}, [0.5, 0.5]),
], ids=without_address)  # fmt: skip
def test_laws_of_categories(settings, expected):
    density = Marginals(**settings).fit(np.array([["a"], ["a"], ["b"], ["a"], [None]], dtype=object))
    assert_allclose(density.features_[0].probabilities, expected)


def test_weights_are_repeated_rows_where_the_bandwidth_is_given():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.standard_normal(20), "c": random.integers(0, 3, 20).astype(str)})
    weight = random.integers(0, 4, 20)
    weighted = Marginals(bandwidth=0.3).fit(frame, sample_weight=weight)
    repeated = Marginals(bandwidth=0.3).fit(frame.loc[np.repeat(np.arange(20), weight)])
    z = np.linspace(-2, 2, 9)
    laws = [density.features_[0].law for density in (weighted, repeated)]
    assert_allclose(laws[0].mean_distance(z), laws[1].mean_distance(z), rtol=1e-12)
    assert_allclose(laws[0].mean_spread(), laws[1].mean_spread(), rtol=1e-12)
    assert_allclose(*(density.features_[1].probabilities for density in (weighted, repeated)))


def test_windows_are_held_to_half_the_range():
    density = Marginals(bandwidth=100.0).fit(np.array([[0.0], [1.0], [3.0]]))
    assert density.bandwidths_.tolist() == [1.5]
    assert isinstance(Marginals(bandwidth=0.0).fit(np.array([[0.0], [1.0]])).features_[0].law, Atoms)


def test_draws_follow_the_laws_and_keep_what_was_seen():
    X = np.array([[1.0, 5.0], [2.0, np.nan], [np.nan, 7.0], [4.0, 9.0]])
    density = Marginals().fit(X)
    draws = density.sample(X, 20_000, random_state=0)
    assert np.all(draws[:, 0] == X[0])
    assert_allclose(draws[:, 2, 0].mean(), 7 / 3, atol=0.05)


@pytest.mark.parametrize(("settings", "complaint"), [
    ({"numeric": "normal"}, "numeric"), ({"categorical": "even"}, "categorical"), ({"bandwidth": "nrd"}, "bandwidth"),
    ({"bandwidth": -1.0}, "bandwidth"), ({"laws": {"z": "kde"}}, "'z'"),
    ({"laws": {"x": "frequency"}}, "'x'"), ({"laws": {"c": "kde"}}, "'c'"), ({"laws": {"c": Normal(0.0, 1.0)}}, "'c'"),
    ({"laws": {"x": stats.norm()}}, "a law of gapkernel.rows"),
], ids=without_address)  # fmt: skip
def test_settings_out_of_range_are_refused_by_name(settings, complaint):
    frame = pd.DataFrame({"x": [1.0, 2.0], "c": ["u", "v"]})
    with pytest.raises(ValueError, match=complaint):
        Marginals(**settings).fit(frame)
