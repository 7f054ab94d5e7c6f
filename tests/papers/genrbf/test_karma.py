"""The KARMA kernel against its own features, written out word by word."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC as PlainSVC

from gapkernel import SVC
from gapkernel.density import Gaussian
from gapkernel.papers.genrbf import Karma

FORMS = ["plain", "distance", "featurewise"]


def gappy(seed, n=25, d=4, rate=0.35):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) + 0.5
    X[random.random(X.shape) < rate] = np.nan
    return X


def laws(X):
    d = np.shape(X)[1]
    return Gaussian.from_moments(np.zeros(d), 0.5 * np.eye(d) + 0.5).condition(X)


def word_features(X, degree):
    """One feature for each word of at most ``degree`` columns: its last value if all were observed."""
    features = [
        np.where(np.isnan(X[:, list(word)]).any(axis=1), 0.0, np.nan_to_num(X[:, word[-1]]))
        for length in range(1, degree + 1)
        for word in product(range(X.shape[1]), repeat=length)
    ]
    return np.column_stack(features)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_it_is_the_scalar_product_of_the_word_features(degree):
    X, Y = gappy(0), gappy(1, n=11)
    expected = word_features(X, degree) @ word_features(Y, degree).T
    assert_allclose(Karma(degree, normalize=False).cross(laws(X), laws(Y)), expected, atol=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_normalised_it_is_the_cosine_of_the_word_features(degree):
    features = word_features(gappy(2), degree)
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    features = np.divide(features, norms, out=np.zeros_like(features), where=norms > 0)
    assert_allclose(Karma(degree).gram(laws(gappy(2))), features @ features.T, atol=1e-12)


@pytest.mark.parametrize("normalize", [True, False])
def test_the_rbf_form_is_the_rbf_of_the_word_features(normalize):
    features = word_features(gappy(3), 2)
    if normalize:
        norms = np.linalg.norm(features, axis=1, keepdims=True)
        features = np.divide(features, norms, out=np.zeros_like(features), where=norms > 0)
    squared = ((features[:, None] - features) ** 2).sum(axis=2)
    kernel = Karma(2, normalize=normalize, form="distance", gamma=0.3)
    assert_allclose(kernel.gram(laws(gappy(3))), np.exp(-0.3 * squared), atol=1e-10)


def test_the_featurewise_form_by_hand():
    rows = laws([[1.0, 2.0, np.nan], [1.5, 2.0, 7.0]])
    kernel = Karma(2, normalize=False, form="featurewise", gamma=0.4)
    shared = (1 + 2) * (np.exp(-0.4 * 0.25) + 1.0)
    assert_allclose(kernel.gram(rows), [[3 * 2, shared], [shared, 4 * 3]])


def test_degree_one_on_complete_rows_is_the_linear_kernel():
    X = np.random.default_rng(4).standard_normal((20, 5))
    assert_allclose(Karma(1, normalize=False).gram(laws(X)), X @ X.T, atol=1e-12)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    ours, plain = SVC(kernel=Karma(1, normalize=False)).fit(X, y), PlainSVC(kernel="linear").fit(X, y)
    assert_allclose(ours.decision_function(X), plain.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_positive_semi_definite_and_no_row_is_random(form, normalize, seed):
    X = gappy(seed, n=40, d=6, rate=0.5)
    X[0] = np.nan
    density = Gaussian().fit(X)
    rows = density.condition(X)
    kernel = Karma(3, normalize=normalize, form=form).resolve(density.moments(), rows)
    gram = kernel.gram(rows)
    values = np.linalg.eigvalsh(gram)
    assert values[0] >= -1e-12 * values[-1]
    assert_allclose(gram, kernel.cross(rows, rows), atol=1e-12 * values[-1])
    assert_allclose(np.diag(gram), kernel.diag(rows))


def test_a_row_with_nothing_observed_has_kernel_zero():
    X = gappy(5)
    X[3] = np.nan
    assert not Karma(3).gram(laws(X))[3].any()


@pytest.mark.parametrize("form", FORMS)
def test_a_machine_with_it_predicts_rows_with_gaps(form):
    random = np.random.default_rng(6)
    X = random.standard_normal((120, 5))
    y = (X.sum(axis=1) > 0).astype(int)
    X[random.random(X.shape) < 0.2] = np.nan
    assert SVC(kernel=Karma(form=form)).fit(X[:80], y[:80]).score(X[80:], y[80:]) > 0.7


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": 0}, "'degree' parameter of Karma"),
        ({"degree": 1.5}, "'degree' parameter of Karma"),
        ({"form": "cubic"}, "'form' parameter of Karma"),
        ({"form": "distance", "gamma": -1.0}, "'gamma' parameter of Karma"),
        ({"form": "distance", "gamma": "median"}, "'gamma' parameter of Karma"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        SVC(kernel=Karma(**parameters)).fit(gappy(8), np.arange(25) % 2)
