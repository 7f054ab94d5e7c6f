"""scikit-learn's own checks, over the features and the linear models on them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import gapkernel as gk

ESTIMATORS = [
    gk.FourierFeatures(64),
    gk.FourierClassifier(64),
    gk.FourierRegressor(64),
    gk.Nystroem(20),
    gk.Nystroem(20, landmarks="pivoted", kernel="rbf"),
]
NEAR_TWINS = [gk.FourierClassifier(64, loss=loss) for loss in ("log_loss", "squared_hinge")]


LANDMARKS = (
    "landmarks are drawn by the places of the rows, which repeated rows change; with every row a landmark weights are "
    "repeated rows, see test_common.test_weights_in_features_are_repeated_rows"
)
EXEMPTIONS = {gk.Nystroem: {"check_sample_weight_equivalence_on_dense_data": LANDMARKS}}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXEMPTIONS.get(type(estimator), {}))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(NEAR_TWINS)
def test_scikit_learn_checks_of_near_twins(estimator, check):
    check(estimator)
