"""Patterns, pairs and flux of a table's gaps."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from strategies import gappy_tables

from gapkernel import missingness


@given(X=gappy_tables())
def test_counts_agree_with_looking_at_every_cell(X):
    gaps = pd.isna(pd.DataFrame(X)).to_numpy()
    found = missingness.summary(X)
    assert (found.n_rows, found.n_columns, found.n_gaps) == (*gaps.shape, gaps.sum())
    assert_array_equal(found.column_gaps, gaps.sum(axis=0))
    assert found.patterns.counts.sum() == len(gaps)
    assert (np.diff(found.patterns.counts) <= 0).all()
    for pattern, count in zip(found.patterns.gaps, found.patterns.counts, strict=True):
        assert (gaps == pattern).all(axis=1).sum() == count
    pairs = missingness.pairs(X)
    assert_array_equal(pairs.rr + pairs.rm + pairs.mr + pairs.mm, np.full((gaps.shape[1],) * 2, len(gaps)))
    assert_array_equal(pairs.mm.diagonal(), gaps.sum(axis=0))
    d = gaps.shape[1]
    for j in range(d):
        seen_beside = sum((gaps[:, j] & ~gaps[:, k]).sum() for k in range(d))
        assert_allclose(found.flux.influx[j] * (~gaps).sum(), seen_beside, atol=1e-9)
        missed_beside = sum((~gaps[:, j] & gaps[:, k]).sum() for k in range(d))
        if gaps.any():
            assert_allclose(found.flux.outflux[j] * gaps.sum(), missed_beside, atol=1e-9)


def test_flux_of_complete_and_empty_columns():
    X = np.array([[1.0, np.nan, 2.0], [3.0, np.nan, np.nan]])
    found = missingness.flux(X)
    assert_allclose(found.influx[[0, 1]], [0.0, 1.0])
    assert_allclose(found.outflux[[0, 1]], [1.0, 0.0])


def test_text_and_categories_have_gaps_too():
    frame = pd.DataFrame({"a": ["x", None, "y"], "b": pd.Categorical(["u", "v", None]), "c": [1, 2, 3]})
    found = missingness.patterns(frame)
    assert found.names == ("a", "b", "c")
    assert_array_equal(found.gaps, [[False, False, False], [False, True, False], [True, False, False]])


def test_an_empty_table_is_refused():
    with pytest.raises(ValueError, match="no cells"):
        missingness.summary(np.empty((0, 3)))
