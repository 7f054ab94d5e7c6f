"""The Gap estimators: what they promise of members, weights, probabilities, sets and intervals."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import PredefinedSplit
from strategies import curved_problem, mixed_classes, punch

import gapkernel as gk
from gapkernel.density import Gaussian
from gapkernel.estimators.gap import base
from gapkernel.tables import read_table

FEW = ["process", "genrbf"]


@pytest.fixture(scope="module")
def classifier():
    X, y = mixed_classes()
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
    X, _ = mixed_classes(seed=1)
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
    X, _ = mixed_classes(seed=2)
    alone = np.vstack([classifier.predict_proba(X.iloc[[k]]) for k in range(5)])
    assert_allclose(classifier.predict_proba(X)[:5], alone, atol=1e-9)


def test_threads_and_copies_change_nothing():
    X, y = mixed_classes(n=70)
    model = gk.GapClassifier(members=[*FEW, "genrbf, indicator"], random_state=3)
    with gk.config_context(n_threads=1):
        one = model.fit(X, y).predict_proba(X)
    with gk.config_context(n_threads=2):
        two = model.fit(X, y)
    assert_array_equal(two.predict_proba(X), one)
    assert_array_equal(pickle.loads(pickle.dumps(two)).predict_proba(X), one)


def test_scales_and_offsets_of_the_columns_do_not_matter():
    X, y = mixed_classes(n=70)
    moved = X.assign(a=1e6 * X["a"] - 3e7, b=1e-6 * X["b"])
    here, there = (gk.GapClassifier(members=FEW, random_state=0).fit(table, y) for table in (X, moved))
    assert_allclose(here.predict_proba(X), there.predict_proba(moved), atol=1e-4)


def test_several_classes():
    X, y = mixed_classes(n=150, n_classes=3)
    model = gk.GapClassifier(members=["process", "genrbf", "trees, small"], random_state=0).fit(X, y)
    new, truth = mixed_classes(n=300, n_classes=3, seed=5)
    chances = model.predict_proba(new)
    assert chances.shape == (300, 3)
    shares = DummyClassifier(strategy="prior").fit(X, y).predict_proba(new)
    assert log_loss(truth, chances, labels=model.classes_) < 0.88 * log_loss(truth, shares, labels=model.classes_)
    assert (model.predict(new) == truth).mean() > 0.6  # the largest class has 0.56 of the rows


def test_weights_are_repeated_rows_for_the_share_of_classes():
    X, y = mixed_classes(n=80)
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
    X, y = mixed_classes(n=200)
    new, truth = mixed_classes(n=2000, seed=7)
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
    X, _ = mixed_classes(n=90)
    y = np.nan_to_num(X["a"].to_numpy()) + 0.1 * np.random.default_rng(0).standard_normal(90)
    here = gk.GapRegressor(members=FEW, random_state=0).fit(X, y)
    there = gk.GapRegressor(members=FEW, random_state=0).fit(X, 1e5 + 1e3 * y)
    assert_allclose(1e5 + 1e3 * here.predict(X), there.predict(X), rtol=1e-6)
    assert_allclose(1e3 * here.cv_score_, there.cv_score_, rtol=1e-4)


# --- members of one's own, and limits -------------------------------------------------------------


def test_members_may_be_any_estimator():
    X, y = mixed_classes(n=60)
    model = gk.GapClassifier(members=["genrbf", HistGradientBoostingClassifier(max_iter=5)], random_state=0).fit(X, y)
    assert {row.member for row in model.members_} == {"genrbf", "HistGradientBoostingClassifier"}


def test_a_member_that_is_clearly_worse_has_no_weight():
    X, y = mixed_classes(n=200)
    model = gk.GapClassifier(members=["process", DummyClassifier(strategy="uniform")], random_state=0).fit(X, y)
    assert {row.member: row.weight for row in model.members_}["DummyClassifier"] == 0.0


def test_a_time_limit_stops_after_the_member_at_work():
    X, y = mixed_classes(n=60)
    model = gk.GapClassifier(time_limit=1e-9, random_state=0).fit(X, y)
    assert [row.member for row in model.members_] == ["process"]


def test_any_score_can_choose_the_settings():
    X, y = mixed_classes(n=60)

    def inverted(model, X, y):
        return -get_scorer("roc_auc")(model, X, y)

    best, worst = (
        gk.GapClassifier(members=["genrbf"], scoring=scoring, random_state=0).fit(X, y).cv_score_
        for scoring in ("roc_auc", inverted)
    )
    assert 0.75 < best <= 1.0
    assert -worst < best - 0.05, "the settings do not depend on the score"


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
    X, y = mixed_classes(n=40)
    model = gk.GapClassifier(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "fitted_")


def test_equal_weights_are_no_weights():
    X, y = mixed_classes(n=60)
    plain, heavy = (
        gk.GapClassifier(members=FEW, random_state=0).fit(X, y, sample_weight=w) for w in (None, np.full(60, 20.0))
    )
    assert_allclose(plain.predict_proba(X), heavy.predict_proba(X), atol=1e-6)


def test_members_without_a_seed_get_one():
    X, y = mixed_classes(n=60)
    answers = [
        gk.GapClassifier(members=[ExtraTreesClassifier(5)], random_state=0).fit(X, y).cv_score_ for _ in range(2)
    ]
    assert answers[0] == answers[1]


# --- a fit is whole, and its options mean what they say -------------------------------------------


def test_a_fit_that_fails_changes_nothing():
    X, y = mixed_classes(n=60)
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
    X, y = mixed_classes(n=60)
    model = gk.GapClassifier(members=[Recorded(strategy="prior")], random_state=0).fit(X, y)
    assert_array_equal(model.fitted_[0].estimator.model_.given_, y)


def test_threads_are_a_matter_of_time_and_the_bar_of_taste(monkeypatch):
    X, y = mixed_classes(n=40)
    bars = []
    monkeypatch.setattr(base, "tracked", lambda items, *_: bars.append(gk.get_config().progress) or items)
    one, two = (
        gk.GapClassifier(members=["genrbf"], random_state=0, n_jobs=n, verbose=v).fit(X, y).predict_proba(X)
        for n, v in ((1, False), (2, True))
    )
    assert_array_equal(one, two)
    assert bars == [False, True]


@pytest.mark.parametrize("as_list", [True, False])
def test_a_splitter_knows_the_rows_as_they_were_given(as_list):
    """A row of weight zero is no row, also where folds are given by the places of rows."""
    X, y = mixed_classes(n=60)
    weight = np.ones(60)
    weight[[3, 17, 40]] = 0.0
    cv = PredefinedSplit(np.arange(60) % 4)
    cv = list(cv.split()) if as_list else cv
    models = [
        gk.GapClassifier(members=["genrbf"], cv=folds, random_state=0).fit(*given)
        for folds, given in (
            (cv, (X, y, weight)),
            (PredefinedSplit((np.arange(60) % 4)[weight > 0]), (X[weight > 0], y[weight > 0])),
        )
    ]
    assert models[0].cv_score_ == models[1].cv_score_
    assert_allclose(models[0].predict_proba(X), models[1].predict_proba(X))


def test_a_split_without_a_row_to_learn_from_is_refused():
    X, y = mixed_classes(n=60)
    weight = (np.arange(60) % 2).astype(float)
    even, odd = np.arange(0, 60, 2), np.arange(1, 60, 2)
    with pytest.raises(ValueError, match="Split 1 of cv has no row of positive weight"):
        gk.GapClassifier(members=["genrbf"], cv=[(odd, even), (even, odd)]).fit(X, y, weight)


def test_members_share_the_densities_of_the_folds(monkeypatch):
    """Two kernels that ask for the same density have it fitted once on each fold, and once on all rows."""
    fits = []
    original = Gaussian.fit
    monkeypatch.setattr(Gaussian, "fit", lambda self, *given, **more: fits.append(1) or original(self, *given, **more))
    X, y, _ = curved_problem()
    gk.GapClassifier(members=["genrbf", "rbf", "linear"], cv=3, random_state=0).fit(X, y)
    assert len(fits) == 4
