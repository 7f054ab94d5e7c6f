"""scikit-learn's own checks, over every public estimator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, parametrize_with_checks
from strategies import LIBSVM

import gapkernel as gk

MACHINES = [gk.SVC(tol=1e-12), gk.SVR(tol=1e-12), gk.OneClassSVM(tol=1e-12, nu=0.3), gk.KernelRidge()]
LIBSVM_ESTIMATORS = [gk.SVC, gk.SVR, gk.OneClassSVM]
ONE_COLUMN_A_ROW = (
    "its columns are the training rows, so a repeated row is a repeated column, and a row of weight 0 a column; "
    "see test_weights_in_features_are_repeated_rows"
)
SHUFFLED_FOLDS = "its folds are drawn from the rows, so a repeated row may be on both sides of a split"
LEARNED = (
    "a repeated row adds to the evidence by which hyperparameters are found: equal targets show less noise, equal "
    "labels more certainty. At given ones the two are the same: see test_a_weight_is_the_noise_of_a_mean, "
    "test_whole_weights_are_rows_with_one_latent_value"
)
EXEMPTIONS = {
    gk.GaussianProcessRegressor: {"check_sample_weight_equivalence_on_dense_data": LEARNED},
    gk.GaussianProcessClassifier: {"check_sample_weight_equivalence_on_dense_data": LEARNED},
    **{estimator: {"check_sample_weight_equivalence_on_dense_data": LIBSVM} for estimator in LIBSVM_ESTIMATORS},
    gk.GapClassifier: {"check_sample_weight_equivalence_on_dense_data": SHUFFLED_FOLDS},
    gk.GapRegressor: {"check_sample_weight_equivalence_on_dense_data": SHUFFLED_FOLDS},
    gk.Gram: {"check_sample_weight_equivalence_on_dense_data": ONE_COLUMN_A_ROW},
}


@parametrize_with_checks(
    [
        gk.SVC(),
        gk.SVR(),
        gk.OneClassSVM(),
        gk.KernelRidge(),
        gk.GaussianProcessRegressor(),
        gk.GaussianProcessClassifier(),
        gk.GapClassifier(members=["genrbf"], cv=2, random_state=0),
        gk.GapRegressor(members=["genrbf"], cv=2, random_state=0),
        gk.Gram(),
        gk.density.Gaussian(),
        gk.density.Marginals(),
        gk.density.JointGaussian(),
        gk.density.FactorAnalysis(1),
        gk.density.GaussianMixture(2, random_state=0),
        gk.density.BestDensity(cv=2),
        gk.density.Neighbours(8, random_state=0),
        gk.density.AtomicDensity(n_atoms=8, random_state=0),
        gk.SVC(kernel="ehk"),
        gk.SVCCV(Cs=[1.0], gammas=[0.1, 1.0], cv=3),
        gk.SVRCV(Cs=[1.0], gammas=[0.1, 1.0], cv=3),
        gk.KernelRidgeCV(alphas=[1.0], gammas=[0.1, 1.0], cv=3),
        gk.TableModel(gk.SVC()),
        gk.TableModel(gk.SVR()),
    ],
    expected_failed_checks=lambda estimator: EXEMPTIONS.get(type(estimator), {}),
)
@pytest.mark.filterwarnings("ignore:The .* ended at its:sklearn.exceptions.ConvergenceWarning")  # targets of pure noise
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", LIBSVM_ESTIMATORS, ids=lambda e: e.__name__)
def test_the_exempted_check_passes_with_a_small_tolerance(estimator):
    check_sample_weight_equivalence_on_dense_data(estimator.__name__, estimator(tol=1e-12))


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("gap_rate", [0.0, 0.2])
def test_weights_are_repeated_rows(machine, gap_rate):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((30, 3)), random.integers(0, 2, 30)
    X[random.random(X.shape) < gap_rate] = np.nan
    weight = random.integers(0, 4, 30)
    density = gk.density.Gaussian(ridge=1e-3, tol=1e-13, max_iter=10_000)
    # with kernel "rbf" a repeated row with gaps is several draws, a weighted one is a single draw: not the same
    machine = clone(machine).set_params(density=density, kernel="genrbf", gamma=0.3)
    weighted = clone(machine).fit(X, y, sample_weight=weight)
    repeated = clone(machine).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    verb = "predict" if isinstance(machine, gk.SVR | gk.KernelRidge) else "decision_function"
    assert_allclose(getattr(weighted, verb)(X), getattr(repeated, verb)(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kernel", ["genrbf", "rbf"])
@pytest.mark.parametrize("features", [gk.Gram(), gk.Nystroem(1000, random_state=0)], ids=lambda f: type(f).__name__)
def test_weights_in_features_are_repeated_rows(features, kernel):
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 3))
    X[random.random(X.shape) < 0.2] = np.nan
    weight = random.integers(1, 4, 30)
    density = gk.density.Gaussian(ridge=1e-3, tol=1e-13, max_iter=10_000)
    features = clone(features).set_params(density=density, kernel=kernel, gamma=0.3)
    weighted = clone(features).fit(X, sample_weight=weight).transform(X)
    repeated = clone(features).fit(np.repeat(X, weight, axis=0)).transform(X)
    if isinstance(features, gk.Gram):
        assert_allclose(np.repeat(weighted, weight, axis=1), repeated, rtol=1e-6, atol=1e-8)
    else:  # every row is a landmark, so the features give the kernel itself
        assert_allclose(weighted @ weighted.T, repeated @ repeated.T, rtol=1e-6, atol=1e-8)
