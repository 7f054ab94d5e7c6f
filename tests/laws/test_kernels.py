"""Truths about every kernel on every kind of rows: right, or refused with what to use instead."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from strategies import KINDS, law_batches, laws, random_covariance, random_laws, within_five_errors

from gapkernel import config_context
from gapkernel.kernels import (
    AnisotropicRBF,
    ExpectedLinear,
    ExpectedRBF,
    GenRBF,
    HeterogeneousKernel,
    Missingness,
    MonteCarlo,
    OnColumns,
    Product,
    Scaled,
    Sum,
)
from gapkernel.kernels.missingness import Masked
from gapkernel.papers.expected_kernel import UnscaledExpectedRBF
from gapkernel.papers.expected_kernel.variances import column_covariances, gram_variance, variance
from gapkernel.papers.genrbf import Karma
from gapkernel.papers.microbiology import CompletionKernel
from gapkernel.rows import GaussianRows, MarginalRows, MaskedRows

D = 4
METRIC = random_covariance(np.random.default_rng(9), D)
KERNELS = {
    "linear": ExpectedLinear(),
    "rbf": ExpectedRBF(0.3),
    "rbf, narrow": ExpectedRBF(30.0),
    "rbf, scale": ExpectedRBF(),
    "unscaled rbf": UnscaledExpectedRBF(0.3),
    "anisotropic": AnisotropicRBF([1.0, 2.0, 0.5, 3.0]),
    "genrbf": GenRBF(0.3),
    "genrbf, mahalanobis": GenRBF(0.2, "mahalanobis"),
    "genrbf, matrix": GenRBF(0.2, METRIC),
    "genrbf, diagonal": GenRBF("scale", np.diag([1.0, 0.5, 2.0, 0.3])),
    "genrbf, singular": GenRBF("median", METRIC[:, :2] @ METRIC[:2]),
    "sum": Sum(ExpectedLinear(), ExpectedRBF(0.5)),
    "scaled": Scaled(ExpectedRBF(0.4), 2.5),
    "on columns": OnColumns(ExpectedRBF(0.4), [2, 0]),
    "product": Product(OnColumns(ExpectedRBF(0.4), [0, 1]), OnColumns(ExpectedLinear(), [2, 3])),
    "karma": Karma(2, normalize=False),
    "karma, normalised": Karma(3),
    "karma, distance": Karma(2, form="distance", gamma=0.5),
    "karma, featurewise": Karma(2, form="featurewise"),
    "ehk": HeterogeneousKernel(),
    "ehk, alpha": HeterogeneousKernel(0.5),
    "ehk, rbf": HeterogeneousKernel(numeric="rbf"),
    "completions": CompletionKernel("exp-distance", gamma=0.3, completions="frequency"),
    "completions, listed": CompletionKernel(lambda x, y: (x == y).prod(axis=1), completions="frequency"),
    "monte carlo": MonteCarlo("laplacian", base_params={"gamma": 0.4}, n_draws=4, random_state=0),
    "monte carlo, any": MonteCarlo(lambda X, Y: (1.0 + X @ Y.T) ** 2, n_draws=4, random_state=0),
    "masked": Masked(ExpectedRBF(0.3), Missingness()),
}
NUMBERS = {"gaussian", "factor", "mapped", "mixture", "numbers", "atoms", "masked"}
MIXTURES = NUMBERS - {"numbers"}
TAKES = {  # the kinds of rows for which a kernel is defined; all others are refused
    "linear": NUMBERS,
    "unscaled rbf": MIXTURES - {"mixture", "atoms"},
    "product": MIXTURES - {"mixture", "atoms", "factor"},
    **{name: NUMBERS for name in KERNELS if name.startswith("karma")},
    **{name: {"numbers", "mixed", "categories"} for name in KERNELS if name.startswith("ehk")},
    **{name: {"categories"} for name in KERNELS if name.startswith("completions")},
    "monte carlo": NUMBERS,
    "monte carlo, any": NUMBERS | {"mixed", "categories"},
    "masked": {"masked"},
}
NO_EXPECTATION = {"unscaled rbf", "masked", "monte carlo", "monte carlo, any"} | {k for k in KERNELS if "karma" in k}
INDEFINITE = {"unscaled rbf"}
SIDED = {"anisotropic", "genrbf, matrix", "genrbf, diagonal", "genrbf, singular", "on columns", "product"}
PAIRS = [(name, kind) for name in KERNELS for kind in KINDS if kind in TAKES.get(name, MIXTURES)]

every_kernel = pytest.mark.parametrize("name", KERNELS)
every_pair = pytest.mark.parametrize(("name", "kind"), PAIRS)


def resolved(name, kind, **options):
    moments, rows = laws(kind, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KERNELS[name].resolve(moments, rows), rows


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n in KERNELS for k in KINDS if (n, k) not in PAIRS])
def test_other_rows_are_refused_with_what_to_use_instead(name, kind):
    moments, rows = laws(kind)
    for ask in (lambda: KERNELS[name].resolve(moments, rows).gram(rows), lambda: KERNELS[name].gram(rows)):
        with pytest.raises(ValueError, match=r"(?i)use |declare|wrap|resolve"):
            ask()


@every_pair
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.filterwarnings("ignore:UnscaledExpectedRBF")
def test_gram_is_cross_plus_a_nugget(name, kind, seed):
    kernel, rows = resolved(name, kind, seed=seed)
    gram, cross = kernel.gram(rows), kernel.cross(rows, rows)
    size = np.abs(gram).max()
    assert np.ptp(gram) > 0.1 * size, "all rows are alike to this kernel"
    nugget = (gram - cross).diagonal()
    assert_allclose(cross, cross.T, rtol=0, atol=1e-12 * size)
    np.fill_diagonal(cross, gram.diagonal())
    assert_allclose(gram, cross, rtol=0, atol=1e-12 * size, err_msg="only the diagonal may differ")
    assert np.all(nugget >= -1e-12 * size), "uncertainty made a row less like itself"
    assert np.all(nugget[rows.complete] == 0), "a complete row has no nugget"
    assert_allclose(gram.diagonal(), kernel.diag(rows), rtol=1e-12, atol=1e-12 * size)
    assert_allclose((gram.diagonal() - nugget), kernel.self_cross(rows), rtol=1e-10, atol=1e-12 * size)


@pytest.mark.parametrize(("name", "kind"), [pair for pair in PAIRS if pair[0] not in INDEFINITE])
@pytest.mark.parametrize("seed", range(2))
def test_gram_and_cross_are_positive_semi_definite(name, kind, seed):
    kernel, rows = resolved(name, kind, seed=seed, n=25)
    for matrix in (kernel.gram(rows), kernel.cross(rows, rows)):
        size = max(1.0, np.abs(matrix).max())
        smallest = np.linalg.eigvalsh((matrix + matrix.T) / 2)[0]
        assert smallest >= -1e-10 * len(rows) * size, f"smallest eigenvalue {smallest:.2e} of {len(rows)} rows"


@pytest.mark.parametrize(("name", "kind"), [pair for pair in PAIRS if pair[0] not in NO_EXPECTATION])
def test_a_kernel_of_laws_is_the_mean_of_the_kernel_of_their_draws(name, kind):
    kernel, rows = resolved(name, kind, n=5, rate=0.5)
    rows, scale = rows.take([1, 2, 3]), np.zeros(3)
    if isinstance(kernel, GenRBF):
        scale = kernel.log_scale(rows)  # genRBF is an expectation times a factor of each row
    left, right = rows.draws(200, 1), rows.draws(200, 2)
    complete = (lambda X: MarginalRows(X, rows.features)) if rows.kind == "marginal" else GaussianRows.certain
    cross, diag = kernel.cross(rows, rows) * np.exp(-np.add.outer(scale, scale)), kernel.diag(rows)
    activated = getattr(kernel, "alpha", None) is not None  # EHK_alpha is a function of an expectation
    for i in range(3):
        if not activated:
            within_five_errors(kernel.diag(complete(left[:, i].copy())), diag[i])
        for j in range(3):
            values = kernel.cross(complete(left[:, i].copy()), complete(right[:, j].copy()))
            if activated:
                values = (1.0 - values**-kernel.alpha) / kernel.alpha
                cross[i, j] = (1.0 - cross[i, j] ** -kernel.alpha) / kernel.alpha
            error = np.sqrt((values.mean(axis=0).var() + values.mean(axis=1).var()) / 200) + 1e-9
            away = abs(values.mean() - cross[i, j]) / error
            assert away < 5, f"pair {i}, {j} is {away:.1f} standard errors away from the average of draws"


@every_pair
@pytest.mark.filterwarnings("ignore:UnscaledExpectedRBF")
def test_values_do_not_depend_on_order_chunks_or_threads(name, kind):
    kernel, rows = resolved(name, kind, n=25)
    whole = kernel.cross(rows, rows)
    close = {"rtol": 1e-12, "atol": 1e-12 * np.abs(whole).max()}
    order = np.random.default_rng(0).permutation(25)
    assert_allclose(kernel.cross(rows.take(order), rows), whole[order], **close)
    assert_allclose(kernel.cross(rows, rows.take(order)), whole[:, order], **close)
    assert_allclose(
        np.vstack([kernel.cross(rows.take(slice(i, i + 7)), rows) for i in range(0, 25, 7)]), whole, **close
    )
    coefficients = np.random.default_rng(1).standard_normal((25, 2))
    assert_allclose(kernel.dot(rows, rows, coefficients), whole @ coefficients, rtol=1e-10, atol=25 * close["atol"])
    with config_context(n_threads=1):
        one = kernel.gram(rows)
    with config_context(n_threads=2):
        assert np.array_equal(kernel.gram(rows), one)
    if name not in SIDED and "monte carlo" not in name:
        if name == "genrbf, mahalanobis":
            kernel = clone(kernel).set_params(metric=kernel.metric[np.ix_([2, 0, 3, 1], [2, 0, 3, 1])])
        assert_allclose(
            kernel.cross(rows.columns([2, 0, 3, 1]), rows.columns([2, 0, 3, 1])), whole, rtol=1e-10, atol=1e-10
        )


def test_a_metric_is_the_kernel_of_rows_mapped_by_its_root():
    _, rows = laws("gaussian", n=12)
    for kernel in (
        GenRBF(0.2, METRIC),
        GenRBF(0.2, np.diag([1.0, 0.5, 2.0, 0.3])),
        AnisotropicRBF([1.0, 2.0, 0.5, 3.0]),
    ):
        root = kernel.metric_root(D)
        plain = GenRBF(0.2) if isinstance(kernel, GenRBF) else ExpectedRBF(0.5)
        mapped = rows.map(root)
        assert_allclose(kernel.gram(rows), plain.gram(mapped), rtol=1e-11, atol=1e-13)
        assert_allclose(gram_variance(kernel, rows), gram_variance(plain, mapped), rtol=1e-9, atol=1e-12)
        for ours, theirs in zip(column_covariances(kernel, rows), column_covariances(plain, mapped), strict=True):
            assert_allclose(ours.matrix(), theirs.matrix(), rtol=1e-9, atol=1e-12)
        assert_allclose(kernel.self_cross(rows), plain.self_cross(mapped), rtol=1e-12)


VARIANCES = ("linear", "rbf", "anisotropic", "scaled", "on columns")


@pytest.mark.parametrize(("name", "kind"), [pair for pair in PAIRS if pair[0] in VARIANCES and pair[1] != "numbers"])
def test_variances_are_those_of_the_kernel_of_draws(name, kind):
    """Also in a metric, which the length scales of an anisotropic kernel are."""
    kernel, rows = resolved(name, kind, n=5, rate=0.5)
    rows = rows.take([1, 2, 3])
    left, right = rows.draws(600, 1), rows.draws(600, 2)
    apart, same = variance(kernel, rows, rows), gram_variance(kernel, rows).diagonal()
    for i in range(3):
        points = GaussianRows.certain(left[:, i])
        within_five_errors((kernel.diag(points) - kernel.diag(rows)[i]) ** 2, same[i])
        for j in range(3):
            values = kernel.cross(points, GaussianRows.certain(right[:, j]))
            squares = (values - kernel.cross(rows, rows)[i, j]) ** 2
            error = np.sqrt((squares.mean(axis=0).var() + squares.mean(axis=1).var()) / 600) + 1e-9
            away = abs(squares.mean() - apart[i, j]) / error
            assert away < 5, f"pair {i}, {j} is {away:.1f} standard errors away from the variance of draws"


@pytest.mark.parametrize("kind", sorted(MIXTURES - {"masked"}))
@pytest.mark.parametrize("on_laws", [ExpectedRBF(0.3), GenRBF(0.3)])
def test_a_kernel_on_gaps_is_the_rbf_on_columns_of_gaps(kind, on_laws):
    _, rows = laws(kind)
    gaps = np.random.default_rng(0).random((len(rows), D)) < 0.4
    masked, wide = MaskedRows(rows, gaps), rows.beside(np.sqrt(0.7 / 0.3) * gaps)
    product, total = (Masked(on_laws, Missingness(0.7, rule)).resolve(None, masked) for rule in ("product", "sum"))
    close = {"rtol": 1e-9, "atol": 1e-12}
    assert_allclose(product.gram(masked), on_laws.gram(wide), **close)
    assert_allclose(product.self_cross(masked), on_laws.self_cross(wide), **close)
    assert_allclose(variance(product, masked, masked), variance(on_laws, wide, wide), **close)
    assert_allclose(gram_variance(product, masked), gram_variance(on_laws, wide), **close)
    assert_allclose(total.self_cross(masked), on_laws.self_cross(rows) + 1.0, **close)
    assert_allclose(variance(total, masked, masked), variance(on_laws, rows, rows), **close)
    assert_allclose(gram_variance(total, masked), gram_variance(on_laws, rows), **close)
    if kind in ("mixture", "atoms"):
        return
    for kernel, its_rows in ((product, wide), (total, rows)):
        columns = zip(column_covariances(kernel, masked), column_covariances(on_laws, its_rows), strict=True)
        for ours, theirs in columns:
            assert_allclose(ours.matrix(), theirs.matrix(), **close)


@pytest.mark.parametrize("kind", sorted(MIXTURES))
def test_the_variance_of_rows_far_apart_is_zero(kind):
    _, rows = laws(kind, n=5, rate=0.5)
    for kernel in (ExpectedRBF(0.3), GenRBF(0.3)):
        assert not variance(kernel, rows, rows.map(np.eye(D), 1e4)).any()
        assert np.isfinite(gram_variance(kernel, rows.scale(np.full(D, 1e4)))).all()


@pytest.mark.parametrize(
    "kernel",
    [
        Scaled(ExpectedRBF(-1.0)),
        OnColumns(ExpectedRBF(-1.0), [0]),
        Sum(ExpectedLinear(), ExpectedRBF(-1.0)),
        Scaled(Sum(GenRBF("wide"), ExpectedLinear())),
    ],
)
def test_a_wrong_parameter_deep_inside_is_refused_by_every_verb(kernel):
    moments, rows = laws("gaussian")
    verbs = (kernel.gram, kernel.diag, lambda r: kernel.cross(r, r), lambda r: kernel.resolve(moments, r))
    for verb in verbs:
        with pytest.raises(ValueError, match=r"The 'gamma' parameter of .*RBF must be"):
            verb(rows)


def test_codes_of_categories_are_no_numbers_for_some_columns_either():
    _, rows = laws("categories")
    with pytest.raises(ValueError, match="holds categories"):
        MonteCarlo("rbf", random_state=0).on([0, 1]).gram(rows)


@pytest.mark.parametrize("kind", ["mixture", "atoms"])
def test_the_variance_of_the_linear_kernel_of_mixtures_equals_that_of_draws(kind):
    rows = laws(kind, n=4)[1].take([1, 2])
    draws, others = rows.draws(60_000, 1), rows.draws(60_000, 2)
    same, apart = np.einsum("mid,mjd->mij", draws, draws), np.einsum("mid,mjd->mij", draws, others)
    within_five_errors((same - ExpectedLinear().gram(rows)) ** 2, gram_variance(ExpectedLinear(), rows))
    within_five_errors((apart - ExpectedLinear().cross(rows, rows)) ** 2, variance(ExpectedLinear(), rows, rows))


@settings(max_examples=200)
@given(problem=law_batches(max_rows=40, max_columns=10), gamma=st.sampled_from([1e-3, 0.05, 0.5, 5.0, 1e3]))
def test_rbf_grams_are_positive_semi_definite_over_hundreds_of_problems(problem, gamma):
    density, _, rows = problem
    for kernel in (ExpectedRBF(gamma), GenRBF(gamma), GenRBF(gamma, "mahalanobis").resolve(density.moments(), rows)):
        smallest = np.linalg.eigvalsh(kernel.gram(rows))[0]
        assert smallest >= -1e-10 * len(rows), f"{kernel!r}: smallest eigenvalue {smallest:.2e} of {len(rows)} rows"


@given(seed=st.integers(0, 10_000), gamma=st.sampled_from([1e-3, 0.1, 1.0, 10.0]))
def test_without_gaps_these_are_the_ordinary_kernels(seed, gamma):
    X = np.random.default_rng(seed).standard_normal((15, 5))
    rows, others = GaussianRows.certain(X[:9]), GaussianRows.certain(X[9:])
    for kernel in (ExpectedRBF(gamma), GenRBF(gamma)):
        assert_allclose(kernel.cross(rows, others), rbf_kernel(X[:9], X[9:], gamma=gamma), rtol=0, atol=1e-10)
        assert_allclose(kernel.gram(rows), rbf_kernel(X[:9], gamma=gamma), rtol=0, atol=1e-10)
        assert not variance(kernel, rows, others).any()
    assert_allclose(ExpectedLinear().gram(rows), linear_kernel(X[:9]), rtol=1e-10, atol=1e-10)
    assert not variance(ExpectedLinear(), rows, others).any()


POINTWISE = {
    "linear": (ExpectedLinear(), lambda x, y: np.sum(x * y, axis=-1)),
    "rbf": (ExpectedRBF(0.2), lambda x, y: np.exp(-0.2 * np.sum((x - y) ** 2, axis=-1))),
}


@pytest.mark.parametrize(("kernel", "pointwise"), POINTWISE.values(), ids=POINTWISE.keys())
@pytest.mark.parametrize("seed", range(3))
def test_mean_and_variance_equal_the_average_over_draws(kernel, pointwise, seed):
    density, X, rows = random_laws(seed, 5, 4, 0.5)
    completions = density.sample(X, n_draws=40_000, random_state=seed)
    copies = density.sample(X, n_draws=40_000, random_state=seed + 100)
    same = pointwise(completions[:, :, None], completions[:, None])  # a row meets itself in the same draw
    apart = pointwise(completions[:, :, None], copies[:, None])
    within_five_errors(same, kernel.gram(rows))
    within_five_errors(apart, kernel.cross(rows, rows))
    within_five_errors((same - kernel.gram(rows)) ** 2, gram_variance(kernel, rows))
    within_five_errors((apart - kernel.cross(rows, rows)) ** 2, variance(kernel, rows, rows))


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
    assert_allclose(variance(ExpectedRBF(gamma), rows, rows)[0, 1], weights @ values**2 @ weights - mean**2, atol=1e-12)


@every_kernel
def test_kernels_are_scikit_learn_objects(name):
    kernel = KERNELS[name]
    copy = clone(kernel)
    assert copy is not kernel
    assert repr(copy) == repr(kernel)
    assert type(kernel).__name__ in repr(kernel)
    assert set(copy.get_params(deep=False)) == set(kernel.get_params(deep=False))
