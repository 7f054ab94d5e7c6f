"""Choosing a density: neither the order of the rows nor rows that count for nothing matter."""

import pkgutil
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from gapkernel.density import BestDensity, FactorAnalysis, Gaussian, GaussianMixture, Neighbours


def lumps(n=40):
    """Two lumps, one after the other."""
    random = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0], [6.0, 9.0]], n, axis=0) + random.standard_normal((2 * n, 2))


def test_sorted_rows_do_not_mislead_the_choice():
    assert isinstance(BestDensity(cv=2, random_state=0).fit(lumps()).best_density_, GaussianMixture)


@pytest.mark.parametrize("cv", [3, None])
def test_rows_of_weight_zero_belong_to_no_split(cv):
    X = np.vstack([np.full((40, 2), 1e6), lumps()])
    weight = np.repeat([0.0, 1.0], [40, 80])
    candidates = [Gaussian(), FactorAnalysis(1)]
    weighted = BestDensity(candidates, cv=cv, random_state=0).fit(X, sample_weight=weight)
    assert_allclose(weighted.scores_, BestDensity(candidates, cv=cv, random_state=0).fit(lumps()).scores_)


def test_given_splits_number_all_rows():
    X = lumps()
    weight = np.where(np.arange(80) % 4, 1.0, 0.0)
    halves = [np.arange(0, 80, 2), np.arange(1, 80, 2)]
    chosen = BestDensity([Gaussian()], cv=[(halves[0], halves[1])]).fit(X, sample_weight=weight)
    train, test = (half[weight[half] > 0] for half in halves)
    assert_allclose(chosen.scores_, [[Gaussian().fit(X[train]).score(X[test])]])


@pytest.mark.parametrize(
    "form", [list, np.array, lambda rows: np.isin(np.arange(80), rows)], ids=["list", "array", "mask"]
)
def test_splits_come_in_any_form(form):
    halves = [np.arange(0, 80, 2), np.arange(1, 80, 2)]
    chosen = BestDensity([Gaussian()], cv=[tuple(map(form, halves))]).fit(lumps())
    assert_allclose(chosen.scores_, [[Gaussian().fit(lumps()[halves[0]]).score(lumps()[halves[1]])]])
    with pytest.raises(ValueError, match="cv must give places of rows from 0 to 79"):
        BestDensity([Gaussian()], cv=[([0, 80], [1])]).fit(lumps())


def test_a_density_without_a_log_density_has_no_score():
    assert not hasattr(Neighbours(), "score_samples")
    with pytest.raises(AttributeError) as complaint:
        Neighbours().fit(lumps()).score(lumps())
    assert "Use gapkernel.density.Gaussian()" in str(complaint.value.__cause__)


@pytest.mark.parametrize("kind", [FactorAnalysis, GaussianMixture])
@pytest.mark.parametrize("share", [1.0, 1.0 / 80])
def test_criteria_are_in_the_units_of_the_data(kind, share):
    X = np.column_stack([lumps() * [100.0, 0.01], np.random.default_rng(1).standard_normal((80, 2))])
    density = kind().fit(X, sample_weight=np.full(80, share))
    k, d = density.n_components_, 4
    n_parameters = d * (k + 2) - k * (k - 1) / 2 if kind is FactorAnalysis else k - 1 + k * d * (d + 3) / 2
    assert_allclose(density.bic_[k], n_parameters * np.log(80) - 2 * density.log_likelihood_[-1], rtol=1e-9)


@pytest.mark.parametrize("density", [FactorAnalysis(1), GaussianMixture(2, random_state=0)])
@pytest.mark.parametrize(("stopped", "reason"), [(False, "max_iter=2 was reached"), (True, "the objective fell")])
def test_warnings_say_why_an_iteration_stopped(monkeypatch, density, stopped, reason):
    if stopped:
        module = "em.factor_em" if isinstance(density, FactorAnalysis) else "gaussian_mixture"
        function = f"gapkernel.density.{module}.climb"
        climb = pkgutil.resolve_name(function)
        monkeypatch.setattr(function, lambda *options: replace(climb(*options), n_iter=1, converged=False))
    with pytest.warns(ConvergenceWarning, match=f"EM stopped early: {reason}"):
        clone(density).set_params(max_iter=2, tol=0.0).fit(np.random.default_rng(0).standard_normal((80, 3)))


def test_a_candidate_without_a_log_density_is_refused_by_name():
    with pytest.raises(ValueError, match=r"Neighbours.* has no log density"):
        BestDensity([Gaussian(), Neighbours()]).fit(lumps())
