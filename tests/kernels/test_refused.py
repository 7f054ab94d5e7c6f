"""What overflows or makes no sense is refused in plain words."""

import numpy as np
import pytest

import gapkernel as gk
from gapkernel.compute.pairs.gamma_grid import ENOUGH_WIDTHS
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF
from gapkernel.kernels.base import Scaled, Sum
from gapkernel.papers.expected_kernel import RobustSVC
from gapkernel.papers.genrbf import GeometricMarginSVC
from gapkernel.papers.missing_variables import CCCPClassifier

random = np.random.default_rng(0)
X = random.normal(size=(20, 3))
X[random.random(X.shape) < 0.2] = np.nan
X[3] = np.nan
NUMBERS = np.nan_to_num(X).sum(axis=1)
CLASSES = (NUMBERS > 0).astype(int)
END = gk.density.Gaussian.from_moments(np.zeros(2), [[1.0, 0.99], [0.99, 1.0]]).condition(
    [[1.7e308, np.nan], [-1.7e308, np.nan], [0.0, np.nan], [0.0, 1.0]]
)


@pytest.mark.parametrize("width", [1e300, 5e-324, np.inf, 0.0])
@pytest.mark.parametrize("kernel", ["rbf", "genrbf"])
def test_an_extreme_width_is_refused(kernel, width):
    with pytest.raises(ValueError, match="'gamma' parameter"):
        gk.SVC(kernel=kernel, gamma=width).fit(X, CLASSES)


def test_rows_too_far_away_to_be_compared_are_refused():
    model = gk.SVR().fit(X, NUMBERS)
    with pytest.raises(ValueError, match="overflows for these rows"):
        model.predict(1e300 * X)


@pytest.mark.filterwarnings("ignore:overflow")  # numpy says so too
@pytest.mark.parametrize("verb", ["gram", "diag"])
def test_a_kernel_that_overflows_is_refused(verb):
    rows = gk.density.Gaussian.from_moments(np.zeros(2), np.eye(2)).condition([[1e200, 1e200]])
    with pytest.raises(ValueError, match=r"ExpectedLinear\(\) overflows"):
        getattr(ExpectedLinear(), verb)(rows)


@pytest.mark.parametrize("estimator", [gk.SVR(), gk.KernelRidge(), gk.FourierRegressor(), gk.GapRegressor()], ids=str)
def test_targets_that_cannot_be_squared_are_refused(estimator):
    with pytest.raises(ValueError, match="too extreme to square"):
        estimator.fit(X, 1e299 * NUMBERS)


def test_text_is_no_target_of_a_regression():
    with pytest.raises(ValueError, match="numbers are needed"):
        gk.FourierRegressor().fit(X, np.full(len(X), "a"))


@pytest.mark.parametrize(
    "kernel", [Sum(ExpectedRBF(), 3), Sum("rbf", GenRBF()), Scaled(None, 2.0), Scaled(GenRBF(), "two")], ids=repr
)
def test_kernels_are_made_of_kernels(kernel):
    with pytest.raises(ValueError, match="parameter of"):
        gk.SVC(kernel=kernel).fit(X, CLASSES)


@pytest.mark.parametrize("cv", [[([0], [99])], [(["a"], [1])], [], [([True], [False])]], ids=repr)
@pytest.mark.parametrize("estimator", [gk.SVCCV(), gk.GapClassifier()], ids=str)
def test_splits_name_rows_that_exist(estimator, cv):
    with pytest.raises(ValueError, match="cv "):
        estimator.set_params(cv=cv).fit(X, CLASSES)


@pytest.mark.parametrize("C", [5e-324, 1e300])
def test_an_extreme_penalty_is_refused(C):
    for estimator in (CCCPClassifier(C=C), RobustSVC(C=C), GeometricMarginSVC(C=C)):
        with pytest.raises(ValueError, match="parameter of"):
            estimator.fit(X, CLASSES)


@pytest.mark.parametrize(
    "changes", [{"memory_budget": np.nan}, {"memory_budget": "1"}, {"n_threads": 1.5}, {"n_threads": True}], ids=repr
)
def test_limits_are_whole_numbers(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        gk.set_config(**changes)


@pytest.mark.parametrize(
    "call",
    [
        lambda: gk.KernelRidge(alpha=10**400).fit(X, NUMBERS),
        lambda: gk.density.FactorAnalysis(tol=10**400).fit(X),
        lambda: gk.KernelRidgeCV(alphas=[10**400]).fit(X, NUMBERS),
        lambda: RobustSVC(max_iter=10**400).fit(X, CLASSES),
        lambda: gk.FourierClassifier(10**400).fit(X, CLASSES),
        lambda: gk.FourierFeatures(10**400).fit(X),
        lambda: gk.studies.friedman_nemenyi([[10**400, 1.0], [1.0, 2.0]]),
        lambda: gk.inspection.value_of_information(gk.KernelRidge().fit(X, NUMBERS), X[3], costs=[10**400, 1.0, 1.0]),
    ],
)
def test_whole_numbers_beyond_all_floats_are_refused_in_plain_words(call):
    with pytest.raises((ValueError, MemoryError), match=r"too large|memory budget|'max_iter' parameter"):
        call()


def test_no_ridge_is_refused():
    with pytest.raises(ValueError, match="alpha is empty"):
        gk.KernelRidge(alpha=[]).fit(X, NUMBERS)


def test_a_density_that_is_not_fitted_tells_no_value_of_information():
    model = gk.KernelRidge().fit(X, NUMBERS)
    with pytest.raises(ValueError, match="not fitted yet"):
        gk.inspection.value_of_information(model, X[3], density=gk.density.Gaussian())


@pytest.mark.parametrize("verb", ["gram", "cross"])
@pytest.mark.parametrize("metric", [None, [[2.0, 0.0], [0.0, 1.0]]], ids=["plain", "metric"])
def test_rows_at_the_end_of_all_numbers_are_refused(verb, metric):
    """The difference of two means overflows, and with a gap beside it the distance is infinity less infinity."""
    kernel = ExpectedRBF(0.5) if metric is None else GenRBF(0.5, metric)
    given = {"gram": (END,), "cross": (END, END)}
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="overflows for these rows"):
        getattr(kernel, verb)(*given[verb])


@pytest.mark.parametrize("right", [None, END], ids=["gram", "cross"])
def test_no_engine_gives_out_what_is_no_number(right):
    """One pass for many widths tells rows at an infinite distance apart, which one width refuses."""
    with np.errstate(all="ignore"):
        with pytest.raises(ValueError, match="overflows for these rows"):
            ExpectedRBF(0.5).over_widths([0.1], END, right)
        found = ExpectedRBF(0.5).over_widths(np.linspace(0.1, 0.6, ENOUGH_WIDTHS), END, right)
    assert np.isfinite(found).all()
    assert (found.diagonal(axis1=1, axis2=2) > 0).all()
