"""Removing cells: how many go, which may go, and what comes back."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gapkernel as gk
from gapkernel.missingness.ampute import balanced_draws, mahalanobis

MECHANISMS = ("mcar", "mar", "nmar")


def correlated(seed, n, d):
    random = np.random.default_rng(seed)
    return random.standard_normal((n, d)) @ random.standard_normal((d, d))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@given(
    n=st.integers(30, 200),
    d=st.integers(2, 10),
    prop=st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 0.6]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_share_asked_for_goes_and_what_stays_is_untouched(mechanism, n, d, prop, seed):
    X = correlated(seed, n, d)
    before = X.copy()
    out = gk.ampute(X, prop, mechanism, random_state=seed)
    assert abs(np.isnan(out).sum() - prop * out.size) < 1  # a whole number of cells
    assert_array_equal(X, before)
    if mechanism == "nmar":
        assert out.shape == (n, (d + 1) // 2)
        columns = [np.flatnonzero([np.isin(c[~np.isnan(c)], x).all() for x in X.T])[0] for c in out.T]
        X = X[:, columns]
    assert_array_equal(out[~np.isnan(out)], X[~np.isnan(out)])


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_same_seed_gives_the_same_gaps(mechanism):
    X = correlated(0, 60, 5)
    first, again, other = (gk.ampute(X, 0.4, mechanism, random_state=seed) for seed in (1, 1, 2))
    assert_array_equal(first, again)
    assert first.shape != other.shape or not np.array_equal(first, other, equal_nan=True)


def test_units_and_constant_columns_do_not_change_which_cells_go_under_mar():
    X = correlated(3, 80, 4)
    X[:, 2] = 7.0
    scaled = X * np.array([1e-6, 1.0, 1e3, 1e6]) + np.array([0.0, 5.0, -3.0, 1e7])
    gaps, gaps_scaled = (np.isnan(gk.ampute(T, 0.3, "mar", random_state=0)) for T in (X, scaled))
    assert_array_equal(gaps, gaps_scaled)


def test_mar_removes_near_the_anchors_and_leaves_them_whole():
    X = correlated(4, 400, 3)
    gaps = np.isnan(gk.ampute(X, 0.5, "mar", random_state=5))
    anchors = np.random.RandomState(5).choice(400, 3, replace=False)
    assert not gaps[anchors].any()
    distances = mahalanobis(X, anchors)
    for column in range(3):
        near = distances[:, column] < np.median(distances[:, column])
        assert gaps[near, column].mean() > gaps[~near, column].mean()


def test_draws_have_the_probabilities_they_should_and_a_fixed_number():
    chances = np.array([[0.9, 0.1, 0.5], [0.25, 0.25, 1.0]])
    random = np.random.RandomState(0)
    draws = np.array([balanced_draws(chances, random) for _ in range(20_000)])
    error = np.sqrt(chances * (1 - chances) / len(draws))
    assert (np.abs(draws.mean(axis=0) - chances) <= 4.5 * error + 1e-12).all()
    assert set(draws.sum(axis=(1, 2)).tolist()) == {3}


def test_frames_come_back_as_frames():
    frame = pd.DataFrame({"a": np.arange(40), "b": np.linspace(0, 1, 40), "c": pd.Categorical(list("xy") * 20)})
    out = gk.ampute(frame, 0.25, random_state=0)
    assert isinstance(out, pd.DataFrame)
    assert list(out) == ["a", "b", "c"]
    assert int(out.isna().to_numpy().sum()) == 30
    assert out["c"].dtype == "category"
    assert not frame.isna().to_numpy().any()
    plain = pl.from_pandas(frame)
    thinned = gk.ampute(plain, 0.25, random_state=0)
    assert thinned.schema == plain.schema
    assert sum(thinned.null_count().row(0)) == 30
    kept = gk.ampute(frame[["a", "b"]], 0.2, "nmar", random_state=0)
    assert isinstance(kept, pd.DataFrame)
    assert kept.shape == (40, 1)


def test_gaps_that_are_there_already_stay_under_mcar():
    X = correlated(0, 50, 4)
    X[:10, 0] = np.nan
    out = gk.ampute(X, 0.5, random_state=0)
    assert np.isnan(out[:10, 0]).all()
    assert np.isnan(out).sum() == 10 + 95  # half of the 190 values


@pytest.mark.parametrize(
    ("X", "prop", "mechanism", "words"),
    [
        (np.ones((5, 2)), 1.2, "mcar", "'prop' parameter of ampute must be a float in the range"),
        (np.ones((5, 2)), 0.2, "random", "'mechanism' parameter of ampute must be a str among"),
        (np.array([[1.0, np.nan], [2.0, 3.0]]), 0.2, "mar", "column '1' has a gap in row 0"),
        (
            pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}),
            0.2,
            "nmar",
            "distances.*Column 'a' of X holds values that are not numbers",
        ),
        (np.arange(8.0).reshape(2, 4), 0.2, "mar", "2 rows and 4 columns"),
        (np.arange(8.0).reshape(8, 1), 0.2, "nmar", "at least two"),
        (np.random.default_rng(0).random((20, 4)), 0.9, "mar", "0.8, because anchor rows stay complete"),
    ],
)
def test_bad_requests_are_refused_by_name(X, prop, mechanism, words):
    with pytest.raises(ValueError, match=words):
        gk.ampute(X, prop, mechanism, random_state=0)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_lists_of_whole_numbers_become_floats(mechanism):
    X = correlated(0, 40, 4).round(1) * 10
    out = gk.ampute(X.astype(int).tolist(), 0.3, mechanism, random_state=0)
    assert out.dtype == np.float64
    assert_array_equal(out, gk.ampute(X.astype(int), 0.3, mechanism, random_state=0))


def test_masked_values_stay_gaps():
    X = np.ma.masked_array(np.arange(40).reshape(10, 4), mask=False)
    X[3, 2] = X[5] = np.ma.masked
    out = gk.ampute(X, 0.0)
    assert out.dtype == np.float64
    assert_array_equal(np.isnan(out), X.mask)
    assert np.isnan(gk.ampute(X, 0.5, random_state=0)[X.mask]).all()
    with pytest.raises(ValueError, match="has a gap"):
        gk.ampute(X, 0.1, "mar")


@pytest.mark.parametrize("masked", [False, True])
def test_text_gets_none_in_the_gaps(masked):
    X = np.array([["a", "b"]] * 10)
    table = np.ma.masked_array(X, mask=X == "a") if masked else X
    out = gk.ampute(table, 0.5, random_state=0)
    gaps = np.equal(out, None)
    assert out.dtype == object
    assert gaps.sum() == (15 if masked else 10)
    assert_array_equal(out[~gaps], X[~gaps])


def test_distances_need_no_memory_for_differences():
    X = correlated(0, 500, 60)
    anchors = np.arange(60)
    tracemalloc.start()
    distances = mahalanobis(X, anchors)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(X) * 60 * 60 / 4
    precision = np.linalg.inv(np.cov(X, rowvar=False))
    apart = X[7] - X[anchors]
    assert_allclose(distances[7], np.sqrt(np.einsum("ad,de,ae->a", apart, precision, apart)), rtol=1e-6, atol=1e-12)
