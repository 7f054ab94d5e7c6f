"""Dates, times and numbers too large are refused by the one door, whatever form they come in."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

import gapkernel as gk
from gapkernel.papers.expected_kernel import RobustSVC
from gapkernel.papers.genrbf import GeometricMarginSVC
from gapkernel.papers.missing_variables import CCCPClassifier
from gapkernel.tables import Schema, read_table

NUMBERS = [1.0, 2.0, 3.0]
TIMES = {
    "date": [dt.date(2020, 1, 1), None, dt.date(2020, 1, 4)],
    "datetime": [dt.datetime(2020, 1, 1), None, dt.datetime(2020, 1, 4)],
    "timedelta": [dt.timedelta(1), None, dt.timedelta(3)],
    "time": [dt.time(1), None, dt.time(3)],
    "datetime64": [np.datetime64("2020-01-01"), None, np.datetime64("2020-01-04")],
    "timedelta64": [np.timedelta64(1, "D"), None, np.timedelta64(2, "D")],
    "period": [pd.Period("2020-01"), None, pd.Period("2020-03")],
}
FORMS = {
    "list": lambda values: [list(row) for row in zip(NUMBERS, values, strict=True)],
    "objects": lambda values: np.array([*zip(NUMBERS, values, strict=True)], dtype=object),
    "pandas": lambda values: pd.DataFrame({"n": NUMBERS, "when": values}),
    "pandas objects": lambda values: pd.DataFrame({"n": NUMBERS, "when": pd.Series(values, dtype=object)}),
    "polars": lambda values: pl.DataFrame({"n": NUMBERS, "when": values}),
}
NATIVE = {"date", "datetime", "timedelta", "time"}
TABLES = {f"{form} {kind}": (form, kind) for form in FORMS for kind in TIMES if form != "polars" or kind in NATIVE}


def refused(X, categorical_features="from_dtype"):
    with pytest.raises(ValueError, match=r"Column (1|'when') of X holds dates or times") as fit:
        read_table(BaseEstimator(), X, reset=True, categorical_features=categorical_features)
    known = BaseEstimator()
    read_table(known, np.zeros((3, 2)), reset=True)
    if not hasattr(X, "columns"):
        with pytest.raises(ValueError, match="holds dates or times"):
            read_table(known, X, reset=False, schema=Schema.of_numbers(2))
    return str(fit.value)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("categorical", ["from_dtype", None, [1]])
def test_dates_and_times_are_refused_by_name(table, categorical):
    form, kind = TABLES[table]
    assert "Turn it into numbers" in refused(FORMS[form](TIMES[kind]), categorical)


def test_columns_that_hide_dates_are_refused():
    days = pd.date_range("2020-01-01", periods=3, tz="UTC")
    refused(pd.DataFrame({"n": NUMBERS, "when": days}))
    refused(pd.DataFrame({"n": NUMBERS, "when": pd.Categorical(days)}), None)
    for kind in ("datetime64[D]", "timedelta64[D]"):
        with pytest.raises(ValueError, match="Column 0 of X holds dates or times"):
            read_table(BaseEstimator(), np.zeros((3, 2), kind), reset=True)


@pytest.mark.parametrize("kind", [RobustSVC, GeometricMarginSVC, CCCPClassifier, gk.SVC, gk.FourierClassifier])
def test_estimators_have_no_other_door(kind):
    frame = pl.DataFrame({"n": [1.0, 2, 3, 4], "when": [dt.date(2020, 1, day) for day in range(1, 5)]})
    with pytest.raises(ValueError, match="Column 'when' of X holds dates or times"):
        kind().fit(frame, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="Column 1 of X holds dates or times"):
        kind(categorical_features=None).fit(np.array(frame.rows(), dtype=object), [0, 1, 0, 1])


def test_a_whole_number_beyond_all_floats_is_refused():
    with pytest.raises(ValueError, match="Column 1 of X holds a whole number that is too large"):
        read_table(BaseEstimator(), [[1, 10**400], [2, 3]], reset=True)


def test_sparse_columns_of_a_frame_are_read():
    frame = pd.DataFrame({"a": NUMBERS, "b": pd.arrays.SparseArray([0.0, np.nan, 2.0])})
    np.testing.assert_array_equal(read_table(BaseEstimator(), frame, reset=True).values, [[1, 0], [2, np.nan], [3, 2]])


def test_a_lazy_frame_says_how_to_get_its_rows(tmp_path):
    lazy = pl.LazyFrame({"a": NUMBERS})
    for call in (lambda: gk.SVC().fit(lazy, [0, 1, 0]), lambda: gk.batches(lazy)):
        with pytest.raises(ValueError, match=r"LazyFrame holds no rows yet: call its collect\(\)"):
            call()
    with pytest.raises(ValueError, match=r"There is no file or folder .*nowhere\. Paths start at"):
        gk.batches(tmp_path / "nowhere")
