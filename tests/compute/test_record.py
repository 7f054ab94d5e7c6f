"""What a frozen dataclass derives from its fields is not stored with them."""

import copy
import pickle
from dataclasses import fields

import numpy as np
import pytest

import gapkernel as gk
from gapkernel.compute.record import Record
from gapkernel.rows import GaussianRows

X = np.random.default_rng(0).normal(size=(12, 3))
X[::3, 0], X[1::3, 1] = np.nan, np.nan
ROWS = gk.density.Gaussian().fit(X).condition(X)
RECORDS = [
    ROWS,
    ROWS.atoms(4),
    gk.density.Marginals().fit(X).condition(X),
    gk.density.Marginals().fit(X).condition(X).features[0].law,
    gk.GaussianProcessRegressor(optimizer=None).fit(X, np.arange(12.0)).process_.posterior,
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record))])
def test_derived_values_are_not_stored_and_are_the_same_again(record, copied):
    assert isinstance(record, Record)
    names = [name for name in ("means", "total_variance", "mean", "variance", "inverse") if hasattr(record, name)]
    derived = [getattr(record, name) for name in names]
    assert len(vars(record)) > len(fields(record))
    restored = copied(record)
    assert set(vars(restored)) == {part.name for part in fields(record)}
    for name, value in zip(names, derived, strict=True):
        np.testing.assert_array_equal(getattr(restored, name), value)


def test_a_copy_of_rows_is_as_immutable_as_they_are():
    with pytest.raises(ValueError, match="read-only"):
        copy.deepcopy(ROWS).means[0, 0] = 1.0


def test_rows_without_a_part_are_refused():
    state = ROWS.__getstate__()
    del state["gaps"]
    with pytest.raises(TypeError, match="gaps"):
        GaussianRows.__new__(GaussianRows).__setstate__(state)
