"""Truths about every kind of rows."""

import pickle
from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import KINDS, laws, within_five_errors

from gapkernel.rows import AtomRows, UnsupportedLaws

NUMBERS = [kind for kind in KINDS if kind not in ("mixed", "categories")]
SUMS = [kind for kind in NUMBERS if kind != "numbers"]  # of Gaussian laws or points


@pytest.mark.parametrize("kind", NUMBERS)
def test_moments_are_those_of_draws(kind):
    rows = laws(kind)[1]
    draws = rows.draws(20_000, 3)
    within_five_errors(draws, rows.means)
    away = draws - rows.means
    within_five_errors(np.sum(away**2, axis=2), rows.total_variance)
    directions = np.random.default_rng(0).standard_normal((2, 4))
    within_five_errors((away @ directions.T) ** 2, rows.quadratic(directions))
    for i in range(len(rows)):
        within_five_errors(away[:, i, :, None] * away[:, i, None, :], rows.covariance_of(i))
    covered = np.zeros(len(rows), int)
    for members, columns, covariance in rows.by_pattern():
        covered[members] += 1
        for i in members:
            assert_allclose(rows.covariance_of(i)[np.ix_(columns, columns)], covariance, atol=1e-12)
            assert_allclose(covariance.trace(), rows.total_variance[i], atol=1e-12)
    assert np.all(covered == 1)


@pytest.mark.parametrize("kind", SUMS)
def test_known_columns_beside_the_laws_change_nothing_else(kind):
    rows = laws(kind)[1]
    values = np.arange(2.0 * len(rows)).reshape(-1, 2)
    wide = rows.beside(values)
    assert_allclose(wide.means, np.hstack([rows.means, values]))
    assert not wide.uncertain[:, 4:].any()
    for i in range(len(rows)):
        assert_allclose(wide.covariance_of(i)[:4, :4], rows.covariance_of(i), atol=1e-12)
    if kind in ("mixture", "atoms", "masked"):
        assert type(wide) is type(rows)
    if kind == "masked":
        assert np.array_equal(wide.mask(), rows.mask())


@pytest.mark.parametrize("kind", KINDS)
def test_certain_cells_are_the_same_in_every_draw(kind):
    rows = laws(kind)[1]
    draws = rows.draws(50, 0)
    changes = (draws != draws[0]).any(axis=0)
    assert not np.any(changes & ~rows.uncertain)
    assert np.array_equal(rows.complete, ~rows.uncertain.any(axis=1))
    assert rows.complete[0]
    assert draws.shape == (50, len(rows), rows.n_features)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["sobol", "random"])
def test_atoms_belong_to_the_row_and_the_seed(kind, method):
    rows = laws(kind)[1]
    atoms = rows.atoms(64, method, 5).unmasked
    assert isinstance(atoms, AtomRows)
    assert_allclose(np.add.reduceat(atoms.weight, atoms.starts[:-1]), 1.0)
    assert np.array_equal(atoms.uncertain & ~rows.uncertain, np.zeros_like(rows.uncertain))
    if rows.kind != "atoms":
        assert np.array_equal(atoms.counts, np.where(rows.complete, 1, 64))
        other = rows.atoms(64, method, 6).unmasked
        assert not np.array_equal(atoms.values, other.values)
    alone = rows.take([3]).atoms(64, method, 5).unmasked
    assert_allclose(alone.values, atoms.take([3]).values, rtol=1e-12, atol=1e-14)
    assert np.array_equal(atoms.take([1]).values, atoms.take([len(rows) - 1]).values)  # the same row twice


@pytest.mark.parametrize("kind", SUMS)
def test_many_atoms_have_the_moments_of_the_law(kind):
    rows = laws(kind)[1]
    atoms = rows.atoms(4096, "sobol", 0).unmasked
    assert_allclose(atoms.means, rows.means, atol=0.02)
    for i in range(len(rows)):
        assert_allclose(atoms.covariance_of(i), rows.covariance_of(i), atol=0.06)


def test_exact_atoms_list_every_combination_of_levels():
    rows = laws("categories")[1]
    atoms = rows.atoms(200, "exact")
    for i in range(len(rows)):
        levels = [len(f.probabilities) for f, gap in zip(rows.features, rows.uncertain[i], strict=True) if gap]
        assert atoms.counts[i] == np.prod(levels, dtype=int)
        mine = slice(atoms.starts[i], atoms.starts[i + 1])
        assert_allclose(atoms.weight[mine].sum(), 1.0)
        chances = [
            np.prod(
                [f.probabilities[int(v)] for f, v, gap in zip(rows.features, x, rows.uncertain[i], strict=True) if gap]
            )
            for x in atoms.values[mine]
        ]
        assert_allclose(atoms.weight[mine], chances)
    with pytest.raises(ValueError, match="completions"):
        rows.atoms(2, "exact")
    with pytest.raises(UnsupportedLaws, match="infinitely many values"):
        laws("numbers")[1].atoms(100, "exact")


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_quadrature_over_a_cell_has_its_moments(kind):
    rows = laws(kind)[1]
    for i in range(len(rows)):
        for column in np.flatnonzero(rows.uncertain[i]):
            values, weights = rows.take([i]).cell_nodes(column, 400 if kind == "numbers" else 40)
            assert_allclose(weights.sum(), 1.0)
            assert_allclose(weights @ values, rows.means[i, column], atol=1e-3)
            variance = rows.covariance_of(i)[column, column]
            assert_allclose(weights @ (values - weights @ values) ** 2, variance, atol=2e-3)


@pytest.mark.parametrize("kind", SUMS)
def test_maps_and_factors_and_columns_move_the_moments(kind):
    rows, random = laws(kind)[1], np.random.default_rng(1)
    matrix, factors = random.standard_normal((3, 4)), random.uniform(0.5, 2.0, 4)
    cases = ((rows.map(matrix, 1.5), matrix, 1.5), (rows.scale(factors), np.diag(factors), 0.0),
             (rows.columns([2, 0]), np.eye(4)[[2, 0]], 0.0))  # fmt: skip
    for moved, image, offset in cases:
        assert_allclose(moved.means, rows.means @ image.T + offset, atol=1e-12)
        for i in range(len(rows)):
            assert_allclose(moved.covariance_of(i), image @ rows.covariance_of(i) @ image.T, atol=1e-12)
        weights = np.sum([weight for weight, _ in moved.components()], axis=0)
        assert_allclose(weights, 1.0)
        means = np.sum([weight[:, None] * part.means for weight, part in moved.components()], axis=0)
        assert_allclose(means, moved.means, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tilted_law_moves_one_gap_and_the_others_by_regression_on_it(kind):
    rows, shift = laws(kind)[1], np.linspace(-1.0, 2.0, 9)
    if kind in ("mixture", "numbers", "mixed", "categories", "atoms"):
        with pytest.raises(UnsupportedLaws, match="cannot be tilted"):
            rows.tilted(1, shift)
        return
    moved = rows.tilted(1, shift)
    for i in range(len(rows)):
        covariance = rows.covariance_of(i)
        gap = covariance[1, 1] > 0
        expected = shift[i] * covariance[1] / covariance[1, 1] if gap else np.zeros(4)
        assert_allclose(moved.means[i] - rows.means[i], expected, atol=1e-12)
        assert_allclose(moved.covariance_of(i), covariance)
    assert rows.uncertain[:, 1].any()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_taken_by_number_slice_or_mask_and_cannot_be_changed(kind):
    rows = laws(kind)[1]
    whole = rows.draws(3, 0)
    for indices in ([4, 1], slice(2, 5), np.arange(len(rows)) % 2 == 0, []):
        taken = rows.take(indices)
        expected = np.arange(len(rows))[indices if len(np.shape(indices)) == 0 or len(indices) else []]
        assert len(taken) == len(expected)
        assert np.array_equal(taken.uncertain, rows.uncertain[expected])
        certain = ~taken.uncertain
        assert np.array_equal(taken.draws(1, 0)[0][certain], whole[0][expected][certain])
    for batch in (rows, pickle.loads(pickle.dumps(rows))):
        for value in (getattr(batch, field.name) for field in fields(batch)):
            assert not isinstance(value, np.ndarray) or not value.flags.writeable


@pytest.mark.parametrize("kind", ["mixture", "numbers", "mixed", "categories", "atoms"])
def test_what_a_kind_cannot_do_is_refused_with_what_to_use_instead(kind):
    rows = laws(kind)[1]
    with pytest.raises(UnsupportedLaws, match=f"{rows.kind} laws.*Use a density with Gaussian laws"):
        _ = rows.dense
    if rows.kind == "marginal":
        for ask in (rows.components, lambda: rows.map(np.eye(4)), lambda: rows.scale(np.ones(4))):
            with pytest.raises(UnsupportedLaws, match="Use a density with Gaussian laws"):
                ask()
    if kind in ("mixed", "categories"):
        with pytest.raises(UnsupportedLaws, match=r"holds categories.*JointGaussian"):
            _ = rows.means
