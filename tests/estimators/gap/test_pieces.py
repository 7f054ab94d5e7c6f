"""What the Gap estimators are made of: columns, views, weights of members, and calibrated scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from strategies import mixed_classes, punch

import gapkernel as gk
from gapkernel.estimators.gap import shared_data
from gapkernel.estimators.gap.combined import combined_weights, mean_weights, mixture_weights, sigmoid, tempered
from gapkernel.estimators.gap.members import FEATURES, KERNELS, TREES, of_estimator
from gapkernel.estimators.gap.preparation import code_columns, gaps_as_levels, preparation, without_offsets
from gapkernel.tables import read_table

FEW = ["process", "genrbf"]


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
    X, _ = mixed_classes(n=60)
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
    weights = combined_weights(losses, None, ["process", "forest", "linear"], lambda kept: np.eye(len(kept))[0])
    assert_allclose(weights, [0.625, 0.375, 0.0])


def test_many_members_of_one_family_take_nothing_from_the_others():
    losses = np.random.default_rng(0).random((100, 4))
    weights = combined_weights(losses, None, ["process", *["kernel"] * 3], lambda kept: np.zeros(len(kept)))
    assert_allclose(weights, 0.75 * np.array([1 / 2, 1 / 6, 1 / 6, 1 / 6]))


@pytest.mark.parametrize("estimator", [gk.GapClassifier(), gk.GapRegressor()], ids=str)
def test_the_docstring_names_every_member(estimator):
    text = " ".join(type(estimator).__doc__.split())
    assert [name for name in KERNELS | FEATURES | TREES if f'"{name}"' not in text] == []


def test_every_kernel_is_of_one_family_and_every_boosting_of_another():
    families = {name: member.family for name, member in (KERNELS | FEATURES | TREES).items()}
    assert set(families.values()) == {
        "process",
        "process, shrunk",
        "kernel",
        "linear",
        "boosting",
        "forest",
    }
    given = [of_estimator("Pipeline", make_pipeline(one)) for one in (GaussianNB(), LogisticRegression())]
    assert given[0].family != given[1].family
    assert families["trees"] == families["trees, small"] != families["forest"]
    assert families["genrbf, indicator"] == families["ehk"] == families["rbf, offsets"]


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
    original = shared_data.SharedData._fitted_to_sample
    monkeypatch.setattr(
        shared_data.SharedData,
        "_fitted_to_sample",
        lambda *given: fitted.append(original(*given).processes_) or original(*given),
    )
    X, y = mixed_classes(n=60, n_classes=3)
    gk.GapClassifier(members=["process"], random_state=0, cv=2).fit(X, y)
    assert fitted
    assert all(len(processes) == 1 for processes in fitted)


@pytest.mark.parametrize("model", [gk.GapClassifier, gk.GapRegressor])
def test_a_member_finds_the_same_whatever_was_tried_before_it(model):
    """What members share is computed from the table alone."""
    X, y = mixed_classes(n=60)
    y = y if model is gk.GapClassifier else np.nan_to_num(X["a"]) + (y == "yes")
    names = ["process, shrunk", "genrbf, indicator", "ehk, levels", "process", "genrbf"]
    there, back = (
        {row.member: row[1:3] for row in model(members=some, cv=3, random_state=0).fit(X, y).members_}
        for some in (names, names[::-1])
    )
    assert there.keys() == back.keys() == set(names)
    for name in names:
        assert str(there[name]) == str(back[name])


def test_processes_share_their_choice(monkeypatch):
    """The view and the kernel on the gaps are chosen once, however many members are processes."""
    fits = []
    original = shared_data.SharedData._process
    monkeypatch.setattr(shared_data.SharedData, "_process", lambda *given: fits.append(given[1]) or original(*given))
    X, y = mixed_classes(n=60)
    gk.GapClassifier(members=["process"], random_state=0, cv=2).fit(X, y)
    alone = len(fits)
    gk.GapClassifier(members=["process", "process, shrunk"], random_state=0, cv=2).fit(X, y)
    assert alone > 1
    assert len(fits) == 2 * alone


@pytest.mark.parametrize("name", ["MOST_SEARCHED", "SEARCH_COST"])
def test_length_scales_of_columns_stay_where_hyperparameters_are_found_from_fewer_rows(monkeypatch, name):
    monkeypatch.setattr(shared_data, "FEWEST_SEARCHED", 60)
    monkeypatch.setattr(shared_data, name, 60)
    random = np.random.default_rng(0)
    X = random.standard_normal((90, 3))
    for model, y in ((gk.GapRegressor, np.sin(3 * X[:, 0])), (gk.GapClassifier, (X[:, 0] > 0).astype(int))):
        fitted = model(members=["process, shrunk"], random_state=0).fit(X, y).fitted_[0].estimator
        assert np.shape(np.ravel(fitted.length_scale_)) == (3,)
        assert fitted.optimizer is None
