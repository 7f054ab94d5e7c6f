"""Choosing the settings: the same scores as a search that fits every candidate by itself."""

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
)
from sklearn.svm import SVC as CompleteSVC
from strategies import curved_frame, curved_problem, gappy_tables

import gapkernel as gk
from gapkernel.density import Gaussian
from gapkernel.estimators import Search
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF

GRID = {"Cs": [0.1, 1.0, 30.0], "gammas": [0.02, "scale", 0.7]}


def assert_same_search(machine, ours, X, y, cv, **fit):
    """Every score, rank and choice of ``ours`` is that of a grid search over ``machine``."""
    penalty = "alpha" if isinstance(ours, gk.KernelRidgeCV) else "C"
    name = "gamma" if isinstance(machine.kernel, str) else "kernel__gamma"
    grid = {penalty: getattr(ours, penalty + "s")}
    if "gamma" in machine.get_params() and machine.kernel not in ("linear", "ehk"):
        grid[name] = ours.gammas
    theirs = GridSearchCV(machine, grid, cv=cv, scoring=ours.scoring).fit(X, y, **fit)
    ours.set_params(cv=cv).fit(X, y, **fit)
    assert list(ours.cv_results_["params"]) == list(theirs.cv_results_["params"])
    for key in ours.cv_results_:
        if "score" in key:
            assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=0, atol=1e-10, err_msg=key)
        elif key.startswith("param_"):
            assert np.array_equal(ours.cv_results_[key], theirs.cv_results_[key])
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_index_ == theirs.best_index_
    assert_allclose(ours.best_score_, theirs.best_score_, atol=1e-10)
    verb = "decision_function" if hasattr(ours, "decision_function") else "predict"
    assert_allclose(getattr(ours, verb)(X), getattr(theirs, verb)(X), rtol=1e-8, atol=1e-10)


CLASSIFIERS = {
    "genrbf": {},
    "rbf": {"kernel": "rbf"},
    "linear": {"kernel": "linear"},
    "balanced": {"class_weight": "balanced"},
    "weights by class": {"class_weight": {0: 1.0, 1: 3.0}},
    "indicator": {"indicator": True},
    "object": {"kernel": GenRBF(metric="mahalanobis")},
    "known density": {"density": Gaussian.from_moments(np.zeros(4), np.eye(4))},
    "roc_auc": {"scoring": "roc_auc"},
}


@pytest.mark.parametrize("options", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())
def test_classification_scores_are_those_of_a_grid_search(options):
    X, y, _ = curved_problem()
    ours = gk.SVCCV(**GRID, **options)
    if options.get("kernel") == "linear":
        ours.set_params(gammas=11)
    machine = gk.SVC(**{k: v for k, v in options.items() if k != "scoring"})
    assert_same_search(machine, ours, X, y, StratifiedKFold(3))


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "indicator": True}], ids=["genrbf", "rbf and indicator"])
def test_many_widths_in_one_pass_give_the_scores_of_a_grid_search(options):
    X, y, _ = curved_problem(7, n=60, rate=0.4)
    ours = gk.SVCCV(Cs=[0.3, 10.0], gammas=(2.0 ** np.arange(-6, 2)).tolist(), scoring="roc_auc", **options)
    assert_same_search(gk.SVC(**options), ours, X, y, StratifiedKFold(3))


def test_a_small_memory_budget_changes_no_score():
    X, y, _ = curved_problem(7, n=60)
    machine = gk.SVCCV(Cs=[1.0], gammas=8, scoring="roc_auc")
    expected = machine.fit(X, y).cv_results_["mean_test_score"]
    with gk.config_context(memory_budget=30_000):  # one Gram matrix of 60 x 60 at a time
        assert_allclose(machine.fit(X, y).cv_results_["mean_test_score"], expected, rtol=0, atol=1e-12)


def test_several_classes_with_names():
    X, y, _ = curved_problem(1, n=60, n_classes=3)
    names = np.array(["low", "middle", "high"])[y]
    for options in ({}, {"decision_function_shape": "ovo"}, {"break_ties": True}):
        assert_same_search(gk.SVC(**options), gk.SVCCV(**GRID, **options), X, names, StratifiedKFold(3))


WEIGHTS = {
    "ones": lambda random, n: np.ones(n),
    "random": lambda random, n: random.random(n) + 0.1,
    "with zeros": lambda random, n: random.integers(0, 3, n),
}


@pytest.mark.parametrize("draw", WEIGHTS.values(), ids=WEIGHTS.keys())
def test_weights_count_in_fits_and_in_scores(draw):
    X, y, value = curved_problem(2)
    weight = draw(np.random.default_rng(0), len(X))
    assert_same_search(gk.SVC(), gk.SVCCV(**GRID), X, y, StratifiedKFold(3), sample_weight=weight)
    assert_same_search(gk.SVR(), gk.SVRCV(**GRID), X, value, KFold(3), sample_weight=weight)


def unweighted(machine, X, y):
    """A score that knows no weights."""
    return np.mean(machine.predict(X) == y)


def test_a_score_without_weights_is_not_weighted():
    X, y, _ = curved_problem(2)
    weight = np.arange(len(X)) % 3 + 1.0
    with pytest.warns(UserWarning, match="sample_weight"):  # scikit-learn says so, and does the same
        assert_same_search(
            gk.SVC(), gk.SVCCV(**GRID, scoring=unweighted), X, y, StratifiedKFold(3), sample_weight=weight
        )


@pytest.mark.parametrize("kernel", ["genrbf", "ehk"])
def test_mixed_tables(kernel):
    X, y = curved_frame()
    grid = {"Cs": GRID["Cs"]} if kernel == "ehk" else GRID
    assert_same_search(gk.SVC(kernel=kernel), gk.SVCCV(**grid, kernel=kernel), X, y, StratifiedKFold(3))


@pytest.mark.parametrize("kernel", ["rbf", "genrbf"])
def test_regression_scores_are_those_of_a_grid_search(kernel):
    X, _, value = curved_problem(3)
    alphas = {"alphas": [1e-3, 1.0], "gammas": [0.02, "median", 0.5]}
    assert_same_search(gk.SVR(kernel=kernel), gk.SVRCV(**GRID, kernel=kernel), X, value, KFold(3))
    assert_same_search(gk.KernelRidge(kernel=kernel), gk.KernelRidgeCV(**alphas, kernel=kernel), X, value, KFold(3))
    two = np.column_stack([value, X[:, 0] > 0])
    scored = gk.KernelRidgeCV(**alphas, kernel=kernel, scoring="neg_mean_absolute_error")
    assert_same_search(gk.KernelRidge(kernel=kernel), scored, X, two, KFold(3), sample_weight=np.arange(48) % 3 + 1.0)


@settings(max_examples=10)
@given(X=gappy_tables(min_rows=12, max_rows=25, max_columns=4, scales=(1e-3, 1.0, 1e3)))
def test_any_table_gives_the_scores_of_a_grid_search(X):
    y = np.arange(len(X)) % 2
    assert_same_search(gk.SVC(), gk.SVCCV(Cs=[1.0], gammas=[0.1, "scale"]), X, y, KFold(2))


def test_without_gaps_the_scores_are_those_of_scikit_learn():
    X, y, _ = curved_problem(4, rate=0.0)
    grid = {"C": [0.1, 1.0, 30.0], "gamma": [0.02, 0.1, 0.7]}
    theirs = GridSearchCV(CompleteSVC(), grid, cv=4).fit(X, y)
    ours = gk.SVCCV(Cs=grid["C"], gammas=grid["gamma"], cv=4).fit(X, y)
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-10)


def test_no_bit_depends_on_the_number_of_threads():
    X, _, value = curved_problem(5)
    results = [gk.SVRCV(**GRID, n_jobs=n).fit(X, value).cv_results_["mean_test_score"] for n in (1, 2, 3)]
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_one_task_at_a_time_unless_asked_for_more():
    X, y, _ = curved_problem()
    assert Search(gk.SVC(), X, y).n_jobs == 1
    assert Search(gk.SVC(), X, y, n_jobs=-1).n_jobs == joblib.effective_n_jobs(-1)
    with joblib.parallel_config(n_jobs=3):
        assert Search(gk.SVC(), X, y).n_jobs == 3
        assert Search(gk.SVC(), X, y, n_jobs=2).n_jobs == 2


class CountedGaussian(Gaussian):
    """A Gaussian that counts how often it was fitted."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        CountedGaussian.fits += 1
        return super().fit(X, y, sample_weight)


def test_a_density_is_fitted_once_for_each_split_and_once_for_all_rows():
    X, y, _ = curved_problem()
    CountedGaussian.fits = 0
    gk.SVCCV(**GRID, cv=4, density=CountedGaussian()).fit(X, y)
    assert CountedGaussian.fits == 5


@pytest.mark.parametrize("kernel", ["genrbf", "rbf", ExpectedRBF()])
def test_a_number_of_widths_is_powers_of_two_around_the_scale(kernel):
    X, y, _ = curved_problem()
    machine = gk.SVCCV(Cs=[1.0], gammas=5, kernel=kernel).fit(X, y)
    name = "gamma" if isinstance(kernel, str) else "kernel__gamma"
    scale = gk.SVC(kernel=kernel).fit(X, y).kernel_.gamma
    assert_allclose(machine.cv_results_[f"param_{name}"].astype(float), scale * 2.0 ** np.arange(-2, 3), rtol=1e-12)


@pytest.mark.parametrize("indicator", [False, True])
@pytest.mark.parametrize("wrap", [lambda kernel: 2 * kernel, lambda kernel: kernel.on([0, 2])])
@pytest.mark.parametrize("gammas", [[0.02, 0.1, 0.5, 2.0, 8.0, 20.0], 6])
def test_the_width_inside_a_multiple_or_on_some_columns_is_searched(wrap, gammas, indicator):
    X, y, _ = curved_problem()
    kernel = wrap(ExpectedRBF())
    ours = gk.SVCCV(Cs=[1.0, 10.0], gammas=gammas, kernel=kernel, indicator=indicator, cv=3).fit(X, y)
    grid = {"C": [1.0, 10.0], "kernel__kernel__gamma": ours.cv_results_["param_kernel__kernel__gamma"][:6].tolist()}
    assert len(set(grid["kernel__kernel__gamma"])) == 6
    theirs = GridSearchCV(gk.SVC(kernel=kernel, indicator=indicator), grid, cv=3).fit(X, y)
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


@pytest.mark.parametrize("kernel", [ExpectedLinear(), ExpectedRBF() + ExpectedLinear(), "linear", "ehk"])
@pytest.mark.parametrize("gammas", [[0.1, 1.0], 0.5, 3])
def test_widths_for_a_kernel_without_one_are_refused(kernel, gammas):
    X, y, _ = curved_problem()
    with pytest.raises(ValueError, match=r"gammas=.* has no effect"):
        gk.SVCCV(gammas=gammas, kernel=kernel).fit(X, y)


def test_kernels_without_a_width_have_only_the_penalty():
    X, y, _ = curved_problem()
    for kernel in ("linear", "ehk"):
        assert set(gk.SVCCV(Cs=[0.1, 1.0], kernel=kernel).fit(X, y).best_params_) == {"C"}


def test_kernel_and_density_objects_are_not_touched():
    X, y, _ = curved_problem()
    kernel, density = GenRBF(), Gaussian(tol=1e-4)
    gk.SVCCV(**GRID, kernel=kernel, density=density).fit(X, y)
    assert kernel.gamma == "scale"
    assert not hasattr(density, "mean_")


def test_groups_stay_together():
    X, y, _ = curved_problem(6)
    groups = np.arange(len(X)) // 6
    assert_same_search(gk.SVC(), gk.SVCCV(**GRID), X, y, GroupKFold(4), groups=groups)


def test_without_refit_there_are_scores_and_no_machine():
    X, y, _ = curved_problem()
    machine = gk.SVCCV(**GRID).fit(X, y)
    machine.set_params(refit=False).fit(X, y)
    assert machine.n_features_in_ == 4
    assert machine.best_score_ == machine.cv_results_["mean_test_score"].max()
    assert not hasattr(machine, "best_estimator_")
    with pytest.raises(ValueError, match="not fitted"):
        machine.predict(X)


@pytest.mark.parametrize(("options", "complaint"), [
    ({"Cs": []}, "Cs is empty"),
    ({"Cs": [1.0, -1.0]}, "'C'"),
    ({"gammas": []}, "gammas"),
    ({"gammas": 0}, "gammas"),
    ({"gammas": "scale"}, "gammas"),
    ({"gammas": True}, "gammas"),
    ({"gammas": None}, "gammas"),
    ({"gammas": [0.1, True]}, "gammas"),
    ({"gammas": -0.1}, "gamma"),
    ({"gammas": [0.1, -0.1]}, "gamma"),
    ({"kernel": "sigmoid"}, "kernel"),
    ({"scoring": "speed"}, "scoring"),
])  # fmt: skip
def test_bad_settings_are_refused_by_name(options, complaint):
    X, y, _ = curved_problem()
    machine = gk.SVCCV(**options)
    with pytest.raises(ValueError, match=complaint):
        machine.fit(X, y)
    assert not hasattr(machine, "cv_results_")


@pytest.mark.parametrize("gamma", [0.1, np.float32(0.5)])
def test_one_width_is_a_list_of_one(gamma):
    X, y, _ = curved_problem()
    machine = gk.SVCCV(Cs=[1.0], gammas=gamma, cv=2).fit(X, y)
    assert machine.best_params_ == {"C": 1.0, "gamma": gamma}


def test_a_refit_that_fails_leaves_nothing_behind(monkeypatch):
    def failing(self, training, laws, solver):
        raise MemoryError("no room")

    monkeypatch.setattr(gk.SVC, "_learn", failing)
    X, y, _ = curved_problem()
    machine = gk.SVCCV(Cs=[1.0], gammas=[0.1], cv=2)
    with pytest.raises(MemoryError, match="no room"):
        machine.fit(X, y)
    assert not [name for name in vars(machine) if name.endswith("_")]


def test_a_split_without_a_class_is_named():
    X, y, _ = curved_problem()
    order = np.argsort(y)
    with pytest.raises(ValueError, match="Split 0 of cv cannot be trained on: y holds one class only"):
        gk.SVCCV(**GRID, cv=KFold(2)).fit(X[order], y[order])


def test_a_search_shows_its_progress_only_if_asked(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # the bar is for terminals
    X, y, _ = curved_problem()
    quiet = gk.SVCCV(**GRID, cv=2).fit(X, y)
    assert not "".join(capfd.readouterr())
    shown = gk.SVCCV(**GRID, cv=2, verbose=True).fit(X, y)
    assert "Choosing the settings" in capfd.readouterr().err
    assert shown.best_params_ == quiet.best_params_
