"""Intervals of the machines that predict numbers: what they are made of, and how often they cover."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import kernel_ridge, svm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from strategies import gappy_tables, punch

import gapkernel as gk
from gapkernel.estimators.calibration.masks import GapCountCalibration
from gapkernel.estimators.fourier import models
from gapkernel.inspection import coverage
from gapkernel.persistence import load, save

MACHINES = [
    gk.SVR(C=10.0, conformal="count"),
    gk.KernelRidge(alpha=0.1, conformal="count"),
    gk.FourierRegressor(32, random_state=0, alpha=0.1, conformal="count"),
    gk.SVRCV(Cs=[10.0], gammas=[0.1, 0.3], cv=3, conformal="count"),
    gk.KernelRidgeCV(alphas=[0.1], gammas=[0.1, 0.3], cv=3, conformal="count"),
]
machines = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)


def problem(seed, n, rate=0.2):
    """A smooth target of three correlated columns, and noise."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3)) @ np.array([[1.0, 0.6, 0.0], [0.0, 1.0, 0.6], [0.0, 0.0, 0.8]])
    return punch(random, X, rate), np.sin(X[:, 0]) + X[:, 1] + 0.2 * random.standard_normal(n)


def weights(kind, n):
    random = np.random.default_rng(1)
    return {"none": None, "positive": random.uniform(0.2, 5.0, n), "zeros": random.integers(0, 3, n)}[kind]


# --- the errors are those of machines that never saw the row --------------------------------------------------


def refitted(model, solver, X, y, weight, folds):
    """Errors on the rows of each fold by ``solver`` on the others, as new rows, at the density and kernel of all."""
    rows, errors = model._laws(X), np.full(y.shape, np.nan)
    counted = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    for test in folds:
        train = np.setdiff1d(counted, test)
        part = None if weight is None else weight[train]
        gram = model.kernel_.gram(rows.take(train))
        learned = clone(solver).fit(gram, y[train], sample_weight=part)
        errors[test] = y[test] - learned.predict(model.kernel_.cross(rows.take(test), rows.take(train)))
    return errors[counted]


@pytest.mark.parametrize("weighted", ["none", "positive", "zeros"])
@pytest.mark.parametrize("rate", [0.0, 0.3])
@pytest.mark.parametrize("kernel", ["rbf", "genrbf", "linear", "ehk"])
def test_closed_form_of_ridge_regression_is_refitting_without_each_row(kernel, rate, weighted):
    X, y = problem(0, 14, rate)
    weight = weights(weighted, 14)
    model = gk.KernelRidge(alpha=0.3, kernel=kernel, conformal="count").fit(X, y, weight)
    solver = kernel_ridge.KernelRidge(alpha=0.3, kernel="precomputed")
    expected = refitted(model, solver, X, y, weight, np.arange(14)[:, None])
    assert_allclose(model.calibration_.scores, np.abs(expected), rtol=1e-8, atol=1e-10)
    counted = slice(None) if weight is None else weight > 0
    assert_array_equal(model.calibration_.gap_counts, np.isnan(X).sum(axis=1)[counted])


@pytest.mark.parametrize("weighted", ["none", "positive", "zeros"])
def test_closed_form_of_fourier_regression_is_refitting_without_each_row(weighted):
    X, y = problem(0, 30, 0.3)
    weight = weights(weighted, 30)
    model = gk.FourierRegressor(64, random_state=0, alpha=0.2, conformal="count").fit(X, y, weight)
    z, counted = model.features_.transform(X), np.arange(30) if weight is None else np.flatnonzero(weight)
    expected = []
    for row in counted:
        rest = np.setdiff1d(counted, row)
        ridge = Ridge(0.2, solver="cholesky").fit(z[rest], y[rest], None if weight is None else weight[rest])
        expected.append(y[row] - ridge.predict(z[[row]])[0])
    assert_allclose(model.calibration_.scores, np.abs(expected), rtol=1e-7, atol=1e-9)


def test_support_vector_machines_leave_out_fifths():
    X, y = problem(0, 40, 0.3)
    weight = weights("zeros", 40)
    model = gk.SVR(C=3.0, conformal="count", tol=1e-8).fit(X, y, weight)
    counted = np.flatnonzero(weight)
    folds = [counted[test] for _, test in KFold(5, shuffle=True, random_state=0).split(counted)]
    expected = refitted(model, svm.SVR(C=3.0, kernel="precomputed", tol=1e-8), X, y, weight, folds)
    assert_allclose(model.calibration_.scores, np.abs(expected), rtol=1e-5, atol=1e-6)
    model.fit(X[:3], y[:3])  # fewer rows than folds
    assert len(model.calibration_.scores) == 3


def test_weights_do_not_count_in_the_calibration():
    """Heavy rows with little noise: what docs/theory/process.md says of intervals for targets of weight 1."""
    covered = []
    for seed in range(8):
        random = np.random.default_rng(seed)
        X, weight = random.standard_normal((300, 1)), np.where(random.random(300) < 0.7, 25.0, 1.0)
        y = np.sin(X[:, 0]) + random.standard_normal(300) / np.sqrt(weight)
        model = gk.KernelRidge(gamma=0.5, conformal="count").fit(X, y, weight)
        new = random.standard_normal((1000, 1))
        low, high = model.predict_interval(new).T
        targets = np.sin(new[:, 0]) + random.standard_normal(1000)
        covered.append(np.mean((low <= targets) & (targets <= high)))
        assert_allclose(np.mean(model.calibration_.scores <= (high - low)[0] / 2), 0.9, atol=0.01)
    assert_allclose(np.mean(covered), 0.65, atol=0.05)


@pytest.mark.parametrize("search", [gk.SVRCV(Cs=[1.0, 5.0], tol=1e-8), gk.KernelRidgeCV(alphas=[0.1, 1.0])])
def test_searches_leave_out_what_their_splits_do(search):
    """Rows of one group are not exchangeable with others, so they must go together."""
    X, y = problem(0, 40, 0.3)
    groups, weight = np.arange(40) // 4, weights("zeros", 40)
    search = clone(search).set_params(gammas=[0.1, 0.5], cv=GroupKFold(4), conformal="count")
    search.fit(X, y, sample_weight=weight, groups=groups)
    folds = [test[weight[test] > 0] for _, test in GroupKFold(4).split(X, y, groups)]
    best = search.best_params_
    if isinstance(search, gk.SVRCV):
        solver = svm.SVR(C=best["C"], kernel="precomputed", tol=1e-8)
    else:
        solver = kernel_ridge.KernelRidge(alpha=best["alpha"], kernel="precomputed")
    expected = refitted(search.best_estimator_, solver, X, y, weight, folds)
    assert_allclose(search.calibration_.scores, np.abs(expected), rtol=1e-5, atol=1e-6)
    plain = clone(search).set_params(conformal=False).fit(X, y, sample_weight=weight, groups=groups)
    assert plain.best_params_ == search.best_params_
    assert_array_equal(plain.predict(X), search.predict(X))


def test_splits_may_be_masks_and_need_not_learn_from_all_other_rows():
    """A gap between training and test rows keeps rows apart that are alike; the calibration must keep it too."""
    X, y = problem(0, 40, 0.3)
    test = np.arange(40) < 20
    near = (np.arange(40) >= 15) & (np.arange(40) < 25)
    masks = [(~test & ~near, test), (test & ~near, ~test)]
    places = [(np.flatnonzero(train), np.flatnonzero(new)) for train, new in masks]
    search, scores = gk.KernelRidgeCV(alphas=[0.1], gammas=[0.3], conformal="count"), []
    for splits in (masks, places):
        scores.append(search.set_params(cv=splits).fit(X, y).calibration_.scores)
    assert_array_equal(*scores)
    model, expected = search.best_estimator_, np.empty(40)
    rows = model._laws(X)
    for train, new in places:
        solver = kernel_ridge.KernelRidge(alpha=0.1, kernel="precomputed")
        learned = solver.fit(model.kernel_.gram(rows.take(train)), y[train])
        expected[new] = y[new] - learned.predict(model.kernel_.cross(rows.take(new), rows.take(train)))
    assert_allclose(scores[0], np.abs(expected), rtol=1e-10)


# --- coverage -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine",
    [gk.SVR(C=3.0), gk.KernelRidge(alpha=0.1), gk.FourierRegressor(48, random_state=0)],
    ids=lambda m: type(m).__name__,
)
def test_every_group_is_covered_as_often_as_claimed(machine):
    """Averaged over fits, within four standard errors, which one quantile for all rows is far from."""
    machine, covered, pooled, repeats = clone(machine).set_params(conformal="count", gamma=0.2), [], [], 40
    for seed in range(repeats):
        X, y = problem(seed, 200)
        new, target = problem(10_000 + seed, 400)
        model = machine.fit(X, y)
        low, high = model.predict_interval(new).T
        inside = (low <= target) & (target <= high)
        near = np.abs(target - model.predict(new)) < np.quantile(model.calibration_.scores, 0.9)
        gaps = np.isnan(new).any(axis=1)  # half of the rows; few miss two cells, and join those that miss one
        covered.append([inside[~gaps].mean(), inside[gaps].mean()])
        pooled.append([near[~gaps].mean(), near[gaps].mean()])
    mean, error = np.mean(covered, axis=0), 4 * np.std(covered, axis=0, ddof=1) / np.sqrt(repeats)
    assert np.all(error < 0.04)
    assert np.all(mean > 0.9 - error)
    assert np.all(mean < 0.9 + 1 / 60 + error)
    assert_array_equal(np.sign(np.mean(pooled, axis=0) - 0.9 - [0.05, -0.05]), [1, -1])


@machines
def test_what_looks_at_intervals_takes_these_machines(machine):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = problem(0, 120)
    model = clone(machine).fit(X, y)
    result = coverage(model, X, y)
    assert_array_equal(result.missing, np.unique(np.isnan(X).sum(axis=1)))
    assert 0.85 < result.overall <= 1.0
    assert gk.plots.CoverageDisplay.from_estimator(model, X, y).ax_.get_xlabel()
    assert gk.plots.PredictionBandDisplay.from_estimator(model, np.zeros(3)).bands[0.9].shape == (4, 2)


# --- intervals ------------------------------------------------------------------------------------------------


@machines
def test_intervals_are_centred_rise_with_coverage_and_look_at_one_row(machine):
    X, y = problem(0, 120)
    model = clone(machine).fit(X, y)
    new = problem(1, 30)[0]
    previous = 0.0
    for level in (0.2, 0.5, 0.9, 0.95):
        low, high = model.predict_interval(new, coverage=level).T
        assert_allclose((low + high) / 2, model.predict(new), atol=1e-12)
        assert np.all(high - low >= previous)
        previous = high - low
    alone = np.concatenate([model.predict_interval(new[[row]], 0.95) for row in range(30)])
    assert_allclose(alone, np.column_stack([low, high]), rtol=1e-10, atol=1e-12)
    assert np.isinf(model.predict_interval(new, 0.999)).all()  # 120 rows cannot say


@settings(max_examples=25)
@given(gappy_tables(min_rows=2, max_rows=40))
def test_any_table_has_intervals_around_its_predictions(X):
    y = np.arange(len(X), dtype=float)
    model = gk.KernelRidge(conformal="count").fit(X, y)
    low, high = model.predict_interval(X, 0.5).T
    centre = model.predict(X)
    assert np.all((low <= centre) & (centre <= high))


@machines
def test_groups_with_few_rows_are_merged(machine):
    X, y = problem(0, 90, 0.0)
    X[:40, 0] = np.nan
    X[:5, 1] = np.nan  # five rows miss two cells
    model = clone(machine).fit(X, y)
    width = np.diff(model.predict_interval([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [np.nan, np.nan, 0.0]]))[:, 0]
    assert width[1] == width[2] != width[0]


@pytest.mark.parametrize("machine", [m for m in MACHINES if hasattr(m, "_y_options") or "Ridge" in type(m).__name__])
def test_several_targets_have_their_own_intervals(machine):
    X, y = problem(0, 60)
    both = np.column_stack([y, 3.0 * y**2])
    model = clone(machine)
    if isinstance(model, gk.KernelRidge):
        model.set_params(alpha=[0.1, 0.4])
    intervals = model.fit(X, both).predict_interval(X)
    assert intervals.shape == (60, 2, 2)
    for k in range(2):
        single = clone(model)
        if isinstance(model, gk.KernelRidge):
            single.set_params(alpha=[0.1, 0.4][k])
        elif isinstance(model, gk.KernelRidgeCV):
            single.set_params(gammas=[model.best_params_["gamma"]])
        assert_allclose(single.fit(X, both[:, k]).predict_interval(X), intervals[:, :, k], rtol=1e-8)


def test_a_level_never_seen_counts_as_a_gap():
    X, y = problem(0, 90, 0.0)
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=np.where(np.arange(90) % 2, "u", "v"))
    frame.loc[:39, "kind"] = None
    frame.loc[:39, "a"] = np.nan
    model = gk.KernelRidge(conformal="count").fit(frame, y)
    new = pd.DataFrame({"a": [None] * 2, "b": 0.0, "c": 0.0, "kind": [None, "w"]}).astype({"a": float})
    intervals = model.predict_interval(new)
    assert_array_equal(intervals[0], intervals[1])
    assert coverage(model, new, [0.0, 0.0]).missing.tolist() == [2]


# --- rows in parts --------------------------------------------------------------------------------------------


def test_rows_in_parts_give_the_intervals_of_the_whole():
    da = pytest.importorskip("dask.array")
    X, y = problem(0, 150)
    machine = gk.FourierRegressor(32, random_state=0, conformal="count")
    expected = clone(machine).fit(X, y).predict_interval(X)
    streamed = clone(machine).fit(gk.batches(X, y, batch_size=40))
    blocks = da.from_array(X, chunks=(40, 3))
    spread = clone(machine).fit(blocks, da.from_array(y, chunks=40))
    for model in (streamed, spread):
        assert_allclose(model.predict_interval(X), expected, rtol=1e-9)
    assert_allclose(spread.predict_interval(blocks).compute(), expected, rtol=1e-9)
    assert_allclose(spread.predict_interval(gk.batches(X, batch_size=40), coverage=0.9), expected, rtol=1e-9)


def test_of_many_rows_some_calibrate(monkeypatch):
    X, y = problem(0, 150)
    every = gk.FourierRegressor(32, random_state=0, conformal="count").fit(X, y).calibration_
    monkeypatch.setattr(models, "CALIBRATION_ROWS", 60)
    some = gk.FourierRegressor(32, random_state=0, conformal="count").fit(X, y).calibration_
    assert len(some.scores) == 60
    assert np.isin(some.scores.round(9), every.scores.round(9)).all()


def test_a_sample_without_any_weight_is_refused(monkeypatch):
    X, y = problem(0, 150)
    monkeypatch.setattr(models, "CALIBRATION_ROWS", 2)
    with pytest.raises(ValueError, match="needs 2 or more of positive weight: n_samples=0"):
        gk.FourierRegressor(32, random_state=0, conformal="count").fit(X, y, np.arange(150) < 3)


# --- scikit-learn's contract, files and complaints ------------------------------------------------------------


@machines
def test_copies_and_files_keep_the_calibration(machine, tmp_path):
    X, y = problem(0, 60)
    assert clone(machine).get_params()["conformal"] == "count"
    assert type(machine)().get_params()["conformal"] is False
    model = clone(machine).fit(X, y)
    save(model, tmp_path / "model.skops")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.skops")):
        assert isinstance(copy.calibration_, GapCountCalibration)
        assert_array_equal(copy.predict_interval(X, 0.8), model.predict_interval(X, 0.8))
    again = clone(model).fit(X, y)
    assert_array_equal(again.calibration_.scores, model.calibration_.scores)
    model.set_params(conformal=False).fit(X, y)
    assert model.calibration_ is None
    assert_array_equal(model.predict(X), again.predict(X))


@machines
def test_complaints_name_what_to_change(machine):
    X, y = problem(0, 30)
    model = clone(machine).fit(X, y)
    for bad in (0.0, 1.0, 90, "a", None, np.nan):
        with pytest.raises(ValueError, match="coverage must lie between 0 and 1"):
            model.predict_interval(X, coverage=bad)
    model.set_params(conformal=False).fit(X, y)
    for ask in (model.predict_interval, lambda X: coverage(model, X, y)):
        with pytest.raises(ValueError, match='fitted without intervals: fit it with conformal="count"'):
            ask(X)
    with pytest.raises(ValueError, match=r"'conformal' parameter of .* must be"):
        model.set_params(conformal="split").fit(X, y)
    if not hasattr(machine, "cv"):
        lonely = clone(machine)
        with pytest.raises(ValueError, match="needs 2 or more of positive weight: n_samples=1"):
            lonely.fit(X[:1], y[:1])
        with pytest.raises(NotFittedError):
            lonely.predict_interval(X)
        known = lonely.fit(X, y).calibration_
        with pytest.raises(ValueError, match="n_samples=1"):
            lonely.fit(X[:1], y[:1])
        assert lonely.calibration_ is known


@pytest.mark.filterwarnings("ignore:Singular matrix:UserWarning")  # scikit-learn's, before the complaint
def test_other_complaints():
    X, y = problem(0, 30)
    with pytest.raises(ValueError, match="needs 2 or more of positive weight: n_samples=1"):
        gk.KernelRidge(conformal="count").fit(X, y, np.eye(30)[0])
    with pytest.raises(ValueError, match=r"conformal cannot leave rows out.*Raise alpha"):
        gk.FourierRegressor(32, random_state=0, conformal="count").fit(X, y, np.eye(30)[0])
    with pytest.raises(ValueError, match=r"at alpha=0: .* not positive definite\. Raise alpha"):
        gk.KernelRidge(alpha=0.0, kernel="linear", conformal="count").fit(np.zeros((4, 2)), y[:4])
    with pytest.raises(ValueError, match="tests every row once"):
        gk.KernelRidgeCV(cv=ShuffleSplit(3, random_state=0), conformal="count").fit(X, y)


def test_rows_can_be_added_only_without_calibration():
    X, y = problem(0, 60)
    model = gk.FourierRegressor(32, random_state=0, conformal="count").fit(X, y)
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as complaint:
        model.partial_fit(X, y)
    assert "conformal=False" in str(complaint.value.__cause__)
    model.set_params(conformal=False).partial_fit(X, y)
    assert model.calibration_ is None  # what it knew of the earlier rows no longer holds
