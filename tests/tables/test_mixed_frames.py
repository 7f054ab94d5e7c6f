"""Machines on tables of numbers and categories with gaps."""

import json
import pickle
from inspect import isclass, signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import gapkernel as gk
from gapkernel.density import Gaussian, JointGaussian, Marginals
from gapkernel.kernels import HeterogeneousKernel, Missingness

MACHINES = {
    "SVC": (gk.SVC(), "decision_function"),
    "SVR": (gk.SVR(), "predict"),
    "OneClassSVM": (gk.OneClassSVM(), "decision_function"),
    "KernelRidge": (gk.KernelRidge(), "predict"),
    "Gram": (gk.Gram(), "transform"),
}
every_machine = pytest.mark.parametrize(("machine", "method"), MACHINES.values(), ids=MACHINES.keys())
every_kernel = pytest.mark.parametrize("kernel", ["ehk", "genrbf", "rbf", "linear"])


def problem(seed=0, n=60, gap_rate=0.2):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "size": random.standard_normal(n), "colour": random.choice(["red", "green", "blue"], n),
        "weight": random.exponential(size=n), "code": random.integers(0, 3, n).astype(str),
    })  # fmt: skip
    y = ((frame["size"] > 0) ^ (frame["colour"] == "red")).to_numpy(dtype=int)
    return frame.mask(random.random(frame.shape) < gap_rate), y


def values(machine, method, kernel, X, y, **settings):
    return getattr(clone(machine).set_params(kernel=kernel, **settings).fit(X, y), method)(X)


@every_kernel
@every_machine
def test_mixed_frames_simply_work(machine, method, kernel):
    X, y = problem()
    machine = clone(machine).set_params(kernel=kernel).fit(X, y)
    out = getattr(machine, method)(X)
    assert np.isfinite(out).all()
    assert np.array_equal(getattr(pickle.loads(pickle.dumps(machine)), method)(X), out)
    assert_allclose(
        np.concatenate([getattr(machine, method)(X[i : i + 7]) for i in range(0, len(X), 7)]), out, rtol=1e-9
    )


def int_codes(frame):
    return frame.assign(colour=frame["colour"].map({"red": 7, "green": 1, "blue": 4}).astype("Int64"))


FORMS = {
    "object": lambda f: f.astype({"colour": object, "code": object}),
    "category": lambda f: f.astype({"colour": "category", "code": "category"}),
    "category in another order": lambda f: f.assign(colour=pd.Categorical(f["colour"], ["red", "green", "blue"])),
    "string": lambda f: f.astype({"colour": "string", "code": "string"}),
    "polars": lambda f: pl.DataFrame({c: [None if pd.isna(v) else v for v in f[c]] for c in f}),
    "NumPy": lambda f: f.astype(object).to_numpy(),
}


@every_kernel
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_the_form_of_a_table_changes_no_prediction(kernel, form):
    X, y = problem()
    expected = values(gk.SVC(), "decision_function", kernel, X, y)
    assert np.array_equal(values(gk.SVC(), "decision_function", kernel, form(X), y), expected)


@every_kernel
def test_labels_and_the_order_of_columns_change_no_prediction(kernel):
    X, y = problem()
    machine = gk.SVC(tol=1e-10, density=JointGaussian(gaussian=Gaussian(tol=1e-12)) if kernel != "ehk" else "auto")
    expected = values(machine, "decision_function", kernel, X, y)
    renamed = X.assign(colour=X["colour"].map({"red": "a", "green": "z", "blue": "m"}))
    for other in (renamed, X[["code", "weight", "colour", "size"]]):
        assert_allclose(values(machine, "decision_function", kernel, other, y), expected, rtol=1e-4, atol=1e-5)
    declared = values(machine, "decision_function", kernel, int_codes(X), y, categorical_features=["colour", "code"])
    assert_allclose(declared, expected, rtol=1e-4, atol=1e-5)


EVERYTHING = {
    name: cls(gk.SVC() if "Classifier" in name else gk.SVR()) if "estimator" in signature(cls).parameters else cls()
    for name, cls in vars(gk).items()
    if isclass(cls) and hasattr(cls, "fit") and name != "TableModel"  # the estimator inside declares them
}


@pytest.mark.parametrize("estimator", EVERYTHING.values(), ids=EVERYTHING.keys())
def test_every_estimator_takes_categories_by_type_or_declared_with_the_same_result(estimator):
    verb = next(
        name for name in ("decision_function", "predict_proba", "predict", "transform") if hasattr(estimator, name)
    )
    few = {"random_state": 0, "members": ["process", "ehk, levels", "trees, small"]}
    few = {name: value for name, value in few.items() if name in estimator.get_params()}
    X, y = problem(n=30)
    coded = X.assign(colour=X["colour"].map({"blue": 0.0, "green": 1.0, "red": 2.0}))
    by_type = getattr(clone(estimator).set_params(**few).fit(X, y), verb)(X)
    declared = clone(estimator).set_params(categorical_features=["colour", "code"], **few).fit(coded, y)
    declared = getattr(declared, verb)(coded)
    if isinstance(declared, pd.DataFrame):
        declared = declared.assign(colour=declared["colour"].map({0.0: "blue", 1.0: "green", 2.0: "red"}))
    assert np.array_equal(declared, by_type)


def test_an_unknown_level_is_a_gap_at_predict():
    X, y = problem()
    for kernel in ("ehk", "genrbf"):
        machine = gk.SVC(kernel=kernel).fit(X, y)
        gap, unknown = X.assign(colour=None), X.assign(colour="violet")
        assert np.array_equal(machine.decision_function(unknown), machine.decision_function(gap))
        assert np.isfinite(machine.decision_function(unknown)).all()


def test_a_column_complete_at_fit_may_have_gaps_later():
    X, y = problem(gap_rate=0.0)
    holes = X.mask(np.random.default_rng(1).random(X.shape) < 0.5)
    for kernel in ("ehk", "genrbf"):
        assert np.isfinite(gk.SVC(kernel=kernel).fit(X, y).decision_function(holes)).all()


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), gap_rate=st.sampled_from([0.1, 0.6, 0.95]), indicator=st.booleans())
def test_grams_of_hard_tables_are_positive_semi_definite(seed, gap_rate, indicator):
    X, _ = problem(seed, 25, gap_rate)
    X = X.assign(single="only", gone=np.nan, never=pd.array([None] * len(X), dtype="string"))
    X.loc[0, ["size", "colour"]] = [1.0, "red"]
    X.loc[1] = None
    for kernel in ("ehk", "genrbf", "rbf"):
        gram = gk.Gram(kernel=kernel, indicator=indicator).fit_transform(X)
        assert np.linalg.eigvalsh(gram)[0] >= -1e-10 * len(X)


def test_a_category_informs_a_missing_number():
    X = pd.DataFrame({"size": [1.0, 1.2, 0.9, 3.0, 3.1, 2.9, None, None], "kind": list("aaabbbab")})
    means = JointGaussian(gaussian=Gaussian()).fit(X).condition(X).means[:, 0]
    assert means[6] < -0.5 < 0.5 < means[7]


def test_observed_categories_are_certain_and_ordered_ones_are_places():
    X = pd.DataFrame(
        {"g": pd.Categorical(["low", "high", "mid"], ["low", "mid", "high"], ordered=True), "c": list("uvv")}
    )
    density = JointGaussian().fit(X)
    rows = density.condition(X)
    assert density.columns_.tolist() == [0, 1, 1]
    assert rows.complete.all()
    assert_allclose(np.sum((rows.means[0, 1:] - rows.means[1, 1:]) ** 2), 2.0)  # two levels: both codes differ by 1


def test_a_gaussian_alone_is_for_numbers():
    X, y = problem()
    with pytest.raises(ValueError, match=r"'colour'.*categories.*JointGaussian"):
        gk.SVC(density=Gaussian()).fit(X, y)


@pytest.mark.parametrize(("kernel", "density"), [("ehk", Gaussian()), ("genrbf", Marginals())], ids=["ehk", "genrbf"])
def test_laws_that_do_not_suit_the_kernel_are_refused(kernel, density):
    with pytest.raises(ValueError, match="density='auto'"):
        gk.SVC(kernel=kernel, density=density).fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])


def test_kernels_of_different_laws_do_not_add():
    with pytest.raises(ValueError, match="cannot be combined"):
        gk.SVC(kernel=HeterogeneousKernel() + gk.kernels.GenRBF()).fit(np.eye(3), [0, 1, 0])


def informative(seed=0, n=80):
    """Only which values are missing tells the classes apart."""
    random = np.random.default_rng(seed)
    X, y = random.standard_normal((n, 3)), np.arange(n) % 2
    X[(y == 1) & (random.random(n) < 0.9), 0] = np.nan
    return X, y


@pytest.mark.parametrize("kernel", ["genrbf", "ehk", "rbf"])
@pytest.mark.parametrize("indicator", [True, Missingness(gamma=2.0), Missingness(gamma=2.0, rule="sum")], ids=repr)
def test_an_indicator_learns_from_what_is_missing(kernel, indicator):
    X, y = informative()
    with_it = cross_val_score(gk.SVC(kernel=kernel, indicator=indicator, C=10), X, y).mean()
    assert with_it > 0.85


def test_an_indicator_multiplies_by_the_rbf_of_indicator_columns():
    X, _ = informative()
    plain = gk.Gram(gamma=0.3).fit_transform(X)
    both = gk.Gram(gamma=0.3, indicator=Missingness(gamma=0.7)).fit_transform(X)
    gaps = np.isnan(X).astype(float)
    assert_allclose(both, plain * np.exp(-0.7 * np.abs(gaps[:, None] - gaps).sum(axis=2)), rtol=1e-12)


def test_without_gaps_an_indicator_changes_nothing():
    X = np.random.default_rng(0).standard_normal((30, 3))
    y = (X[:, 0] > 0).astype(int)
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.5, np.nan, X)
    expected = gk.SVC().fit(X, y).decision_function(holes)
    assert_allclose(gk.SVC(indicator=True).fit(X, y).decision_function(holes), expected, rtol=1e-10)


def test_everything_is_searched_by_name():
    X, y = problem()
    search = GridSearchCV(
        gk.SVC(kernel=HeterogeneousKernel(), indicator=Missingness()),
        {"kernel__alpha": [None, 0.5], "indicator__gamma": [0.1, 1.0], "C": [1.0, 10.0]},
        cv=2,
    ).fit(X, y)
    assert set(search.best_params_) == {"kernel__alpha", "indicator__gamma", "C"}
    GridSearchCV(gk.SVC(kernel="ehk"), {"indicator": [False, True]}, cv=2).fit(X, y)


@pytest.mark.parametrize("indicator", ["yes", None, 1.0, Missingness(gamma=-1.0), Missingness(rule="max")], ids=repr)
def test_an_indicator_that_is_none_is_refused(indicator):
    with pytest.raises(ValueError, match=r"indicator|parameter of Missingness"):
        gk.SVC(indicator=indicator).fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])


@pytest.mark.parametrize("kernel", ["ehk", "linear", HeterogeneousKernel(), lambda X, Y: X @ Y.T])
def test_gamma_for_a_kernel_that_has_none_or_its_own_is_refused(kernel):
    X, y = informative()
    with pytest.raises(ValueError, match=r"gamma=0\.3 has no effect"):
        gk.SVC(kernel=kernel, gamma=0.3).fit(X, y)


def test_the_papers_data_are_learned(data_folder):
    entry = json.loads((data_folder / "index.json").read_text())["horse_colic_24"]
    frame = pd.read_csv(data_folder / entry["file"], dtype=dict.fromkeys(entry["categorical"], str))
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    assert cross_val_score(gk.SVC(kernel=HeterogeneousKernel(0.5), C=1.0), X, y, cv=5).mean() > 0.78
