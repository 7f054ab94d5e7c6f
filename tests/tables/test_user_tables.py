"""Verbs on tables in the form in which they came: lists, arrays and frames keep their form."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor

from gapkernel.tables import (
    Table,
    fill_gaps,
    floats_of,
    gaps_of,
    labels_of,
    missing_in,
    named_like_fit,
    names_of,
    one_row,
    read_table,
    schema_of,
    take_columns,
    take_rows,
    with_gaps,
)
from gapkernel.tables.user_tables import join_rows

DATES = pd.date_range("2020-01-01", periods=3)
FRAME = pd.DataFrame(
    {"x": [1.0, np.nan, 3.0], "n": [1, 2, 3], "c": pd.Categorical(["u", None, "v"]), "t": ["a", "b", None]},
    index=[5, 7, 9],
)
GAPS = [[False, False, False, False], [True, False, True, False], [False, False, False, True]]
FORMS = {
    "pandas": FRAME,
    "pandas nullable": FRAME.convert_dtypes(),
    "polars": pl.DataFrame(
        {name: FRAME[name].astype(object).where(FRAME[name].notna(), None).tolist() for name in FRAME}
    ),
    "objects": FRAME.astype(object).to_numpy(),
    "list": FRAME.astype(object).to_numpy().tolist(),
}
every_form = pytest.mark.parametrize("X", FORMS.values(), ids=FORMS.keys())


@every_form
def test_gaps_and_what_columns_hold(X):
    assert_array_equal(gaps_of(X), GAPS)
    schema = schema_of(X)
    assert schema.levels == (None, None, ("u", "v"), ("a", "b"))
    framed = hasattr(X, "columns")
    assert (names_of(X), labels_of(X)) == ((tuple("xnct"),) * 2 if framed else (None, tuple("0123")))


@every_form
def test_rows_and_columns_keep_their_form(X):
    rows = take_rows(X, np.array([2, 0]))
    assert_array_equal(gaps_of(rows), np.array(GAPS)[[2, 0]])
    assert_array_equal(gaps_of(take_rows(X, slice(1, 3))), GAPS[1:])
    assert_array_equal(gaps_of(take_columns(X, [2, 0])), np.array(GAPS)[:, [2, 0]])
    again = join_rows([take_rows(X, slice(0, 1)), take_rows(X, slice(1, 3))])
    assert_array_equal(gaps_of(again), GAPS)
    if hasattr(X, "columns"):
        assert type(rows) is type(again) is type(X)
        assert schema_of(again).levels == schema_of(X).levels


@every_form
def test_holes_become_gaps_and_the_table_itself_stays_whole(X):
    holes = np.array([[True, True, True, True], [False] * 4, [False] * 4])
    out = with_gaps(X, holes)
    assert_array_equal(gaps_of(out), holes | GAPS)
    assert_array_equal(gaps_of(X), GAPS)
    assert type(out) is (np.ndarray if isinstance(X, list) else type(X))
    if isinstance(X, pd.DataFrame):
        assert out.index.tolist() == X.index.tolist()
        assert out["c"].dtype == X["c"].dtype


def test_dates_have_gaps_too():
    frame = pd.DataFrame({"when": DATES})
    assert_array_equal(gaps_of(with_gaps(frame, np.array([[True], [False], [True]]))).ravel(), [True, False, True])


@every_form
def test_filled_gaps_read_as_what_they_were_filled_with(X):
    estimator = BaseEstimator()
    table = read_table(estimator, X, reset=True)
    filled = fill_gaps(X, table, np.where(table.missing, 1.0, table.values))
    assert type(filled) is (np.ndarray if isinstance(X, list) else type(X))
    again = read_table(estimator, filled, reset=False, schema=table.schema)
    assert_array_equal(again.values, np.where(table.missing, 1.0, table.values))
    assert_array_equal(gaps_of(X), GAPS)
    if isinstance(X, pd.DataFrame):
        assert filled["n"].dtype == X["n"].dtype  # it had no gap
        assert filled["c"].dtype == "category"
        assert filled.index.tolist() == X.index.tolist()
    assert isinstance(fill_gaps(table, table, table.values), Table)


def test_a_category_that_was_never_observed_cannot_be_filled():
    frame = pd.DataFrame({"c": pd.array([None, None], dtype="string"), "x": [1.0, np.nan]})
    table = read_table(BaseEstimator(), frame, reset=True)
    filled = fill_gaps(frame, table, np.where(table.missing, 0.0, table.values))
    assert filled["c"].isna().all()
    assert filled["x"].tolist() == [1.0, 0.0]


def test_truth_values_with_gaps_are_not_filled_by_accident():
    frame = pd.DataFrame({"b": pd.array([True, None, False], dtype="boolean")})
    table = read_table(BaseEstimator(), frame, reset=True)
    assert fill_gaps(frame, table, np.array([[1.0], [1.0], [0.0]]))["b"].tolist() == [True, True, False]


@pytest.mark.parametrize(("y", "expected"), [
    ([1.0, np.nan], [False, True]), ([None, "a"], [True, False]), (pd.Series([1, None], dtype="Int64"), [False, True]),
    (pl.Series([None, 2]), [True, False]), (np.array([True, False]), [False, False]), ([[1], [None]], [False, True]),
], ids=repr)  # fmt: skip
def test_targets_that_are_missing(y, expected):
    assert missing_in(y).tolist() == expected


def test_numbers_without_an_estimator():
    assert_array_equal(floats_of(FRAME[["x", "n"]]), [[1, 1], [np.nan, 2], [3, 3]])
    with pytest.raises(ValueError, match="Column 'c' of X holds values that are not numbers"):
        floats_of(FRAME)
    with pytest.raises(ValueError, match="'when' of X holds dates"):
        floats_of(pd.DataFrame({"when": DATES}))


def test_one_row_is_a_table():
    row = FRAME.iloc[0]
    with_names, without = DummyRegressor().fit(FRAME, [1, 2, 3]), DummyRegressor().fit(GAPS, [1, 2, 3])
    assert one_row(row, with_names).columns.tolist() == list("xnct")
    assert one_row(row, without).shape == one_row([1, 2, 3, 4], with_names).shape == (1, 4)
    whole = FRAME[:1]
    assert one_row(whole, with_names) is whole


def test_numbers_take_the_names_of_the_fit():
    with_names, without = DummyRegressor().fit(FRAME, [1, 2, 3]), DummyRegressor().fit(GAPS, [1, 2, 3])
    numbers = np.eye(4)
    assert named_like_fit(numbers, without) is numbers
    assert_array_equal(named_like_fit(numbers, with_names), numbers)
    assert names_of(named_like_fit(numbers, with_names)) == tuple("xnct")
