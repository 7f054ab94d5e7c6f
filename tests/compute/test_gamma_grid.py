"""Many widths in one pass over the pairs: the numbers of one engine for each width."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numba import njit
from numpy.testing import assert_allclose
from strategies import law_batches, random_laws

import gapkernel as gk
from gapkernel.compute.pairs.gamma_grid import ENOUGH_WIDTHS, solve_tridiagonal, tridiagonalise
from gapkernel.kernels import ExpectedRBF, GenRBF
from gapkernel.papers.expected_kernel import UnscaledExpectedRBF
from gapkernel.rows import GaussianRows

GAMMAS = 10.0 ** np.arange(-4, ENOUGH_WIDTHS - 2)


def one_by_one(kernel, gammas, left, right=None):
    kernels = [type(kernel)(**(kernel.get_params() | {"gamma": gamma})) for gamma in gammas]
    return np.array([k.gram(left) if right is None else k.cross(left, right) for k in kernels])


@given(problem=law_batches(max_rows=40, max_columns=8), kernel=st.sampled_from([ExpectedRBF(), GenRBF()]))
def test_one_pass_equals_one_engine_for_each_width(problem, kernel):
    rows = problem[2]
    other = rows.take(slice(0, len(rows) // 2 + 1))
    assert_allclose(kernel.over_widths(GAMMAS, rows), one_by_one(kernel, GAMMAS, rows), rtol=0, atol=1e-10)
    expected = one_by_one(kernel, GAMMAS, other, rows)
    assert_allclose(kernel.over_widths(GAMMAS, other, rows), expected, rtol=0, atol=1e-10)


def test_crowded_and_scattered_patterns_together():
    crowded = random_laws(0, 150, 7, 0.4, n_patterns=3)[2]
    scattered = random_laws(0, 90, 7, 0.4)[2]
    for left, right in ((crowded, scattered), (scattered, crowded), (crowded, crowded)):
        expected = one_by_one(GenRBF(), GAMMAS, left, right)
        assert_allclose(GenRBF().over_widths(GAMMAS, left, right), expected, rtol=0, atol=1e-10)


def test_a_metric_is_kept():
    density, _, rows = random_laws(1, 30, 5, 0.4)
    kernel = GenRBF(0.1, "mahalanobis").resolve(density.moments(), rows)
    assert_allclose(kernel.over_widths(GAMMAS, rows), one_by_one(kernel, GAMMAS, rows), rtol=0, atol=1e-10)


def test_the_unscaled_kernel_has_no_short_cut():
    rows = random_laws(1, 12, 4, 0.4)[2]
    with pytest.warns(UserWarning, match="not positive definite"):
        expected = one_by_one(UnscaledExpectedRBF(), GAMMAS, rows)
    with pytest.warns(UserWarning, match="not positive definite"):
        assert_allclose(UnscaledExpectedRBF().over_widths(GAMMAS, rows), expected, rtol=0, atol=1e-12)


def test_complete_rows_and_extreme_units():
    X = np.random.default_rng(0).standard_normal((20, 3))
    complete = GaussianRows.certain(X)
    assert_allclose(GenRBF().over_widths(GAMMAS, complete), one_by_one(GenRBF(), GAMMAS, complete), atol=1e-14)
    for spread in (1e-45, 1e-8, 1e8):
        rows = random_laws(2, 25, 4, 0.5, spread=spread)[2]
        widths = GAMMAS / spread**2
        assert_allclose(ExpectedRBF().over_widths(widths, rows), one_by_one(ExpectedRBF(), widths, rows), atol=1e-10)


def test_no_bit_depends_on_threads():
    rows = random_laws(3, 200, 9, 0.5)[2]
    results = []
    for n_threads in (1, 3):
        with gk.config_context(n_threads=n_threads):
            results.append(GenRBF().over_widths(GAMMAS, rows))
    assert np.array_equal(*results)


TRIDIAGONALISE, SOLVE = njit(tridiagonalise), njit(solve_tridiagonal)


@pytest.mark.parametrize("size", [1, 2, 3, 9, 20])
def test_padding_changes_no_bit_and_the_form_is_similar(size):
    random = np.random.default_rng(size)
    lanes, padded = 5, size + 3
    factor = random.standard_normal((lanes, size, size))
    matrix = np.tile(np.eye(padded), (lanes, 1, 1))
    matrix[:, :size, :size] += factor @ factor.transpose(0, 2, 1)
    vector = np.zeros((lanes, padded))
    vector[:, :size] = random.standard_normal((lanes, size))
    results = []
    for n in (size, padded):
        work = np.ascontiguousarray(matrix[:, :n, :n].transpose(1, 2, 0)), np.ascontiguousarray(vector[:, :n].T)
        off, value, log_det = np.empty((n, lanes)), np.empty(lanes), np.empty(lanes)
        TRIDIAGONALISE(*work, n, off, np.empty((2, n, lanes)))
        SOLVE(work[0], off, work[1], n, 0.3, value, log_det)
        results.append((value, log_det))
    system = 0.7 * np.eye(size) + 0.3 * matrix[:, :size, :size]
    solved = np.linalg.solve(system, vector[:, :size, None])[:, :, 0]
    assert_allclose(results[0][0], np.sum(vector[:, :size] * solved, axis=1), rtol=1e-11)
    assert_allclose(results[0][1], np.linalg.slogdet(system)[1], rtol=1e-11, atol=1e-13)
    assert np.array_equal(results[0][0], results[1][0])
    assert_allclose(results[0][1], results[1][1], rtol=1e-14)  # logarithms of other groups of pivots
