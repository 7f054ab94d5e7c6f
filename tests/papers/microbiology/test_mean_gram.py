"""The mean of the Gram matrices of several completions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from strategies import punch

from gapkernel import ChainedEquations
from gapkernel.papers.microbiology import MeanGram

CHAINS = ChainedEquations(n_imputations=4, n_sweeps=2, random_state=0)


def problem(rate=0.2):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 4)) @ random.standard_normal((4, 4))
    y = (X.sum(axis=1) > 0).astype(int)
    return punch(random, X, rate) if rate else X, y


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian"])
def test_complete_rows_have_the_plain_kernel(kernel):
    X, _ = problem(0.0)
    gram = MeanGram(CHAINS, kernel=kernel)
    expected = pairwise_kernels(X, metric=kernel, filter_params=True, gamma=1 / (4 * X.var()))
    assert_allclose(gram.fit_transform(X), expected, rtol=1e-12)
    assert_allclose(gram.transform(X[:7]), expected[:7], rtol=1e-12)


def test_it_is_the_mean_over_the_chains():
    X, y = problem()
    train, new = X[:40], X[40:]
    chains = ChainedEquations(n_imputations=4, n_sweeps=2, random_state=0)
    here = np.asarray(chains.fit_transform_all(train))
    there = np.asarray(chains.transform_all(new))
    gram = np.mean([rbf_kernel(part, gamma=0.2) for part in here], axis=0)
    cross = np.mean([rbf_kernel(a, b, gamma=0.2) for a, b in zip(there, here, strict=True)], axis=0)
    mean = MeanGram(CHAINS, gamma=0.2)
    assert_allclose(mean.fit_transform(train), gram, rtol=1e-12)
    assert_allclose(mean.transform(new), cross, rtol=1e-12)
    model = make_pipeline(MeanGram(CHAINS, gamma=0.2), SVC(kernel="precomputed")).fit(train, y[:40])
    hand = SVC(kernel="precomputed").fit(gram, y[:40])
    assert_allclose(model.decision_function(new), hand.decision_function(cross), rtol=1e-10)


def test_training_and_new_rows_together_have_a_semi_definite_matrix():
    X, _ = problem()
    mean = MeanGram(CHAINS)
    gram = mean.fit_transform(X[:40])
    cross = mean.transform(X[40:])
    new = np.asarray(mean.imputer_.transform_all(X[40:]))
    own = np.mean([rbf_kernel(part, gamma=mean.gamma_) for part in new], axis=0)
    assert np.linalg.eigvalsh(np.block([[gram, cross.T], [cross, own]]))[0] > -1e-10


@pytest.mark.parametrize(("parameters", "named"), [({"gamma": -1.0}, "gamma"), ({"kernel": "cubic"}, "kernel")])
def test_bad_parameters_are_named_and_leave_nothing_behind(parameters, named):
    mean = MeanGram(CHAINS, **parameters)
    with pytest.raises(ValueError, match=f"'{named}' parameter of MeanGram"):
        mean.fit(problem()[0])
    assert not hasattr(mean, "completed_")
