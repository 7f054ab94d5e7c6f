"""scikit-learn's own checks, over every public estimator but `CCCPClassifier`, which has a file of its own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, parametrize_with_checks
from strategies import LIBSVM

import gapkernel as gk
from gapkernel.papers.expected_kernel import RobustSVC
from gapkernel.papers.genrbf import GeometricMarginSVC
from gapkernel.papers.microbiology import CategoricalNaiveBayes, MeanGram
from gapkernel.papers.missing_variables import AtomicDensity

MACHINES = [gk.SVC(tol=1e-12), gk.SVR(tol=1e-12), gk.OneClassSVM(tol=1e-12, nu=0.3), gk.KernelRidge()]
LIBSVM_ESTIMATORS = [gk.SVC, gk.SVR, gk.OneClassSVM]
ONE_COLUMN_A_ROW = (
    "its columns are the training rows, so a repeated row is a repeated column, and a row of weight 0 a column; "
    "see test_weights_in_features_are_repeated_rows"
)
LANDMARKS = (
    "landmarks are drawn by the places of the rows, which repeated rows change; with every row a landmark weights are "
    "repeated rows, see test_weights_in_features_are_repeated_rows"
)
SHUFFLED_FOLDS = "its folds are drawn from the rows, so a repeated row may be on both sides of a split"
LEARNED = (
    "a repeated row adds to the evidence by which hyperparameters are found: equal targets show less noise, equal "
    "labels more certainty. At given ones the two are the same: see test_a_weight_is_the_noise_of_a_mean, "
    "test_whole_weights_are_rows_with_one_latent_value"
)
WEIGHTS_ARE_NOT_REPEATED_ROWS = {
    **dict.fromkeys([*LIBSVM_ESTIMATORS, GeometricMarginSVC], LIBSVM),
    **dict.fromkeys([gk.GaussianProcessRegressor, gk.GaussianProcessClassifier], LEARNED),
    **dict.fromkeys([gk.GapClassifier, gk.GapRegressor], SHUFFLED_FOLDS),
    gk.Gram: ONE_COLUMN_A_ROW,
    gk.Nystroem: LANDMARKS,
}


def exemptions(estimator):
    """The checks that an estimator need not pass, with the reason."""
    reason = WEIGHTS_ARE_NOT_REPEATED_ROWS.get(type(estimator))
    return {} if reason is None else {"check_sample_weight_equivalence_on_dense_data": reason}


def chains():
    return gk.ChainedEquations(n_imputations=2, n_sweeps=1)


ESTIMATORS = [
    gk.SVC(),
    gk.SVC(kernel="ehk"),
    gk.SVR(),
    gk.OneClassSVM(),
    gk.KernelRidge(),
    gk.KernelRidge(conformal="count"),
    gk.SVCCV(Cs=[1.0], gammas=[0.1, 1.0], cv=3),
    gk.SVRCV(Cs=[1.0], gammas=[0.1, 1.0], cv=3),
    gk.KernelRidgeCV(alphas=[1.0], gammas=[0.1, 1.0], cv=3),
    gk.GaussianProcessRegressor(),
    gk.GaussianProcessClassifier(),
    gk.GapClassifier(members=["genrbf"], cv=2, random_state=0),
    gk.GapRegressor(members=["genrbf"], cv=2, random_state=0),
    RobustSVC(),
    GeometricMarginSVC(),
    CategoricalNaiveBayes(),
    gk.ChainedEquations(n_imputations=2, n_sweeps=2),
    gk.ChainedEquations(n_imputations=2, n_sweeps=2, numeric="pmm"),
    gk.MultipleImputationClassifier(LogisticRegression(), chains()),
    MeanGram(chains()),
    gk.MultipleImputationRegressor(Ridge(), chains()),
    gk.Gram(),
    gk.FourierFeatures(64),
    gk.FourierClassifier(64),
    gk.FourierRegressor(64),
    gk.Nystroem(20),
    gk.Nystroem(20, landmarks="pivoted", kernel="rbf"),
    gk.TableModel(gk.SVC()),
    gk.TableModel(gk.SVR()),
    gk.density.Gaussian(),
    gk.density.Marginals(),
    gk.density.JointGaussian(),
    gk.density.FactorAnalysis(1),
    gk.density.GaussianMixture(2, random_state=0),
    gk.density.BestDensity(cv=2),
    gk.density.Neighbours(8, random_state=0),
    AtomicDensity(n_atoms=8, random_state=0),
]
NEAR_TWINS = [
    gk.SVR(C=10.0, conformal="count"),
    gk.SVRCV(Cs=[10.0], gammas=[0.1], cv=2, conformal="count"),
    gk.KernelRidgeCV(alphas=[0.1], gammas=[0.1], cv=2, conformal="count"),
    gk.FourierRegressor(32, random_state=0, alpha=0.1, conformal="count"),
    *(gk.FourierClassifier(64, loss=loss) for loss in ("log_loss", "squared_hinge")),
    RobustSVC(kernel="linear"),
    RobustSVC(covariance="identity", mean="imputed"),
    GeometricMarginSVC(kernel="poly"),
    GeometricMarginSVC(method="average"),
    *(gk.MultipleImputationClassifier(LogisticRegression(), chains(), pooling=p) for p in ("average", "vote")),
    gk.MultipleImputationRegressor(Ridge(), chains(), pooling="average"),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=exemptions)
@pytest.mark.filterwarnings("ignore:The .* ended at its:sklearn.exceptions.ConvergenceWarning")  # targets of pure noise
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(NEAR_TWINS, expected_failed_checks=exemptions)
def test_scikit_learn_checks_of_near_twins(estimator, check):
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
