"""The types of a table: 0/1 codes and back, and the levels that some rows alone would have."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from gapkernel.tables import Schema, Table, read_table


@st.composite
def mixed_frames(draw, min_rows=1):
    """Numbers, text, booleans and an ordered category, with gaps."""
    n = draw(st.integers(min_rows, 8))
    levels = ["low", "mid", "high"]

    def column(values):
        return draw(st.lists(st.none() | values, min_size=n, max_size=n))

    return pd.DataFrame(
        {
            "x": pd.array(column(st.floats(-9, 9)), dtype="Float64"),
            "text": pd.array(column(st.sampled_from("abc")), dtype="string"),
            "truth": pd.array(column(st.booleans()), dtype="boolean"),
            "grade": pd.Categorical(column(st.sampled_from(levels)), levels, ordered=True),
        }
    )


def read(frame):
    return read_table(BaseEstimator(), frame, reset=True)


@given(frame=mixed_frames())
def test_codes_and_back(frame):
    table = read(frame)
    codes = table.one_hot()
    hot, columns = table.schema.one_hot, table.schema.code_columns
    assert codes.shape == (len(table), len(columns))
    assert_array_equal(np.isnan(codes), table.missing[:, columns])  # a gap is NaN in all its codes
    for k in np.unique(columns[hot]):
        seen = ~table.missing[:, k]
        assert (codes[np.ix_(seen, columns == k)].sum(axis=1) == 1).all()  # one code is 1, the others are 0
    back = Table.from_one_hot(codes, table.schema)
    assert_array_equal(back.values, table.values)


@given(frame=mixed_frames(min_rows=2), data=st.data())
def test_levels_learned_from_some_rows_are_those_of_reading_these_rows_alone(frame, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(frame) - 1), min_size=1, unique=True).map(sorted)))
    learned = read(frame).as_learned_from(rows)
    alone = read(frame.iloc[rows])
    assert learned.schema.levels == alone.schema.levels
    assert_array_equal(learned[rows].values, alone.values)
    estimator = BaseEstimator()
    schema = read_table(estimator, frame.iloc[rows], reset=True).schema
    assert_array_equal(learned.values, read_table(estimator, frame, reset=False, schema=schema).values)


def test_a_table_whose_levels_all_occur_is_not_copied():
    table = read(pd.DataFrame({"c": list("abab"), "x": [1.0, 2.0, 3.0, 4.0]}))
    assert table.as_learned_from([0, 1]) is table
    assert_array_equal(table.as_learned_from([0, 2]).values[:, 0], [0, np.nan, 0, np.nan])
    assert table.values[:, 0].tolist() == [0, 1, 0, 1]  # the table itself stays as it was


def test_the_most_likely_level_is_that_of_the_largest_code():
    schema = Schema((("a", "b"), None, ("low", "high")), (False, False, True))
    table = Table.from_one_hot(np.array([[0.2, 0.7, 5.0, 0.9], [np.nan, 1.0, 2.0, 7.0]]), schema)
    assert_array_equal(table.values, [[1, 5, 1], [np.nan, 2, 1]])  # a place beyond the last level is the last


def test_a_schema_finds_its_columns():
    schema = Schema((None, ("u",)), (False, False), ("x", "c"))
    assert schema.places(["c", 0], "laws") == [1, 0]
    assert schema.places([False, True], "laws") == schema.places(np.array([1]), "laws") == [1]
    assert schema.places(None, "laws") == schema.places([], "laws") == []
    assert schema.take([1]).names == ("c",)


@pytest.mark.parametrize(("columns", "message"), [
    (["z"], "laws names column 'z', which X does not have"), ([2], "laws names column 2, but X has 2 columns"),
    ([-1], "laws names column -1"), ([True], "laws is a mask of 1 columns, but X has 2"),
    ("x", "laws must hold names, numbers or a mask of columns, got 'x'"), ([0.5], "laws must hold"),
], ids=repr)  # fmt: skip
def test_columns_that_a_schema_does_not_have(columns, message):
    with pytest.raises(ValueError, match=message):
        Schema.of_numbers(2, ("x", "c")).places(columns, "laws")


def test_gaps_are_columns_of_their_own_behind_any_stack_of_values():
    table = Table(np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]]), Schema.of_numbers(2))
    stack = np.arange(18.0).reshape(2, 3, 3)
    assert_array_equal(table.with_indicator(stack[0], True), np.hstack([stack[0], table.missing]))
    assert_array_equal(table.with_indicator(stack, True), [table.with_indicator(one, True) for one in stack])
    assert table.with_indicator(stack, False) is stack
