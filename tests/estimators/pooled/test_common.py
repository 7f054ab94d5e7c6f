"""scikit-learn's own checks, over the imputer, the pooled predictors and naive Bayes."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import LIBSVM

import gapkernel as gk
from gapkernel.estimators import CategoricalNaiveBayes


def chains():
    return gk.ChainedEquations(n_imputations=2, n_sweeps=1)


ESTIMATORS = [
    gk.ChainedEquations(n_imputations=2, n_sweeps=2),
    gk.ChainedEquations(n_imputations=2, n_sweeps=2, numeric="pmm"),
    CategoricalNaiveBayes(),
    gk.MultipleImputationClassifier(LogisticRegression(), chains()),
    gk.MultipleImputationClassifier(SVC(), chains(), pooling="kernel"),
    gk.MultipleImputationRegressor(Ridge(), chains()),
    gk.MultipleImputationRegressor(gk.KernelRidge(gamma=0.1), chains(), pooling="kernel"),
]
NEAR_TWINS = [
    *(gk.MultipleImputationClassifier(LogisticRegression(), chains(), pooling=p) for p in ("average", "vote")),
    gk.MultipleImputationRegressor(Ridge(), chains(), pooling="average"),
]


def exemptions(estimator):
    if getattr(estimator, "pooling", None) == "kernel" and isinstance(estimator.estimator, SVC):
        return {"check_sample_weight_equivalence_on_dense_data": LIBSVM}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=exemptions)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(NEAR_TWINS)
def test_scikit_learn_checks_of_near_twins(estimator, check):
    check(estimator)
