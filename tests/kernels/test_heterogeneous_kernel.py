"""The extended heterogeneous kernel: golden values, averages for every kernel and law, and positive definiteness."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from strategies import without_address

import gapkernel as gk
from gapkernel.density import Marginals
from gapkernel.kernels import HeterogeneousKernel
from gapkernel.kernels.univariate import RBF, Dichotomous, Gower, Laplacian, Ordinal, Overlap
from gapkernel.rows import Normal


def rows_of(X, **options):
    density = Marginals(**options).fit(X)
    return density.condition(X)


def mixed_frame(seed, n=40, gap_rate=0.3):
    """Numbers, ordered and unordered categories, a constant, a single level and a column without a value."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "size": random.standard_normal(n),
        "count": random.poisson(3, n).astype(float),
        "colour": random.choice(["red", "green", "blue"], n),
        "grade": pd.Categorical(random.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
        "yes": random.random(n) < 0.3,
        "constant": 2.0,
        "single": "only",
        "gone": np.nan,
    })  # fmt: skip
    frame["yes"] = frame["yes"].astype("boolean")
    return frame.mask(random.random(frame.shape) < gap_rate)


def test_golden_activation():
    kernel = HeterogeneousKernel(0.5, scaled=False)
    assert_allclose(kernel._activated(np.array([0.6])), 2.040816326531, atol=1e-11)
    assert_allclose(HeterogeneousKernel(1e-7, scaled=False)._activated(np.array([0.6])), np.exp(0.6), rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.95])
def test_a_scaled_kernel_is_the_papers_times_a_number_and_1_on_the_diagonal(alpha):
    rows = rows_of(mixed_frame(0))
    scaled, raw = HeterogeneousKernel(alpha), HeterogeneousKernel(alpha, scaled=False)
    assert_allclose(scaled.gram(rows), (1 - alpha) ** (1 / alpha) * raw.gram(rows), rtol=1e-12)
    assert_allclose(scaled.diag(rows), 1.0)


def gower(a, b):
    """Gower's coefficient over the columns that both rows have."""
    scores = [1 - Fraction(abs(p - q), 4) for p, q in zip(a, b, strict=True) if p is not None and q is not None]
    return sum(scores) / len(scores)


def test_gowers_coefficient_is_indefinite_and_this_is_not():
    X = [[1, 2, 3, 1], [1, 3, 3, None], [1, 3, 3, 5]]
    s = [[gower(a, b) for b in X] for a in X]
    determinant = 1 + 2 * s[0][1] * s[1][2] * s[0][2] - s[0][1] ** 2 - s[1][2] ** 2 - s[0][2] ** 2
    assert determinant == Fraction(-121, 2304)
    whole_range = [[1] * 4, [5] * 4]  # R = 4 in every column, as in the paper
    rows = Marginals().fit(np.array(X + whole_range, float)).condition(np.array(X, float))
    for alpha in (None, 0.1, 0.9):
        assert np.linalg.eigvalsh(HeterogeneousKernel(alpha).gram(rows))[0] > -1e-12


def test_categories_give_frequencies():
    rows = rows_of(np.array([["a"], ["a"], ["b"], [None], [None]], dtype=object))
    cross = HeterogeneousKernel().cross(rows, rows)
    assert_allclose(cross[0], [1, 1, 0, 2 / 3, 2 / 3])
    assert_allclose(cross[3], [2 / 3, 2 / 3, 1 / 3, 5 / 9, 5 / 9])
    assert_allclose(HeterogeneousKernel().gram(rows)[3], [2 / 3, 2 / 3, 1 / 3, 1, 5 / 9])


NUMERIC_LAWS = {
    "windows": {"numeric": "kde"}, "normal": {"numeric": "gaussian"}, "atoms": {"numeric": "empirical"},
    "given": {"laws": {0: Normal(0.3, 0.8)}},
}  # fmt: skip
NUMERIC_KERNELS = {"gower": Gower(), "rbf": RBF(2.0), "laplacian": Laplacian(3.0)}


@pytest.mark.parametrize("law", NUMERIC_LAWS.values(), ids=NUMERIC_LAWS.keys())
@pytest.mark.parametrize("kernel", NUMERIC_KERNELS.values(), ids=NUMERIC_KERNELS.keys())
def test_every_number_kernel_equals_the_average_over_draws(kernel, law):
    x = np.append(np.random.default_rng(0).standard_normal(12), [np.nan, np.nan])
    density = Marginals(**law).fit(x[:, None])
    if isinstance(kernel, Laplacian) and isinstance(density.features_[0].law, Normal):
        with pytest.raises(ValueError, match="no closed form under Normal"):
            kernel.extend(density.features_[0])
        return
    extension = kernel.extend(density.features_[0])
    draws = density.features_[0].law.ppf((np.arange(4000) + 0.5) / 4000)
    matrix = extension.cross(x, x)
    assert_allclose(matrix, matrix.T, atol=1e-12)
    values = extension.pointwise(x[:12], draws)
    assert_allclose(matrix[:12, 12], values.mean(axis=1), atol=2e-3)
    assert_allclose(matrix[12, 13], extension.pointwise(draws, draws).mean(), atol=2e-3)
    assert_allclose(extension.same(x), 1.0)


@pytest.mark.parametrize("kernel", [RBF(2.0), Laplacian(3.0)], ids=repr)
def test_closed_forms_under_windows_equal_gauss_legendre(kernel):
    x = np.array([0.0, 0.4, 1.0, 2.5])
    feature = Marginals(bandwidth=0.3).fit(x[:, None]).features_[0]
    nodes, weights = np.polynomial.legendre.leggauss(60)

    def plain(u):
        return np.exp(-kernel.gamma * (u**2 if isinstance(kernel, RBF) else np.abs(u)))

    unit = 2.5
    z = np.array([-1.0, 3.2, 2.0])  # outside the windows, where the Laplacian is smooth too
    points = (x[:, None] + 0.3 * nodes).ravel()
    share = np.tile(weights / 2, len(x)) / len(x)
    expected = plain(np.subtract.outer(z, points) / unit) @ share
    extension = kernel.extend(feature)
    assert_allclose(extension.profile(z), expected, rtol=1e-12)
    if isinstance(kernel, RBF):
        both = share @ plain(np.subtract.outer(points, points) / unit) @ share
        assert_allclose(extension.profile(np.array([np.nan])), both, rtol=1e-10)


@pytest.mark.parametrize(
    "kernel",
    [Overlap(), Ordinal(), Dichotomous(), Dichotomous("a"), lambda x, z: np.exp(-abs(x - z))],
    ids=without_address,
)
def test_every_category_kernel_is_a_finite_sum(kernel):
    levels = ["a", "b"] if isinstance(kernel, Dichotomous) else ["a", "b", "c"]
    values = [*levels, "b", "a", "a", None, None]
    rows = rows_of(np.array(values, dtype=object)[:, None])
    matrix = HeterogeneousKernel(categorical=kernel).cross(rows, rows)
    counts = np.array([sum(v == level for v in values) for level in levels], float)
    p = counts / counts.sum()
    table = matrix[: len(levels), : len(levels)]
    assert_allclose(matrix[-1, : len(levels)], p @ table)
    assert_allclose(matrix[-1, -2], p @ table @ p)
    assert_allclose(HeterogeneousKernel(categorical=kernel).diag(rows)[-1], p @ table.diagonal())


def test_presence_and_absence():
    rows = rows_of(np.array([["-"], ["+"], ["-"], ["+"]], dtype=object))
    gram = HeterogeneousKernel(categorical=Dichotomous("+")).gram(rows)
    assert gram.tolist() == [[0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1]]
    with pytest.raises(ValueError, match="no level 'x'"):
        HeterogeneousKernel(categorical=Dichotomous("x")).gram(rows)


def test_ordered_categories_count_their_places():
    frame = pd.DataFrame({"g": pd.Categorical(["low", "mid", "high"], ["low", "mid", "high"], ordered=True)})
    assert_allclose(HeterogeneousKernel().gram(rows_of(frame)), [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])


def unequal(x, z):
    return np.exp(-1.0 * (x != z))


KERNELS = {
    "ehk": HeterogeneousKernel(),
    "ehk 0.1": HeterogeneousKernel(0.1),
    "ehk 0.95": HeterogeneousKernel(0.95),
    "product": HeterogeneousKernel(numeric="rbf").on([0]) * HeterogeneousKernel(categorical=unequal).on([2]),
    "laplacian": HeterogeneousKernel(0.3, numeric="laplacian", kernels={4: "dichotomous"}),
    "two": HeterogeneousKernel(numeric="rbf") + 2 * HeterogeneousKernel(0.5),
    "columns": HeterogeneousKernel(0.5).on([3, 0]),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


@every_kernel
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), gap_rate=st.sampled_from([0.0, 0.3, 0.6, 0.95]), n=st.integers(2, 30))
def test_gram_is_positive_semi_definite_and_cross_plus_a_nugget(kernel, seed, gap_rate, n):
    frame = mixed_frame(seed, n, gap_rate)
    frame.loc[0, ["size", "colour"]] = [1.0, "red"]  # so that not everything is missing
    density = Marginals().fit(frame)
    rows = density.condition(frame)
    kernel = kernel.resolve(density.moments(), rows)
    gram, cross = kernel.gram(rows), kernel.cross(rows, rows)
    for matrix in (gram, cross):
        assert np.linalg.eigvalsh(matrix)[0] >= -1e-10 * n * max(1.0, np.abs(matrix).max())
    nugget = (gram - cross).diagonal()
    np.fill_diagonal(cross, gram.diagonal())
    assert_allclose(gram, cross, rtol=0, atol=1e-12 * np.abs(gram).max())
    assert np.all(nugget >= -1e-12)
    assert_allclose(gram.diagonal(), kernel.diag(rows), rtol=1e-12)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), law=st.sampled_from([*NUMERIC_LAWS.values(), {"bandwidth": 1e9}]))
def test_numbers_far_outside_the_training_range_stay_positive_semi_definite(seed, law):
    random = np.random.default_rng(seed)
    density = Marginals(**law).fit(random.standard_normal((8, 1)))
    rows = density.condition(np.append(random.standard_normal(25) * 10, [np.nan] * 5)[:, None])
    assert np.linalg.eigvalsh(HeterogeneousKernel().gram(rows))[0] >= -1e-12


@every_kernel
def test_chunks_and_threads_change_no_bit(kernel):
    frame = mixed_frame(3, 600)
    density = Marginals().fit(frame)
    rows = density.condition(frame)
    kernel = kernel.resolve(density.moments(), rows)
    with gk.config_context(n_threads=1):
        whole = kernel.cross(rows, rows)
    with gk.config_context(n_threads=2):
        parts = np.vstack([kernel.cross(rows.take(slice(i, i + 77)), rows) for i in range(0, 600, 77)])
    assert np.array_equal(whole, parts)


def test_the_compiled_sum_equals_column_by_column():
    frame = mixed_frame(5, 60)
    rows = rows_of(frame)
    kernel = HeterogeneousKernel()
    columns = [
        extension.cross(rows.values[:, j], rows.values[:, j]) for j, extension in enumerate(kernel._extensions(rows))
    ]
    assert_allclose(kernel.cross(rows, rows), np.mean(columns, axis=0), rtol=1e-13)


def test_kernels_of_single_columns_take_precedence():
    rows = rows_of(np.array([[0.0, 5.0], [1.0, 6.0], [3.0, 9.0]]))
    both = HeterogeneousKernel(kernels={1: "rbf"}).gram(rows)
    apart = HeterogeneousKernel().on([0]).gram(rows) + HeterogeneousKernel(numeric="rbf").on([1]).gram(rows)
    assert_allclose(both, apart / 2)


def test_no_silent_approximation():
    rows = rows_of(np.array([[0.0], [1.0], [3.0], [np.nan]]))
    cosine = HeterogeneousKernel(numeric=lambda x, z: np.cos(x - z))
    with pytest.raises(ValueError, match=r"column 0 .*Marginals\(numeric='empirical'\)"):
        cosine.gram(rows)
    atoms = rows_of(np.array([[0.0], [1.0], [3.0], [np.nan]]), numeric="empirical")
    assert_allclose(cosine.gram(atoms)[0, 3], np.cos([0, 1, 3]).mean())


@pytest.mark.parametrize(("changes", "complaint"), [
    ({"alpha": 0.0}, "alpha"), ({"alpha": 1.0}, "alpha"), ({"alpha": "one"}, "alpha"),
    ({"numeric": "cosine"}, "numeric"),
    ({"numeric": "overlap"}, "'x'"), ({"categorical": "rbf"}, "'c'"), ({"kernels": {7: "rbf"}}, "kernels"),
    ({"numeric": RBF(-1.0)}, "gamma"),
    ({"categorical": Dichotomous()}, "two levels"),
    ({"alpha": 0.9, "categorical": lambda x, z: 4.0 * (x == z)}, "1/alpha"),
], ids=without_address)  # fmt: skip
def test_settings_that_make_no_kernel_are_refused_by_name(changes, complaint):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": ["u", "v", "w"]})
    with pytest.raises(ValueError, match=complaint):
        gk.SVC(kernel=HeterogeneousKernel(**changes)).fit(frame, [0, 1, 0])


def test_kernels_of_columns_are_searched_and_copied_like_any_part():
    kernel = HeterogeneousKernel(numeric=RBF(2.0))
    copy = clone(kernel).set_params(numeric__gamma=0.5)
    assert (kernel.numeric.gamma, copy.numeric.gamma) == (2.0, 0.5)
    assert repr(copy) == "HeterogeneousKernel(numeric=RBF(gamma=0.5))"
    X = np.random.default_rng(0).random((30, 2))
    search = GridSearchCV(gk.SVC(kernel=kernel), {"kernel__numeric__gamma": [0.5, 2.0]}, cv=2).fit(X, X[:, 0] > 0.5)
    assert search.best_estimator_.kernel_.numeric.gamma == search.best_params_["kernel__numeric__gamma"]
