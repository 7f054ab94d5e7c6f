"""Columns without a value in training, left out of frames and arrays alike."""

import numpy as np
import pandas as pd
import pytest

from gapkernel.imputation.empty_columns import WithoutEmptyColumns

TABLE = np.array([[1.0, np.nan, np.nan], [2.0, np.nan, 3.0]])


@pytest.mark.parametrize("made", [np.asarray, lambda X: pd.DataFrame(X, columns=["a", "b", "c"])])
def test_a_column_is_left_out_if_training_has_no_value_of_it(made):
    filter_ = WithoutEmptyColumns().fit(made(TABLE))
    np.testing.assert_array_equal(filter_.transform(made(TABLE)), TABLE[:, [0, 2]])
    there = np.arange(3.0)[None]
    np.testing.assert_array_equal(filter_.transform(made(there)), [[0.0, 2.0]])  # a value there changes nothing
