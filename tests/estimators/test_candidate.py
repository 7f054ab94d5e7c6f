"""How the settings of a candidate are tried together: work is shared, and nothing but time depends on it."""

from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC as CompleteSVC
from strategies import mixed_classes

import gapkernel as gk
from gapkernel.density import Gaussian
from gapkernel.estimators.candidate import Candidate, Grid, SplitTable, full_names
from gapkernel.imputation import GapFiller
from gapkernel.kernels import GenRBF
from gapkernel.studies import CANDIDATES, folds, on_filled
from gapkernel.tables import read_table

SMALL = Grid(C=(0.5, 8.0), gamma=(0.05, 0.3))


@pytest.fixture(scope="module")
def problem():
    X, y = load_breast_cancer(return_X_y=True)
    return gk.ampute(X[:90, :5], 0.3, random_state=0), np.array(["bad", "good"])[y[:90]]


@pytest.mark.parametrize(
    ("estimator", "name", "full"),
    [
        (gk.SVC(), "gamma", "gamma"),
        (gk.SVC(kernel=GenRBF()), "gamma", "kernel__gamma"),
        (gk.SVC(kernel=GenRBF()), "C", "C"),
        (make_pipeline(StandardScaler(), CompleteSVC()), "gamma", "svc__gamma"),
    ],
    ids=str,
)
def test_a_parameter_goes_by_its_last_name(estimator, name, full):
    assert full_names(estimator, {name: 0.5}) == {full: 0.5}


@pytest.mark.parametrize("weighted", [True, False])
def test_answers_out_of_fold_are_those_of_single_fits(problem, weighted):
    X, y = np.nan_to_num(problem[0]), problem[1]
    weight = np.random.default_rng(0).random(90) if weighted else None
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    table = SplitTable(X, y, splits, weight)
    settings = [{"var_smoothing": 1e-9}, {"var_smoothing": 0.5}]
    answers = table.out_of_fold(GaussianNB(), settings, lambda model, new: model.predict_proba(new))
    for setting, given in zip(settings, answers, strict=True):
        for train, test in splits:
            alone = GaussianNB(**setting).fit(X[train], y[train], None if weight is None else weight[train])
            assert_allclose(given[test], alone.predict_proba(X[test]), rtol=1e-12)
    assert np.abs(answers[0] - answers[1]).max() > 0.01


def test_a_level_that_only_test_rows_have_is_a_gap():
    X, _ = mixed_classes(n=40)
    X["kind"] = X["kind"].cat.add_categories("new")
    X.loc[0, "kind"] = "new"
    table = read_table(gk.SVC(), X, reset=True)
    splits = [(np.arange(1, 40), np.arange(1))]
    seen = SplitTable(table, np.arange(40), splits).answers(FirstRow(), [{}], lambda model, new: new.missing[0])
    assert seen[0][0][list(X).index("kind")]
    assert not table.missing[0][list(X).index("kind")]


class FirstRow(GaussianNB):
    """Learns nothing."""

    def fit(self, X, y):
        return self


class Counting(FunctionTransformer):
    """Fills gaps with zeros and counts its fits."""

    fits: ClassVar[list] = []

    def fit(self, X, y=None):
        self.fits.append(1)
        return super().fit(X, y)


@pytest.mark.parametrize("last", [CompleteSVC(), LogisticRegression()], ids=str)
def test_what_no_setting_changes_is_fitted_once_on_each_split(problem, last):
    X, y = problem
    pipeline = make_pipeline(Counting(np.nan_to_num), StandardScaler(), last)
    candidate = Candidate(name="zeros", estimator=pipeline, grid={"C": (0.1, 1.0, 10.0)})
    Counting.fits.clear()
    scores = candidate.scores(X, y, folds(3, 0), candidate.settings(SMALL))
    assert len(Counting.fits) == 3
    assert len(set(scores.mean(axis=0))) > 1, "the settings make no difference"


def test_a_step_that_a_setting_changes_is_fitted_for_each(problem):
    X, y = problem
    pipeline = make_pipeline(GapFiller(name="zero", random_state=0), Nystroem(random_state=0), LogisticRegression())
    candidate = Candidate(name="features", estimator=pipeline, grid={"gamma": (0.1, 50.0), "n_components": (2, 20)})
    settings = candidate.settings(SMALL)
    (scores,) = candidate.scores(X, y, ShuffleSplit(1, test_size=0.5, random_state=0), settings)
    train, test = next(ShuffleSplit(1, test_size=0.5, random_state=0).split(X))
    alone = [candidate.build(one).fit(X[train], y[train]).score(X[test], y[test]) for one in settings]
    assert_array_equal(scores, alone)
    assert len(set(alone)) > 1


def test_a_machine_with_options_of_its_own_is_fitted_itself(problem):
    """Only a default machine of scikit-learn has a faster twin."""
    X, y = problem
    weights = {"bad": 50.0, "good": 1.0}
    heavy = make_pipeline(GapFiller(name="zero", random_state=0), CompleteSVC(class_weight=weights))
    options = {"name": "heavy", "short": "heavy", "filler": GapFiller(name="zero", random_state=0)}
    plain, own = on_filled(**options), Candidate(name="heavy", estimator=heavy, grid={"gamma": (0.3,), "C": (0.5,)})
    setting = own.settings(SMALL)
    scores = own.scores(X, y, folds(3, 0), setting)
    assert scores.mean() < plain.scores(X, y, folds(3, 0), setting).mean()  # nearly all are called bad
    for score, (train, test) in zip(scores[:, 0], folds(3, 0).split(X, y), strict=True):
        assert score == own.build(setting[0]).fit(X[train], y[train]).score(X[test], y[test])


def test_kernel_machines_share_the_densities_of_the_splits(problem, monkeypatch):
    fits = []
    original = Gaussian.fit
    monkeypatch.setattr(Gaussian, "fit", lambda self, *given, **more: fits.append(1) or original(self, *given, **more))
    X, y = problem
    CANDIDATES["genrbf"].scores(X, y, folds(3, 0), CANDIDATES["genrbf"].settings(SMALL))
    assert len(fits) == 3
