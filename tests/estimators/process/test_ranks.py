"""Simulation-based calibration: the truth ranks among draws of the posterior as if it were one of them."""

import numpy as np
from scipy import stats

import gapkernel as gk

ROWS, DRAWS, SIMULATIONS = 12, 19, 120
COVARIANCE = np.array([[1.0, 0.6], [0.6, 1.0]])


def ranks(seed):
    """The rank of the target of a row with no, one and two gaps, all hyperparameters and the density known."""
    random = np.random.RandomState(seed)
    X = random.multivariate_normal(np.zeros(2), COVARIANCE, ROWS + 3)
    covariance = 2.0 * np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2)) + 0.1 * np.eye(len(X))
    y = random.multivariate_normal(np.zeros(len(X)), covariance)
    new = np.where([[False, False], [False, True], [True, True]], np.nan, X[ROWS:])
    model = gk.GaussianProcessRegressor(
        density=gk.density.Gaussian.from_moments(np.zeros(2), COVARIANCE),
        length_scale=1.0,
        constant_value=2.0,
        noise_level=0.1,
        optimizer=None,
    ).fit(X[:ROWS], y[:ROWS])
    points = model.density_.condition(new).draws(DRAWS, random).reshape(-1, 2)  # rows completed from their laws
    mean, std = model.predict(points, return_std=True)
    exact = (mean + std * random.standard_normal(len(mean))).reshape(DRAWS, -1)
    middle = exact.mean(axis=0)
    wide = middle + 2.0 * (exact - middle)
    return [(draws < y[ROWS:]).sum(axis=0) for draws in (exact, wide)]


def test_ranks_are_uniform_with_complete_training_rows_and_gaps_at_predict():
    found = np.array([ranks(seed) for seed in range(SIMULATIONS)])  # (simulation, kind of draws, gaps)
    exact, wide = (
        [stats.chisquare(np.bincount(found[:, kind, gaps], minlength=DRAWS + 1)).pvalue for gaps in range(3)]
        for kind in range(2)
    )
    assert min(exact) > 0.001
    assert max(wide) < 0.001  # the test has power: draws twice too wide are found
