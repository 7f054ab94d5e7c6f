"""scikit-learn's own checks, over the features and the linear machines on them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import gapkernel as gk

ESTIMATORS = [
    gk.FourierFeatures(64),
    gk.FourierClassifier(64),
    gk.FourierClassifier(64, loss="log_loss"),
    gk.FourierClassifier(64, loss="squared_hinge"),
    gk.FourierRegressor(64),
    gk.Nystroem(20),
    gk.Nystroem(20, sampling="pivoted", kernel="rbf"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
