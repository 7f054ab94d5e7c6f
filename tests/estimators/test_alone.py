"""A row that is asked about alone gets the same answer, to the last bit, as in a batch."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import gapkernel as gk
from gapkernel.papers.expected_kernel import RobustSVC

random = np.random.default_rng(0)
X = random.normal(size=(30, 3))
Y = (X.sum(axis=1) > 0).astype(int)
X[random.random(X.shape) < 0.2] = np.nan
ASKED = [
    (gk.SVC(), "decision_function"),
    (gk.SVR(kernel="rbf"), "predict"),
    (gk.OneClassSVM(), "decision_function"),
    (gk.KernelRidge(), "predict"),
    (RobustSVC(), "decision_function"),
    (gk.GaussianProcessRegressor(optimizer=None), "predict"),
    (gk.Gram(), "transform"),
    (gk.ChainedEquations(n_imputations=1, random_state=0), "transform"),
]


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(("model", "verb"), ASKED, ids=str)
def test_a_row_alone_has_the_same_bits(model, verb, n_threads):
    with threadpool_limits(n_threads):  # of matrix products
        answer = getattr(model.fit(X, Y), verb)
        alone = np.concatenate([answer(X[i : i + 1]) for i in range(len(X))])
        np.testing.assert_array_equal(alone, answer(X))
