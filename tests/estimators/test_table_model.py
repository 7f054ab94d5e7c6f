"""A model for tables as they come answers as the estimator inside."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from strategies import punch

import gapkernel as gk


def table(n=120):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 2))
    y = X.sum(axis=1) + random.standard_normal(n)
    return pd.DataFrame(punch(random, X, 0.2), columns=["a", "b"]), y


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (gk.KernelRidge(conformal="mask"), "predict_interval"),
        (gk.GaussianProcessClassifier(conformal="mask"), "predict_set"),
    ],
)
def test_promises_and_their_rules_are_those_of_the_estimator(estimator, method):
    X, values = table()
    y = values if method == "predict_interval" else values > 0
    model = gk.TableModel(estimator).fit(X, y)
    for ask in (method, "conformal_rules"):
        ours, inside = getattr(model, ask), getattr(model.estimator_, ask)
        assert_array_equal(ours(X[["b", "a"]], coverage=0.8), inside(X, 0.8))
        assert_array_equal(ours(X), inside(X))


def test_a_model_around_an_estimator_of_arrays_takes_arrays():
    X, y = table()
    inside = gk.SVR().fit(X.to_numpy(), y)
    model = gk.TableModel.around(inside)
    assert_array_equal(model.predict(X.to_numpy()), inside.predict(X.to_numpy()))
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.zeros((2, 3)))
