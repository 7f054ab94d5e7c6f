"""Changes of the gaps are found as often as they should be, and seen where there are none as rarely as promised."""

import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest, false_discovery_control
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import punch

import gapkernel as gk
from gapkernel.estimators.inspectable import MOST_MASKS, Inspectable, TrainingSummary
from gapkernel.inspection import gap_drift, holm
from gapkernel.inspection.gap_drift import OTHER_PATTERNS
from gapkernel.persistence import load, save
from gapkernel.tables import Schema, Table


class Remembers(Inspectable, BaseEstimator):
    """An estimator that has learned nothing but where its training table had gaps."""

    def __init__(self, values):
        self.training_summary_ = TrainingSummary.of(self.table_of(values))

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X):
        return self

    def table_of(self, X):
        return Table(X, Schema.of_numbers(X.shape[1]))

    def cell_nodes(self, X, column, n_nodes):
        raise NotImplementedError


def table(random, rates, n):
    """Gaps that come in pairs, as they do: the second column misses what the first misses, half of the time."""
    gaps = random.random((n, len(rates))) < rates
    gaps[:, 1] |= gaps[:, 0] & (random.random(n) < 0.5)
    return np.where(gaps, np.nan, random.standard_normal(gaps.shape))


def rejections(n_tables, n_new, before, now, seed=0):
    random = np.random.default_rng(seed)
    found = np.zeros((n_tables, 3), bool)
    for k in range(n_tables):
        result = gap_drift(Remembers(table(random, before, 200)), table(random, now, n_new), random_state=k)
        found[k] = result.pvalue < 0.05, result.columns[0].pvalue < 0.05, result.patterns[0].pvalue < 0.05
    return found.mean(axis=0)


RATES = np.array([0.2, 0.1, 0.05, 0.3])


@pytest.mark.parametrize("n_tables", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_false_alarms_are_as_rare_as_promised(n_tables):
    whole, columns, patterns = rejections(n_tables, 80, RATES, RATES)
    for share in (whole, columns, patterns):
        assert binomtest(round(share * n_tables), n_tables, 0.05, alternative="greater").pvalue > 0.005
    assert binomtest(round(whole * n_tables), n_tables, 0.05, alternative="less").pvalue > 0.005  # not asleep


def test_patterns_that_nearly_every_row_has_alone_are_no_alarm():
    random = np.random.default_rng(0)
    old, new = (np.where(random.random((200, 12)) < 0.25, np.nan, 1.0) for _ in range(2))
    assert min(change.pvalue for change in gap_drift(Remembers(old), new, random_state=0).patterns) > 0.05


@pytest.mark.parametrize("n_tables", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_a_changed_column_is_found(n_tables):
    whole, columns, _ = rejections(n_tables, 150, RATES, RATES + np.array([0, 0, 0.2, 0]))
    assert whole > 0.8
    assert columns > 0.9


def test_gaps_that_only_move_together_are_seen_by_the_whole_and_the_patterns():
    random = np.random.default_rng(0)
    apart = np.where(random.random((400, 2)) < 0.3, np.nan, 1.0)
    together = np.where(np.repeat(random.random((400, 1)) < 0.3, 2, axis=1), np.nan, 1.0)
    result = gap_drift(Remembers(apart), together, random_state=0)
    assert result.pvalue == 0.001
    assert result.changed() == []
    assert result.patterns[0].pvalue < 1e-6


def test_the_changed_column_is_named_with_its_rates_and_effect():
    old, new = np.ones((100, 3)), np.ones((50, 3))
    old[:10, 1], new[:25, 1] = np.nan, np.nan
    result = gap_drift(Remembers(old), new, random_state=0)
    first = result.columns[0]
    assert (first.name, first.at_fit, first.now) == ("1", 0.1, 0.5)
    assert_allclose(first.effect, 2 * (np.arcsin(np.sqrt(0.5)) - np.arcsin(np.sqrt(0.1))))
    assert result.changed() == ["1"]
    assert "1" in repr(result.columns)
    new[:5, [0, 2]], new[5:9, 2] = np.nan, np.nan
    now = {change.name: change.now for change in gap_drift(Remembers(old), new, random_state=0).patterns}
    assert now == {"nothing": 0.5, "1": 0.32, "0, 1, 2": 0.1, OTHER_PATTERNS: 0.08}


def test_equal_tables_have_not_drifted():
    old = np.where(np.random.default_rng(0).random((60, 3)) < 0.3, np.nan, 1.0)
    result = gap_drift(Remembers(old), old)
    assert (result.pvalue, result.distance, result.changed()) == (1.0, 0.0, [])
    assert gap_drift(Remembers(np.ones((5, 2))), np.ones((3, 2))).pvalue == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_changes_the_order_and_stays_above_the_discovery_rate(pvalues):
    pvalues = np.array(pvalues)
    corrected = holm(pvalues)
    order = np.argsort(pvalues, kind="stable")
    assert np.all(np.diff(corrected[order]) >= 0)
    assert np.all(corrected >= false_discovery_control(pvalues) - 1e-12)
    assert np.all(corrected <= np.minimum(pvalues * len(pvalues), 1.0) + 1e-12)
    assert_allclose(holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])


ESTIMATORS = {
    "svc": gk.SVC(),
    "svccv": gk.SVCCV(Cs=[1.0], gammas=[0.1]),
    "calibrated": CalibratedClassifierCV(gk.SVC(), ensemble=False, cv=2),
    "pipeline": CalibratedClassifierCV(make_pipeline(StandardScaler(), gk.SVC()), ensemble=False, cv=2),
    "process": gk.GaussianProcessRegressor(optimizer=None),
    "gap": gk.GapClassifier(members=["genrbf"], cv=2, random_state=0),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_remembers_through_pickles_and_files(name, tmp_path):
    pytest.importorskip("skops")
    random = np.random.default_rng(0)
    X = punch(random, random.standard_normal((60, 3)), 0.2)
    model = ESTIMATORS[name].fit(X, np.repeat([0, 1], 30))
    new = punch(random, random.standard_normal((40, 3)), 0.6)
    found = gap_drift(model, new, random_state=0)
    assert found.pvalue < 0.05
    assert [change.at_fit for change in found.columns] == [np.isnan(X).mean(axis=0)[int(c.name)] for c in found.columns]
    save(model, tmp_path / "model.skops")
    for again in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.skops")):
        same = gap_drift(again, new, random_state=0)
        assert (same.pvalue, same.columns, same.patterns) == (found.pvalue, found.columns, found.patterns)


def test_what_is_remembered_is_small_and_the_same_in_every_fit():
    X = np.where(np.random.default_rng(0).random((3 * MOST_MASKS, 12)) < 0.5, np.nan, 1.0)
    first, second = (TrainingSummary.of(Table(X, Schema.of_numbers(12))) for _ in range(2))
    assert first.pattern_counts.sum() == MOST_MASKS
    assert first.n_rows == len(X)
    assert_array_equal(first.gap_counts, np.isnan(X).sum(axis=0))
    assert_array_equal(first.patterns, second.patterns)


def test_a_pipeline_of_one_step_is_its_step():
    random = np.random.default_rng(0)
    X = punch(random, random.standard_normal((60, 2)), 0.3)
    alone = gk.KernelRidge().fit(X, random.standard_normal(60))
    assert repr(gap_drift(Pipeline([("ridge", alone)]), X, random_state=0)) == repr(gap_drift(alone, X, random_state=0))


def test_a_model_that_remembers_nothing_is_refused():
    with pytest.raises(ValueError, match="LinearRegression does not remember"):
        gap_drift(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), [[np.nan]])
