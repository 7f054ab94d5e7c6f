"""Gap patterns and batches of laws."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from reference import oracle
from strategies import gappy_tables, law_batches, random_covariance, random_laws

from gapkernel.density import Gaussian
from gapkernel.rows import GaussianRows, Patterns


def assert_same_laws(rows, other, atol=1e-10):
    """Two batches hold the same means and covariances, row by row."""
    (means, covariances), (other_means, other_covariances) = oracle.moments(rows), oracle.moments(other)
    assert_allclose(means, other_means, rtol=1e-10, atol=atol)
    assert_allclose(covariances, other_covariances, rtol=1e-10, atol=atol)


@given(n=st.integers(1, 40), d=st.sampled_from([1, 3, 8, 9, 63, 64, 65, 130]), rate=st.sampled_from([0.02, 0.5, 0.98]),
       seed=st.integers(0, 1000))  # fmt: skip
def test_rows_share_a_pattern_exactly_when_their_gaps_are_equal(n, d, rate, seed):
    random = np.random.default_rng(seed)
    missing = (random.random((n, d)) < rate)[random.integers(n, size=n)]
    patterns = Patterns.of(missing)
    keys = [tuple(row) for row in missing]
    assert len(patterns) == len(set(keys))
    assert np.array_equal(patterns.gaps[patterns.index], missing), "a row's pattern is its own gaps"
    assert patterns.counts.tolist() == [keys.count(tuple(gaps)) for gaps in patterns.gaps]
    assert [tuple(gaps) for gaps in patterns.gaps] == sorted(set(keys)), "lexicographic order, complete rows first"
    for p in range(len(patterns)):
        members = patterns.order[patterns.row_start[p] : patterns.row_start[p + 1]]
        assert np.array_equal(members, np.flatnonzero(patterns.index == p))


def test_patterns_that_differ_in_the_last_column_alone_are_kept_apart():
    missing = np.zeros((2, 200), bool)
    missing[1, 199] = True
    assert len(Patterns.of(missing)) == 2


@given(laws=law_batches())
def test_conditioning_equals_the_oracle(laws):
    density, X, rows = laws
    means, covariances = oracle.moments(rows)
    expected = oracle.condition(density.mean_, density.covariance_, X)
    size = np.sqrt(density.covariance_.diagonal().max())
    assert_allclose(means, expected[0], rtol=1e-9, atol=1e-10 * size)
    assert_allclose(covariances, expected[1], rtol=1e-9, atol=1e-10 * size**2)
    assert np.array_equal(means[~np.isnan(X)], X[~np.isnan(X)]), "observed values stay as they are"
    assert np.array_equal(rows.complete, ~np.isnan(X).any(axis=1))


@given(laws=law_batches())
def test_a_batch_describes_each_of_its_rows(laws):
    _, X, rows = laws
    _, covariances = oracle.moments(rows)
    assert len(rows) == len(X)
    assert rows.n_features == X.shape[1]
    for i in range(len(rows)):
        assert np.array_equal(rows.covariance_of(i), covariances[i])
    assert_allclose(rows.total_variance, np.trace(covariances, axis1=1, axis2=2), rtol=1e-12)
    members = np.concatenate([group for group, _, _ in rows.by_pattern()])
    assert sorted(members) == list(range(len(rows))), "each row is in one pattern"


@given(laws=law_batches(), seed=st.integers(0, 1000))
def test_take_picks_rows(laws, seed):
    _, _, rows = laws
    means, covariances = oracle.moments(rows)
    random = np.random.default_rng(seed)
    mask = random.random(len(rows)) < 0.5
    for indices in (random.integers(len(rows), size=7), mask, slice(1, None, 2), [], [-1]):
        indices = np.array(indices, int) if isinstance(indices, list) else indices
        taken = rows.take(indices)
        taken_means, taken_covariances = oracle.moments(taken)
        assert np.array_equal(taken_means, means[indices])
        assert np.array_equal(taken_covariances, covariances[indices])
        assert len(taken.gaps) <= max(1, len(taken)), "laws that no row needs are dropped"


@given(laws=law_batches(), seed=st.integers(0, 1000))
def test_columns_are_marginal_laws(laws, seed):
    _, _, rows = laws
    means, covariances = oracle.moments(rows)
    random = np.random.default_rng(seed)
    picked = random.permutation(rows.n_features)[: random.integers(1, rows.n_features + 1)]
    part_means, part_covariances = oracle.moments(rows.columns(picked))
    assert np.array_equal(part_means, means[:, picked])
    assert np.array_equal(part_covariances, covariances[:, picked][:, :, picked])


@given(laws=law_batches(), seed=st.integers(0, 1000), out=st.integers(1, 7))
def test_map_is_the_law_of_a_linear_image(laws, seed, out):
    _, _, rows = laws
    random = np.random.default_rng(seed)
    matrix, offset = random.standard_normal((out, rows.n_features)), random.standard_normal(out)
    matrix[random.random(matrix.shape) < 0.3] = 0.0
    means, covariances = oracle.moments(rows)
    mapped_means, mapped_covariances = oracle.moments(rows.map(matrix, offset))
    assert_allclose(mapped_means, means @ matrix.T + offset, rtol=1e-12, atol=1e-12)
    size = max(1.0, np.abs(covariances).max())
    assert_allclose(mapped_covariances, matrix @ covariances @ matrix.T, rtol=1e-12, atol=1e-12 * size)


def test_a_map_of_the_wrong_width_is_refused():
    with pytest.raises(ValueError, match="3 columns"):
        random_laws(0, 4, 3, 0.3)[2].map(np.eye(2))


@given(laws=law_batches())
def test_moments_make_the_batch_again(laws):
    _, _, rows = laws
    assert_same_laws(GaussianRows.from_moments(*oracle.moments(rows)), rows, atol=0)


def test_moments_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match="covariances must have shape"):
        GaussianRows.from_moments(np.zeros((2, 3)), np.zeros((2, 2, 2)))


def test_a_batch_cannot_be_changed():
    rows = random_laws(0, 6, 3, 0.4)[2]
    copies = pickle.loads(pickle.dumps(rows)), copy.deepcopy(rows)
    derived = rows.take([0, 1]), rows.columns([0]), rows.map(np.eye(3)), GaussianRows.certain(np.eye(3))
    for batch in (rows, *copies, *derived):
        for name in ("means", "pattern", "gaps", "covariance"):
            assert not getattr(batch, name).flags.writeable, f"{name} can be written to"
    with pytest.raises(AttributeError):
        rows.means = np.zeros((6, 3))


def test_the_arrays_a_batch_was_made_from_stay_writeable():
    X, means, covariances = np.eye(3), np.eye(3), np.zeros((3, 3, 3))
    GaussianRows.certain(X)
    GaussianRows.from_moments(means, covariances)
    assert X.flags.writeable
    assert means.flags.writeable
    assert covariances.flags.writeable


@settings(max_examples=150)
@given(X=gappy_tables(min_rows=1))
def test_any_table_becomes_laws(X):
    rows = Gaussian().fit(X).condition(X)
    values = np.array(X, dtype=float)
    assert np.isfinite(rows.means).all()
    assert np.isfinite(rows.covariance).all()
    empty = np.isnan(values).all(axis=0)
    seen = ~np.isnan(values) & ~empty
    assert np.array_equal(rows.means[seen], values[seen])
    for _, _, covariance in rows.by_pattern():
        scale = np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
        smallest = np.linalg.eigvalsh(covariance / np.where(scale > 0, scale, 1.0)).min(initial=0.0)
        assert smallest >= -1e-9, "a conditional covariance is positive semi-definite"


# Affine subspaces: gaps in any direction.


@st.composite
def subspaces(draw):
    d = draw(st.integers(2, 6))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    density = Gaussian.from_moments(random.standard_normal(d), random_covariance(random, d))
    points = random.standard_normal((4, d))
    bases = [random.standard_normal((d, random.integers(0, d + 1))) for _ in range(4)]
    return random, density, points, bases


@given(problem=subspaces())
def test_a_subspace_law_equals_the_precision_form(problem):
    _, density, points, bases = problem
    means, covariances = oracle.moments(density.condition_subspaces(points, bases))
    precision = np.linalg.inv(density.covariance_)
    for i, (point, basis) in enumerate(zip(points, bases, strict=True)):
        inner = np.linalg.inv(basis.T @ precision @ basis)
        assert_allclose(means[i], point + basis @ inner @ basis.T @ precision @ (density.mean_ - point), atol=1e-8)
        assert_allclose(covariances[i], basis @ inner @ basis.T, atol=1e-8)


@given(problem=subspaces())
def test_a_subspace_law_depends_neither_on_its_point_nor_on_its_basis(problem):
    random, density, points, bases = problem
    rows = density.condition_subspaces(points, bases)
    moved = [p + b @ random.standard_normal(b.shape[1]) for p, b in zip(points, bases, strict=True)]
    turned = [b @ (random.standard_normal((b.shape[1],) * 2) + 3 * np.eye(b.shape[1])) for b in bases]
    assert_same_laws(density.condition_subspaces(moved, bases), rows, atol=1e-9)
    assert_same_laws(density.condition_subspaces(points, turned), rows, atol=1e-9)


@given(laws=law_batches(max_rows=8))
def test_canonical_bases_are_ordinary_gaps(laws):
    density, X, rows = laws
    points = np.where(np.isnan(X), 7.0, X)
    bases = [np.eye(X.shape[1])[:, np.isnan(row)] for row in X]
    size = max(1.0, np.abs(density.covariance_).max())
    assert_same_laws(density.condition_subspaces(points, bases), rows, atol=1e-9 * size)


@given(problem=subspaces(), unit=st.sampled_from([1e2, 1e4, 1e8]))
def test_subspace_laws_do_not_depend_on_the_units_of_columns(problem, unit):
    _, density, points, bases = problem
    units = np.geomspace(1 / unit, unit, density.n_features_in_)
    other = Gaussian.from_moments(density.mean_ * units, density.covariance_ * np.outer(units, units))
    there = other.condition_subspaces(points * units, [units[:, None] * b for b in bases])
    assert_same_laws(there.map(np.diag(1 / units)), density.condition_subspaces(points, bases), atol=1e-6)


@given(problem=subspaces())
def test_conditioning_commutes_with_invertible_maps(problem):
    random, density, points, bases = problem
    d = density.n_features_in_
    matrix, offset = random.standard_normal((d, d)) + 2 * np.eye(d), random.standard_normal(d)
    if np.linalg.cond(matrix) > 100:
        matrix = np.eye(d) + np.triu(matrix, 1) / d
    covariance = matrix @ density.covariance_ @ matrix.T
    image = Gaussian.from_moments(matrix @ density.mean_ + offset, (covariance + covariance.T) / 2)
    there = image.condition_subspaces(points @ matrix.T + offset, [matrix @ b for b in bases])
    assert_same_laws(there, density.condition_subspaces(points, bases).map(matrix, offset), atol=1e-7)


@given(laws=law_batches(max_rows=8))
def test_whitening_turns_covariances_into_projectors(laws):
    density, X, rows = laws
    values, vectors = np.linalg.eigh(density.covariance_)
    whiten = vectors @ np.diag(values**-0.5) @ vectors.T
    _, covariances = oracle.moments(rows.map(whiten, -whiten @ density.mean_))
    assert_allclose(covariances @ covariances, covariances, atol=1e-9)
    assert_allclose(np.trace(covariances, axis1=1, axis2=2), np.isnan(X).sum(axis=1), atol=1e-9)


def test_subspaces_need_complete_points_one_for_each_basis():
    density = Gaussian.from_moments([0.0, 0.0], np.eye(2))
    with pytest.raises(ValueError, match="complete rows"):
        density.condition_subspaces([[np.nan, 0.0]], [np.eye(2)])
    with pytest.raises(ValueError, match="one for each"):
        density.condition_subspaces([[0.0, 0.0]], [np.eye(2), np.eye(2)])


@given(batch=law_batches(), seed=st.integers(0, 100))
def test_quadratic_forms_are_variances_along_directions(batch, seed):
    _, _, rows = batch
    directions = np.random.default_rng(seed).standard_normal((9, rows.n_features))
    plain = [np.einsum("kd,de,ke->k", directions, rows.covariance_of(i), directions) for i in range(len(rows))]
    assert_allclose(rows.quadratic(directions), plain, rtol=1e-10, atol=1e-12 * rows.total_variance.max(initial=1.0))
