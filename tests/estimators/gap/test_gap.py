"""The estimators nobody has to choose: what they promise of members, weights, probabilities, sets and intervals."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss
from strategies import punch

import gapkernel as gk
from gapkernel.estimators.gap import base, members, process_member
from gapkernel.estimators.gap.columns import code_columns, preparation
from gapkernel.estimators.gap.combination import combined_weights, mean_weights, mixture_weights, sigmoid, tempered
from gapkernel.estimators.gap.views import gaps_as_levels, without_offsets
from gapkernel.tables import read_table

FEW = ["process", "genrbf"]


def problem(n=120, rate=0.2, seed=0, n_classes=2):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 4))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.standard_normal(n), [0.3, 1.2][: n_classes - 1])
    frame = pd.DataFrame(punch(random, X, rate), columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.where(random.random(n) < rate, None, random.choice(["u", "v"], n)))
    return frame, np.array(["no", "yes", "perhaps"])[y]


@pytest.fixture(scope="module")
def classifier():
    X, y = problem()
    return gk.GapClassifier(random_state=0).fit(X, y)


# --- what is kept ---------------------------------------------------------------------------------


def test_members_are_listed_with_their_scores_and_weights(classifier):
    names = [row.member for row in classifier.members_]
    assert {"process", "process, shrunk", "genrbf", "ehk", "ehk, levels", "trees"} <= set(names)
    scores = [row.score for row in classifier.members_]
    assert scores == sorted(scores, reverse=True)
    weights = np.array([row.weight for row in classifier.members_])
    assert_allclose(weights.sum(), 1.0)
    assert_allclose(np.sort(weights[weights > 0]), np.sort(classifier.weights_))
    assert "process" in repr(classifier.members_)


def test_the_combination_is_the_weighted_mean_of_its_members(classifier):
    X, _ = problem(seed=1)
    table = classifier.preparation_(read_table(classifier, X, reset=False, schema=classifier.schema_))
    answers = [member.answers(table) for member in classifier.fitted_]
    chances = classifier.predict_proba(X)
    assert_allclose(chances, np.tensordot(classifier.weights_, answers, axes=1))
    assert_allclose(chances.sum(axis=1), 1.0)
    assert_array_equal(classifier.predict(X), classifier.classes_[chances.argmax(axis=1)])


def test_the_combination_beats_its_members_out_of_fold(classifier):
    """A mixture on the way to the best one is at least as good as the mean of the members' scores."""
    used = [row.score for row in classifier.members_ if row.weight]
    assert classifier.cv_score_ > np.mean(used)


def test_columns_say_what_they_were_taken_for(classifier):
    kinds = {column.name: column.kind for column in classifier.columns_}
    assert kinds == {"a": "number", "b": "number", "c": "number", "d": "number", "kind": "category"}


# --- laws of a prediction -------------------------------------------------------------------------


def test_a_row_does_not_depend_on_its_batch(classifier):
    X, _ = problem(seed=2)
    alone = np.vstack([classifier.predict_proba(X.iloc[[k]]) for k in range(5)])
    assert_allclose(classifier.predict_proba(X)[:5], alone, atol=1e-9)


def test_threads_and_copies_change_nothing():
    X, y = problem(n=70)
    model = gk.GapClassifier(members=[*FEW, "genrbf, indicator"], random_state=3)
    with gk.config_context(n_threads=1):
        one = model.fit(X, y).predict_proba(X)
    with gk.config_context(n_threads=2):
        two = model.fit(X, y)
    assert_array_equal(two.predict_proba(X), one)
    assert_array_equal(pickle.loads(pickle.dumps(two)).predict_proba(X), one)


def test_scales_and_offsets_of_the_columns_do_not_matter():
    X, y = problem(n=70)
    moved = X.assign(a=1e6 * X["a"] - 3e7, b=1e-6 * X["b"])
    here, there = (gk.GapClassifier(members=FEW, random_state=0).fit(table, y) for table in (X, moved))
    assert_allclose(here.predict_proba(X), there.predict_proba(moved), atol=1e-4)


def test_several_classes():
    X, y = problem(n=150, n_classes=3)
    model = gk.GapClassifier(members=["process", "genrbf", "trees, small"], random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (150, 3)
    new, truth = problem(n=300, n_classes=3, seed=5)
    assert log_loss(truth, model.predict_proba(new), labels=model.classes_) < 1.05


def test_weights_are_repeated_rows_for_the_share_of_classes():
    X, y = problem(n=80)
    heavy = np.where(y == "yes", 4.0, 1.0)
    plain, weighted = (
        gk.GapClassifier(members=FEW, random_state=0).fit(X, y, sample_weight=w).predict_proba(X)[:, 1].mean()
        for w in (None, heavy)
    )
    balanced = gk.GapClassifier(members=FEW, random_state=0, class_weight={"yes": 4.0, "no": 1.0}).fit(X, y)
    assert weighted > plain + 0.1
    assert_allclose(balanced.predict_proba(X)[:, 1].mean(), weighted, atol=1e-9)


# --- sets and intervals ---------------------------------------------------------------------------


def test_sets_hold_the_class_as_often_as_they_say():
    X, y = problem(n=200)
    new, truth = problem(n=2000, seed=7)
    model = gk.GapClassifier(members=FEW, random_state=0).fit(X, y)
    for coverage in (0.8, 0.95):
        sets = model.predict_set(new, coverage=coverage)
        assert sets.dtype == bool
        assert sets.shape == (2000, 2)
        held = sets[np.arange(2000), np.searchsorted(model.classes_, truth)].mean()
        assert abs(held - coverage) < 0.05


def test_intervals_hold_the_target_as_often_as_they_say():
    random = np.random.default_rng(0)

    def drawn(n):
        X = random.standard_normal((n, 3))
        return punch(random, X, 0.3), X @ [1.0, 1.0, 0.5] + 0.3 * random.standard_normal(n)

    model = gk.GapRegressor(members=FEW, random_state=0).fit(*drawn(250))
    new, truth = drawn(2000)
    intervals = model.predict_interval(new, coverage=0.9)
    held = ((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])).mean()
    assert intervals.shape == (2000, 2)
    assert abs(held - 0.9) < 0.04
    width = np.diff(intervals, axis=1).ravel()
    assert width[np.isnan(new).sum(axis=1) == 3].mean() > 2 * width[np.isnan(new).sum(axis=1) == 0].mean()


def test_the_target_of_a_regression_has_any_units():
    X, _ = problem(n=90)
    y = np.nan_to_num(X["a"].to_numpy()) + 0.1 * np.random.default_rng(0).standard_normal(90)
    here = gk.GapRegressor(members=FEW, random_state=0).fit(X, y)
    there = gk.GapRegressor(members=FEW, random_state=0).fit(X, 1e5 + 1e3 * y)
    assert_allclose(1e5 + 1e3 * here.predict(X), there.predict(X), rtol=1e-6)
    assert_allclose(1e3 * here.cv_score_, there.cv_score_, rtol=1e-4)


# --- members of one's own, limits, odd tables -----------------------------------------------------


def test_members_may_be_any_estimator():
    X, y = problem(n=60)
    model = gk.GapClassifier(members=["genrbf", HistGradientBoostingClassifier(max_iter=5)], random_state=0).fit(X, y)
    assert {row.member for row in model.members_} == {"genrbf", "HistGradientBoostingClassifier"}


def test_a_member_that_is_clearly_worse_has_no_weight():
    X, y = problem(n=200)
    model = gk.GapClassifier(members=["process", DummyClassifier(strategy="uniform")], random_state=0).fit(X, y)
    assert {row.member: row.weight for row in model.members_}["DummyClassifier"] == 0.0


def test_a_time_limit_stops_after_the_member_at_work():
    X, y = problem(n=60)
    model = gk.GapClassifier(time_limit=1e-9, random_state=0).fit(X, y)
    assert [row.member for row in model.members_] == ["process"]


def test_any_score_can_choose_the_settings():
    X, y = problem(n=60)
    model = gk.GapClassifier(members=["genrbf"], scoring="roc_auc", random_state=0).fit(X, y)
    assert 0.5 < model.cv_score_ <= 1.0


def test_many_rows_change_to_random_features():
    X, y = problem(n=300)
    model = gk.GapClassifier(n_exact=200, random_state=0).fit(X, y)
    assert {row.member for row in model.members_} >= {"fourier", "trees"}
    assert "process" not in {row.member for row in model.members_}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"members": []}, "members is empty"),
        ({"members": ["mlp"]}, "there is no member 'mlp'. The members are 'process'"),
        ({"members": [LinearRegression()]}, "neither the name of a member nor a classifier"),
        ({"time_limit": -1.0}, "'time_limit' parameter of GapClassifier must be"),
        ({"cv": [([0], [1])]}, "a cv that tests every row once"),
    ],
)
def test_bad_parameters_are_named(options, message):
    X, y = problem(n=40)
    model = gk.GapClassifier(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "fitted_")


def test_a_range_of_numbers_is_learned_from():
    time = np.arange(100.0)
    model = gk.GapRegressor(members=["process"], random_state=0).fit(time[:, None], np.sin(time / 15))
    assert model.score(time[:, None], np.sin(time / 15)) > 0.99


def test_equal_weights_are_no_weights():
    X, y = problem(n=60)
    plain, heavy = (
        gk.GapClassifier(members=FEW, random_state=0).fit(X, y, sample_weight=w) for w in (None, np.full(60, 20.0))
    )
    assert_allclose(plain.predict_proba(X), heavy.predict_proba(X), atol=1e-6)


def test_no_probability_is_zero_that_rows_cannot_prove():
    random = np.random.default_rng(0)
    kind = random.choice(["u", "v"], 60)
    X = pd.DataFrame({"kind": pd.Categorical(kind), "x": random.standard_normal(60)})
    model = gk.GapClassifier(members=["trees", "genrbf"], random_state=0).fit(X, kind == "v")
    assert model.predict_proba(X.assign(kind=None)).min() > 1e-3


def test_many_ordered_levels_keep_their_order():
    random = np.random.default_rng(0)
    codes = random.integers(0, 30, 300)
    levels = [f"{k:02d}" for k in range(30)]
    X = pd.DataFrame({"grade": pd.Categorical(np.array(levels)[codes], categories=levels, ordered=True)})
    model = gk.GapRegressor(members=["genrbf"], random_state=0).fit(X, codes.astype(float))
    assert model.score(X, codes) > 0.99


@pytest.mark.parametrize("name", ["MOST_SEARCHED", "SEARCH_COST"])
def test_length_scales_of_columns_stay_where_hyperparameters_are_found_from_fewer_rows(monkeypatch, name):
    monkeypatch.setattr(process_member, "FEWEST_SEARCHED", 60)
    monkeypatch.setattr(process_member, name, 60)
    random = np.random.default_rng(0)
    X = random.standard_normal((90, 3))
    for model, y in ((gk.GapRegressor, np.sin(3 * X[:, 0])), (gk.GapClassifier, (X[:, 0] > 0).astype(int))):
        fitted = model(members=["process, shrunk"], random_state=0).fit(X, y).fitted_[0].estimator
        assert np.shape(np.ravel(fitted.length_scale_)) == (3,)
        assert fitted.optimizer is None


def test_odd_columns_are_left_out_and_said():
    X, y = problem(n=60)
    X = X.assign(empty=np.nan, same=1.0, number=np.arange(60.0), label=[f"row {k}" for k in range(60)])
    model = gk.GapClassifier(members=FEW, random_state=0).fit(X, y)
    left_out = {column.name: column.reason for column in model.columns_ if column.kind == "left out"}
    assert set(left_out) == {"empty", "same", "label"}
    assert "a row number?" in {column.name: column.reason for column in model.columns_}["number"]
    assert "identifier" in left_out["label"]
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(("n", "d"), [(20, 3), (40, 60)])
def test_few_rows_and_many_columns(n, d):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    y = (X[:, 0] > 0).astype(int)
    model = gk.GapClassifier(random_state=0).fit(punch(random, X, 0.2), y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_of_two_classes_each_needs_two_rows():
    X, y = problem(n=40)
    y[:] = "no"
    y[3] = "yes"
    with pytest.raises(ValueError, match=r"Class 'yes' has 1 row\. .* each needs 2 rows or more"):
        gk.GapClassifier().fit(X, y)


# --- many rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["batches", "dask"])
@pytest.mark.parametrize("classes", [True, False])
def test_parts_give_what_the_table_in_memory_gives(kind, classes, monkeypatch):
    monkeypatch.setattr(members, "N_FEATURES", 64)
    X, y = problem(n=80)
    X = X.drop(columns="kind")
    y = y if classes else X["b"].fillna(0.0).to_numpy()
    model = gk.GapClassifier if classes else gk.GapRegressor
    here = model(members=["fourier", "fourier, rbf"], random_state=0).fit(X, y)
    if kind == "batches":
        rows = [(X[:25], y[:25]), (X[25:], y[25:])]
        there = model(random_state=0).fit(gk.batches(lambda: iter(rows)))
    else:
        frame = pytest.importorskip("dask.dataframe").from_pandas(X.assign(y=y), npartitions=2)
        there = model(random_state=0).fit(frame.drop(columns="y"), frame["y"])
    verb = "predict_proba" if classes else "predict"
    assert_allclose(getattr(there, verb)(X), getattr(here, verb)(X), atol=1e-6)
    assert_allclose(there.cv_score_, here.cv_score_, atol=1e-8)


def test_parts_need_members_that_take_them(tmp_path):
    X, y = problem(n=60)
    X.to_parquet(tmp_path / "table.parquet")
    parts = gk.batches(tmp_path / "table.parquet", batch_size=25)
    with pytest.raises(ValueError, match=r"'genrbf' learns from a table in memory. For batches and dask"):
        gk.GapClassifier(members=["genrbf"]).fit(gk.batches(lambda: iter([(X, y)])))
    model = gk.GapClassifier(members=["genrbf"], random_state=0).fit(X, y)
    assert_array_equal(model.predict_set(parts), model.predict_set(X))


def test_many_rows_are_chosen_by_a_sample_and_learned_from_whole(monkeypatch):
    monkeypatch.setattr(base, "MOST_ROWS", 100)
    monkeypatch.setattr(members, "N_FEATURES", 64)
    X, y = problem(n=150)
    model = gk.GapClassifier(members=["fourier", "trees, small"], random_state=0).fit(X, y)
    assert len(model.calibration_.scores) == 100
    member = gk.GapClassifier(members=["fourier"], random_state=0).fit(X, y).fitted_[0]
    prepared = model.preparation_(read_table(model, X, reset=False, schema=model.schema_))
    whole = clone(member.estimator).fit(prepared, (y == "yes").astype(int))
    assert_allclose(whole.predict_proba(prepared), member.estimator.predict_proba(prepared))


def test_a_target_that_the_sample_lacks_is_named_if_it_is_wrong(monkeypatch):
    monkeypatch.setattr(base, "MOST_ROWS", 40)
    monkeypatch.setattr(base, "sample_rows", lambda n_rows, most, random: np.arange(most))
    monkeypatch.setattr(members, "N_FEATURES", 64)
    X, y = problem(n=80)
    y[-1] = "once"
    with pytest.raises(ValueError, match="Class 'once' is rare"):
        gk.GapClassifier(members=["fourier"]).fit(gk.batches(lambda: iter([(X, y)])))
    numbers = np.append(np.linspace(0.0, 1.0, 79), np.nan)  # rows outside the sample are checked too
    with pytest.raises(ValueError, match="Input y contains NaN"):
        gk.GapRegressor(members=["fourier"]).fit(gk.batches(lambda: iter([(X, numbers)])))


def test_members_without_a_seed_get_one():
    X, y = problem(n=60)
    answers = [
        gk.GapClassifier(members=[ExtraTreesClassifier(5)], random_state=0).fit(X, y).cv_score_ for _ in range(2)
    ]
    assert answers[0] == answers[1]


def test_a_class_with_one_row_is_no_obstacle():
    X, y = problem(n=60)
    y[0] = "once"
    model = gk.GapClassifier(members=["process", "genrbf", "trees, small"], random_state=0).fit(X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# --- a fit is whole, and its options mean what they say -------------------------------------------


def test_a_fit_that_fails_changes_nothing():
    X, y = problem(n=60)
    model = gk.GapClassifier(members=["genrbf"], random_state=0).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="one class"):
        model.fit(X.drop(columns="a"), np.zeros(60))
    with pytest.raises(ValueError, match="tests every row once"):
        model.set_params(cv=[([0], [1])]).fit(X.to_numpy()[:, :2].astype(float), y)
    assert vars(model) == before | {"cv": model.cv}


class Recorded(DummyClassifier):
    """Remembers the classes that it was given."""

    def fit(self, X, y, sample_weight=None):
        self.given_ = y
        return super().fit(X, y, sample_weight)


def test_members_of_ones_own_see_the_classes():
    X, y = problem(n=60)
    model = gk.GapClassifier(members=[Recorded(strategy="prior")], random_state=0).fit(X, y)
    assert_array_equal(model.fitted_[0].estimator.model_.given_, y)


def test_threads_are_a_matter_of_time_and_the_bar_of_taste(monkeypatch):
    X, y = problem(n=40)
    bars = []
    monkeypatch.setattr(base, "tracked", lambda items, *_: bars.append(gk.get_config().progress) or items)
    one, two = (
        gk.GapClassifier(members=["genrbf"], random_state=0, n_jobs=n, verbose=v).fit(X, y).predict_proba(X)
        for n, v in ((1, False), (2, True))
    )
    assert_array_equal(one, two)
    assert bars == [False, True]


def odd_tables():
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 3))
    y = np.tile([0, 1], 20)
    yield "a column of names", pd.DataFrame({"id": [f"r{k}" for k in range(40)], "x": X[:, 0]}), y
    yield "constant and empty columns", np.column_stack([X, np.ones(40), np.full(40, np.nan)]), y
    yield "a row without a value", np.vstack([np.full((1, 3), np.nan), X[1:]]), y
    yield "a class in few folds", X, np.where(np.arange(40) < 2, 1, 0)
    yield "a level in one row", pd.DataFrame({"k": ["u"] + ["v", "w", "x"] * 13, "x": X[:, 0]}), y
    yield "two values", X.round(0).clip(0, 1), y
    yield "huge numbers", 1e100 * X, y
    yield "one column", X[:, :1], y


@pytest.mark.parametrize(("X", "y"), [pytest.param(X, y, id=name) for name, X, y in odd_tables()])
def test_odd_tables_work(X, y):
    few = ["process", "linear", "genrbf, indicator"]
    model = gk.GapClassifier(members=few, random_state=0).fit(X, y)
    chances = model.predict_proba(X)
    assert np.isfinite(chances).all()
    assert_allclose(chances.sum(axis=1), 1.0)
    assert np.isfinite(gk.GapRegressor(members=few, random_state=0).fit(X, y).predict_interval(X, 0.5)).all()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((30, 2)), "No column of X can be learned from: each is empty, constant or an identifier"),
        (np.full((30, 2), np.nan), "No column of X can be learned from"),
    ],
)
def test_tables_without_anything_to_learn_say_so(X, message):
    with pytest.raises(ValueError, match=message):
        gk.GapClassifier().fit(X, np.tile([0, 1], 15))


# --- the pieces -----------------------------------------------------------------------------------


def test_whole_numbers_of_few_values_may_be_codes():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 4, 80), random.integers(0, 2, 80), random.standard_normal(80)]).astype(
        float
    )
    table = read_table(gk.SVC(), X, reset=True)
    codes = code_columns(table)
    assert_array_equal(codes, [True, False, False])
    prepared = preparation(table, codes)(table)
    assert_array_equal(prepared.schema.categorical, [True, False, False])
    assert_allclose(prepared.values[:, 2].std(), 1.0)


def test_a_code_without_an_order_is_found_to_be_a_category():
    random = np.random.default_rng(0)
    kind = random.integers(0, 6, 200).astype(float)
    y = np.isin(kind, [0, 3, 4]).astype(int)
    model = gk.GapClassifier(members=FEW, random_state=0).fit(np.column_stack([kind, random.random(200)]), y)
    assert model.columns_[0].kind == "category"


def test_gaps_of_categories_become_levels():
    X, _ = problem(n=60)
    table = read_table(gk.SVC(), X, reset=True)
    view = gaps_as_levels(table)
    assert not view(table).missing[:, 4].any()
    assert_array_equal(view(table).missing[:, :4], table.missing[:, :4])
    assert gaps_as_levels(view(table)) is None


def test_offsets_of_sources_are_taken_out_and_noise_is_not():
    random = np.random.default_rng(0)
    source = random.integers(0, 3, 600)
    X = random.standard_normal((600, 4))
    X[source == 1, 0] += 3.0  # a shifted source
    X[np.arange(600), source + 1] = np.nan  # whose pattern gives it away
    view = without_offsets(read_table(gk.SVC(), X, reset=True))
    moved = view(read_table(gk.SVC(), X, reset=True)).values
    means = [moved[source == k, 0].mean() for k in range(3)]
    assert np.ptp(means) < 0.1
    assert np.abs(moved[:, 3] - X[:, 3])[source != 2].max() < 0.2
    scattered = punch(random, random.standard_normal((600, 12)), 0.5)
    assert without_offsets(read_table(gk.SVC(), scattered, reset=True)) is None


def test_weights_of_a_mixture_find_the_right_share():
    random = np.random.default_rng(0)
    from_first = random.random(20_000) < 0.7
    seen = np.where(from_first, random.random(20_000) < 0.9, random.random(20_000) < 0.1)
    chances = np.column_stack([np.where(seen, 0.9, 0.1), np.where(seen, 0.1, 0.9)])
    assert_allclose(mixture_weights(chances, None), [0.7, 0.3], atol=0.02)


def test_weights_of_a_mean_are_least_squares():
    random = np.random.default_rng(0)
    y = random.standard_normal(500)
    values = y[:, None] + random.standard_normal((500, 2)) * [1.0, 2.0]
    weights = mean_weights(values, y, None)
    assert_allclose(weights.sum(), 1.0)
    assert_allclose(weights, [0.8, 0.2], atol=0.06)


def test_clear_losers_are_left_out():
    random = np.random.default_rng(0)
    losses = random.random((100, 3)) + np.array([0.0, 0.01, 5.0])
    weights = combined_weights(losses, None, lambda kept: np.eye(len(kept))[0])
    assert_allclose(weights, [0.625, 0.375, 0.0])


def test_scores_become_the_probabilities_they_promise():
    random = np.random.default_rng(0)
    scores = random.standard_normal((5000, 1))
    y = (random.random(5000) < 1 / (1 + np.exp(-2 * scores[:, 0]))).astype(int)
    assert_allclose(sigmoid(scores, y, None).slope[0, 1], 2.0, rtol=0.1)
    bold = np.log(np.column_stack([1 / (1 + np.exp(4 * scores)), 1 / (1 + np.exp(-4 * scores))]))
    assert_allclose(tempered(bold, y, None).slope[0, 0], 0.5, rtol=0.1)


def test_the_largest_class_chooses_the_process_of_several(monkeypatch):
    """The choice of a view costs one process, whatever the number of classes."""
    fitted = []
    original = process_member._sampled
    monkeypatch.setattr(
        process_member, "_sampled", lambda *given: fitted.append(original(*given).processes_) or original(*given)
    )
    X, y = problem(n=60, n_classes=3)
    gk.GapClassifier(members=["process"], random_state=0, cv=2).fit(X, y)
    assert fitted
    assert all(len(processes) == 1 for processes in fitted)
