"""Kernels made by operators: sums, products, multiples, and kernels on some columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import block_density, random_laws, within_five_errors

from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF, OnColumns, Product
from gapkernel.rows import GaussianRows


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
    within_five_errors(values, kernel.gram(density.condition(X)))


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
