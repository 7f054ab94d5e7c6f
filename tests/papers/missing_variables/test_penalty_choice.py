"""C by cross-validation: what it chooses, and what must not change the choice."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gapkernel.papers.missing_variables import AtomicDensity, CCCPClassifier
from gapkernel.papers.missing_variables.cccp_classifier import CANDIDATES, UNCHOSEN


def classifier(**options):
    return CCCPClassifier(**{"density": AtomicDensity(n_atoms=16), "basis": 40, "random_state": 0} | options)


def blobs(spread, n=120, seed=0):
    """Three classes, a tenth of the cells missing; and whole rows of the same law."""
    X, y = make_blobs(2 * n, centers=3, cluster_std=spread, random_state=seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gaps = np.where(np.random.default_rng(seed).random((n, 2)) < 0.1, np.nan, X[:n])
    return gaps, y[:n], X[n:], y[n:]


def log_loss(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize("spread", [0.3, 3.0])
def test_the_choice_is_close_to_the_best_for_new_rows(spread):
    X, y, new, truth = blobs(spread)
    losses = [log_loss(classifier(C=C).fit(X, y), new, truth) for C in CANDIDATES]
    chosen = classifier().fit(X, y)
    assert chosen.C_ in CANDIDATES
    assert log_loss(chosen, new, truth) <= min(losses) + 0.05
    assert max(losses) > min(losses) + 0.1  # or there would be nothing to choose


def test_classes_that_overlap_want_a_smaller_C():
    apart, overlapping = (classifier().fit(*blobs(spread)[:2]).C_ for spread in (0.3, 3.0))
    assert apart > overlapping


@pytest.mark.parametrize("loss", ["gp", "svm"])
def test_order_and_repetition_do_not_change_the_choice(loss):
    X, y, *_ = blobs(2.0, n=60)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    order = np.random.default_rng(2).permutation(weight.sum())
    weighted = classifier(loss=loss, basis=None).fit(X, y, sample_weight=weight)
    repeated, labels = np.repeat(X, weight, axis=0)[order], np.repeat(y, weight)[order]
    assert classifier(loss=loss, basis=None).fit(repeated, labels).C_ == weighted.C_


@pytest.mark.parametrize("labelled", [[0, 1], [0, 0, 1, 1], [1, 1, 1, 0]])
def test_too_few_labels_leave_it_at_one(labelled):
    X, y, *_ = blobs(0.5)
    y = np.concatenate([labelled, np.full(len(y) - len(labelled), -1)])
    assert classifier().fit(X, y).C_ == UNCHOSEN


def test_a_number_is_taken_as_it_is():
    X, y, *_ = blobs(0.5, n=30)
    assert classifier(C=7, basis=None).fit(X, y).C_ == 7.0
