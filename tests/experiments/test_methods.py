"""Methods of the studies: the fast way gives what the estimators give, and nothing leaks from the test rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer

import gapkernel as gk
from gapkernel.experiments import METHODS, PAPER_GRID, QUICK_GRID, Grid, nested

SMALL = Grid(C=(0.5, 8.0), gamma=(0.05, 0.3), alpha=(0.5,), degree=(2,))


@pytest.fixture(scope="module")
def problem():
    X, y = load_breast_cancer(return_X_y=True)
    return gk.ampute(X[:90, :5], 0.3, random_state=0), np.array(["bad", "good"])[y[:90]]


@pytest.mark.filterwarnings("ignore:The RBF kernel over jointly present columns")
@pytest.mark.parametrize("name", METHODS)
def test_predictions_are_those_of_the_estimators(problem, name):
    X, y = problem
    method, settings = METHODS[name], METHODS[name].settings(SMALL)
    guesses = method.predictions(X[:60], y[:60], X[60:], settings)
    assert len(guesses) == len(settings)
    for setting, guess in zip(settings, guesses, strict=True):
        assert_array_equal(guess, method.estimator(setting).fit(X[:60], y[:60]).predict(X[60:]))


def test_grids_are_those_of_the_paper():
    assert len(METHODS["genrbf"].settings(PAPER_GRID)) == 8 * 11
    assert len(METHODS["karma"].settings(PAPER_GRID)) == 8 * 11 * 2
    assert METHODS["mean"].settings(PAPER_GRID)[0] == {"gamma": 2.0**-5, "C": 2.0**-5}
    assert METHODS["mean"].settings(PAPER_GRID)[-1] == {"gamma": 2.0**15, "C": 2.0**9}
    assert set(QUICK_GRID.C) <= set(PAPER_GRID.C)
    assert set(QUICK_GRID.gamma) <= set(PAPER_GRID.gamma)


@pytest.mark.parametrize("name", ["mean", "genrbf", "mice"])
def test_the_choice_does_not_see_the_test_rows(problem, name):
    X, y = problem
    train, test = np.arange(60), np.arange(60, 90)
    here = nested(METHODS[name], X, y, train, test, SMALL, n_inner_folds=3)
    spoilt = X.copy()
    spoilt[60:] = 1e3 * np.random.default_rng(0).random((30, 5))
    there = nested(METHODS[name], spoilt, y, train, test, SMALL, n_inner_folds=3)
    assert there["settings"] == here["settings"]
    assert there["inner_accuracy"] == here["inner_accuracy"]
    assert here["accuracy"] > 0.8 > there["accuracy"]
