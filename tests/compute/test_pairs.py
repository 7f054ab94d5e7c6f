"""The block engine: every form equals the oracle, and no result depends on threads, chunks or order."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numba import njit
from numpy.testing import assert_allclose
from reference import oracle
from reference.log_tiles import log_matrix
from strategies import law_batches, random_covariance, random_laws

import gapkernel as gk
from gapkernel.compute.pairs import side, tile_engine
from gapkernel.compute.pairs.scattered import sort_pairs
from gapkernel.compute.pairs.side import lay_out
from gapkernel.compute.pairs.tile_engine import ExpectedRBFEngine
from gapkernel.density import Gaussian
from gapkernel.kernels import ExpectedRBF, GenRBF
from gapkernel.rows import GaussianRows

CROWD = 8
"""Rows that make a pattern crowded in these tests: small batches must reach the shared form too."""

GAMMAS = (1e-3, 0.1, 1.0, 30.0, 1e3)

# name: rows, columns, gap rate, patterns (None: each row its own)
SHAPES = {
    "one column": (9, 1, 0.5, None),
    "complete": (12, 5, 0.0, None),
    "few gaps": (40, 12, 0.1, None),
    "moderate gaps": (70, 20, 0.3, None),
    "many gaps": (40, 15, 0.7, None),
    "nearly empty": (40, 15, 0.95, None),
    "all missing": (6, 7, 1.0, None),
    "two patterns": (40, 9, 0.4, 2),
    "crowded and scattered": (61, 8, 0.3, 12),
    "two words": (30, 70, 0.3, None),
    "two words, many gaps": (24, 70, 0.8, None),
    "two words, few patterns": (40, 66, 0.5, 3),
}


@pytest.fixture(autouse=True)
def small_crowds(monkeypatch):
    monkeypatch.setattr(side, "CROWD", CROWD)


@pytest.fixture(params=SHAPES, scope="module")
def laws(request):
    n, d, rate, n_patterns = SHAPES[request.param]
    density, X, _ = random_laws(len(request.param), n, d, rate, n_patterns)
    X[-1], X[0] = X[1], X[1]  # repeated rows
    return density, X, density.condition(X)


def logs_of(left, right, gamma):
    width = len(left if right is None else right)
    return log_matrix(ExpectedRBFEngine(left, right, gamma, np.zeros(len(left)), np.zeros(width)))


@pytest.mark.parametrize("gamma", GAMMAS)
def test_logarithms_equal_the_oracle(laws, gamma):
    _, _, rows = laws
    expected = oracle.log_expected_rbf(oracle.moments(rows), oracle.moments(rows), gamma)
    assert_allclose(logs_of(rows, rows, gamma), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize(
    ("kernel", "log_reference"), [(ExpectedRBF, oracle.log_expected_rbf), (GenRBF, oracle.log_gen_rbf)]
)
def test_kernel_values_equal_the_oracle(laws, kernel, log_reference, gamma):
    _, _, rows = laws
    batch = oracle.moments(rows)
    assert_allclose(kernel(gamma).cross(rows, rows), np.exp(log_reference(batch, batch, gamma)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_a_metric_equals_the_oracle(laws, gamma):
    _, _, rows = laws
    metric = random_covariance(np.random.default_rng(5), rows.n_features)
    batch = oracle.moments(rows)
    expected = np.exp(oracle.log_gen_rbf(batch, batch, gamma, metric))
    assert_allclose(GenRBF(gamma, metric).cross(rows, rows), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_mahalanobis_metric_equals_the_whitened_form(laws, gamma):
    density, X, rows = laws
    kernel = GenRBF(gamma, "mahalanobis").resolve(density.moments(), rows)
    few = rows.take(slice(0, 12))
    batch, gaps = oracle.moments(few), np.isnan(X).sum(axis=1)[:12]
    expected = oracle.mahalanobis_gen_rbf(batch, batch, gaps, gaps, gamma, density.covariance_)
    assert_allclose(kernel.cross(few, few), expected, rtol=0, atol=1e-10)
    assert_allclose(kernel.gram(few), expected, rtol=0, atol=1e-10)


@settings(max_examples=60)
@given(laws=law_batches(max_columns=14), gamma=st.sampled_from(GAMMAS))
def test_generated_laws_equal_the_oracle(laws, gamma):
    _, _, rows = laws
    batch = oracle.moments(rows)
    expected = oracle.log_gen_rbf(batch, batch, gamma)
    assert_allclose(GenRBF(gamma).cross(rows, rows), np.exp(expected), rtol=0, atol=1e-10)
    assert_allclose(logs_of(rows, rows, gamma), oracle.log_expected_rbf(batch, batch, gamma), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize(("rate", "n_patterns"), [(0.3, None), (0.7, None), (0.5, 2)])
def test_logarithms_equal_fifty_digits(gamma, rate, n_patterns):
    _, _, rows = random_laws(3, 18, 12, rate, n_patterns)
    means, covariances = oracle.moments(rows)
    computed = logs_of(rows, rows, gamma)
    generalised = GenRBF(gamma).cross(rows, rows)
    norm = [oracle.log_norm_50_digits(c, gamma) for c in covariances]
    for i in range(3):
        for j in range(len(rows)):
            exact = oracle.log_expected_rbf_50_digits(means[i], covariances[i], means[j], covariances[j], gamma)
            assert_allclose(computed[i, j], exact, rtol=1e-11, atol=1e-11, err_msg=f"rows {i}, {j}")
            assert_allclose(generalised[i, j], np.exp(exact - (norm[i] + norm[j]) / 2), rtol=0, atol=1e-11)


SORT_PAIRS = njit(sort_pairs)


def count_forms(rows):
    """How many pairs of scattered rows take the intersection form, and how many the union form."""
    one_side, _, crowded = lay_out(rows, 1.0, 0.0)
    n = len(rows) - crowded
    pairs, size = np.empty((n * n, 2), np.int64), np.empty(n * n, np.int64)
    n_intersection, n_all = SORT_PAIRS(
        one_side, one_side, crowded, len(rows), crowded, len(rows), False, False, pairs, size
    )
    return n_intersection, n_all - n_intersection


def test_the_shapes_above_reach_both_forms_of_scattered_rows():
    reached = {name: count_forms(random_laws(len(name), *shape)[2]) for name, shape in SHAPES.items()}
    for name in ("few gaps", "moderate gaps", "two words"):
        assert reached[name][0] > 200, f"{name}: few pairs in the intersection form: {reached}"
    for name in ("many gaps", "two words, many gaps"):
        assert reached[name][1] > 200, f"{name}: few pairs in the union form: {reached}"
    assert reached["complete"] == (0, 0), reached


def test_the_shapes_above_reach_the_shared_form(monkeypatch):
    calls = {"shared": 0, "scattered": 0}

    def counted(name, tile):
        def run(*arguments):
            calls[name] += 1
            return tile(*arguments)

        return run

    for name in calls:
        monkeypatch.setattr(tile_engine, f"{name}_tile", counted(name, getattr(tile_engine, f"{name}_tile")))
    rows = random_laws(12, *SHAPES["two patterns"])[2]
    assert np.bincount(rows.pattern).min() >= CROWD
    ExpectedRBF(1.0).cross(rows, rows)
    assert calls == {"shared": 4, "scattered": 0}, "two crowded patterns meet in four tiles"
    rows = random_laws(12, *SHAPES["few gaps"])[2]
    ExpectedRBF(1.0).gram(rows.take(np.bincount(rows.pattern)[rows.pattern] < CROWD))
    assert calls == {"shared": 4, "scattered": 1}


def test_crowded_rows_meet_scattered_rows():
    density, X, _ = random_laws(8, 40, 7, 0.4)
    X[:20, 2], X[:20, [0, 1, 3, 4, 5, 6]] = np.nan, np.nan_to_num(X[:20][:, [0, 1, 3, 4, 5, 6]])
    rows = density.condition(X)
    counts = np.bincount(rows.pattern)
    assert counts.max() >= CROWD > counts.min(), "the batch must hold crowded and scattered patterns"
    batch = oracle.moments(rows)
    expected = oracle.log_expected_rbf(batch, batch, 0.7)
    assert_allclose(logs_of(rows, rows, 0.7), expected, rtol=1e-10, atol=1e-10)
    assert_allclose(logs_of(rows, None, 0.7), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("rate", "n_patterns"), [(0.3, None), (0.8, None), (0.4, 4)])
def test_no_bit_depends_on_the_number_of_threads(rate, n_patterns):
    rows = random_laws(1, 150, 10, rate, n_patterns)[2]
    coefficients = np.random.default_rng(0).standard_normal((150, 2))
    kernel = GenRBF(0.4)
    results = []
    for n_threads in (1, 2, 3):
        with gk.config_context(n_threads=n_threads):
            results.append((kernel.gram(rows), kernel.cross(rows, rows), kernel.dot(rows, rows, coefficients)))
    for other in results[1:]:
        for first, second in zip(results[0], other, strict=True):
            assert np.array_equal(first, second)


def test_a_progress_bar_changes_the_screen_only(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # show it although the test's output is no terminal
    rows = random_laws(1, 150, 10, 0.3)[2]
    plain = GenRBF(0.4).gram(rows)
    assert not "".join(capsys.readouterr()), "silent unless asked"
    for n_threads in (1, 2):
        with gk.config_context(progress=True, n_threads=n_threads):
            assert np.array_equal(GenRBF(0.4).gram(rows), plain)
        assert "100%" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "kernel", [ExpectedRBF(0.3), GenRBF(0.3), GenRBF(0.3) + ExpectedRBF(0.1), 2 * GenRBF(0.3)], ids=repr
)
@pytest.mark.parametrize("n_patterns", [None, 5])
def test_dot_is_the_matrix_times_the_coefficients(kernel, n_patterns):
    rows = random_laws(2, 140, 8, 0.4, n_patterns)[2]
    left, right = rows.take(slice(0, 90)), rows.take(slice(50, 140))
    coefficients = np.random.default_rng(0).standard_normal((90, 3))
    whole = kernel.dot(left, right, coefficients)
    assert_allclose(whole, kernel.cross(left, right) @ coefficients, rtol=1e-12, atol=1e-12)
    with gk.config_context(memory_budget=8 * 90 * 4 * 7):  # seven rows of the matrix
        small = kernel.dot(left, right, coefficients)
    assert_allclose(small, whole, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("rate", "n_patterns"), [(0.3, None), (0.8, None), (0.4, 4)])
def test_a_gram_is_a_cross_off_the_diagonal_and_symmetric(rate, n_patterns):
    rows = random_laws(4, 150, 9, rate, n_patterns)[2]
    for kernel in (ExpectedRBF(0.5), GenRBF(0.5)):
        gram, cross = kernel.gram(rows), kernel.cross(rows, rows)
        assert np.array_equal(gram, gram.T)
        np.fill_diagonal(cross, gram.diagonal())
        assert_allclose(gram, cross, rtol=0, atol=1e-13)


def test_a_gram_beyond_the_budget_is_refused_before_any_work(monkeypatch):
    def worked(*_):
        raise AssertionError("work was done before the refusal")

    rows = GaussianRows.certain(np.zeros((20_000, 1)))
    monkeypatch.setattr(tile_engine, "lay_out", worked)
    with gk.config_context(memory_budget=2**30), pytest.raises(MemoryError, match=r"2\.98 GiB") as refusal:
        ExpectedRBF(1.0).gram(rows)
    for alternative in ("fewer rows", "predict", "set_config"):
        assert alternative in str(refusal.value)
    with gk.config_context(memory_budget=2**30), pytest.raises(MemoryError, match="GiB"):
        GenRBF(1.0).cross(rows, rows)


@given(laws=law_batches(), seed=st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(laws, seed):
    density, X, rows = laws
    order = np.random.default_rng(seed).permutation(len(X))
    kernel = GenRBF(0.5)
    shuffled = kernel.gram(density.condition(X[order]))
    assert_allclose(shuffled, kernel.gram(rows)[np.ix_(order, order)], rtol=0, atol=1e-12)


@given(laws=law_batches(), seed=st.integers(0, 1000))
def test_the_order_of_columns_does_not_matter(laws, seed):
    density, X, rows = laws
    order = np.random.default_rng(seed).permutation(X.shape[1])
    permuted = Gaussian.from_moments(density.mean_[order], density.covariance_[np.ix_(order, order)]).condition(
        X[:, order]
    )
    assert_allclose(ExpectedRBF(0.5).gram(permuted), ExpectedRBF(0.5).gram(rows), rtol=0, atol=1e-12)


@given(laws=law_batches())
def test_batches_may_be_empty_or_single(laws):
    _, _, rows = laws
    kernel = GenRBF(0.5)
    assert kernel.cross(rows.take([]), rows).shape == (0, len(rows))
    first = kernel.cross(rows.take([0]), rows)
    assert_allclose(first, kernel.cross(rows, rows)[:1], rtol=0, atol=1e-12)
