"""The one door: which columns are categories, what is a gap, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from sklearn.base import BaseEstimator

from gapkernel.tables import numbers_of, read_classes, read_splits, read_table, read_target, read_weight

COLOURS = ["red", "blue", None, "red"]
SIZES = [1.0, np.nan, 2.5, 3.0]


def codes(table):
    """The columns of categories, -1 in the gaps."""
    return np.nan_to_num(table.values[:, table.schema.categorical], nan=-1)


def read(X, **options):
    return read_table(BaseEstimator(), X, reset=True, **options)


FORMS = {
    "pandas text": lambda: pd.DataFrame({"size": SIZES, "colour": COLOURS}),
    "pandas object": lambda: pd.DataFrame({"size": SIZES, "colour": np.array(COLOURS, dtype=object)}, dtype=object),
    "pandas string": lambda: pd.DataFrame({"size": SIZES, "colour": pd.array(COLOURS, dtype="string")}),
    "pandas category": lambda: pd.DataFrame({"size": SIZES, "colour": pd.Categorical(COLOURS, ["red", "no", "blue"])}),
    "pandas Float64": lambda: pd.DataFrame({"size": pd.array(SIZES, dtype="Float64"), "colour": COLOURS}),
    "polars text": lambda: pl.DataFrame({"size": [1.0, None, 2.5, 3.0], "colour": COLOURS}),
    "polars category": lambda: pl.DataFrame({"size": SIZES, "colour": pl.Series(COLOURS, dtype=pl.Categorical)}),
    "object array": lambda: np.array(list(zip(SIZES, COLOURS, strict=True)), dtype=object),
    "object array with pd.NA": lambda: np.array([[1.0, "red"], [pd.NA, "blue"], [2.5, pd.NA], [3.0, "red"]], object),
    "list": lambda: [list(row) for row in zip(SIZES, COLOURS, strict=True)],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_every_form_gives_the_same_table(form):
    table = read(form())
    assert np.array_equal(table.values, [[1, 1], [np.nan, 0], [2.5, np.nan], [3, 1]], equal_nan=True)
    assert table.schema.levels == (None, ("blue", "red"))
    assert table.schema.categorical.tolist() == [False, True]


@pytest.mark.parametrize("values", [
    [True, False, None, True], pd.array([True, False, None, True], dtype="boolean"),
    np.array([True, False, None, True], object),
], ids=["bool with None", "boolean", "object"])  # fmt: skip
def test_truth_values_are_categories(values):
    table = read(pd.DataFrame({"a": values}))
    assert np.array_equal(table.values[:, 0], [1, 0, np.nan, 1], equal_nan=True)
    assert table.schema.levels == ((False, True),)


def test_numeric_strings_are_categories_as_their_type_says():
    table = read(pd.DataFrame({"code": ["1", "2", "10"], "x": [1.0, 2.0, 3.0]}))
    assert table.schema.levels == (("1", "10", "2"), None)


def test_ordered_types_keep_their_order():
    sizes = ["small", "large", None]
    pandas = pd.DataFrame({"s": pd.Categorical(sizes, ["small", "medium", "large"], ordered=True)})
    polars = pl.DataFrame({"s": pl.Series(sizes, dtype=pl.Enum(["small", "medium", "large"]))})
    for frame in (pandas, polars):
        table = read(frame)
        assert table.schema.ordered == (True,)
        assert codes(table).ravel().tolist() == [0, 2, -1]


@pytest.mark.parametrize("declared", [["a"], [0], [True, False], np.array([0]), np.array(["a"])], ids=repr)
def test_categories_are_declared_by_name_number_or_mask(declared):
    table = read(pd.DataFrame({"a": [3, 7, 3], "b": [1.0, 2.0, 3.0]}), categorical_features=declared)
    assert table.schema.levels == ((3, 7), None)
    assert codes(table).ravel().tolist() == [0, 1, 0]


def test_numbers_in_an_array_are_declared_too():
    table = read(np.array([[3.0, 1.0], [np.nan, 2.0], [7.0, 3.0]]), categorical_features=[0])
    assert codes(table).ravel().tolist() == [0, -1, 1]


def test_plain_numbers_stay_numbers():
    for X in (np.ones((3, 2)), np.ones((3, 2), bool), pd.DataFrame({"a": [1, 2]}), [[1, 2.0], [None, 4]]):
        assert not read(X).schema.categorical.any()


@pytest.mark.parametrize(("declared", "complaint"), [
    (["z"], "'z'"), ([5], "column 5"), ([-1], "column -1"), ([True], "mask of 1"), ("colour", "categorical_features"),
    ([[0]], "categorical_features"), ([0.5], "categorical_features"),
], ids=repr)  # fmt: skip
def test_a_declaration_that_fits_no_column_is_refused(declared, complaint):
    with pytest.raises(ValueError, match=complaint):
        read(pd.DataFrame({"a": [3, 7], "b": [1.0, 2.0]}), categorical_features=declared)


BAD = {
    "dates": (pd.DataFrame({"when": pd.date_range("2020-01-01", periods=2)}), "'when'.*dates"),
    "durations": (pd.DataFrame({"wait": pd.to_timedelta([1, 2])}), "'wait'.*dates"),
    "polars dates": (pl.DataFrame({"when": [pd.Timestamp("2020-01-01").to_pydatetime()]}), "'when'.*dates"),
    "array of dates": (np.array([["2020-01-01"]], dtype="M8[D]"), "Column 0.*dates"),
    "numbers and text": (pd.DataFrame({"mess": np.array([1, "a"], object)}), "'mess'.*mixes types.*int, str"),
    "truth and text": (np.array([[True], ["a"]], object), "Column 0.*mixes"),
    "numbers and text in a list": ([[1, "a"], ["b", "c"]], "Column 0.*mixes"),
    "repeated names": (pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), "more than one column named 'a'"),
    "infinity": (pd.DataFrame({"c": ["u", "v"], "x": [1.0, np.inf]}), "infinity: row 1, column 'x'"),
}


@pytest.mark.parametrize(("X", "complaint"), BAD.values(), ids=BAD.keys())
def test_bad_columns_are_named(X, complaint):
    with pytest.raises(ValueError, match=complaint):
        read(X)


def test_mixed_types_in_a_declared_column_are_named():
    with pytest.raises(ValueError, match=r"'a'.*mixes types"):
        read(pd.DataFrame({"a": np.array([1, "x"], object)}), categorical_features=["a"])


def test_text_beside_declared_categories_is_named():
    with pytest.raises(ValueError, match=r"'b'.*not numbers"):
        read(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), categorical_features=["a"])


def test_an_unknown_level_is_a_gap():
    estimator = BaseEstimator()
    schema = read_table(estimator, pd.DataFrame({"c": ["u", "v"], "x": [1.0, 2.0]}), reset=True).schema
    new = read_table(estimator, pd.DataFrame({"c": ["w", "v"], "x": [1.0, 2.0]}), reset=False, schema=schema)
    assert codes(new).ravel().tolist() == [-1, 1]


def test_names_and_width_are_checked_at_predict():
    estimator, frame = BaseEstimator(), pd.DataFrame({"c": ["u", "v"], "x": [1.0, 2.0]})
    schema = read_table(estimator, frame, reset=True).schema
    with pytest.raises(ValueError, match="same order"):
        read_table(estimator, frame[["x", "c"]], reset=False, schema=schema)
    with pytest.raises(ValueError, match="feature names"):
        read_table(estimator, frame[["c"]], reset=False, schema=schema)


@st.composite
def columns(draw):
    """Columns of numbers, text (some of which spells numbers) or booleans, with gaps; some are all gaps."""
    n = draw(st.integers(1, 6))
    numbers = st.integers(-3, 3).map(float) | st.floats(-9, 9)
    kinds = [numbers, st.sampled_from(["a", "b", "1", "2.0", "10", ""]), st.booleans(), st.nothing()]
    column = st.sampled_from(kinds).flatmap(lambda cells: st.lists(st.none() | cells, min_size=n, max_size=n))
    return draw(st.lists(column, min_size=1, max_size=5))


def objects(columns, gap=None):
    cells = [[gap if cell is None else cell for cell in column] for column in columns]
    return np.array(cells, dtype=object).T


def frame(columns):
    return pd.DataFrame({f"c{k}": pd.Series(column) for k, column in enumerate(columns)})


SAME_TABLE = {
    "list": lambda columns: objects(columns).tolist(),
    "objects with None": objects,
    "objects with NaN": lambda columns: objects(columns, np.nan),
    "objects with pd.NA": lambda columns: objects(columns, pd.NA),
    "masked objects": lambda columns: np.ma.masked_array(objects(columns, 0), np.equal(objects(columns), None)),
    "pandas": frame,
    "pandas objects": lambda columns: pd.DataFrame(objects(columns), dtype=object),
    "pandas nullable": lambda columns: frame(columns).convert_dtypes(),
    "pandas arrow": lambda columns: frame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categories": lambda columns: frame(columns).astype(
        {f"c{k}": "category" for k, column in enumerate(columns) if any(isinstance(cell, str) for cell in column)}
    ),
    "polars": lambda columns: pl.DataFrame({f"c{k}": column for k, column in enumerate(columns)}),
    "pyarrow": lambda columns: pa.table({f"c{k}": column for k, column in enumerate(columns)}),
}  # fmt: skip


@pytest.mark.parametrize("form", SAME_TABLE.values(), ids=SAME_TABLE.keys())
@given(columns=columns())
def test_a_table_is_the_same_in_every_form(form, columns):
    estimator = BaseEstimator()
    table = read_table(estimator, form(columns), reset=True)
    empty = np.array([all(cell is None for cell in column) for column in columns])
    for k, column in enumerate(columns):
        if empty[k]:  # its type may call it text or numbers
            assert np.isnan(table.values[:, k]).all()
            continue
        seen = {cell for cell in column if cell is not None}
        is_category = any(isinstance(cell, str | bool) for cell in seen)
        levels = tuple(sorted(seen)) if is_category else None
        assert table.schema.levels[k] == levels
        expected = [np.nan if c is None else levels.index(c) if is_category else c for c in column]
        assert np.array_equal(table.values[:, k], expected, equal_nan=True)
    again = read_table(estimator, form(columns), reset=False, schema=table.schema)
    assert np.array_equal(again.values, table.values, equal_nan=True)
    other = read_table(BaseEstimator(), form([column[::-1] for column in columns]), reset=True)
    assert np.array_equal(other.values[::-1], table.values, equal_nan=True)


@pytest.mark.parametrize("form", SAME_TABLE.values(), ids=SAME_TABLE.keys())
def test_unknown_levels_are_gaps_in_every_form(form):
    fitted, new = [["a", "b", None], [True, True, True]], [["z", "b", "a"], [False, None, True]]
    estimator = BaseEstimator()
    schema = read_table(estimator, form(fitted), reset=True).schema
    table = read_table(estimator, form(new), reset=False, schema=schema)
    assert codes(table).tolist() == [[-1, -1], [1, -1], [0, 0]]


NUMBERS = np.array([[1.0, np.nan], [-2.0, 3.0], [np.nan, np.nan]])
NUMBER_FORMS = {
    "Fortran": np.asfortranarray(NUMBERS), "float32": NUMBERS.astype(np.float32), "text": NUMBERS.astype(str),
    "masked": np.ma.masked_invalid(NUMBERS), "masked whole numbers": np.ma.masked_array(
        np.nan_to_num(NUMBERS).astype(int), np.isnan(NUMBERS)), "tuple": tuple(map(tuple, NUMBERS)),
    "memory view": memoryview(NUMBERS),
}  # fmt: skip


@pytest.mark.parametrize("X", NUMBER_FORMS.values(), ids=NUMBER_FORMS.keys())
def test_numbers_are_the_same_in_every_form(X):
    assert np.array_equal(read(X, categorical_features=None).values, NUMBERS, equal_nan=True)


def test_classes_are_coded_in_their_order():
    classes, codes = read_classes(np.array(["b", "a", "b"]))
    assert (classes.tolist(), codes.tolist()) == (["a", "b"], [1, 0, 1])


@pytest.mark.parametrize(("y", "among", "words"), [
    ([7, 7], "", "one class only, 7"), ([], "", "no class"),
    (["a"], " among the rows with a value", "one class only among the rows with a value, 'a'"),
])  # fmt: skip
def test_one_class_is_refused_in_one_wording(y, among, words):
    with pytest.raises(ValueError, match=f"{words}. A classifier needs at least two classes"):
        read_classes(np.array(y), among=among)


@pytest.mark.parametrize("y", [
    ["a", None, "b"], [None, "a", "b"], np.array(["a", np.nan, "b"], dtype=object), [0.0, 1.0, np.nan],
    [[0.0, 1.0], [0.0, np.nan], [1.0, 1.0]], pd.Series(["a", pd.NA, "b"], dtype="string"),
    np.ma.masked_array([0.0, 999.0, 1.0], mask=[False, True, False]),
    pd.Series(["a", None, "b"], dtype="category"), pd.Series([1, pd.NA, 2], dtype="Int64"), pl.Series(["a", None, "b"]),
], ids=str)  # fmt: skip
def test_a_gap_in_the_target_is_named_by_its_row(y):
    cells = y.filled(np.nan) if isinstance(y, np.ma.MaskedArray) else np.asarray(y, dtype=object)
    row = int(np.argmax(pd.isna(cells).reshape(3, -1).any(axis=1)))
    with pytest.raises(ValueError, match=f"row {row} has no target. Leave such rows out"):
        read_target(y, multi_output=True)
    with pytest.raises(ValueError, match=f"row {row} of a batch has no target"):
        read_target(y, multi_output=True, of=" of a batch")


def test_weights():
    table = read(NUMBERS)
    assert read_weight(None, table) is None
    assert read_weight([1, 2, 0], table).tolist() == [1.0, 2.0, 0.0]
    for bad, words in (([1, -1, 1], "egative"), ([1, np.inf, 1], "infinity"), ([1, 1], "sample_weight")):
        with pytest.raises(ValueError, match=words):
            read_weight(bad, table)


def test_splits_are_places_or_masks_of_rows():
    mask = np.array([True, False, True])
    for train, test in ((mask, ~mask), ([0, 2], [1]), ([-3, -1], [1]), (np.array([0, 2]), np.array([1]))):
        ((found, held_out),) = read_splits([(train, test)], 3)
        assert (found.tolist(), held_out.tolist()) == ([0, 2], [1])
    assert read_splits([([0], [])], 3)[0][1].tolist() == []
    for bad in ([3], [0.5], mask[:2], [[0, 1]], ["a"]):
        with pytest.raises(ValueError, match="cv must give places of rows from 0 to 2, or masks"):
            read_splits([([0, 1], bad)], 3)
    with pytest.raises(ValueError, match="cv gives no splits"):
        read_splits([], 3)


def test_an_estimator_for_numbers_takes_truth_values_as_numbers_and_refuses_categories():
    table = read(pd.DataFrame({"x": [1.5, np.nan], "b": [True, True]}))
    assert numbers_of(table, BaseEstimator()).tolist() == [[1.5, 1.0], [pytest.approx(np.nan, nan_ok=True), 1.0]]
    assert table.values[:, 1].tolist() == [0.0, 0.0]  # the code of the only level
    with pytest.raises(ValueError, match="Column 'c' of X holds categories, not numbers, but BaseEstimator"):
        numbers_of(read(pd.DataFrame({"c": ["u", "v"]})), BaseEstimator())
