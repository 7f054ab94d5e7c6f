"""The hyperparameters of a process as a vector: what is free, what starts from what, and which column has which."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gapkernel as gk
from gapkernel.estimators.process.hyperparameters import hyperparameters

COLUMNS = np.array([0, 1, 1, 2, -1])  # the second column of the table is a category of two codes; the last is of gaps


def start(**options):
    process = gk.GaussianProcessRegressor(constant_value=2.0, noise_level=0.1).set_params(**options)
    return hyperparameters(process, 3, 1.5, COLUMNS, np.array([False, True, False]), 0.7)


@pytest.mark.parametrize("length_scale", [None, "ard", [1.0, 2.0, 3.0]])
def test_a_vector_is_found_again_in_what_it_makes(length_scale):
    parameters = start(length_scale=length_scale)
    theta = np.linspace(-1.0, 1.0, len(parameters.theta))
    moved = parameters.at(theta)
    assert_allclose(moved.theta, theta)
    found = np.log([moved.constant, *moved.length_scale, moved.noise])
    assert_allclose(found, theta)
    with pytest.raises(ValueError, match=f"theta must have {len(theta)} entries"):
        parameters.at(theta[1:])


def test_what_is_fixed_or_without_noise_is_not_free_and_stays():
    bounds = {"length_scale_bounds": "fixed", "constant_value_bounds": (0.5, 4.0)}
    parameters = start(length_scale=[1.0, 2.0, 3.0], noise_level=0.0, noise_level_bounds="never read", **bounds)
    assert_array_equal(parameters.free, [True, False, False, False, False])
    moved = parameters.at([0.0])
    assert moved.constant == 1.0
    assert moved.noise == 0.0
    assert_allclose(moved.length_scale, [1.0, 2.0, 3.0])
    assert_allclose(np.exp(parameters.bounds[parameters.free]), [[0.5, 4.0]])


@pytest.mark.parametrize(("length_scale", "expected"), [(2.0, [2.0] * 4), ([1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0])])
def test_each_column_has_the_scale_of_its_own_and_gaps_keep_theirs(length_scale, expected):
    assert_allclose(start(length_scale=length_scale).kernel.length_scale, [*expected, 0.7])


@pytest.mark.parametrize(("length_scale", "expected"), [(2.0, [1 + 10 + 100 + 1000]), ("ard", [1, 110, 1000])])
def test_derivatives_are_added_up_for_each_length_scale_without_those_of_gaps(length_scale, expected):
    assert_array_equal(start(length_scale=length_scale).by_length_scale(np.array([1, 10, 100, 1000, 10000])), expected)


def test_scales_that_shrink_start_from_a_common_one_within_the_widest_bounds():
    bounds = [(0.1, 5.0), (0.2, 9.0), (0.3, 4.0)]
    parameters = start(length_scale="shrunk", length_scale_bounds=bounds)
    common = parameters.common
    assert parameters.shrinks
    assert not common.shrinks
    assert_allclose(common.length_scale, [1.5])
    assert_allclose(np.exp(common.bounds[1]), [0.1, 9.0])
    assert_allclose(common.kernel.length_scale, [1.5] * 4 + [0.7])
    around = parameters.around(common.at(np.log([3.0, 2.5, 0.2])))
    assert_allclose([around.constant, *around.length_scale, around.noise], [3.0, 2.5, 2.5, 2.5, 0.2])
    assert_allclose(np.exp(around.bounds[1:-1]), bounds)


def test_the_prior_draws_scales_together_and_its_gradient_equals_differences():
    parameters = start(length_scale="shrunk")
    value, gradient = parameters.log_prior()
    assert value == 0.0
    assert_array_equal(gradient, 0.0)
    theta = np.log([3.0, 1.0, 2.0, 4.0, 0.1])
    value, gradient = parameters.at(theta).log_prior()
    assert_allclose(value, -np.var(np.log([1.0, 2.0, 4.0])) * 3 / (2 * 0.5**2))
    steps = 1e-6 * np.eye(5)
    differences = [
        (parameters.at(theta + e).log_prior()[0] - parameters.at(theta - e).log_prior()[0]) / 2e-6 for e in steps
    ]
    assert_allclose(gradient, differences, atol=1e-7)
