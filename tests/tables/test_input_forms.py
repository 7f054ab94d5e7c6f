"""Whatever form a table comes in, the answer is the same and the caller's data stay as they were."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import gappy_tables, punch

import gapkernel as gk

MACHINES = {
    "SVC": (gk.SVC(gamma=0.2), "decision_function"),
    "SVR": (gk.SVR(gamma=0.2), "predict"),
    "OneClassSVM": (gk.OneClassSVM(gamma=0.2), "decision_function"),
    "KernelRidge": (gk.KernelRidge(gamma=0.2), "predict"),
    "Gram": (gk.Gram(gamma=0.2), "transform"),
    "Gaussian": (gk.density.Gaussian(), "score_samples"),
}
every_machine = pytest.mark.parametrize(("machine", "method"), MACHINES.values(), ids=MACHINES.keys())


def table():
    random = np.random.default_rng(0)
    X = random.integers(-4, 5, (40, 3)).astype(float)
    y = (X[:, 0] > 0).astype(float)
    return punch(random, X, 0.25), y


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def nullable(X):
    """Integers with pd.NA."""
    return pd.DataFrame(X, columns=["a", "b", "c"]).astype("Int64")


FORMS = {
    "read-only": read_only,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "object with None": lambda X: np.where(np.isnan(X), None, X.astype(object)),
    "object with NaT": lambda X: np.where(np.isnan(X), pd.NaT, X.astype(object)),
    "pandas": lambda X: pd.DataFrame(X, columns=["a", "b", "c"]),
    "pandas Int64": nullable,
    "pandas Float64": lambda X: nullable(X).astype("Float64"),
    "pandas object with pd.NA": lambda X: nullable(X).astype(object),
    "polars": lambda X: pl.DataFrame(X, schema=["a", "b", "c"], nan_to_null=True),
}


@every_machine
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_the_form_of_the_table_does_not_matter(machine, method, form):
    X, y = table()
    expected = getattr(machine.fit(X, y), method)(X)
    given_form = form(X)
    machine.fit(given_form, y)
    assert np.array_equal(getattr(machine, method)(given_form), expected)


@every_machine
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_callers_data_are_never_written_to(machine, method, order):
    X, y = table()
    X[:, 1] = 3.0  # a constant column
    X[::3, 1] = np.nan
    X = np.array(X, order=order)
    before, y_before, weight = X.copy(), y.copy(), np.ones(len(y))
    if method == "transform":
        machine.fit_transform(X, y)
    else:
        machine.fit(X, y, sample_weight=weight)
    getattr(machine, method)(X)
    assert np.array_equal(X, before, equal_nan=True)
    assert np.array_equal(y, y_before)
    assert np.all(weight == 1.0)
    assert X.flags.writeable


@every_machine
def test_read_only_targets_and_weights_are_taken(machine, method):
    X, y = table()
    weight = read_only(np.linspace(0.5, 1.5, len(y)))
    arguments = {} if method == "transform" else {"sample_weight": weight}
    machine.fit(read_only(X), read_only(y), **arguments)
    assert np.isfinite(getattr(machine, method)(read_only(X))).all()


@every_machine
def test_what_a_machine_holds_is_not_the_callers_array(machine, method):
    X, y = table()
    X = np.nan_to_num(X)  # complete rows are the easiest to keep by reference
    machine.fit(X, y)
    expected = getattr(machine, method)(X[:5].copy())
    new = X[:5].copy()
    X[:] = 100.0
    assert_allclose(getattr(machine, method)(new), expected, rtol=1e-13)


@every_machine
def test_names_of_columns_are_kept(machine, method):
    X, y = table()
    machine.fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert machine.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        getattr(machine, method)(pd.DataFrame(X, columns=["a", "b", "z"]))
    with pytest.raises(ValueError, match="same order"):
        getattr(machine, method)(pd.DataFrame(X, columns=["a", "c", "b"]))


@given(X=gappy_tables(min_rows=4))
def test_any_table_trains_every_machine(X):
    y = np.arange(len(X)) % 2
    for machine, method in MACHINES.values():
        values = getattr(machine.fit(X, y), method)(X)
        assert np.isfinite(values).all(), f"{type(machine).__name__} gave a value that is no number"
