"""Candidates: settings tried together score as those tried one by one, and nothing leaks from the test rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, r2_score

import gapkernel as gk
from gapkernel.papers.genrbf.compared import CANDIDATES
from gapkernel.studies import PAPER_GRID, QUICK_GRID, Grid, choose, folds, nested

SMALL = Grid(C=(0.5, 8.0), gamma=(0.05, 0.3), alpha=(0.5,), degree=(2,))
pytestmark = [
    pytest.mark.filterwarnings("ignore:The RBF kernel over jointly present columns"),
    pytest.mark.filterwarnings("ignore:n_components > n_samples"),
]
CHOOSING = ("gap-quick", "gap", "fourier")  # they differ in their members only
COMPARED = ("genrbf", "genrbf-indicator", "rbf", "ehk", "linear", "mean_indicator", "mean_landmarks")


@pytest.fixture(scope="module")
def problem():
    X, y = load_breast_cancer(return_X_y=True)
    return gk.ampute(X[:90, :5], 0.3, random_state=0), np.array(["bad", "good"])[y[:90]]


@pytest.fixture(scope="module")
def mixed(problem):
    """A frame with a category, its class, and a number to predict."""
    X, y = problem
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["kind"] = pd.Categorical(np.where(np.arange(90) % 7 == 0, None, np.where(X[:, 0] > 14, "large", "small")))
    return frame, y, np.nan_to_num(X[:, 1]) + 0.1 * np.arange(90)


@pytest.mark.parametrize("name", [name for name in CANDIDATES if name not in CHOOSING[1:]])
def test_scores_are_those_of_the_estimators(problem, mixed, name):
    candidate, cv = CANDIDATES[name], folds(2, 0)
    X, y = problem
    settings = candidate.settings(SMALL)
    scores = candidate.scores(X, y, cv, settings)
    assert scores.shape == (2, len(settings))
    for split, (train, test) in enumerate(cv.split(X, y)):
        for setting, score in zip(settings, scores[split], strict=True):
            assert score == accuracy_score(y[test], candidate.build(setting).fit(X[train], y[train]).predict(X[test]))


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", COMPARED)  # trees do not care about categories or the target's scale
def test_the_choice_is_that_of_the_estimators_on_mixed_tables(mixed, name, task):
    X, classes, numbers = mixed
    candidate, y = CANDIDATES[name], classes if task == "classification" else numbers
    metric, cv = {"classification": accuracy_score, "regression": r2_score}[task], folds(3, 0, task)
    means = [
        np.mean([
            metric(y[test], candidate.build(one, task, True).fit(X.iloc[train], y[train]).predict(X.iloc[test]))
            for train, test in cv.split(X, y)
        ])
        for one in candidate.settings(SMALL, task)
    ]  # fmt: skip
    choice = choose(candidate, X, y, cv, SMALL, task)
    # a target is standardised by all rows while settings are tried, and by the rows of a fold in the estimator
    assert_allclose(choice.score, max(means), atol=1e-12 if task == "classification" else 0.02)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", [*COMPARED, "boosting-one-hot"])
def test_the_code_of_a_candidate_makes_its_estimator(mixed, name, task):
    X, classes, numbers = mixed
    candidate, y = CANDIDATES[name], classes if task == "classification" else numbers
    setting = candidate.settings(SMALL, task)[0]
    names: dict = {}
    exec(candidate.code(setting, task, True, folds(3, 0)), names)
    expected = candidate.build(setting, task, True, folds(3, 0)).fit(X, y).predict(X)
    assert_array_equal(names["model"].fit(X, y).predict(X), expected)


def test_a_candidate_refuses_a_task_that_it_cannot_do():
    with pytest.raises(ValueError, match="'mice' does classification only"):
        CANDIDATES["mice"].settings(SMALL, "regression")


def test_grids_are_those_of_the_paper():
    assert len(CANDIDATES["genrbf"].settings(PAPER_GRID)) == 8 * 11
    assert len(CANDIDATES["karma"].settings(PAPER_GRID)) == 8 * 11 * 2
    assert CANDIDATES["mean"].settings(PAPER_GRID)[0] == {"gamma": 2.0**-5, "C": 2.0**-5}
    assert CANDIDATES["mean"].settings(PAPER_GRID)[-1] == {"gamma": 2.0**15, "C": 2.0**9}
    assert set(QUICK_GRID.C) <= set(PAPER_GRID.C)
    assert set(QUICK_GRID.gamma) <= set(PAPER_GRID.gamma)


@pytest.mark.parametrize("name", ["mean", "genrbf", "mice"])
def test_the_choice_does_not_see_the_test_rows(problem, name):
    X, y = problem
    train, test = np.arange(60), np.arange(60, 90)
    here = nested(CANDIDATES[name], X, y, train, test, SMALL, n_inner_folds=3, random_state=0)
    spoilt = X.copy()
    spoilt[60:] = 1e3 * np.random.default_rng(0).random((30, 5))
    there = nested(CANDIDATES[name], spoilt, y, train, test, SMALL, n_inner_folds=3, random_state=0)
    assert there["settings"] == here["settings"]
    assert there["inner_accuracy"] == here["inner_accuracy"]
    assert here["accuracy"] > 0.8 > there["accuracy"]


@pytest.mark.parametrize("name", CANDIDATES)
def test_trying_a_candidate_does_not_change_it(problem, name):
    candidate = CANDIDATES[name]
    before = repr(candidate.unfitted())
    candidate.build(candidate.settings(SMALL)[-1])
    assert repr(candidate.unfitted()) == before
