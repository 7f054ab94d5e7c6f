"""Bad input: one clear complaint that names the culprit, and nothing half fitted."""

from inspect import isabstract, signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

import gapkernel as gk
from gapkernel.kernels import GenRBF

X = np.array([[0.0, 0.1], [0.2, np.nan], [np.nan, 1.9], [2.1, 2.0], [1.0, 0.3], [0.1, 1.1]])
Y = np.array([0, 0, 1, 1, 0, 1])
MACHINES = [gk.SVC(), gk.SVR(), gk.OneClassSVM(), gk.KernelRidge(), gk.Gram()]
every_machine = pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
every_estimator = pytest.mark.parametrize("machine", [*MACHINES, gk.density.Gaussian()], ids=lambda m: type(m).__name__)
supervised = pytest.mark.parametrize("machine", [gk.SVC(), gk.SVR(), gk.KernelRidge()], ids=lambda m: type(m).__name__)

LEARNED = [
    "density_", "kernel_", "rows_", "dual_coef_", "support_",
    "classes_", "intercept_", "offset_", "class_weight_", "mean_",
    "covariance_", "ridge_", "variances_", "objective_", "n_iter_",
]  # fmt: skip


def verb(machine):
    """What a machine does after it is fitted."""
    names = ("predict", "transform", "score_samples")
    return next(getattr(machine, name) for name in names if hasattr(machine, name))


def refused(machine, *names, data=X, y=Y, **arguments):
    """Fitting complains with a ValueError that holds every one of ``names``, and learns nothing."""
    machine = clone(machine)
    with pytest.raises(ValueError) as complaint:  # noqa: PT011 (the text is checked below)
        machine.fit(data, y, **arguments)
    for name in names:
        assert name in str(complaint.value), f"{name!r} is not in the complaint: {complaint.value}"
    kept = [name for name in LEARNED if hasattr(machine, name)]
    assert not kept, f"a failed fit left {kept} behind"
    return machine


@every_estimator
@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_infinity_is_located(machine, infinite):
    data = X.copy()
    data[3, 1] = infinite
    refused(machine, "infinity", "row 3", "column 1", data=data)
    refused(machine, "infinity", "row 3", "'width'", data=pd.DataFrame(data, columns=["length", "width"]))
    fitted = clone(machine).fit(X, Y)
    with pytest.raises(ValueError, match="row 3, column 1"):
        verb(fitted)(data)


@every_estimator
def test_a_column_of_text_is_named(machine):
    if "categorical_features" in machine.get_params():
        machine = clone(machine).set_params(categorical_features=None)  # by default it is a category
    frame = pd.DataFrame({"length": X[:, 0], "colour": ["red", "blue", "red", "red", "red", "blue"]})
    refused(machine, "'colour'", "not numbers", data=frame)
    refused(machine, "Column 1", "not numbers", data=frame.to_numpy(dtype=object))


def made(estimator):
    """An estimator with its defaults, or around one of scikit-learn's."""
    return estimator() if "estimator" not in signature(estimator).parameters else estimator(LinearSVC())


NAMED = {name: getattr(module, name) for module in (gk, gk.density) for name in module.__all__}
ALL = {name: found for name, found in NAMED.items() if hasattr(found, "fit") and not isabstract(found)}
WHEN = pd.date_range("2020-01-01", periods=len(X))
NOT_NUMBERS = {
    "dates": pd.DataFrame({"length": X[:, 0], "when": WHEN}),
    "durations": pd.DataFrame({"length": X[:, 0], "when": WHEN - WHEN[0]}),
    "dates as objects": pd.DataFrame({"length": X[:, 0], "when": pd.Series(WHEN.date, dtype=object)}),
    "polars dates": pl.DataFrame({"length": X[:, 0], "when": WHEN.date.tolist()}),
}


@pytest.mark.parametrize("data", NOT_NUMBERS.values(), ids=NOT_NUMBERS.keys())
@pytest.mark.parametrize("estimator", ALL.values(), ids=ALL.keys())
def test_dates_are_refused_by_every_estimator(estimator, data):
    refused(made(estimator), "'when'", "dates or times, not numbers", data=data)


@pytest.mark.parametrize("estimator", ALL.values(), ids=ALL.keys())
def test_arrays_of_dates_sparse_tables_and_repeated_names_are_refused_by_every_estimator(estimator):
    refused(made(estimator), "Column 0", "dates or times", data=np.array([WHEN, WHEN]).T)
    refused(made(estimator), "more than one column named 'a'", data=pd.DataFrame(X, columns=["a", "a"]))
    with pytest.raises(TypeError, match="Sparse data"):
        made(estimator).fit(csr_array(np.nan_to_num(X)), Y)


@every_estimator
@pytest.mark.parametrize(("data", "complaint"), [
    (X[:, 0], "2D array"), (np.empty((0, 2)), "0 sample"), (np.empty((6, 0)), "0 feature"), (X[None], "dim 3"),
    (X + 1j, "Complex"),
], ids=["one dimension", "no rows", "no columns", "three dimensions", "complex"])  # fmt: skip
def test_tables_of_the_wrong_shape_are_refused(machine, data, complaint):
    refused(machine, complaint, data=data)


@every_estimator
def test_the_width_at_predict_must_be_that_of_the_fit(machine):
    fitted = clone(machine).fit(X, Y)
    with pytest.raises(ValueError, match=r"3 features.*2 features"):
        verb(fitted)(np.column_stack([X, X[:, 0]]))


@every_estimator
def test_the_names_at_predict_must_be_those_of_the_fit(machine):
    fitted = clone(machine).fit(pd.DataFrame(X, columns=["length", "width"]), Y)
    with pytest.raises(ValueError, match="weight"):
        verb(fitted)(pd.DataFrame(X, columns=["length", "weight"]))


@every_estimator
def test_a_machine_must_be_fitted_first(machine):
    with pytest.raises(NotFittedError):
        verb(clone(machine))(X)


@every_estimator
def test_a_table_of_gaps_alone_is_refused(machine):
    refused(machine, "no observed value", data=np.full((6, 2), np.nan))


@supervised
def test_a_target_is_required(machine):
    refused(machine, "y", "None", y=None)


@supervised
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_target_must_be_finite(machine, bad):
    refused(machine, "y", "NaN" if np.isnan(bad) else "infinity", y=np.where(np.arange(6) == 2, bad, Y.astype(float)))


@supervised
def test_a_target_must_be_as_long_as_the_table(machine):
    refused(machine, "inconsistent numbers of samples", y=Y[:5])


def test_one_class_is_no_classification():
    refused(gk.SVC(), "one class", "7", y=np.full(6, 7))


def test_real_numbers_are_no_classes():
    refused(gk.SVC(), "Unknown label type", y=np.linspace(0, 1, 6))


POSITIVE = [(gk.SVC(), "C"), (gk.SVR(), "C")]


@pytest.mark.parametrize(("machine", "name"), POSITIVE, ids=lambda v: v if isinstance(v, str) else type(v).__name__)
@pytest.mark.parametrize("value", [-1.0, 0.0, "one", None, np.nan])
def test_the_penalty_must_be_positive(machine, name, value):
    refused(clone(machine).set_params(**{name: value}), f"'{name}'")


@pytest.mark.parametrize("machine", [
    gk.SVR(epsilon=-0.1), gk.OneClassSVM(nu=0.0), gk.OneClassSVM(nu=1.5), gk.KernelRidge(alpha=-1.0), gk.SVC(tol=-1.0),
    gk.SVC(class_weight="heavy"), gk.SVC(class_weight={7: 1.0}), gk.SVC(decision_function_shape="all"),
    gk.SVC(decision_function_shape="ovo", break_ties=True), gk.SVC(max_iter=-5), gk.SVC(cache_size=-1.0),
], ids=repr)  # fmt: skip
def test_other_settings_out_of_range_are_refused_by_name(machine):
    changed = {k for k, v in machine.get_params().items() if v != type(machine)().get_params()[k]}
    refused(machine, sorted(changed)[0])


@every_machine
@pytest.mark.parametrize("gamma", [-1.0, 0.0, np.nan, np.inf, "wide", None])
def test_gamma_must_be_a_positive_number_or_a_known_word(machine, gamma):
    refused(clone(machine).set_params(gamma=gamma, kernel="rbf"), "gamma")
    refused(clone(machine).set_params(gamma=gamma, kernel="genrbf"), "gamma")


@every_machine
@pytest.mark.parametrize("kernel", ["sigmoid", None, 3, GenRBF])
def test_an_unknown_kernel_is_refused(machine, kernel):
    refused(clone(machine).set_params(kernel=kernel), "kernel", "genrbf")


@every_machine
def test_a_kernel_object_has_its_own_gamma(machine):
    refused(clone(machine).set_params(kernel=GenRBF(), gamma=0.5), "gamma", "kernel__gamma")


@every_machine
@pytest.mark.parametrize("density", ["normal", None, 3, gk.density.Gaussian])
def test_an_unknown_density_is_refused(machine, density):
    refused(clone(machine).set_params(density=density), "density")


@every_machine
def test_a_density_of_another_width_is_refused(machine):
    refused(clone(machine).set_params(density=gk.density.Gaussian.from_moments(np.zeros(3), np.eye(3))), "columns")


weighted = pytest.mark.parametrize(
    "machine", [gk.SVC(), gk.SVR(), gk.OneClassSVM(), gk.KernelRidge(), gk.density.Gaussian()],
    ids=lambda m: type(m).__name__,
)  # fmt: skip


@weighted
@pytest.mark.parametrize(("weight", "complaint"), [
    ([1, 1, 1, -1, 1, 1], "egative"), ([1.0] * 5, "sample_weight"), ([1, 1, np.nan, 1, 1, 1], "NaN"),
    ([0.0] * 6, "weight"),
], ids=["negative", "too short", "NaN", "all zero"])  # fmt: skip
def test_weights_that_are_none_are_refused(machine, weight, complaint):
    refused(machine, complaint, sample_weight=weight)


@pytest.mark.parametrize("machine", [gk.SVC(), gk.SVR(), gk.OneClassSVM(), gk.KernelRidge()], ids=repr)
def test_negative_weights_are_refused_with_a_known_density_too(machine):
    known = gk.density.Gaussian.from_moments([0.0, 0.0], np.eye(2))
    refused(clone(machine).set_params(density=known), "egative", sample_weight=[1, 1, 1, -1, 1, 1])


@every_estimator
def test_a_failed_second_fit_leaves_the_first_in_force(machine):
    fitted = clone(machine).fit(X, Y)
    before = verb(fitted)(X)
    data = X.copy()
    data[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fitted.fit(data, Y)
    assert np.array_equal(verb(fitted)(X), before)
