"""Labels that are unobserved or known in part, from everything a caller may hand in."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from gapkernel.papers.missing_variables import CCCPClassifier
from gapkernel.papers.missing_variables.allowed_labels import read_labels

X = np.zeros((3, 1))
MATRIX = np.array([[True, False, False], [False, True, True], [False, False, True]])


def read(y):
    return read_labels(y, X, "CCCPClassifier")


def test_classes_of_a_frame_are_sorted_with_their_columns():
    labels = read(pd.DataFrame(MATRIX, columns=["c", "a", "b"]))
    assert_array_equal(labels.classes, ["a", "b", "c"])
    assert_array_equal(labels.candidates, MATRIX[:, [1, 2, 0]])


def test_the_order_of_columns_changes_no_prediction():
    random = np.random.default_rng(0)
    rows, truth = random.standard_normal((30, 2)), random.integers(0, 3, 30)
    rows += truth[:, None]
    frame = pd.DataFrame(np.eye(3, dtype=bool)[truth], columns=["a", "b", "c"])
    first, second = (CCCPClassifier(random_state=0).fit(rows, frame[list(order)]) for order in ("abc", "cab"))
    assert_array_equal(second.classes_, ["a", "b", "c"])
    assert_array_equal(second.predict_proba(rows), first.predict_proba(rows))


def test_nullable_booleans_are_booleans():
    frame = pd.DataFrame(MATRIX, columns=["a", "b", "c"]).astype("boolean")
    assert_array_equal(read(frame).candidates, MATRIX)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (pd.DataFrame(MATRIX, columns=["a", "b", "a"]), r"more than one column named 'a'"),
        (MATRIX.astype(int), r"pass a boolean matrix"),
        ([0, None, 1], r"None is not a label; use -1"),
        (np.array(["a", None, "b"], dtype=object), r"None is not a label; use -1"),
        (np.array(["a", "-1", "b"]), r"use an object array with -1"),
    ],
)
def test_what_is_no_label_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        read(y)
