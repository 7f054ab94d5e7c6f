"""Calibration for each mask: whose scores serve a row, what they are, and how often intervals and sets cover."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import kernel_ridge
from sklearn.base import clone, is_classifier
from strategies import punch

import gapkernel as gk
from gapkernel.estimators.calibration.intervals_and_sets import adaptive_scores
from gapkernel.estimators.calibration.masks import MaskCalibration
from gapkernel.inspection import coverage
from gapkernel.persistence import load, save
from gapkernel.tables import Schema, Table

NAN = np.nan


def problem(seed, n, rate=0.2, d=3):
    """Correlated columns, a linear target and noise."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) @ (np.eye(d) + 0.4)
    return punch(random, X, rate), X[:, 0] - 2.0 * X[:, 1] + X[:, 2:].sum(axis=1) + 0.3 * random.standard_normal(n)


def calibration(masks, scores=None):
    """A calibration by rows of zeros with these masks."""
    masks = np.asarray(masks, bool)
    scores = np.arange(1.0, len(masks) + 1) if scores is None else scores
    return MaskCalibration(Table(np.where(masks, NAN, 0.0), Schema.of_numbers(masks.shape[1])), masks, scores)


def hidden_cells(places, table):
    """A score that says how many cells are hidden by now."""
    return 1000.0 * table.missing.sum(axis=1) + places


# --- which rule serves a row ----------------------------------------------------------------------------------


def test_rows_with_the_same_mask_serve_alone_where_they_are_many():
    masks = np.repeat([[0, 0, 0], [1, 0, 0]], [40, 120], axis=0)
    new = np.array([[True, False, False]])
    assert calibration(masks).rules(new, 0.9).tolist() == ["same"]
    limits = calibration(masks).limits(new, 0.9, hidden_cells)
    assert limits.highest[0] == np.sort(np.arange(41.0, 161.0))[int(np.ceil(121 * 0.9)) - 1]


def test_rows_whose_mask_lies_inside_are_hidden_down_to_it():
    masks = np.repeat([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [40, 20, 500], axis=0)
    new = np.array([[True, False, False], [True, False, True], [False, False, False]])
    assert calibration(masks).rules(new, 0.9).tolist() == ["exact", "exact", "same"]
    limits = calibration(masks).limits(new, 0.9, hidden_cells)
    # 20 rows have the mask and keep their scores, 40 more miss one cell now, and those that miss another are not asked
    first = np.concatenate([np.arange(41.0, 61.0), 1000.0 + np.arange(40)])
    assert limits.highest[0] == np.sort(first)[int(np.ceil(61 * 0.9)) - 1]
    second = 2000.0 + np.arange(60)
    assert limits.highest[1] == np.sort(second)[int(np.ceil(61 * 0.9)) - 1]


def test_rows_that_miss_other_cells_serve_nested_those_with_the_fewest_first():
    masks = np.zeros((70, 10), bool)
    masks[:, 1] = True
    masks[:40, 2] = True  # thirty rows miss one cell outside the new mask, the others two
    new = np.arange(10)[None] == 0
    assert calibration(masks).rules(new, 0.9).tolist() == ["nested"]
    limits = calibration(masks).limits(new, 0.9, hidden_cells)
    assert_array_equal(limits.masks[0], np.tile(np.arange(10) < 2, (30, 1)))
    assert_array_equal(limits.scores[0], 2000.0 + np.arange(40, 70))
    assert limits.rank == np.ceil(31 * 0.9)


@pytest.mark.parametrize("masks", [np.zeros((20, 4), bool), np.tile([True, True, True, False], (200, 1))])
def test_gap_counts_serve_where_there_are_few_rows_or_little_would_stay(masks):
    found = calibration(masks)
    assert found.rules(np.zeros((1, 4), bool), 0.9).tolist() == ["count"]
    limits = found.limits(np.zeros((1, 4), bool), 0.9, hidden_cells)
    assert_array_equal(limits.highest, found.by_count.half_widths(np.zeros((1, 4), bool), 0.9))


# --- the scores are those of models that never saw the row ----------------------------------------------------


HIDDEN = np.array([[True, False, True], [True, True, True], [False, False, False], [False, True, False]])


@pytest.mark.parametrize("kernel", ["rbf", "genrbf", "linear"])
@pytest.mark.parametrize("weighted", [False, True])
def test_hidden_rows_of_ridge_regression_are_refitting_without_them(kernel, weighted):
    X, y = problem(0, 20, 0.3)
    weight = np.random.default_rng(1).uniform(0.2, 5.0, 20) if weighted else None
    model = gk.KernelRidge(alpha=0.3, kernel=kernel, conformal="mask").fit(X, y, weight)
    rows, places = model._laws(X), np.array([3, 4, 5, 6])
    hidden = np.where(HIDDEN, NAN, X[places])
    scores = model._left_out_scores(places, model.table_of(hidden))
    for k, place in enumerate(places):
        rest = np.delete(np.arange(20), place)
        ridge = kernel_ridge.KernelRidge(alpha=0.3, kernel="precomputed")
        ridge.fit(model.kernel_.gram(rows.take(rest)), y[rest], None if weight is None else weight[rest])
        cross = model.kernel_.cross(model._laws(hidden[[k]]), rows.take(rest))
        assert_allclose(scores[k], np.abs(y[place] - ridge.predict(cross)[0]), rtol=1e-8)


@pytest.mark.parametrize("n_landmarks", [None, 40])
def test_hidden_rows_of_the_process_are_refitting_without_them(n_landmarks):
    """At given hyperparameters and a given density; 40 points stand for 40 rows, so they are exact too."""
    X, y = problem(0, 40, 0.3)
    density = gk.density.Gaussian.from_moments(np.zeros(3), np.eye(3) + 0.5)
    settings = {"length_scale": 2.0, "constant_value": 4.0, "noise_level": 0.2, "optimizer": None}
    machine = gk.GaussianProcessRegressor(density=density, conformal="mask", n_landmarks=n_landmarks, **settings)
    places = np.array([3, 4, 5, 6])
    hidden = np.where(HIDDEN, NAN, X[places])
    model = machine.fit(X, y)
    scores = model._left_out_scores(places, model.table_of(hidden))
    for k, place in enumerate(places):
        rest = np.delete(np.arange(40), place)
        mean, std = clone(machine).set_params(n_landmarks=None).fit(X[rest], y[rest]).predict(hidden[[k]], True)
        tolerance = 1e-8 if n_landmarks is None else 0.05  # points are means, rows are laws
        assert_allclose(scores[k], np.abs(y[place] - mean[0]) / std[0], rtol=tolerance)


MACHINES = [
    gk.SVR(C=10.0),
    gk.KernelRidge(alpha=0.1),
    gk.SVRCV(Cs=[10.0], gammas=[0.1], cv=3),
    gk.KernelRidgeCV(alphas=[0.1], gammas=[0.1], cv=3),
    gk.GaussianProcessRegressor(),
]
machines = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)


@machines
def test_every_machine_has_intervals_by_mask_that_look_at_one_row(machine, tmp_path):
    X, y = problem(0, 80, 0.35, d=5)
    new = problem(1, 12, 0.35, d=5)[0]
    new[0] = 0.0
    model = clone(machine).set_params(conformal="mask").fit(X, y)
    intervals, rules = model.predict_interval(new), model.conformal_rules(new)
    assert intervals.shape == (12, 2)
    assert {"exact", "nested"} <= set(rules)
    assert np.all(intervals[:, 0] < intervals[:, 1])
    alone = np.concatenate([model.predict_interval(new[[k]]) for k in range(12)])
    assert_allclose(alone, intervals, rtol=1e-8, atol=1e-10)
    save(model, tmp_path / "model.skops")
    assert_array_equal(load(tmp_path / "model.skops").predict_interval(new), intervals)
    by_count = clone(machine).set_params(conformal="count").fit(X, y)
    assert_array_equal(by_count.predict(new), model.predict(new))
    intervals, rules = by_count.predict_interval(new), by_count.conformal_rules(new)
    assert np.all(intervals[:, 0] < intervals[:, 1])
    assert set(rules) == {"count"}


def test_several_targets_have_their_own_intervals_by_mask():
    X, y = problem(0, 80, 0.35, d=5)
    both = np.column_stack([y, 3.0 * y**2])
    model = gk.KernelRidge(alpha=[0.1, 0.4], conformal="mask").fit(X, both)
    intervals, rules = model.predict_interval(X), model.conformal_rules(X)
    assert {"exact", "nested"} <= set(rules)
    for k in range(2):
        single = gk.KernelRidge(alpha=[0.1, 0.4][k], conformal="mask").fit(X, both[:, k])
        assert_allclose(single.predict_interval(X), intervals[:, :, k], rtol=1e-8)


GAPS = [
    gk.GapRegressor(members=["process", "genrbf", "ehk, levels", "trees, small"], random_state=0),
    gk.GapClassifier(members=["process", "genrbf", "ehk, levels", "trees, small"], random_state=0),
]


@pytest.mark.parametrize("machine", GAPS, ids=lambda machine: type(machine).__name__)
def test_estimators_that_choose_keep_the_members_of_each_fold(machine, tmp_path):
    """These answer left-out rows as when they were tried, though a fold has not seen all levels and classes."""
    X, y = problem(0, 140, 0.3, d=4)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(same=1.0, kind=np.where(y > 0, "u", "v"))
    frame.loc[:40, "kind"] = None
    frame.loc[[50, 51], "kind"] = "w"
    if isinstance(machine, gk.GapClassifier):
        y = np.append(np.digitize(y[:-3], [-1.0, 1.0]), [3, 3, 3]).astype(str)
    model = clone(machine).set_params(conformal="mask").fit(frame[:100], y[:100])
    scores = model._left_out_scores(np.arange(100), model.table_of(frame[:100]))
    assert_allclose(scores, model.calibration_.scores, rtol=1e-6, atol=1e-9)
    ask = model.predict_set if isinstance(machine, gk.GapClassifier) else model.predict_interval
    answers, rules = ask(frame[100:]), model.conformal_rules(frame[100:])
    assert {"exact", "nested"} <= set(rules)
    unknown = frame[100:].assign(same=NAN)  # a column that is not learned from
    assert_array_equal(ask(unknown), answers)
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert_array_equal(getattr(again, ask.__name__)(frame[100:]), answers)
    by_count = clone(machine).fit(frame[:100], y[:100])
    assert_array_equal(by_count.predict(frame[100:]), model.predict(frame[100:]))
    plain = clone(machine).set_params(conformal=False, members=["trees, small"]).fit(frame[:100], y[:100])
    with pytest.raises(ValueError, match="was fitted without"):
        getattr(plain, ask.__name__)(frame)


# --- coverage -------------------------------------------------------------------------------------------------


def test_every_mask_is_covered_where_gap_counts_fail_some():
    """Columns of very different worth: rows that miss the same number of cells are not alike."""
    repeats, single = 20, np.eye(3, dtype=bool)
    share = {"count": [], "mask": []}
    for seed in range(repeats):
        random = np.random.default_rng(seed)
        X = random.standard_normal((600, 3))
        y = X @ [3.0, 1.0, 0.2] + 0.2 * random.standard_normal(600)
        X = punch(random, X, 0.2)
        gaps = np.isnan(X[200:])
        for conformal, found in share.items():
            model = gk.KernelRidge(alpha=0.05, kernel="linear", conformal=conformal).fit(X[:200], y[:200])
            low, high = model.predict_interval(X[200:]).T
            inside = (low <= y[200:]) & (y[200:] <= high)
            found.append([inside[(gaps == mask).all(axis=1)].mean() for mask in single])
    mean = np.mean(share["mask"], axis=0)
    error = 3 * np.std(share["mask"], axis=0, ddof=1) / np.sqrt(repeats)
    assert np.all(error < 0.05)
    assert np.all(mean > 0.9 - error)
    assert np.all(mean < 0.9 + 1 / 61 + error)
    by_count = np.mean(share["count"], axis=0)
    assert by_count.min() < 0.85
    assert by_count.max() > 0.97


def test_sets_by_mask_cover_and_grow_with_what_is_missing():
    covered, sizes = [], []
    for seed in range(4):
        X, y = problem(seed, 500, 0.25)
        classes = np.digitize(y, [-2.0, 2.0])
        model = gk.GaussianProcessClassifier(optimizer=None, constant_value=9.0, length_scale=3.0, conformal="mask")
        sets = model.fit(X[:120], classes[:120]).predict_set(X[120:])
        rules = model.conformal_rules(X[120:])
        assert set(rules) <= {"same", "exact", "nested", "count"}
        assert sets.any(axis=1).all()
        gaps = np.isnan(X[120:]).sum(axis=1)
        inside = sets[np.arange(380), classes[120:]]
        covered.append([inside[gaps == k].mean() for k in range(3)])
        sizes.append([sets[gaps == k].sum(axis=1).mean() for k in range(3)])
    assert np.all(np.mean(covered, axis=0) > 0.86)
    assert np.all(np.diff(np.mean(sizes, axis=0)) > 0)


def test_adaptive_scores_are_what_is_more_probable():
    assert_allclose(adaptive_scores(np.array([[0.5, 0.2, 0.3]])), [[0.0, 0.8, 0.5]])


def test_a_process_without_calibration_takes_its_own_probabilities():
    X, y = problem(0, 60)
    model = gk.GaussianProcessClassifier().fit(X, y > 0)
    chances, sets, rules = model.predict_proba(X), model.predict_set(X, 0.8), model.conformal_rules(X, 0.8)
    assert set(rules) == {"model"}
    assert_array_equal(sets.sum(axis=1) == 1, chances.max(axis=1) >= 0.8)
    assert_array_equal(sets[np.arange(60), chances.argmax(axis=1)], True)


@pytest.mark.parametrize("fitted_with", [False, "count", "mask"])
@pytest.mark.parametrize(
    "machine",
    [
        gk.GapClassifier(members=["genrbf"], cv=2, random_state=0),
        gk.GapRegressor(members=["genrbf"], cv=2, random_state=0),
        gk.GaussianProcessClassifier(optimizer=None),
        gk.GaussianProcessRegressor(optimizer=None),
        gk.KernelRidge(),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_a_setting_made_after_the_fit_changes_no_answer(machine, fitted_with):
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 2))
    value = X.sum(axis=1)
    X = punch(random, X, 0.2)
    y = np.digitize(value, [-0.7, 0.7]) if is_classifier(machine) else value
    model = clone(machine).set_params(conformal=fitted_with).fit(X, y)
    ask = model.predict_set if is_classifier(machine) else model.predict_interval
    refuses = not fitted_with and not isinstance(model, gk.GaussianProcessClassifier | gk.GaussianProcessRegressor)
    before = None if refuses else ask(X[:20], coverage=0.8)
    for set_since in (False, "count", "mask"):
        model.set_params(conformal=set_since)
        if refuses:
            with pytest.raises(ValueError, match='fit it with conformal="count"'):
                ask(X[:20])
        else:
            assert_array_equal(ask(X[:20], coverage=0.8), before)


def test_other_words_are_refused():
    X, y = problem(0, 30)
    for word in ("masks", True):
        with pytest.raises(ValueError, match="'conformal' parameter of KernelRidge must be"):
            gk.KernelRidge(conformal=word).fit(X, y)


# --- what looks at coverage -----------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", [gk.KernelRidge(alpha=0.1), gk.GaussianProcessClassifier(optimizer=None)])
def test_coverage_by_mask_adds_up_to_coverage_by_count(machine):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = problem(0, 300, 0.2)
    y = np.where(y > 0, "high", "low") if isinstance(machine, gk.GaussianProcessClassifier) else y
    model = clone(machine).set_params(conformal="mask").fit(X[:100], y[:100])
    by_mask, by_count = (coverage(model, X[100:], y[100:], by=by) for by in ("mask", "count"))
    assert_array_equal(np.unique(by_mask.masks, axis=0).shape, by_mask.masks.shape)
    assert_array_equal(by_mask.masks.sum(axis=1), by_mask.missing)
    assert np.all(np.diff(by_mask.missing) >= 0)
    for k, count in enumerate(by_count.missing):
        own = by_mask.missing == count
        assert by_mask.n_rows[own].sum() == by_count.n_rows[k]
        for name in ("covered", "width"):
            mean = np.average(getattr(by_mask, name)[own], weights=by_mask.n_rows[own])
            assert_allclose(mean, getattr(by_count, name)[k])
    display = gk.plots.CoverageDisplay.from_estimator(model, X[100:], y[100:], by="mask", least_rows=5)
    assert len(display.ax_.containers[0].lines[0].get_xdata()) == np.sum(by_mask.n_rows >= 5)
    with pytest.raises(ValueError, match="by must be 'count' or 'mask'"):
        coverage(model, X, y, by="pattern")


def test_coverage_of_sets_refuses_unknown_classes():
    X, y = problem(0, 60)
    model = gk.GaussianProcessClassifier(optimizer=None).fit(X, y > 0)
    with pytest.raises(ValueError, match="y holds 2, which is no class"):
        coverage(model, X, np.full(60, 2))
