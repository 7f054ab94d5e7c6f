"""scikit-learn's own checks, over every public estimator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, parametrize_with_checks
from strategies import LIBSVM

import gapkernel as gk

EXEMPTIONS = {
    gk.SVC: {"check_sample_weight_equivalence_on_dense_data": LIBSVM},
    gk.SVR: {"check_sample_weight_equivalence_on_dense_data": LIBSVM},
    gk.OneClassSVM: {"check_sample_weight_equivalence_on_dense_data": LIBSVM},
}


@parametrize_with_checks(
    [
        gk.SVC(),
        gk.SVR(),
        gk.OneClassSVM(),
        gk.KernelRidge(),
        gk.GaussianProcessRegressor(),
        gk.Gram(),
        gk.density.Gaussian(),
        gk.density.Marginals(),
        gk.density.JointGaussian(),
        gk.density.FactorAnalysis(1),
        gk.density.GaussianMixture(2, random_state=0),
        gk.density.BestDensity(cv=2),
        gk.SVC(kernel="ehk"),
        gk.SVCCV(Cs=[1.0], gammas=[0.1, 1.0], cv=3),
        gk.SVRCV(Cs=[1.0], gammas=[0.1, 1.0], cv=3),
        gk.KernelRidgeCV(alphas=[1.0], gammas=[0.1, 1.0], cv=3),
    ],
    expected_failed_checks=lambda estimator: EXEMPTIONS.get(type(estimator), {}),
)
@pytest.mark.filterwarnings("ignore:The .* ended at its:sklearn.exceptions.ConvergenceWarning")  # targets of pure noise
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", EXEMPTIONS, ids=lambda e: e.__name__)
def test_the_exempted_check_passes_with_a_small_tolerance(estimator):
    check_sample_weight_equivalence_on_dense_data(estimator.__name__, estimator(tol=1e-12))


MACHINES = [gk.SVC(tol=1e-12), gk.SVR(tol=1e-12), gk.OneClassSVM(tol=1e-12, nu=0.3), gk.KernelRidge()]


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
