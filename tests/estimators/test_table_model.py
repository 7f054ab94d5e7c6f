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
def test_promises_come_with_their_rules_on_request(estimator, method):
    X, values = table()
    y = values if method == "predict_interval" else values > 0
    model = gk.TableModel(estimator).fit(X, y)
    ask, inside = getattr(model, method), getattr(model.estimator_, method)
    for found, expected in zip(ask(X[["b", "a"]], return_rule=True), inside(X, return_rule=True), strict=True):
        assert_array_equal(found, expected)
    assert_array_equal(ask(X), inside(X))


def test_a_model_around_an_estimator_of_arrays_takes_arrays():
    X, y = table()
    inside = gk.SVR().fit(X.to_numpy(), y)
    model = gk.TableModel.around(inside)
    assert_array_equal(model.predict(X.to_numpy()), inside.predict(X.to_numpy()))
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.zeros((2, 3)))


def test_an_estimator_of_another_package_is_not_asked_for_rules():
    class Ridge(gk.KernelRidge):
        def predict_interval(self, X, coverage=0.9):
            return super().predict_interval(X, coverage)

    X, y = table()
    model = gk.TableModel(Ridge(conformal=True)).fit(X, y)
    assert_array_equal(model.predict_interval(X), model.estimator_.predict_interval(X))
