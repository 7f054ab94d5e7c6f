"""Kernel machines: scikit-learn's own on complete data, and sound citizens of its house with gaps."""

import pickle
import sys
import threading
import tracemalloc
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import kernel_ridge, svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_classification, make_regression
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import punch

import gapkernel as gk
from gapkernel.estimators import KernelMachine
from gapkernel.kernels import ExpectedRBF, GenRBF
from gapkernel.papers.missing_variables import CCCPClassifier

TIGHT = {"tol": 1e-10}
"""libsvm's stopping tolerance where two solutions are compared digit by digit."""

ORDINARY_KERNEL = {"genrbf": "rbf", "rbf": "rbf", "linear": "linear"}


def width(kernel, gamma):
    """A width for a kernel that has one."""
    return {} if kernel == "linear" else {"gamma": gamma}


def classes(n_classes, seed=0, n=90):
    X, y = make_classification(n, 5, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=seed)
    return X, np.array(["ant", "bee", "cat"])[y]


def gappy_classes(n_classes=2, seed=0, rate=0.25, n=90):
    X, y = classes(n_classes, seed, n)
    return punch(np.random.default_rng(seed), X, rate), y


def gappy_values(seed=0, rate=0.25, n=70):
    X, y = make_regression(n, 4, noise=5.0, random_state=seed)
    return punch(np.random.default_rng(seed), X, rate), y / y.std()


def assert_same_machine(ours, theirs, X, method="decision_function", fitted_on=None):
    """Equal decisions and equal support; ``fitted_on`` are the rows that theirs was fitted on, when not all."""
    values, expected = getattr(ours, method)(X), getattr(theirs, method)(X)
    assert values.shape == expected.shape
    assert_allclose(values, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert np.array_equal(ours.predict(X), theirs.predict(X)) or method == "predict"
    support = theirs.support_ if fitted_on is None else fitted_on[theirs.support_]
    assert np.array_equal(ours.support_, support), "other support rows"
    assert np.array_equal(ours.n_support_, theirs.n_support_)
    scale = np.abs(theirs.dual_coef_).max()
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-7, atol=1e-7 * scale)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kernel", ORDINARY_KERNEL)
@pytest.mark.parametrize("options", [
    {}, {"C": 10.0}, {"class_weight": "balanced"}, {"class_weight": {"ant": 3.0, "bee": 0.5}},
    {"decision_function_shape": "ovo"}, {"break_ties": True},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("n_classes", [2, 3])
def test_complete_data_give_the_svc_of_scikit_learn(kernel, options, n_classes):
    X, y = classes(n_classes)
    options = {**options, **width(kernel, 0.3)} if "C" in options else options
    ours = gk.SVC(kernel=kernel, **options, **TIGHT).fit(X[:60], y[:60])
    theirs = svm.SVC(kernel=ORDINARY_KERNEL[kernel], **options, **TIGHT).fit(X[:60], y[:60])
    assert_same_machine(ours, theirs, X)
    assert np.array_equal(ours.classes_, theirs.classes_)
    assert_allclose(ours.class_weight_, theirs.class_weight_)


@pytest.mark.parametrize("without_weight", [0, 20])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_complete_data_give_the_weighted_svc_of_scikit_learn(n_classes, without_weight):
    X, y = classes(n_classes)
    weight = np.random.default_rng(0).random(90) + 0.1
    weight[:without_weight] = 0.0
    density = gk.density.Gaussian.from_moments(np.zeros(5), np.eye(5))
    ours = gk.SVC(gamma=0.2, density=density, **TIGHT).fit(X, y, sample_weight=weight)
    kept = np.flatnonzero(weight)  # scikit-learn counts support rows among these
    theirs = svm.SVC(gamma=0.2, **TIGHT).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert_same_machine(ours, theirs, X, fitted_on=kept)


@pytest.mark.parametrize("kernel", ORDINARY_KERNEL)
@pytest.mark.parametrize("weighted", [False, True])
def test_complete_data_give_the_svr_of_scikit_learn(kernel, weighted):
    X, y = gappy_values(rate=0.0)
    weight = np.random.default_rng(0).random(len(y)) + 0.1 if weighted else None
    options = {"C": 3.0, "epsilon": 0.05, **width(kernel, 0.3), **TIGHT}
    ours = gk.SVR(kernel=kernel, **options).fit(X, y, sample_weight=weight)
    theirs = svm.SVR(kernel=ORDINARY_KERNEL[kernel], **options).fit(X, y, sample_weight=weight)
    assert_same_machine(ours, theirs, X, method="predict")


@pytest.mark.parametrize("kernel", ORDINARY_KERNEL)
def test_complete_data_give_the_one_class_svm_of_scikit_learn(kernel):
    X = np.random.default_rng(0).standard_normal((60, 3)) + 2
    ours = gk.OneClassSVM(kernel=kernel, nu=0.3, **TIGHT).fit(X)
    theirs = svm.OneClassSVM(kernel=ORDINARY_KERNEL[kernel], nu=0.3, **TIGHT).fit(X)
    assert_same_machine(ours, theirs, X)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)
    assert_allclose(ours.offset_, theirs.offset_, rtol=1e-7)


@pytest.mark.parametrize("kernel", ORDINARY_KERNEL)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.1, [0.1, 2.0, 5.0]], ids=str)
def test_complete_data_give_the_kernel_ridge_of_scikit_learn(kernel, weighted, alpha):
    X, y = gappy_values(rate=0.0)
    if isinstance(alpha, list):
        y = np.column_stack([y, y**2, -y])
    weight = np.random.default_rng(0).random(len(y)) + 0.1 if weighted else None
    ours = gk.KernelRidge(kernel=kernel, alpha=alpha, **width(kernel, 0.3)).fit(X, y, sample_weight=weight)
    theirs = kernel_ridge.KernelRidge(kernel=ORDINARY_KERNEL[kernel], alpha=alpha, gamma=0.3)
    theirs.fit(X, y, sample_weight=weight)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-8)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-7, atol=1e-7)


# With gaps

MACHINES = {
    "SVC": (gk.SVC(gamma=0.2, **TIGHT), gappy_classes(2), "decision_function"),
    "SVC, three classes": (gk.SVC(kernel="rbf", gamma=0.2, **TIGHT), gappy_classes(3), "decision_function"),
    "SVR": (gk.SVR(gamma=0.2, **TIGHT), gappy_values(), "predict"),
    "OneClassSVM": (gk.OneClassSVM(gamma=0.2, **TIGHT), gappy_values(), "decision_function"),
    "KernelRidge": (gk.KernelRidge(gamma=0.2), gappy_values(), "predict"),
    "Gram": (gk.Gram(gamma=0.2), gappy_values(), "transform"),
}
every_machine = pytest.mark.parametrize(("machine", "data", "method"), MACHINES.values(), ids=MACHINES.keys())


@every_machine
def test_a_row_is_judged_alone(machine, data, method):
    X, y = data
    judge = getattr(clone(machine).fit(X, y), method)
    together = judge(X)
    assert_allclose(np.concatenate([judge(row[None]) for row in X]), together, rtol=0, atol=1e-10)
    crowd = np.tile(X[3], (200, 1))  # many rows of one pattern take another path through the engine
    assert_allclose(judge(crowd), np.tile(together[3], (200, *[1] * (together.ndim - 1))), rtol=0, atol=1e-10)


@every_machine
def test_the_order_of_the_training_rows_does_not_matter(machine, data, method):
    X, y = data
    order = np.random.default_rng(1).permutation(len(X))
    first, second = clone(machine).fit(X, y), clone(machine).fit(X[order], y[order])
    values = getattr(first, method)(X)
    if method == "transform":
        values = values[:, order]  # the columns of a kernel matrix are the training rows
    assert_allclose(getattr(second, method)(X), values, rtol=0, atol=1e-6 * np.abs(values).max())


@every_machine
def test_two_fits_are_equal_to_the_bit(machine, data, method):
    X, y = data
    with gk.config_context(n_threads=1):
        first = getattr(clone(machine).fit(X, y), method)(X)
    with gk.config_context(n_threads=3):
        second = getattr(clone(machine).fit(X, y), method)(X)
    assert np.array_equal(first, second)


@every_machine
def test_a_column_complete_at_fit_may_have_gaps_at_predict(machine, data, method):
    X, y = data
    X = np.column_stack([np.random.default_rng(0).standard_normal(len(X)), X])
    fitted = clone(machine).fit(X, y)
    for hidden in (X[:5].copy(), np.full((1, X.shape[1]), np.nan)):
        hidden[:, 0] = np.nan
        assert np.isfinite(getattr(fitted, method)(hidden)).all()


@every_machine
def test_copies_of_a_fitted_machine_agree(machine, data, method, tmp_path):
    X, y = data
    fitted = clone(machine).fit(X, y)
    joblib.dump(fitted, tmp_path / "machine.joblib")
    expected = getattr(fitted, method)(X)
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "machine.joblib")):
        assert np.array_equal(getattr(copy, method)(X), expected)
    assert clone(fitted).get_params() == fitted.get_params()


@pytest.mark.parametrize("name", ["SVC", "SVC, three classes", "SVR", "OneClassSVM"])
def test_only_support_rows_are_kept(name):
    machine, (X, y), _ = MACHINES[name]
    fitted = clone(machine).set_params(gamma=0.02).fit(X, y)
    assert len(fitted.rows_) == len(fitted.support_) == np.sum(fitted.n_support_) < len(X)
    assert_allclose(fitted.rows_.means, fitted.density_.condition(X).means[fitted.support_])


def test_decision_values_are_kernel_values_times_dual_coefficients():
    X, y = gappy_classes()
    machine = gk.SVC(kernel="rbf", gamma=0.2).fit(X, y)
    cross = machine.kernel_.cross(machine.density_.condition(X), machine.rows_)
    expected = cross @ machine.dual_coef_[0] + machine.intercept_
    assert_allclose(machine.decision_function(X), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kernel", ["genrbf", "rbf", "linear"])
def test_a_machine_equals_scikit_learn_on_its_gram(kernel):
    X, y = gappy_classes(3)
    gram = gk.Gram(kernel=kernel, **width(kernel, 0.2))
    theirs = svm.SVC(kernel="precomputed", **TIGHT).fit(gram.fit_transform(X), y)
    ours = gk.SVC(kernel=kernel, **width(kernel, 0.2), **TIGHT).fit(X, y)
    assert np.array_equal(ours.support_, theirs.support_)
    assert_allclose(ours.decision_function(X), theirs.decision_function(gram.transform(X)), rtol=1e-8, atol=1e-8)


def test_gaps_are_learned_from_and_predicted_with():
    X, y = make_blobs(200, 4, centers=[[0] * 4, [4] * 4], random_state=0)
    X = punch(np.random.default_rng(0), X, 0.4)
    for kernel in ("genrbf", "rbf", "linear"):
        assert gk.SVC(kernel=kernel).fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.9


def test_ionosphere_with_gaps_and_its_constant_column(data_folder):
    table = np.genfromtxt(data_folder / "ionosphere.csv", delimiter=",", skip_header=1, dtype=str)
    X, y = table[:, :-1].astype(float), table[:, -1]
    assert (X.std(axis=0) == 0).any()
    X = punch(np.random.default_rng(0), X, 0.3)
    machine = gk.SVC(C=10).fit(X[::2], y[::2])
    assert machine.score(X[1::2], y[1::2]) > 0.85


class UnfittableDensity(gk.density.Gaussian):
    """A density that must not be reached."""

    def fit(self, X, y=None, sample_weight=None):
        raise AssertionError("the density was fitted before the refusal")


@pytest.mark.parametrize("machine", [gk.SVC(), gk.SVR(), gk.OneClassSVM(), gk.KernelRidge(), gk.Gram()], ids=repr)
def test_a_gram_that_cannot_fit_is_refused_before_the_density_is_fitted(machine):
    X, y = gappy_values()
    machine = clone(machine).set_params(density=UnfittableDensity())
    y = (y > 0).astype(int)
    with gk.config_context(memory_budget=8 * (len(X) ** 2 - 1)), pytest.raises(MemoryError, match="GiB"):
        machine.fit_transform(X) if isinstance(machine, gk.Gram) else machine.fit(X, y)


def test_predictions_never_hold_the_kernel_matrix():
    X, y = gappy_classes(n=600)
    new = np.tile(X, (10, 1))
    for kernel in (GenRBF(5.0), 2 * GenRBF(5.0)):
        machine = gk.SVC(kernel=kernel).fit(X, y)
        matrix_bytes, budget = 8 * len(new) * len(machine.rows_), 2**21
        assert matrix_bytes > 10 * budget
        with gk.config_context(memory_budget=budget, n_threads=1):
            machine.decision_function(new[:50])
            tracemalloc.start()
            machine.decision_function(new)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 2 * budget, f"{peak / 2**20:.1f} MiB held with a budget of {budget / 2**20:.1f}"


# In the company of scikit-learn


def test_a_pipeline_after_scaling():
    X, y = gappy_classes()
    pipeline = make_pipeline(StandardScaler(), gk.SVC()).fit(X, y)
    assert pipeline.score(X, y) > 0.8


def test_searches_reach_every_parameter():
    X, y = gappy_classes()
    search = GridSearchCV(gk.SVC(), {"C": [0.1, 10], "gamma": [1e-4, 0.1]}, cv=3).fit(X, y)
    assert search.best_params_["gamma"] == 0.1
    search = GridSearchCV(gk.SVC(kernel=GenRBF()), {"kernel__gamma": [1e-4, 0.1]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_ == {"kernel__gamma": 0.1}
    search = GridSearchCV(gk.SVC(), {"kernel": [ExpectedRBF(0.1), "genrbf", "linear"]}, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_fitted_kernel_is_not_the_callers_kernel():
    X, y = gappy_classes()
    kernel = GenRBF()
    machine = gk.SVC(kernel=kernel).fit(X, y)
    assert kernel.gamma == "scale"
    assert isinstance(machine.kernel_.gamma, float)


def test_calibration():
    X, y = gappy_classes()
    probabilities = CalibratedClassifierCV(gk.SVC(gamma=0.1), cv=3).fit(X, y).predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1.0)


def test_other_machines_take_the_gram():
    X, y = gappy_classes()
    components = make_pipeline(gk.Gram(gamma=0.1), KernelPCA(2, kernel="precomputed")).fit(X)
    assert components.transform(X[:7]).shape == (7, 2)
    nu = make_pipeline(gk.Gram(gamma=0.1), svm.NuSVC(kernel="precomputed", nu=0.3)).fit(X, y)
    assert nu.score(X, y) > 0.8
    clusters = make_pipeline(gk.Gram(gamma=0.1), SpectralClustering(2, affinity="precomputed", random_state=0))
    assert set(clusters.fit_predict(X)) == {0, 1}


@pytest.mark.parametrize("model", [gk.SVC(), gk.GapClassifier(), CCCPClassifier(), gk.SVRCV()], ids=repr)
def test_cells_of_an_estimator_that_is_not_fitted_are_refused(model):
    with pytest.raises(NotFittedError):
        model.cell_nodes([[0.0, np.nan]], 1, 8)


def test_gram_has_two_verbs_for_the_diagonal():
    X, _ = gappy_classes()
    gram = gk.Gram(kernel="rbf", gamma=0.2)
    training, cross = gram.fit_transform(X), gram.transform(X)
    assert np.all(training.diagonal() == 1.0)
    gaps = np.isnan(X).any(axis=1)
    assert np.all(cross.diagonal()[gaps] < 1.0)
    assert_allclose(cross.diagonal()[~gaps], 1.0, rtol=1e-12)
    assert gram.get_feature_names_out().shape == (len(X),)


# The way of a fit

MOST_FILES = 33
"""Files of the package whose code runs in a fit of one machine to an array."""


def test_a_fit_runs_through_few_files_and_checks_little_twice():
    package, calls = Path(gk.__file__).parent, []

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and package in path.parents:
            calls.append((path, frame.f_code.co_name))

    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3))
    y = X[:, 0] > 0
    X, machine = punch(random, X, 0.2), gk.SVC(density=gk.density.Gaussian())
    machine.fit(X, y)  # what is compiled or loaded at first is not counted
    before, before_in_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(note)
    sys.settrace(note)
    try:
        machine.fit(X, y)
    finally:
        sys.settrace(before)
        threading.settrace(before_in_threads)
    assert len({path for path, _ in calls}) <= MOST_FILES
    names = [name for _, name in calls]
    assert names.count("accept") == 2  # in `resolve` and in `gram`
    assert names.count("check_fits") == 2  # before the density is fitted, and in `gram`


HOOKS = {"_target", "_solver", "_calibrate", "_keep"}
"""What a kind of kernel machine fills in: its target, its solver, what else is learned, and what is kept."""


@pytest.mark.parametrize("kind", [gk.SVC, gk.SVR, gk.OneClassSVM, gk.KernelRidge])
def test_a_kind_of_machine_fills_in_four_hooks_and_nothing_else_of_a_fit(kind):
    assert issubclass(kind, KernelMachine)
    own = [name for name, value in vars(KernelMachine).items() if callable(value) and not name.startswith("__")]
    changed = {name for name in (*own, "_target") if getattr(kind, name) is not getattr(KernelMachine, name)}
    assert changed <= HOOKS
    assert "_solver" in changed
