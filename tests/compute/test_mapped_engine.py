"""Laws under a linear map: systems of their rank give the numbers of systems of all columns."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from reference.log_tiles import log_matrix
from strategies import law_batches, random_covariance, random_laws

from gapkernel.compute.pairs.mapped_engine import MappedEngine
from gapkernel.compute.pairs.tile_engine import ExpectedRBFEngine
from gapkernel.kernels import ExpectedRBF, GenRBF
from gapkernel.kernels.expected_rbf import expected_rbf
from gapkernel.rows import MappedRows


def engines(left, right, gamma):
    """The same pairs by the rank and by all columns."""
    zeros = np.zeros(len(left)), np.zeros(len(left if right is None else right))
    return [engine(left, right, gamma, *zeros) for engine in (MappedEngine, ExpectedRBFEngine)]


@given(
    laws=law_batches(max_rows=40, max_columns=9), seed=st.integers(0, 1000), gamma=st.sampled_from([1e-4, 0.3, 30.0])
)
def test_the_rank_gives_what_all_columns_give(laws, seed, gamma):
    density, _, rows = laws
    random = np.random.default_rng(seed)
    units = np.sqrt(np.maximum(density.covariance_.diagonal(), 1e-300))
    mapped = rows.map(random.standard_normal((rows.n_features, rows.n_features)) / units)
    some = mapped.take(slice(0, len(rows) // 2 + 1))
    for left, right in ((mapped, None), (some, mapped), (mapped, some)):
        ours, general = engines(left, right, gamma)
        assert_allclose(log_matrix(ours), log_matrix(general), rtol=1e-9, atol=1e-9)
    coefficients = random.standard_normal((len(some), 2))
    assert_allclose(ours.dot(coefficients), general.dot(coefficients), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_whitened_laws_are_projections_and_their_angles_give_the_determinant(rate):
    density, _, rows = random_laws(3, 12, 6, rate)
    kernel = GenRBF(0.4, "mahalanobis").resolve(density.moments(), rows)
    mapped = rows.map(kernel.metric_root(6))
    a = 2.0 * 0.4
    for i in range(len(rows)):
        projection, rank = mapped.covariance_of(i), int(rows.uncertain[i].sum())
        assert_allclose(projection @ projection, projection, atol=1e-10)
        for j in range(i):
            other = mapped.covariance_of(j)
            cosines = np.linalg.svd(projection @ other, compute_uv=False)
            least = min(rank, int(rows.uncertain[j].sum()))
            expected = (1 + a) ** abs(rank - int(rows.uncertain[j].sum()))
            expected *= np.prod((1 + a) ** 2 - (a * cosines[:least]) ** 2)
            assert_allclose(np.linalg.det(np.eye(6) + a * (projection + other)), expected, rtol=1e-9)
            away = mapped.means[i] - mapped.means[j]
            solved = away @ np.linalg.solve(np.eye(6) + a * (projection + other), away)
            value = np.exp(-0.4 * solved) / np.sqrt(expected)
            assert_allclose(ExpectedRBF(0.4).cross(mapped, mapped)[i, j], value, rtol=1e-9)


def test_crowded_and_scattered_patterns_together():
    matrix = random_covariance(np.random.default_rng(0), 7)
    crowded, scattered = (random_laws(0, *size)[2].map(matrix) for size in ((150, 7, 0.3, 3), (90, 7, 0.3)))
    for left, right in ((crowded, scattered), (scattered, crowded), (crowded, None)):
        ours, general = engines(left, right, 0.2)
        assert_allclose(ours.matrix(), general.matrix(), rtol=1e-10, atol=1e-13)


def test_the_rank_is_taken_where_it_is_small_and_loses_no_digits():
    rows = random_laws(1, 30, 10, 0.2)[2]
    few, many = rows.map(np.eye(10)), random_laws(1, 30, 10, 0.9)[2].map(np.eye(10))
    zeros = np.zeros(30), np.zeros(30)
    assert isinstance(few, MappedRows)
    assert type(expected_rbf(few, None, 0.1, *zeros)) is MappedEngine
    for left, right, gamma in ((many, None, 0.1), (few, rows, 0.1), (few, None, 1e8)):
        assert type(expected_rbf(left, right, gamma, *zeros)) is ExpectedRBFEngine
