"""Truths about every public estimator, over one list: add a new one to `CASES` and it inherits them all."""

import pickle
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import kernel_ridge, svm
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from strategies import punch

import gapkernel as gk
from gapkernel.papers.expected_kernel import RobustSVC
from gapkernel.papers.genrbf import GeometricMarginSVC, Karma
from gapkernel.papers.microbiology import CategoricalNaiveBayes
from gapkernel.papers.missing_variables import CCCPClassifier
from gapkernel.tables.part_by_part import ROW_VERBS

TIGHT = {"tol": 1e-10, "gamma": 0.3}
SMALL_GRID = {"gammas": [0.1, 0.5], "cv": 3}


@dataclass(frozen=True)
class Case:
    """An estimator and what the laws need to know about it.

    ``draws``: random draws that belong to rows or columns by their places, so that their order counts.
    ``row_order``, ``column_order``: whether one of the two does not count all the same.
    ``twin``: scikit-learn's estimator for tables without gaps, if there is one.
    ``intervals``: whether it was fitted with those that it can have; without, it must refuse them clearly.
    """

    estimator: Any
    answer: str
    draws: bool = False
    row_order: bool = True
    column_order: bool = True
    twin: Any = None
    intervals: bool = True


CASES = {
    "SVC": Case(gk.SVC(**TIGHT), "decision_function", twin=svm.SVC(**TIGHT)),
    "SVC, three classes": Case(gk.SVC(kernel="rbf", **TIGHT), "decision_function", twin=svm.SVC(**TIGHT)),
    "SVC, indicator": Case(gk.SVC(indicator=True, **TIGHT), "decision_function", twin=svm.SVC(**TIGHT)),
    "SVC, ehk": Case(gk.SVC(kernel="ehk", tol=1e-10), "decision_function"),
    "SVR": Case(gk.SVR(**TIGHT), "predict", twin=svm.SVR(**TIGHT), intervals=False),
    "SVR, intervals": Case(
        gk.SVR(conformal="count", **TIGHT),
        "predict_interval",
        row_order=False,  # the fifths that are left out are drawn by place
    ),
    "OneClassSVM": Case(gk.OneClassSVM(nu=0.3, **TIGHT), "decision_function", twin=svm.OneClassSVM(nu=0.3, **TIGHT)),
    "KernelRidge": Case(
        gk.KernelRidge(gamma=0.3),
        "predict",
        twin=kernel_ridge.KernelRidge(kernel="rbf", gamma=0.3),
        intervals=False,
    ),
    "KernelRidge, intervals": Case(gk.KernelRidge(gamma=0.3, conformal="count"), "predict_interval"),
    "SVCCV": Case(
        gk.SVCCV(Cs=[1.0, 10.0], tol=1e-10, **SMALL_GRID),
        "decision_function",
        draws=True,  # the splits
        twin=GridSearchCV(svm.SVC(tol=1e-10), {"C": [1.0, 10.0], "gamma": [0.1, 0.5]}, cv=3),
    ),
    "SVRCV": Case(
        gk.SVRCV(Cs=[1.0, 10.0], tol=1e-10, **SMALL_GRID),
        "predict",
        draws=True,
        twin=GridSearchCV(svm.SVR(tol=1e-10), {"C": [1.0, 10.0], "gamma": [0.1, 0.5]}, cv=3),
        intervals=False,
    ),
    "SVRCV, intervals": Case(gk.SVRCV(Cs=[1.0], conformal="count", **SMALL_GRID), "predict_interval", draws=True),
    "KernelRidgeCV": Case(
        gk.KernelRidgeCV(alphas=[0.1, 1.0], **SMALL_GRID),
        "predict",
        draws=True,
        twin=GridSearchCV(kernel_ridge.KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0], "gamma": [0.1, 0.5]}, cv=3),
        intervals=False,
    ),
    "KernelRidgeCV, intervals": Case(
        gk.KernelRidgeCV(alphas=[0.1], conformal="count", **SMALL_GRID), "predict_interval", draws=True
    ),
    "GaussianProcessRegressor": Case(gk.GaussianProcessRegressor(gamma=0.3, optimizer=None), "predict"),
    "GaussianProcessClassifier": Case(gk.GaussianProcessClassifier(gamma=0.3, optimizer=None), "predict_proba"),
    "GaussianProcessClassifier, three classes": Case(
        gk.GaussianProcessClassifier(gamma=0.3, optimizer=None, prior="share", indicator=True), "predict_proba"
    ),
    "GapClassifier": Case(gk.GapClassifier(members=["genrbf", "ehk"], random_state=0), "predict_proba", draws=True),
    "GapRegressor": Case(gk.GapRegressor(members=["genrbf", "rbf"], random_state=0), "predict_interval", draws=True),
    "RobustSVC": Case(RobustSVC(gamma=0.3, tau=0.3), "decision_function"),
    "RobustSVC, indicator": Case(RobustSVC(gamma=0.3, tau=0.3, indicator=True), "decision_function"),
    "CCCPClassifier, indicator": Case(CCCPClassifier(indicator=True, random_state=0), "predict_proba", draws=True),
    "CCCPClassifier": Case(CCCPClassifier(random_state=0), "predict_proba", draws=True),
    "GeometricMarginSVC": Case(GeometricMarginSVC(tol=1e-10), "decision_function"),
    "CategoricalNaiveBayes": Case(CategoricalNaiveBayes(), "predict_proba"),
    "MultipleImputationClassifier": Case(
        gk.MultipleImputationClassifier(svm.SVC(gamma=0.3), n_imputations=2, random_state=0),
        "decision_function",
        draws=True,
    ),
    "MultipleImputationRegressor": Case(
        gk.MultipleImputationRegressor(svm.SVR(gamma=0.3), n_imputations=2, random_state=0),
        "predict",
        draws=True,
    ),
    "ChainedEquations": Case(gk.ChainedEquations(n_imputations=2, n_sweeps=2, random_state=0), "transform", draws=True),
    "Gram": Case(gk.Gram(gamma=0.3), "transform", draws=True),  # its columns are the training rows
    "FourierFeatures": Case(gk.FourierFeatures(16, gamma=0.3, random_state=0), "transform", column_order=False),
    "FourierClassifier": Case(
        gk.FourierClassifier(16, gamma=0.3, random_state=0), "decision_function", column_order=False
    ),
    "FourierClassifier, indicator": Case(
        gk.FourierClassifier(16, gamma=0.3, indicator=True, random_state=0), "decision_function", column_order=False
    ),
    "FourierRegressor": Case(
        gk.FourierRegressor(16, gamma=0.3, random_state=0), "predict", column_order=False, intervals=False
    ),
    "FourierRegressor, intervals": Case(
        gk.FourierRegressor(16, gamma=0.3, conformal="count", random_state=0), "predict_interval", column_order=False
    ),
    "Nystroem": Case(gk.Nystroem(8, gamma=0.3, random_state=0), "transform", draws=True),
}
every = pytest.mark.parametrize("name", CASES)


def problem(name, seed=0, rate=0.2):
    """A table with gaps in the last two of three columns, and a target of the estimator's kind."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((40, 3))
    X[:, 1] += X[:, 0]
    value = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.1 * random.standard_normal(40)
    X[:, 1:] = punch(random, X[:, 1:], rate)
    if name == "CategoricalNaiveBayes":
        X = np.round(X)
    n_classes = 3 if "three" in name else 2
    classes = np.searchsorted(np.quantile(value, np.arange(1, n_classes) / n_classes), value)
    return X, np.array(["ant", "bee", "cat"])[classes] if is_classifier(CASES[name].estimator) else value


@cache
def fitted(name):
    """Fitted once for all laws that only look."""
    return clone(CASES[name].estimator).fit(*problem(name))


def answer(name, model, X):
    return np.asarray(getattr(model, CASES[name].answer)(X))


def new_rows(name):
    """Rows with gaps in every column, also the one that was complete at fit, and a row with nothing observed."""
    X = problem(name, seed=1, rate=0.3)[0][:12].copy()
    X[0], X[1, 0], X[2, 0] = np.nan, np.nan, np.nan
    return X


def frame(name):
    """The same problem in a frame with a category that has gaps."""
    X, y = problem(name)
    kind = np.where(np.arange(len(X)) % 3 == 0, "u", "v").astype(object)
    kind[::7] = None
    return pd.DataFrame(X, columns=list("abc")).assign(kind=pd.Categorical(kind)), y


@every
def test_copies_have_the_same_parameters_and_are_not_fitted(name):
    estimator = CASES[name].estimator
    copy = clone(estimator)
    assert repr(copy.get_params()) == repr(estimator.get_params())
    with pytest.raises(NotFittedError):
        answer(name, copy, new_rows(name))


@every
def test_fit_returns_the_estimator_and_can_be_repeated_to_the_bit(name):
    X, y = problem(name)
    model = clone(CASES[name].estimator)
    assert model.fit(X, y) is model
    first = answer(name, model, new_rows(name))
    assert_array_equal(answer(name, model.fit(X, y), new_rows(name)), first)
    assert_array_equal(answer(name, fitted(name), new_rows(name)), first)


@every
def test_what_the_caller_passes_is_only_read(name):
    X, y = problem(name)
    new = new_rows(name)
    for array in (X, y, new):
        array.flags.writeable = False
    model = clone(CASES[name].estimator).fit(X, y)
    answer(name, model, new)
    assert_array_equal(X, problem(name)[0])


@every
def test_gaps_are_answered_also_where_fit_saw_none(name):
    values = answer(name, fitted(name), new_rows(name))
    assert len(values) == 12
    assert np.isfinite(values).all()


def test_every_public_estimator_is_listed():
    public = {kind for kind in (getattr(gk, name) for name in gk.__all__) if hasattr(kind, "fit")}
    assert public - {type(case.estimator) for case in CASES.values()} == {gk.TableModel}  # which asks one of these


MATRIX_PRODUCTS = {
    "SVC, indicator", "SVC, ehk", "RobustSVC, indicator", "CCCPClassifier", "CCCPClassifier, indicator",
    "GeometricMarginSVC", "GaussianProcessClassifier", "GaussianProcessClassifier, three classes", "GapClassifier",
    "MultipleImputationClassifier", "MultipleImputationRegressor", "FourierFeatures", "FourierClassifier",
    "FourierClassifier, indicator", "FourierRegressor", "FourierRegressor, intervals",
}  # fmt: skip
"""Where numpy multiplies matrices, in an order of sums that depends on their shape; and the intervals of processes."""


@every
def test_a_row_is_answered_alone_as_in_a_batch_to_the_bit(name):
    model, new = fitted(name), new_rows(name)
    verbs = {verb for verb in ROW_VERBS if hasattr(model, verb)}
    assert CASES[name].answer in verbs
    for verb in verbs - ({"predict_interval"} if not CASES[name].intervals else set()):
        options = {"coverage": 0.5} if verb in ("predict_interval", "predict_set") else {}  # where sets are not full
        together = np.asarray(getattr(model, verb)(new, **options))
        alone = np.concatenate([np.asarray(getattr(model, verb)(row[None], **options)) for row in new])
        assert len(np.unique(together, axis=0)) > 1, f"{verb} answers all rows alike"
        deviation = isinstance(model, gk.GaussianProcessRegressor) and verb == "predict_interval"
        if together.dtype.kind == "f" and (deviation or name in MATRIX_PRODUCTS):
            assert_allclose(alone, together, rtol=1e-12, atol=1e-13)
        else:
            assert_array_equal(alone, together)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.intervals])
def test_intervals_that_fit_was_not_asked_for_are_refused(name):
    assert hasattr(fitted(name), "predict_interval")
    with pytest.raises(ValueError, match='fitted without intervals: fit it with conformal="count"'):
        fitted(name).predict_interval(new_rows(name))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.row_order and not case.draws])
def test_the_order_of_the_training_rows_does_not_count(name):
    X, y = problem(name)
    order = np.random.default_rng(0).permutation(len(X))
    model = clone(CASES[name].estimator).fit(X[order], y[order])
    expected = answer(name, fitted(name), new_rows(name))
    assert_allclose(answer(name, model, new_rows(name)), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.column_order and not case.draws])
def test_the_order_of_the_columns_does_not_count(name):
    X, y = problem(name)
    order = [2, 0, 1]
    model = clone(CASES[name].estimator).fit(X[:, order], y)
    expected = answer(name, fitted(name), new_rows(name))
    assert_allclose(answer(name, model, new_rows(name)[:, order]), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@every
def test_frames_with_categories_are_taken_and_an_unknown_level_is_a_gap(name):
    X, y = frame(name)
    model = clone(CASES[name].estimator).fit(X, y)
    assert list(model.feature_names_in_) == ["a", "b", "c", "kind"]
    if name != "CategoricalNaiveBayes":  # for which numbers are categories too
        assert model.schema_.levels == (None, None, None, ("u", "v"))
    new = X.iloc[:6].assign(kind=["u", "never", None, "v", "never", None])
    known = new.assign(kind=["u", None, None, "v", None, None])
    assert_array_equal(answer(name, model, new), answer(name, model, known))


@every
def test_dates_are_refused(name):
    X, y = problem(name)
    X = pd.DataFrame(X, columns=list("abc")).assign(day=pd.date_range("2026-01-01", periods=len(X)))
    with pytest.raises(ValueError, match="day"):
        clone(CASES[name].estimator).fit(X, y)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if is_classifier(case.estimator)])
def test_one_class_is_refused(name):
    X, y = problem(name)
    with pytest.raises(ValueError, match="y holds one class only"):
        clone(CASES[name].estimator).fit(X, np.full(len(y), "ant"))


@every
def test_a_model_survives_a_round_trip_through_bytes(name):
    copy = pickle.loads(pickle.dumps(fitted(name)))
    assert_array_equal(answer(name, copy, new_rows(name)), answer(name, fitted(name), new_rows(name)))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.twin is not None])
def test_without_gaps_it_is_the_estimator_of_scikit_learn(name):
    X, y = problem(name, rate=0.0)
    ours, theirs = clone(CASES[name].estimator).fit(X, y), clone(CASES[name].twin).fit(X, y)
    expected = answer(name, theirs, X)
    assert_allclose(answer(name, ours, X), expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


class BrokenDensity(gk.density.Gaussian):
    """A density whose fit fails."""

    def fit(self, X, y=None, sample_weight=None):
        raise ValueError("this density is broken")


@every
def test_a_fit_that_fails_leaves_nothing_half_fitted(name):
    X, y = problem(name)
    estimator = clone(CASES[name].estimator)
    broken = X.copy()
    broken[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity: row 3, column 1"):
        estimator.fit(broken, y)
    if "density" in estimator.get_params():
        with pytest.raises(ValueError, match="broken"):
            estimator.set_params(density=BrokenDensity()).fit(X, y)
    learned = [key for key in vars(estimator) if key.endswith("_") and not key.endswith("_in_")]
    assert not learned
    with pytest.raises(NotFittedError):
        answer(name, estimator, X)


ON_KERNELS = [gk.SVC(), gk.KernelRidge(), RobustSVC(), gk.FourierFeatures(8), gk.Nystroem(8)]
KERNELS = {
    "ExpectedLinear": "linear",
    "HeterogeneousKernel": "ehk",
    "Karma": Karma(),
    "AnisotropicRBF": gk.kernels.AnisotropicRBF(),
    "GenRBF": gk.kernels.GenRBF(metric="mahalanobis"),
}
DENSITIES = ["auto", gk.density.GaussianMixture(2), gk.density.Marginals(), gk.density.FactorAnalysis(1)]
NOT_COMPARED = {
    "HeterogeneousKernel": (gk.density.GaussianMixture, gk.density.FactorAnalysis),
    "AnisotropicRBF": gk.density.Marginals,
    "GenRBF": gk.density.Marginals,
}
"""Densities whose laws a kernel does not take."""

NOT_TAKEN = {
    RobustSVC: {"HeterogeneousKernel", "Karma"},
    gk.FourierFeatures: {*KERNELS} - {"AnisotropicRBF", "GenRBF"},
}
"""Kernels that an estimator does not take, on whatever laws."""


@pytest.mark.parametrize("estimator", ON_KERNELS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("density", DENSITIES, ids=str)
def test_every_kernel_and_density_is_taken_or_refused_by_name(estimator, kernel, density):
    X, y = problem("SVC")
    y = (y == "ant").astype(int)
    model = clone(estimator).set_params(kernel=KERNELS[kernel], density=density)
    what_to_do = ""
    if isinstance(density, NOT_COMPARED.get(kernel, ())):
        what_to_do = "compares .* Use density='auto'"
    elif kernel in NOT_TAKEN.get(type(estimator), ()):
        what_to_do = r"\. Use (a single kernel|Nystroem)"
    if what_to_do:
        with pytest.raises(ValueError, match=rf"{kernel}\(.*\).*{what_to_do}"):
            model.fit(X, y)
        return
    model.fit(X, y)
    verb = next(getattr(model, verb) for verb in ("decision_function", "transform", "predict") if hasattr(model, verb))
    values = verb(new_rows("SVC"))
    assert np.isfinite(values).all()
    assert np.ptp(values, axis=0).max() > 1e-3, "all rows are answered alike"
