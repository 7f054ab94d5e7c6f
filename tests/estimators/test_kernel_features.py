"""Landmark features: exact on the landmarks, scikit-learn's on complete rows, for every kernel."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from strategies import random_laws

import gapkernel as gk
from gapkernel.estimators.kernel_features import pivots
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF
from gapkernel.papers.genrbf import Karma

Landmarks = partial(gk.Nystroem, random_state=0)
KERNELS = ["genrbf", "rbf", "linear", "ehk", Karma(), GenRBF(0.3) + ExpectedLinear()]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("landmarks", ["uniform", "pivoted"])
def test_the_kernel_is_exact_on_the_landmarks(kernel, landmarks):
    _, X, _ = random_laws(0, 60, 4, 0.3)
    model = Landmarks(12, kernel=kernel, landmarks=landmarks).fit(X)
    exact = model.kernel_.cross(model.rows_, model.rows_)
    Z = model.kernel_.dot(model.rows_, model.rows_, model.normalization_.T)
    assert_allclose(Z @ Z.T, exact, rtol=1e-5, atol=1e-6 * np.abs(exact).max())
    assert np.isfinite(model.transform(X)).all()


def test_all_rows_as_landmarks_give_the_whole_kernel():
    _, X, _ = random_laws(1, 30, 4, 0.3)
    Z = Landmarks(30, kernel="rbf", gamma=0.2).fit_transform(X)
    gram = gk.Gram(kernel="rbf", gamma=0.2).fit(X)
    assert_allclose(Z @ Z.T, gram.transform(X), atol=1e-7)  # independent rows: cross, not gram


def test_complete_rows_have_the_features_of_scikit_learn():
    X = np.random.default_rng(0).standard_normal((40, 3))
    ours = Landmarks(10, gamma=0.5).fit(X)
    theirs = Nystroem(gamma=0.5, n_components=10).fit(np.array(ours.rows_.means))
    left, right = ours.transform(X), theirs.transform(X)
    assert_allclose(left @ left.T, right @ right.T, atol=1e-8)


@pytest.mark.parametrize("kernel", [GenRBF(0.3), ExpectedRBF(0.3), ExpectedLinear(), Karma(2)], ids=repr)
def test_a_row_and_its_independent_copy(kernel):
    density, _, rows = random_laws(2, 40, 4, 0.3)
    kernel = kernel.resolve(density.moments(), rows)
    assert_allclose(kernel.self_cross(rows), np.diag(kernel.cross(rows, rows)), rtol=1e-12)


def test_pivoted_landmarks_find_the_rare_groups_that_drawn_ones_miss():
    density, X, _ = random_laws(3, 200, 4, 0.1)
    X[:190] = X[0] + 0.01 * (X[:190] - X[0])  # a crowd, and ten rows elsewhere
    rows, kernel = density.condition(X), GenRBF(0.2)
    exact = kernel.cross(rows, rows)

    def unexplained(chosen):
        part = exact[:, chosen]
        return np.trace(exact - part @ np.linalg.pinv(exact[np.ix_(chosen, chosen)]) @ part.T)

    seeds = [np.random.RandomState(seed) for seed in range(20)]
    drawn = [unexplained(random.choice(200, 20, replace=False)) for random in seeds]
    pivoted = [unexplained(pivots(kernel, rows, 20, random)) for random in seeds]
    assert np.mean(pivoted) < 0.5 * np.mean(drawn)


def test_rows_that_repeat_each_other_need_one_landmark():
    X = np.repeat([[0.0, 1.0], [2.0, np.nan]], 10, axis=0)
    assert Landmarks(5, landmarks="pivoted").fit(X).normalization_.shape == (2, 2)
    Z = Landmarks(20).fit_transform(X)
    assert np.isfinite(Z).all()
    assert_allclose(np.sum(Z**2, axis=1), 1.0, rtol=1e-6)


def test_landmarks_are_the_same_however_the_rows_come():
    _, X, _ = random_laws(4, 100, 4, 0.3)
    whole = Landmarks(10, density_samples=50).fit(X)
    streamed = Landmarks(10, density_samples=50).fit(gk.batches(X, batch_size=23))
    assert_allclose(streamed.transform(X), whole.transform(X), rtol=1e-8, atol=1e-10)


def test_a_linear_machine_on_landmarks_learns_a_curve():
    _, X, _ = random_laws(5, 1000, 3, 0.1)
    distance = np.nansum((X - np.nanmean(X, axis=0)) ** 2, axis=1)
    y = (distance > np.median(distance)).astype(int)
    machine = make_pipeline(Landmarks(60, gamma=0.3), LinearSVC(C=10.0))
    assert machine.fit(X[:500], y[:500]).score(X[500:], y[500:]) > 0.85


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"n_components": 0}, "'n_components' parameter"),
        ({"landmarks": "best"}, "'landmarks' parameter"),
    ],
)
def test_bad_parameters_are_complaints(parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        Landmarks(**parameters).fit(np.eye(3))
