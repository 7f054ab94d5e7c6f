"""The one door for data: whatever the user passes becomes a table of numbers and category codes with gaps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_n_features,
    _check_sample_weight,
    _check_y,
    check_array,
    check_consistent_length,
    validate_data,
)

from gapkernel.tables.table import Schema, Table
from gapkernel.tables.user_columns import Columns
from gapkernel.tables.user_tables import missing_in

LARGEST_WEIGHT = LARGEST_TARGET = 1e100


def read_table(estimator, X, *, reset: bool, categorical_features="from_dtype", schema: Schema | None = None) -> Table:
    """Check ``X`` for ``estimator`` and return it as a `Table`.

    NaN, None, pd.NA, NaT and masked values are gaps. Infinity, mixed types, dates and times are errors that name the
    column. At fit (``reset=True``) the kinds of the columns and the levels of the categories are found; afterwards they
    are those of ``schema``, and a level that is not among them is a gap.

    Parameters
    ----------
    estimator : estimator
        Keeps and checks ``n_features_in_`` and ``feature_names_in_``.
    X : array-like, frame or Table
        A `Table` was checked when it was read, and is returned as it is.
    reset : bool
        True at fit.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        At fit, the columns that hold categories: those whose type says so; none, and text is an error; or the names,
        numbers or a mask of columns.
    schema : Schema, default=None
        After fit, what the columns held at fit; None is numbers.

    Returns
    -------
    table : Table
    """
    if isinstance(X, Table):
        _check_n_features(estimator, X.values, reset=reset)
        return X
    columns = Columns(X)
    if reset:
        schema = columns.schema(categorical_features)
    else:
        validate_data(estimator, X, reset=False, skip_check_array=True)  # the names and the number of the columns
        schema = schema or columns.all_numbers
    values = check_array(columns.values(schema), dtype=np.float64, ensure_all_finite=False, estimator=estimator)
    if reset:
        validate_data(estimator, X, reset=True, skip_check_array=True)
    return Table(values, schema)


def read_labelled(estimator, X, y, *, categorical_features="from_dtype", **y_options) -> tuple[Table, np.ndarray]:
    """`read_table` for `fit`, with the target checked too (``y_options`` go to scikit-learn's check of it)."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    table = read_table(estimator, X, reset=True, categorical_features=categorical_features)
    y = read_target(y, estimator=estimator, **y_options)
    check_consistent_length(table, y)
    return table, y


def read_target(y, *, y_numeric: bool = False, of: str = "", **options) -> np.ndarray:
    """The target, checked by scikit-learn (``options`` are its); numbers must be such that they can be squared.

    ``of`` ends "row 3" where ``y`` is not the whole target, such as " of a batch".
    """
    without = np.flatnonzero(missing_in(y))  # before the check, which compares labels and would stumble over None
    if len(without):
        row = without[0] // (np.asarray(y).size // len(y))  # of a target of several columns
        raise ValueError(f"Input y contains NaN: row {row}{of} has no target. Leave such rows out.")
    y = _check_y(y, y_numeric=y_numeric, **options)
    if y_numeric:
        if y.dtype.kind not in "biuf":
            raise ValueError(f"y holds {y.dtype}, but numbers are needed. For classes use a classifier.")
        largest = np.abs(y.astype(np.float64)).max(initial=0.0)
        if largest > LARGEST_TARGET:
            raise ValueError(f"y holds {largest:.2g}, too extreme to square: rescale it.")
    return y


def read_classes(y, *, among: str = "") -> tuple[np.ndarray, np.ndarray]:
    """The classes in ``y``, sorted, and the place of each label among them.

    ``among`` ends the words "y holds one class only" where ``y`` is not the whole target, such as " among the rows with
    a value".
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        held = f"one class only{among}, {classes.tolist()[0]!r}" if len(classes) else f"no class{among}"
        raise ValueError(f"y holds {held}. A classifier needs at least two classes.")
    return classes, codes


def read_weight(sample_weight, table) -> np.ndarray | None:
    """A finite weight of at least 0 for each row of ``table``; None stays None and means equal weights."""
    if sample_weight is None:
        return None
    try:
        weight = _check_sample_weight(sample_weight, table, dtype=np.float64)
    except OverflowError as error:
        raise ValueError(
            "sample_weight holds an integer that is too large: divide the weights by their mean."
        ) from error
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: {weight[row]:g} for row {row}. A weight is how much a "
            f"row counts; 0 leaves it out."
        )
    total = weight.sum()
    if total > LARGEST_WEIGHT or 0 < total < 1 / LARGEST_WEIGHT:
        raise ValueError(f"sample_weight sums to {total:.2g}, too extreme to square: divide the weights by their mean.")
    return weight


def read_weights(sample_weight, table) -> np.ndarray:
    """As `read_weight`, with ones for None."""
    weight = read_weight(sample_weight, table)
    return np.ones(len(table)) if weight is None else weight


def read_splits(splits: Iterable, n_rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The places of the training and test rows of each split, which may be lists or masks of a table of ``n_rows``."""
    places = np.arange(n_rows)
    try:
        found = [(places[_index(train)], places[_index(test)]) for train, test in splits]
    except IndexError as error:
        raise ValueError(f"cv must give places of rows from 0 to {n_rows - 1}, or masks: {error}.") from error
    if not found:
        raise ValueError("cv gives no splits.")
    return found


def _index(rows) -> np.ndarray:
    rows = np.asarray(rows)
    if rows.ndim != 1:
        raise IndexError(f"got an array of {rows.ndim} dimensions")
    return rows if rows.size else np.empty(0, np.int64)


def numbers_of(table: Table, estimator) -> np.ndarray:
    """The cells of a table without categories; booleans are the numbers 0 and 1."""
    for k in np.flatnonzero(table.schema.categorical).tolist():
        levels = table.schema.levels[k]
        if not levels or not all(isinstance(level, bool | np.bool_) for level in levels):
            raise ValueError(
                f"Column {table.schema.label(k)} of X holds categories, not numbers, but {type(estimator).__name__} is "
                f"for numbers only. Use density='auto' or gapkernel.density.JointGaussian(), or leave the column out."
            )
    return table.as_numbers()
