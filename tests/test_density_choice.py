"""Choosing a density: neither the order of the rows nor rows that count for nothing matter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gapkernel.density import BestDensity, FactorAnalysis, Gaussian, GaussianMixture


def lumps(n=40):
    """Two lumps, one after the other."""
    random = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0], [6.0, 9.0]], n, axis=0) + random.standard_normal((2 * n, 2))


def test_sorted_rows_do_not_mislead_the_choice():
    assert isinstance(BestDensity(cv=2).fit(lumps()).best_density_, GaussianMixture)


@pytest.mark.parametrize("cv", [3, None])
def test_rows_of_weight_zero_belong_to_no_split(cv):
    X = np.vstack([np.full((40, 2), 1e6), lumps()])
    weight = np.repeat([0.0, 1.0], [40, 80])
    candidates = [Gaussian(), FactorAnalysis(1)]
    weighted = BestDensity(candidates, cv=cv).fit(X, sample_weight=weight)
    assert_allclose(weighted.scores_, BestDensity(candidates, cv=cv).fit(lumps()).scores_)


def test_given_splits_number_all_rows():
    X = lumps()
    weight = np.where(np.arange(80) % 4, 1.0, 0.0)
    halves = [np.arange(0, 80, 2), np.arange(1, 80, 2)]
    chosen = BestDensity([Gaussian()], cv=[(halves[0], halves[1])]).fit(X, sample_weight=weight)
    train, test = (half[weight[half] > 0] for half in halves)
    assert_allclose(chosen.scores_, [[Gaussian().fit(X[train]).score(X[test])]])
