"""Truths about every kernel, over generated laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from strategies import law_batches, random_covariance, random_laws

from gapkernel.density import Gaussian
from gapkernel.kernels import (
    ExpectedLinear,
    ExpectedRBF,
    GenRBF,
    Karma,
    MonteCarlo,
    OnColumns,
    Product,
    Scaled,
    Sum,
    UnscaledExpectedRBF,
)
from gapkernel.rows import GaussianRows

D = 4
METRIC = random_covariance(np.random.default_rng(9), D)
KERNELS = {
    "linear": ExpectedLinear(),
    "rbf": ExpectedRBF(0.3),
    "rbf, narrow": ExpectedRBF(30.0),
    "genrbf": GenRBF(0.3),
    "genrbf, mahalanobis": GenRBF(0.2, "mahalanobis"),
    "genrbf, matrix": GenRBF(0.2, METRIC),
    "sum": Sum(ExpectedLinear(), ExpectedRBF(0.5)),
    "scaled": Scaled(ExpectedRBF(0.4), 2.5),
    "on columns": OnColumns(ExpectedRBF(0.4), [2, 0]),
    "karma": Karma(2, normalize=False),
    "karma, normalised": Karma(3),
    "karma, distance": Karma(2, form="distance", gamma=0.5),
    "karma, featurewise": Karma(2, form="featurewise", gamma=0.5),
    "monte carlo": MonteCarlo("laplacian", base_params={"gamma": 0.4}, n_draws=4, random_state=0),
    "product": Product(OnColumns(ExpectedRBF(0.4), [0, 1]), OnColumns(ExpectedLinear(), [2, 3])),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def block_density(seed):
    """Columns {0, 1} and {2, 3} independent, so that a product over the two is exact."""
    random = np.random.default_rng(seed)
    covariance = np.zeros((D, D))
    covariance[:2, :2], covariance[2:, 2:] = random_covariance(random, 2), random_covariance(random, 2)
    return Gaussian.from_moments(random.standard_normal(D), covariance)


@st.composite
def problems(draw, max_rows=25):
    """A density, and the laws of rows with gaps under it."""
    density = block_density(draw(st.integers(0, 10_000)))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    X = random.standard_normal((draw(st.integers(1, max_rows)), D)) * draw(st.sampled_from([0.1, 1.0, 5.0]))
    X[random.random(X.shape) < draw(st.sampled_from([0.0, 0.2, 0.5, 0.9]))] = np.nan
    if draw(st.booleans()):
        X[-1] = X[0]
    return density, density.condition(X)


@every_kernel
@given(problem=problems())
def test_gram_is_cross_plus_a_nugget(kernel, problem):
    density, rows = problem
    kernel = kernel.resolve(density.moments(), rows)
    gram, cross = kernel.gram(rows), kernel.cross(rows, rows)
    size = np.abs(gram).max()
    nugget = (gram - cross).diagonal()
    np.fill_diagonal(cross, gram.diagonal())
    assert_allclose(gram, cross, rtol=0, atol=1e-12 * size, err_msg="only the diagonal may differ")
    assert np.all(nugget >= -1e-12 * size), "uncertainty made a row less like itself"
    assert np.all(nugget[rows.complete] == 0), "a complete row has no nugget"
    assert_allclose(gram.diagonal(), kernel.diag(rows), rtol=1e-12, atol=1e-12 * size)


@every_kernel
@given(problem=problems())
def test_gram_and_cross_are_positive_semi_definite(kernel, problem):
    density, rows = problem
    kernel = kernel.resolve(density.moments(), rows)
    for matrix in (kernel.gram(rows), kernel.cross(rows, rows)):
        size = max(1.0, np.abs(matrix).max())
        smallest = np.linalg.eigvalsh((matrix + matrix.T) / 2)[0]
        assert smallest >= -1e-10 * len(rows) * size, f"smallest eigenvalue {smallest:.2e} of {len(rows)} rows"


@settings(max_examples=200)
@given(problem=law_batches(max_rows=40, max_columns=10), gamma=st.sampled_from([1e-3, 0.05, 0.5, 5.0, 1e3]))
def test_rbf_grams_are_positive_semi_definite_over_hundreds_of_problems(problem, gamma):
    density, _, rows = problem
    for kernel in (ExpectedRBF(gamma), GenRBF(gamma), GenRBF(gamma, "mahalanobis").resolve(density.moments(), rows)):
        smallest = np.linalg.eigvalsh(kernel.gram(rows))[0]
        assert smallest >= -1e-10 * len(rows), f"{kernel!r}: smallest eigenvalue {smallest:.2e} of {len(rows)} rows"


@every_kernel
@given(problem=problems())
def test_cross_swaps_with_its_arguments(kernel, problem):
    density, rows = problem
    kernel = kernel.resolve(density.moments(), rows)
    left, right = rows.take(slice(0, 3)), rows.take(slice(1, None))
    there, back = kernel.cross(left, right), kernel.cross(right, left)
    assert_allclose(there, back.T, rtol=1e-12, atol=1e-13)


@given(seed=st.integers(0, 10_000), gamma=st.sampled_from([1e-3, 0.1, 1.0, 10.0]))
def test_without_gaps_these_are_the_ordinary_kernels(seed, gamma):
    X = np.random.default_rng(seed).standard_normal((15, 5))
    rows, others = GaussianRows.certain(X[:9]), GaussianRows.certain(X[9:])
    for kernel in (ExpectedRBF(gamma), GenRBF(gamma)):
        assert_allclose(kernel.cross(rows, others), rbf_kernel(X[:9], X[9:], gamma=gamma), rtol=0, atol=1e-10)
        assert_allclose(kernel.gram(rows), rbf_kernel(X[:9], gamma=gamma), rtol=0, atol=1e-10)
        assert not kernel.variance(rows, others).any()
    assert_allclose(ExpectedLinear().gram(rows), linear_kernel(X[:9]), rtol=1e-10, atol=1e-10)
    assert not ExpectedLinear().variance(rows, others).any()


POINTWISE = {
    "linear": (ExpectedLinear(), lambda x, y: np.sum(x * y, axis=-1)),
    "rbf": (ExpectedRBF(0.2), lambda x, y: np.exp(-0.2 * np.sum((x - y) ** 2, axis=-1))),
}


def _within_five_errors(draws, expected):
    """The mean over draws, axis 0, agrees with ``expected``."""
    error = draws.std(axis=0) / np.sqrt(len(draws)) + 1e-12
    worst = np.max(np.abs(draws.mean(axis=0) - expected) / error)
    assert worst < 5, f"{worst:.1f} standard errors away from the average of draws"


@pytest.mark.parametrize(("kernel", "pointwise"), POINTWISE.values(), ids=POINTWISE.keys())
@pytest.mark.parametrize("seed", range(3))
def test_mean_and_variance_equal_the_average_over_draws(kernel, pointwise, seed):
    density, X, rows = random_laws(seed, 5, 4, 0.5)
    completions = density.sample(X, n_draws=40_000, random_state=seed)
    copies = density.sample(X, n_draws=40_000, random_state=seed + 100)
    same = pointwise(completions[:, :, None], completions[:, None])  # a row meets itself in the same draw
    apart = pointwise(completions[:, :, None], copies[:, None])
    _within_five_errors(same, kernel.gram(rows))
    _within_five_errors(apart, kernel.cross(rows, rows))
    _within_five_errors((same - kernel.gram(rows)) ** 2, kernel.gram_variance(rows))
    _within_five_errors((apart - kernel.cross(rows, rows)) ** 2, kernel.variance(rows, rows))


def test_the_variance_of_genrbf_is_that_of_the_expected_rbf_in_its_units():
    rows = random_laws(1, 7, 4, 0.5)[2]
    norm = ExpectedRBF(0.4).self_cross(rows)
    expected = ExpectedRBF(0.4).variance(rows, rows) / np.outer(norm, norm)
    assert_allclose(GenRBF(0.4).variance(rows, rows), expected, rtol=1e-10, atol=1e-14)
    np.fill_diagonal(expected, 0.0)
    assert_allclose(GenRBF(0.4).gram_variance(rows), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("factor", [0.5, 3.0])
@pytest.mark.parametrize("verb", ["variance", "gram_variance"])
def test_variances_of_scaled_kernels_and_of_columns(factor, verb):
    rows = random_laws(1, 6, 4, 0.5)[2]
    arguments = (rows, rows) if verb == "variance" else (rows,)
    base = getattr(ExpectedRBF(0.4), verb)(*arguments)
    assert_allclose(getattr(Scaled(ExpectedRBF(0.4), factor), verb)(*arguments), factor**2 * base, rtol=1e-13)
    part = [a.columns([3, 1]) for a in arguments]
    marginal = getattr(ExpectedRBF(0.4), verb)(*part)
    assert_allclose(getattr(ExpectedRBF(0.4).on([3, 1]), verb)(*arguments), marginal, rtol=1e-13)


@given(gamma=st.sampled_from([0.05, 1.0, 20.0]), spread=st.floats(0.1, 4.0), away=st.floats(-3.0, 3.0))
def test_one_column_equals_quadrature(gamma, spread, away):
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    narrow = min(spread, 0.5 / np.sqrt(gamma))  # so that 120 nodes resolve the kernel
    rows = GaussianRows.from_moments([[0.0], [away]], [[[narrow**2]], [[0.25 * narrow**2]]])
    x, y = narrow * nodes[:, None], away + 0.5 * narrow * nodes[None]
    values = np.exp(-gamma * (x - y) ** 2)
    mean = weights @ values @ weights
    assert_allclose(ExpectedRBF(gamma).gram(rows)[0, 1], mean, rtol=0, atol=1e-12)
    assert_allclose(ExpectedRBF(gamma).variance(rows, rows)[0, 1], weights @ values**2 @ weights - mean**2, atol=1e-12)


@every_kernel
def test_kernels_are_scikit_learn_objects(kernel):
    copy = clone(kernel)
    assert copy is not kernel
    assert repr(copy) == repr(kernel)
    assert type(kernel).__name__ in repr(kernel)
    assert set(copy.get_params(deep=False)) == set(kernel.get_params(deep=False))


def test_parameters_are_reached_by_name():
    kernel = (ExpectedRBF(0.1) + 2 * GenRBF(0.2).on([0, 1])).set_params(
        left__gamma=0.7, right__kernel__kernel__gamma=0.9
    )
    assert kernel.left.gamma == 0.7
    assert kernel.right.kernel.kernel.gamma == 0.9


def test_operators_spell_sums_products_and_multiples():
    density = block_density(1)
    rows = density.condition([[1.0, np.nan, 2.0, 0.5], [0.0, 1.0, np.nan, np.nan]])
    a, b = ExpectedRBF(0.4).on([0, 1]), ExpectedLinear().on([2, 3])
    assert_allclose((a + b).cross(rows, rows), a.cross(rows, rows) + b.cross(rows, rows))
    assert_allclose((a * b).cross(rows, rows), a.cross(rows, rows) * b.cross(rows, rows))
    assert_allclose((3 * a).gram(rows), 3 * a.gram(rows))
    assert_allclose((a * 3).gram(rows), 3 * a.gram(rows))
    with pytest.raises(TypeError):
        a + 1


def test_a_product_equals_the_average_over_draws():
    density = block_density(2)
    X = np.array([[1.0, np.nan, 2.0, np.nan], [np.nan, 1.0, np.nan, 0.3]])
    kernel = Product(OnColumns(ExpectedRBF(0.4), [0, 1]), OnColumns(ExpectedLinear(), [2, 3]))
    draws = density.sample(X, n_draws=60_000, random_state=0)
    x, y = draws[:, :, None], draws[:, None]
    values = np.exp(-0.4 * np.sum((x - y)[..., :2] ** 2, axis=-1)) * np.sum((x * y)[..., 2:], axis=-1)
    _within_five_errors(values, kernel.gram(density.condition(X)))


def test_a_product_over_shared_columns_is_refused():
    rows = random_laws(0, 6, 4, 0.5)[2]
    with pytest.raises(ValueError, match="column 1"):
        (ExpectedRBF(0.4).on([0, 1]) * ExpectedLinear().on([1, 2])).gram(rows)
    with pytest.raises(ValueError, match="column 0"):
        (ExpectedRBF(0.4) * GenRBF(0.1)).cross(rows, rows)


def test_a_product_over_correlated_gaps_is_refused():
    density, _, _ = random_laws(0, 6, 4, 0.5)
    kernel = ExpectedRBF(0.4).on([0, 1]) * ExpectedLinear().on([2, 3])
    rows = density.condition([[0.0, 1.0, 2.0, 3.0], [np.nan, 1.0, np.nan, 3.0]])
    for refused in (kernel.gram, kernel.diag, lambda r: kernel.cross(r, r)):
        with pytest.raises(ValueError, match="Row 1 has correlated gaps"):
            refused(rows)
    kernel.gram(rows.take([0]))  # complete rows are points: any product is exact


def test_a_product_on_complete_rows_may_share_columns():
    rows = GaussianRows.certain(np.random.default_rng(0).standard_normal((5, 3)))
    assert_allclose((ExpectedRBF(0.4) * ExpectedRBF(0.6)).gram(rows), ExpectedRBF(1.0).gram(rows), rtol=1e-12)


def test_the_unscaled_rbf_warns_and_is_indefinite():
    rows = random_laws(6, 40, 6, 0.5)[2]
    with pytest.warns(UserWarning, match="not positive definite"):
        gram = UnscaledExpectedRBF(0.5).gram(rows)
    assert np.linalg.eigvalsh(gram)[0] < -0.01
    with pytest.raises(NotImplementedError):
        UnscaledExpectedRBF(0.5).variance(rows, rows)


def test_gamma_scale_is_that_of_scikit_learn_on_complete_data():
    X = np.random.default_rng(0).standard_normal((30, 4)) * [1, 2, 3, 4] + [0, 5, 0, 1]
    density = Gaussian().fit(X)
    rows = density.condition(X)
    for kernel in (ExpectedRBF(), GenRBF()):
        assert_allclose(kernel.resolve(density.moments(), rows).gamma, 1 / (4 * X.var()), rtol=1e-10)
    assert_allclose(GenRBF(metric="mahalanobis").resolve(density.moments(), rows).gamma, 0.25, rtol=1e-14)


def test_gamma_median_is_the_inverse_of_the_median_squared_distance():
    density, _, rows = random_laws(0, 20, 3, 0.3)
    m = rows.means
    distances = [np.sum((m[i] - m[j]) ** 2) for i in range(20) for j in range(i)]
    assert_allclose(ExpectedRBF("median").resolve(density.moments(), rows).gamma, 1 / np.median(distances), rtol=1e-10)


def test_words_must_be_resolved_first():
    rows = random_laws(0, 4, 3, 0.3)[2]
    with pytest.raises(ValueError, match="resolve"):
        ExpectedRBF("scale").gram(rows)
    with pytest.raises(ValueError, match="resolve"):
        GenRBF(1.0, "mahalanobis").gram(rows)


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, None, "auto", [1.0]])
def test_a_gamma_that_is_no_positive_number_is_refused(gamma):
    density, _, rows = random_laws(0, 4, 3, 0.3)
    with pytest.raises(ValueError, match="gamma"):
        ExpectedRBF(gamma).resolve(density.moments(), rows)
    with pytest.raises(ValueError, match="gamma"):
        GenRBF(gamma).resolve(density.moments(), rows)


@pytest.mark.parametrize("metric", ["euclid", np.eye(2), -np.eye(3), [[1, 2, 0], [0, 1, 0], [0, 0, 1]]])
def test_a_metric_that_is_none_is_refused(metric):
    density, _, rows = random_laws(0, 4, 3, 0.3)
    with pytest.raises(ValueError, match="metric"):
        GenRBF(1.0, metric).resolve(density.moments(), rows).gram(rows)


@pytest.mark.parametrize("unit", [1.0, 1e2, 1e4, 1e8])
def test_the_mahalanobis_metric_has_no_units(unit):
    density, X, rows = random_laws(0, 12, 4, 0.3)
    units = np.array([1 / unit, 1.0, 1.0, unit])
    other = Gaussian.from_moments(density.mean_ * units, density.covariance_ * np.outer(units, units))
    other_rows = other.condition(X * units)
    kernel = GenRBF(0.2, "mahalanobis")
    expected = kernel.resolve(density.moments(), rows).gram(rows)
    assert_allclose(kernel.resolve(other.moments(), other_rows).gram(other_rows), expected, rtol=0, atol=1e-9)


def test_the_mahalanobis_metric_ignores_constant_columns():
    density, X, rows = random_laws(0, 12, 3, 0.3)
    wider = Gaussian.from_moments([*density.mean_, 7.0], np.pad(density.covariance_, (0, 1)))
    wider_rows = wider.condition(np.column_stack([X, np.full(12, 7.0)]))
    kernel = GenRBF(0.2, "mahalanobis")
    expected = kernel.resolve(density.moments(), rows).gram(rows)
    assert_allclose(kernel.resolve(wider.moments(), wider_rows).gram(wider_rows), expected, rtol=0, atol=1e-10)


def test_a_singular_metric_ignores_its_null_directions():
    rows = random_laws(0, 9, 3, 0.4)[2]
    ignoring = GenRBF(0.4, np.diag([1.0, 0.0, 1.0])).gram(rows)
    assert_allclose(ignoring, GenRBF(0.4).on([0, 2]).gram(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("columns", [[0, 0], [5], [-1], [], "a", [0.5]])
def test_columns_that_do_not_exist_are_refused(columns):
    rows = random_laws(0, 4, 3, 0.3)[2]
    with pytest.raises(ValueError, match="columns must be"):
        ExpectedLinear().on(columns).gram(rows)


def test_batches_of_different_widths_are_refused():
    three, two = random_laws(0, 4, 3, 0.3)[2], random_laws(0, 4, 2, 0.3)[2]
    for kernel in (ExpectedLinear(), GenRBF(1.0), ExpectedRBF(1.0) + ExpectedLinear()):
        with pytest.raises(ValueError, match="3 and 2 columns"):
            kernel.cross(three, two)
        with pytest.raises(ValueError, match="3 and 2 columns"):
            kernel.dot(three, two, np.ones((4, 1)))
