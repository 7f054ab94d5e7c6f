"""What code written for scikit-learn's kernel machines asks for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

import gapkernel as gk

X, CLASSES = load_iris(return_X_y=True)
VALUES = X[:, 3]
PAIRS = {
    "SVC": (gk.SVC, svm.SVC, CLASSES),
    "two classes": (gk.SVC, svm.SVC, CLASSES > 0),
    "SVR": (gk.SVR, svm.SVR, VALUES),
    "KernelRidge": (gk.KernelRidge, KernelRidge, VALUES),
    "OneClassSVM": (gk.OneClassSVM, svm.OneClassSVM, None),
}


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "KernelRidge"])
def test_a_linear_kernel_has_the_weights_of_scikit_learn(name):
    ours, theirs, y = PAIRS[name]
    mine, other = ours(kernel="linear").fit(X, y), theirs(kernel="linear").fit(X, y)
    assert_allclose(mine.coef_, other.coef_, atol=1e-6)
    assert_allclose(mine.n_support_, other.n_support_)
    assert_allclose(mine.support_vectors_, other.support_vectors_)
    with pytest.raises(ValueError, match="read-only"):
        mine.coef_[0] = 0


@pytest.mark.parametrize("kernel", ["linear", 2 * gk.kernels.ExpectedLinear()], ids=repr)
def test_the_weights_of_a_linear_kernel_predict_rows_with_gaps(kernel):
    gappy = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    model = gk.SVR(kernel=kernel).fit(gappy, VALUES)
    means = model.density_.condition(gappy).means
    assert_allclose(model.predict(gappy), means @ model.coef_[0] + model.intercept_, atol=1e-10)
    with pytest.raises(AttributeError, match="coef_ exists for kernel='linear' only"):
        gk.SVR().fit(gappy, VALUES).coef_  # noqa: B018


@pytest.mark.parametrize("kernel", ["rbf", "genrbf"])
def test_the_automatic_width_is_that_of_scikit_learn(kernel):
    ours, theirs = gk.SVC(kernel=kernel, gamma="auto").fit(X, CLASSES), svm.SVC(gamma="auto").fit(X, CLASSES)
    assert ours.kernel_.gamma == 1 / X.shape[1]
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_a_classifier_without_probabilities_names_those_that_have_them():
    assert not hasattr(gk.SVC(), "predict_proba")
    with pytest.raises(AttributeError, match=r"GapClassifier.*CalibratedClassifierCV"):
        gk.SVC().fit(X, CLASSES).predict_proba(X)


def test_a_negative_weight_is_named():
    weight = np.ones(len(X))
    weight[7] = -2
    with pytest.raises(ValueError, match=r"`sample_weight`: -2 for row 7\. .* 0 leaves it out"):
        gk.SVC().fit(X, CLASSES, weight)


def product(left, right):
    return (1 + left @ right.T) ** 2


@pytest.mark.parametrize("name", PAIRS)
def test_a_function_of_complete_rows_is_a_kernel(name):
    ours, theirs, y = PAIRS[name]
    mine, other = ours(kernel=product).fit(X / 5, y), theirs(kernel=product).fit(X / 5, y)
    assert_allclose(mine.predict(X / 5), other.predict(X / 5), atol=1e-6)
    gappy = np.where(np.arange(X.size).reshape(X.shape) == 9, np.nan, X)
    with pytest.raises(ValueError, match=r"row 2 has gaps\. Average it over draws.*MonteCarlo"):
        ours(kernel=product).fit(gappy, y)
    with pytest.raises(ValueError, match="row 2 has gaps"):
        mine.predict(gappy)


GRAM = product(X / 5, X / 5)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("weight", [np.ones(len(X)), np.arange(len(X)) % 3 / 2.0], ids=["equal", "zero for some"])
def test_a_kernel_matrix_takes_the_place_of_a_table(name, weight):
    ours, theirs, y = PAIRS[name]
    mine = ours(kernel="precomputed").fit(GRAM, y, sample_weight=weight)
    kept = np.flatnonzero(weight)  # scikit-learn's own loses the places of the others
    small, some = GRAM[np.ix_(kept, kept)], None if y is None else y[kept]
    other = theirs(kernel="precomputed").fit(small, some, sample_weight=weight[kept])
    assert_allclose(mine.predict(GRAM[::7]), other.predict(GRAM[::7, kept]), atol=1e-6)
    by_function = ours(kernel=product).fit(X / 5, y, sample_weight=weight)
    assert_allclose(mine.predict(GRAM[::7]), by_function.predict(X[::7] / 5), atol=1e-8)
    assert get_tags(mine).input_tags.pairwise
    assert not get_tags(by_function).input_tags.pairwise


def test_a_grid_search_splits_a_kernel_matrix():
    grid = {"C": [0.01, 1.0], "kernel": ["precomputed"]}
    mine, other = (GridSearchCV(one(kernel="precomputed"), grid, cv=3).fit(GRAM, CLASSES) for one in (gk.SVC, svm.SVC))
    assert_allclose(mine.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


def test_a_wrong_kernel_matrix_is_refused():
    gappy = np.where(np.arange(GRAM.size).reshape(GRAM.shape) == 309, np.nan, GRAM)
    model = gk.SVC(kernel="precomputed")
    with pytest.raises(ValueError, match="row 2 has one"):
        model.fit(gappy, CLASSES)
    with pytest.raises(ValueError, match=r"square matrix .* got shape \(150, 4\)"):
        model.fit(X, CLASSES)
    with pytest.raises(ValueError, match="indicator=False"):
        gk.SVC(kernel="precomputed", indicator=True).fit(GRAM, CLASSES)
    for other in (gk.SVCCV(kernel="precomputed"), gk.Nystroem(10, kernel="precomputed")):
        with pytest.raises(ValueError, match=r"It is for SVC, SVR.*GridSearchCV"):
            other.fit(GRAM, CLASSES)
    with pytest.raises(ValueError, match="row 2 has one"):
        model.fit(GRAM, CLASSES).predict(gappy)
