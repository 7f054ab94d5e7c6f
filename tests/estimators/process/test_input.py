"""Gaussian processes refuse what they cannot do before anything is fitted, and say so."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from threadpoolctl import threadpool_info, threadpool_limits

import gapkernel as gk
from gapkernel.estimators.process import base
from gapkernel.estimators.process.prediction import FittedProcess
from gapkernel.solvers import process
from gapkernel.solvers.process import lbfgs


def problem(n):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 2))
    return X, X[:, 0] + 0.1 * random.standard_normal(n)


def test_a_calibration_that_fails_leaves_nothing_fitted(monkeypatch):
    def fail(self, *rows_and_places):
        raise MemoryError("no room")

    monkeypatch.setattr(FittedProcess, "left_out", fail)
    model = gk.GaussianProcessRegressor(conformal="count", optimizer=None)
    with pytest.raises(MemoryError, match="no room"):
        model.fit(*problem(10))
    assert not hasattr(model, "density_")


def test_a_calibration_needs_two_rows():
    X, y = problem(3)
    model = gk.GaussianProcessRegressor(conformal="count", optimizer=None)
    with pytest.raises(ValueError, match="2 or more of positive weight: n_samples=1"):
        model.fit(X, y, sample_weight=[0.0, 1.0, 0.0])
    assert not hasattr(model, "density_")
    assert len(model.fit(X, y, sample_weight=[2.0, 1.0, 0.0]).calibration_.scores) == 2


def test_a_row_without_a_target_is_refused():
    X, y = problem(8)
    with pytest.raises(ValueError, match="Input y contains NaN: row 5 has no target"):
        gk.GaussianProcessRegressor(optimizer=None).fit(X, np.where(np.arange(8) == 5, np.nan, y))


def test_a_column_of_targets_is_taken_as_scikit_learn_takes_it():
    X, y = problem(8)
    model = gk.GaussianProcessRegressor(optimizer=None)
    expected = model.fit(X, y).predict(X)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model.fit(X, y[:, None])
    assert_array_equal(model.predict(X), expected)


def test_the_covariance_is_inverted_once(monkeypatch):
    calls, invert = [], process.lapack.dpotri
    monkeypatch.setattr(process.lapack, "dpotri", lambda *args, **options: calls.append(1) or invert(*args, **options))
    X, y = problem(10)
    model = gk.GaussianProcessRegressor(optimizer=None, conformal="count").fit(X, y)
    for _ in range(2):
        model.predict([[np.nan, 0.3]], return_std=True)
    assert len(calls) == 1


def test_a_hyperparameter_at_its_bound_is_named():
    X, y = problem(20)
    model = gk.GaussianProcessRegressor(noise_level=15.0, noise_level_bounds=(10.0, 20.0))
    with pytest.warns(ConvergenceWarning) as said:
        model.fit(X, y)
    assert any(
        "noise_level ended at its lower bound 10: a wider noise_level_bounds" in str(each.message) for each in said
    )


@pytest.mark.parametrize("slope", [1.0, 1e-3])
def test_a_search_that_fails_is_said_if_a_slope_is_left(slope):
    """No step goes down, as if rounding hid it; the second coordinate rests at its bound, where its slope is none."""
    start, bounds = np.array([1.0, -5.0]), [(-5.0, 5.0)] * 2

    def objective(theta):
        return 100.0 if np.array_equal(theta, start) else 100.0001, np.array([slope, 1.0])

    assert "ABNORMAL" in minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds).message
    if slope == 1.0:
        with pytest.warns(ConvergenceWarning, match="did not converge.*the gradient is still 1"):
            lbfgs(objective, start, bounds)
    else:
        lbfgs(objective, start, bounds)  # a warning would be an error


@pytest.mark.parametrize(("few", "threads"), [(30, 1), (29, 3)])
def test_the_search_on_few_rows_takes_one_thread_for_matrix_products(monkeypatch, few, threads):
    """More wait for each other, many times as long as they work."""
    seen = []

    def optimizer(objective, theta, bounds):
        seen.extend(found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas")
        return theta, objective(theta)[0]

    monkeypatch.setattr(base, "FEW_ROWS", few)
    with threadpool_limits(3):
        gk.GaussianProcessRegressor(optimizer=optimizer).fit(*problem(30))
    assert set(seen) == {threads}
