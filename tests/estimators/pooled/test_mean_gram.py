"""The mean of the Gram matrices of several completions: the kernel that an estimator names."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.svm import SVC, SVR

import gapkernel as gk
from gapkernel.estimators.pooled.mean_gram import MeanGram

COMPLETED = np.random.default_rng(0).standard_normal((3, 40, 4)) * [1.0, 2.0, 0.5, 1.0] + [0.0, 1.0, 2.0, 0.0]
STACKED = np.concatenate(COMPLETED)
WIDTHS = {
    "scale": SVC(gamma="scale").fit(STACKED, np.arange(120) % 2)._gamma,
    "median": 1 / np.median(pdist(STACKED, "sqeuclidean")),
    "auto": 1 / 4,
    0.3: 0.3,
}


def width(estimator, gamma):
    return MeanGram.of(estimator.set_params(gamma=gamma), COMPLETED).kernel.parameters["gamma"]


@pytest.mark.parametrize("estimator", [gk.SVC(), gk.SVC(kernel="rbf"), gk.SVR(), gk.KernelRidge()], ids=repr)
@pytest.mark.parametrize("gamma", WIDTHS)
def test_words_for_gamma_look_at_all_completions(estimator, gamma):
    assert_allclose(width(estimator, gamma), WIDTHS[gamma], rtol=1e-12)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma_of_scikit_learn_is_its_own(gamma):
    assert_allclose(width(SVR(), gamma), WIDTHS[gamma], rtol=1e-12)


@pytest.mark.parametrize("gamma", WIDTHS)
def test_complete_rows_have_the_gamma_of_the_plain_estimator(gamma):
    X, y = COMPLETED[0], COMPLETED[0].sum(axis=1)
    plain = gk.KernelRidge(gamma=gamma).fit(X, y)
    pooled = gk.MultipleImputationRegressor(gk.KernelRidge(gamma=gamma), pooling="kernel").fit(X, y)
    assert_allclose(pooled.predict(X), plain.predict(X), rtol=1e-9)


@pytest.mark.parametrize("gamma", ["narrow", 0.0, -1.0])
def test_other_gammas_are_refused_in_the_words_of_the_estimator(gamma):
    for estimator in (gk.SVC(gamma=gamma), SVC(gamma=gamma)):
        with pytest.raises(ValueError, match="'gamma' parameter of SVC must be"):
            MeanGram.of(estimator, COMPLETED)
