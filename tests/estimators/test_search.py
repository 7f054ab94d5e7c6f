"""The search itself: what a scorer gets, what is computed once, and any settings at all."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ParameterGrid,
    StratifiedKFold,
    cross_val_predict,
)
from strategies import curved_frame, curved_problem

import gapkernel as gk
from gapkernel.density import Gaussian
from gapkernel.estimators import base
from gapkernel.estimators.search import Search
from gapkernel.kernels import HeterogeneousKernel
from gapkernel.solvers.libsvm import Classification

GRID = {"Cs": [0.1, 1.0, 30.0], "gammas": [0.02, "scale", 0.7]}


def predictions(search, candidates, method="predict"):
    """The answers of each candidate to all rows."""
    by_split = search.results(candidates, lambda model, X, y, weight: getattr(model, method)(X))
    order = np.argsort(np.concatenate([test for _, test in search.splits]))
    return [np.concatenate(parts)[order] for parts in zip(*by_split, strict=True)]


class Witness:
    """A scorer that remembers what it was given."""

    def __init__(self):
        self.given = []

    def __call__(self, estimator, X, y):
        self.given.append((estimator, X, y))
        return estimator.score(X, y)


@pytest.mark.parametrize("kind", ["array", "frame", "polars", "list"])
def test_a_scorer_gets_the_fitted_candidate_and_the_test_rows_as_they_were_given(kind):
    X, y = curved_frame()
    if kind == "polars":
        X = pytest.importorskip("polars").from_pandas(X)
    elif kind != "frame":
        X = X[list("pqrs")].to_numpy()
    X = X.tolist() if kind == "list" else X
    witness = Witness()
    gk.SVCCV(Cs=[0.1, 10.0], gammas=[0.1, 0.5], cv=StratifiedKFold(3), scoring=witness).fit(X, y)
    assert len(witness.given) == 3 * 4
    assert {estimator.C for estimator, _, _ in witness.given} == {0.1, 10.0}
    for estimator, X_test, y_test in witness.given:
        assert type(estimator.machine) is gk.SVC
        assert type(X_test) is type(X)
        assert len(X_test) == len(y_test) == 16
        assert estimator.gamma == estimator.kernel_.gamma
        assert estimator.n_features_in_ == (6 if kind in ("frame", "polars") else 4)


@pytest.mark.parametrize(
    "options",
    [{"gammas": [0.2]}, {"gammas": [0.2], "kernel": "rbf", "indicator": True}, {"kernel": "ehk"}],
    ids=repr,
)
def test_a_candidate_answers_its_test_rows_as_a_copy_fitted_by_itself_does(options):
    """Also after the scoring, and for other rows, where nothing was computed beforehand."""
    X, y = curved_frame()
    witness = Witness()
    splits = list(StratifiedKFold(3).split(X, y))
    gk.SVCCV(Cs=[3.0], cv=splits, scoring=witness, tol=1e-10, **options).fit(X, y)
    for (estimator, X_test, _), (train, test) in zip(witness.given, splits, strict=True):
        alone = gk.SVC(**estimator.get_params(deep=False)).fit(X.iloc[train], y[train])
        assert_allclose(estimator.decision_function(X_test), alone.decision_function(X.iloc[test]), atol=1e-7)
        assert_allclose(estimator.decision_function(X.iloc[:5]), alone.decision_function(X.iloc[:5]), atol=1e-7)


class CountedRows(Gaussian):
    """A Gaussian that counts how often rows were turned into laws."""

    conditioned = 0

    def condition(self, X):
        CountedRows.conditioned += 1
        return super().condition(X)


def test_scoring_the_test_rows_needs_no_kernel():
    def three_scores(estimator, X, y):
        return estimator.score(X, y) + np.mean(estimator.decision_function(X)) + np.mean(estimator.predict(X))

    X, y, _ = curved_problem()
    CountedRows.conditioned = 0
    gk.SVCCV(**GRID, cv=3, density=CountedRows(), scoring=three_scores).fit(X, y)
    assert CountedRows.conditioned == 1 + 2 * 3  # all rows; training and test rows of each split


def test_the_table_is_read_once(monkeypatch):
    reads = []
    read = base.read_labelled
    monkeypatch.setattr(base, "read_labelled", lambda *args, **options: reads.append(1) or read(*args, **options))
    X, y = curved_frame()
    gk.SVCCV(**GRID, cv=3).fit(X, y)
    assert len(reads) == 1


@pytest.mark.parametrize("rare", [False, True])
def test_widths_with_the_same_matrix_share_their_solutions(monkeypatch, rare):
    """Where no row is near another, and nowhere else: one pair of rows that are near is enough to solve again."""
    X, y, _ = curved_problem()
    X = np.where(np.isnan(X), np.random.default_rng(0).standard_normal(X.shape), X)
    if rare:
        X[-1] = X[-2] + 1e-3  # near until gamma is about 1e8
    gammas = [0.1, 1e5, 1e6, 1e7]
    solved = []
    solve = Classification.solve
    monkeypatch.setattr(
        Classification, "solve", lambda self, gram, y, weight=None: solved.append(gram) or solve(self, gram, y, weight)
    )
    search = Search(gk.SVC(C=0.1), X, y, KFold(2))
    answers = predictions(search, [{"gamma": gamma} for gamma in gammas], "decision_function")
    assert len(solved) == (4 + 2 if rare else 2 + 2)  # the pair is in one of the two training parts
    for gamma, together in zip(gammas, answers, strict=True):
        alone = predictions(Search(gk.SVC(C=0.1), X, y, KFold(2)), [{"gamma": gamma}], "decision_function")[0]
        assert_allclose(together, alone, rtol=0, atol=1e-12)


SEARCHED = {
    "settings of the kernel": (gk.SVC(kernel=HeterogeneousKernel()), {"C": [1.0, 10.0], "kernel__alpha": [0.3, 0.7]}),
    "settings of the density": (
        gk.SVC(density=Gaussian()),
        {"density__ridge": [1e-6, 1e-1], "gamma": [0.1, 0.5], "C": [1.0, 10.0]},
    ),
    "kernels": (gk.SVC(), {"kernel": ["genrbf", "ehk", "linear"], "C": [1.0, 10.0]}),
    "densities": (gk.SVC(), {"density": [Gaussian(), "auto"], "gamma": [0.1, 0.5]}),
    "the indicator": (gk.SVC(kernel="rbf"), {"indicator": [False, True], "gamma": [0.1, 0.5]}),
    "no width": (gk.SVC(kernel="linear"), {"C": [0.1, 1.0]}),
    "nothing": (gk.SVC(), {}),
}


@pytest.mark.parametrize(("estimator", "grid"), SEARCHED.values(), ids=SEARCHED.keys())
def test_any_settings_give_the_scores_of_a_grid_search(estimator, grid):
    X, y, _ = curved_problem(3)
    theirs = GridSearchCV(estimator, grid, cv=StratifiedKFold(3), refit=False).fit(X, y)
    search = Search(estimator, X, y, StratifiedKFold(3))
    scores = search.scores(ParameterGrid(grid), check_scoring(estimator))
    for split in range(3):
        assert_allclose(scores[split], theirs.cv_results_[f"split{split}_test_score"], atol=1e-10)
    chosen = ParameterGrid(grid)[0]
    alone = clone(estimator).set_params(**chosen).fit(X, y)
    assert_allclose(search.fit(chosen).decision_function(X), alone.decision_function(X), atol=1e-8)


def test_predictions_are_those_of_the_splits_that_test_the_rows():
    X, y, value = curved_problem(4, n_classes=3)
    folds, grid = KFold(4, shuffle=True, random_state=0), {"C": [1.0, 10.0], "gamma": [0.1, 0.5]}
    search = Search(gk.SVC(), X, y, folds)
    for method in ("predict", "decision_function"):
        ours = predictions(search, ParameterGrid(grid), method)
        for answers, chosen in zip(ours, ParameterGrid(grid), strict=True):
            expected = cross_val_predict(gk.SVC(**chosen), X, y, cv=folds, method=method)
            assert_allclose(answers, expected, atol=1e-10)
    targets = np.column_stack([value, -value])
    assert predictions(Search(gk.KernelRidge(), X, targets, folds), [{}])[0].shape == targets.shape


def test_what_cannot_be_searched_is_refused():
    X, y, _ = curved_problem()
    search = Search(gk.SVC(), X, y, 3)
    with pytest.raises(ValueError, match="categorical_features cannot be searched"):
        search.scores([{"categorical_features": [0]}], check_scoring(gk.SVC()))
    with pytest.raises(ValueError, match="'C'"):
        search.scores([{"C": 1.0}, {"C": -1.0}], check_scoring(gk.SVC()))


def test_a_density_that_cannot_be_pickled_is_searched_with():
    class Local(Gaussian):
        pass

    X, y, _ = curved_problem()
    settings = {"Cs": [1.0], "gammas": 2, "cv": 2}
    local, known = (gk.SVCCV(density=density, **settings).fit(X, y) for density in (Local(), Gaussian()))
    assert_allclose(local.decision_function(X), known.decision_function(X))
