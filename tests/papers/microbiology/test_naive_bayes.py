"""Naive Bayes for categories that passes over gaps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import CategoricalNB

from gapkernel.papers.microbiology import CategoricalNaiveBayes

nan = np.nan


def test_it_is_scikit_learns_without_gaps():
    random = np.random.default_rng(0)
    table, y = random.integers(0, 3, (100, 4)), random.integers(0, 3, 100)
    ours, theirs = CategoricalNaiveBayes().fit(table, y), CategoricalNB().fit(table, y)
    assert_allclose(ours.predict_proba(table), theirs.predict_proba(table))


def test_it_leaves_gaps_out():
    random = np.random.default_rng(0)
    table, y = random.integers(0, 3, (100, 4)).astype(float), random.integers(0, 2, 100)
    model = CategoricalNaiveBayes().fit(table, y)
    narrow = CategoricalNaiveBayes().fit(table[:, :2], y)
    gappy = table.copy()
    gappy[:, 2:] = nan
    assert_allclose(model.predict_proba(gappy), narrow.predict_proba(table[:, :2]))
    assert_allclose(model.predict_proba(np.full((1, 4), nan))[0], np.bincount(y) / 100)
    unseen = table.copy()
    unseen[:, 2:] = 9.0
    assert_array_equal(model.predict(unseen), model.predict(gappy))


def test_it_counts_observed_cells_only():
    # class 0 has column values 0, 0, gap; class 1 has 1, gap, gap; 1 row added: (2+1)/(2+2) and (0+1)/(1+2) for value 0
    model = CategoricalNaiveBayes().fit([[0.0], [0.0], [nan], [1.0], [nan], [nan]], [0, 0, 0, 1, 1, 1])
    assert_allclose(np.exp(model.feature_log_prob_[0]), [[3 / 4, 1 / 4], [1 / 3, 2 / 3]])


def test_it_names_a_bad_smoothing():
    with pytest.raises(ValueError, match="'smoothing' parameter"):
        CategoricalNaiveBayes(smoothing=0).fit([[0.0], [1.0]], [0, 1])
