"""Chained equations at their edges: empty, constant and separated columns, few rows, extreme units, bad settings."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from strategies import mixed_imputer, mixed_table

import gapkernel as gk

nan = np.nan


def test_a_column_never_observed_is_filled_with_zero_and_a_warning_names_it():
    X, _, _ = mixed_table()
    X[:, 0] = nan
    frame = pd.DataFrame(X, columns=list("abcde"))
    imputer = mixed_imputer()
    with pytest.warns(UserWarning, match="No value was observed in column 'a'"):
        completed = np.stack(imputer.fit_transform_all(frame))
    assert (completed[..., 0] == 0).all()
    assert imputer.kinds_[0] == "empty"
    _one, other = X[:1].copy(), X[:1].copy()
    other[0, 0] = 9.0
    assert imputer.transform(pd.DataFrame(other, columns=list("abcde"))).iloc[0, 0] == 9.0  # an observed cell stays


def test_a_table_of_gaps_alone_is_refused():
    with pytest.raises(ValueError, match="no observed value in any row"):
        gk.ChainedEquations().fit(np.full((3, 2), nan))


def test_a_constant_column_is_filled_with_its_constant():
    X, _, _ = mixed_table()
    X[:, 1] = np.where(np.isnan(X[:, 1]), nan, 3.5)
    imputer = mixed_imputer().fit(X)
    assert (imputer.transform_all(X)[..., 1] == 3.5).all()


@pytest.mark.parametrize("categorical", [None, [1]])
def test_perfectly_separated_columns_stay_finite_and_mostly_right(categorical):
    random = np.random.default_rng(0)
    x = random.standard_normal(300)
    X = np.column_stack([x, x > 0]).astype(float)
    truth = X[::4, 1].copy()
    X[::4, 1] = nan
    imputer = gk.ChainedEquations(n_imputations=20, categorical_features=categorical, random_state=0)
    completed = imputer.fit_transform_all(X)
    assert np.mean(completed[:, ::4, 1] == truth) > 0.92
    betas = np.stack([chain.models[1].beta for chain in imputer._chains])
    assert np.abs(betas).max() < 100


def test_separated_categories_stay_finite():
    random = np.random.default_rng(0)
    x = random.uniform(0, 3, 300)
    X = np.column_stack([x, np.floor(x)])
    truth = X[::4, 1].copy()
    X[::4, 1] = nan
    completed = gk.ChainedEquations(categorical_features=[1], random_state=0).fit_transform_all(X)
    assert np.mean(completed[:, ::4, 1] == truth) > 0.8


@pytest.mark.parametrize("rare", [1.0, 2.0])
def test_a_category_seen_once_is_a_category(rare):
    random = np.random.default_rng(0)
    X = random.standard_normal((100, 2))
    X[:, 1] = random.integers(0, rare, 100)  # one other level, or two
    X[0, 1], X[50:, 1] = rare, nan
    completed = gk.ChainedEquations(categorical_features=[1], random_state=0).fit_transform_all(X)
    assert np.isin(completed[..., 1], [0, 1, 2]).all()
    assert np.mean(completed[:, 50:, 1] == X[0, 1]) < 0.15  # as rare in the draws as in the data


@pytest.mark.parametrize("numeric", ["linear", "pmm"])
def test_fewer_rows_than_columns(numeric):
    random = np.random.default_rng(0)
    X = random.standard_normal((12, 30))
    X[random.random(X.shape) < 0.2] = nan
    completed = gk.ChainedEquations(numeric=numeric, random_state=0).fit_transform_all(X)
    assert np.isfinite(completed).all()
    assert np.abs(completed).max() < 10 * np.nanstd(X)


def test_too_small_a_ridge_is_named():
    random = np.random.default_rng(0)
    X = np.repeat(random.standard_normal((2000, 1)), 3, axis=1)
    X[::2, 0] = nan
    with pytest.raises(ValueError, match="Raise ridge"):
        gk.ChainedEquations(ridge=1e-14, n_sweeps=20, random_state=0).fit(X)


def test_dependent_columns():
    random = np.random.default_rng(0)
    x = random.standard_normal((200, 1))
    X = np.hstack([x, x, 2 * x, x])
    X[::5, 3] = nan
    filled = gk.ChainedEquations(random_state=0).fit_transform(X)
    assert_allclose(filled[::5, 3], x[::5, 0], atol=0.05)


def test_one_row_and_one_column():
    assert_array_equal(gk.ChainedEquations().fit_transform([[1.0, nan, 2.0], [nan, 5.0, 2.0]])[0], [1, 5, 2])
    filled = gk.ChainedEquations(random_state=0).fit_transform([[1.0], [nan], [3.0], [2.0]])
    assert np.isfinite(filled).all()


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_units_do_not_matter(factor):
    X, _, _ = mixed_table()
    plain = mixed_imputer().fit_transform(X)
    scaled = mixed_imputer().fit_transform(X * [factor, 1, 1, 1, 1])
    assert_allclose(scaled / [factor, 1, 1, 1, 1], plain, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"n_imputations": 0}, "'n_imputations' parameter .* must be an int in the range"),
        ({"n_sweeps": 1.5}, "'n_sweeps' parameter .* must be an int in the range"),
        ({"numeric": "forest"}, "'numeric' parameter .* must be a str among"),
        ({"draws": "none"}, "'draws' parameter .* must be a str among"),
        ({"ridge": 0}, "'ridge' parameter .* must be a str among {'auto'} or a float in the range"),
        ({"categorical_features": "d"}, "'categorical_features' parameter .* must be a str among {'from_dtype'}"),
        ({"categorical_features": [9]}, "categorical_features names column 9, but X has 5 columns"),
        ({"categorical_features": ["z"]}, "categorical_features names column 'z', which X does not have"),
        ({"predictors": "some"}, "'predictors' parameter .* must be a str among"),
        ({"predictors": np.ones((2, 2))}, "predictors must be 'all', 'selected' or a matrix"),
        ({"use_target": True}, "requires y"),
    ],
)
def test_bad_settings_are_named(options, complaint):
    X, _, _ = mixed_table(30)
    with pytest.raises(ValueError, match=complaint):
        gk.ChainedEquations(**options).fit(X)
