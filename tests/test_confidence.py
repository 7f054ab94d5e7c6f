"""Classifiers are less sure the less they are shown, down to the class prior."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV

import gapkernel as gk
from gapkernel.inspection import value_of_information

CLASSIFIERS = {
    "calibrated SVC, genrbf": lambda: CalibratedClassifierCV(gk.SVC(kernel="genrbf", gamma=0.1), cv=4),
    "calibrated SVC, rbf": lambda: CalibratedClassifierCV(gk.SVC(kernel="rbf", gamma=0.1), cv=4),
}
# Platt's curve has two parameters and sees rows with few gaps: with uneven classes it does not end at the prior
CASES = [(name, 0.5) for name in CLASSIFIERS]
if hasattr(gk, "CCCPClassifier"):
    CLASSIFIERS["CCCP"] = lambda: gk.CCCPClassifier(random_state=0)
    CASES += [("CCCP", 0.5), ("CCCP", 0.7)]


def two_classes(seed, n, share):
    """Two classes that differ in four correlated columns; ``share`` of the rows are of class 1."""
    random = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    X = 0.9 * (2 * y - 1)[:, None] + random.standard_normal((n, 1)) * 0.4 + random.standard_normal((n, 4))
    return X, y


@pytest.mark.parametrize(("classifier", "share"), CASES)
def test_confidence_falls_to_the_prior_as_cells_are_hidden(classifier, share):
    X, y = two_classes(0, 300, share)
    random = np.random.default_rng(1)
    model = CLASSIFIERS[classifier]().fit(np.where(random.random(X.shape) < 0.2, np.nan, X), y)
    new, _ = two_classes(2, 300, share)
    order = random.random(new.shape).argsort(axis=1)
    confidence = []
    for hidden in range(5):
        shown = np.where(order < hidden, np.nan, new)
        confidence.append(model.predict_proba(shown).max(axis=1).mean())
    assert np.all(np.diff(confidence) < 0), confidence
    assert confidence[-1] == pytest.approx(share, abs=0.05)


def test_the_value_of_a_measurement_for_a_calibrated_classifier():
    X, y = two_classes(0, 200, 0.5)
    X[:, 3] = np.random.default_rng(5).standard_normal(200)  # says nothing about the class
    model = CLASSIFIERS["calibrated SVC, rbf"]().fit(X, y)
    row = np.array([np.nan, 0.1, np.nan, np.nan])
    result = value_of_information(model, row, density=gk.density.Gaussian().fit(X))
    probability = model.predict_proba([row])[0]
    assert result.measure == "entropy"
    assert result.uncertainty == pytest.approx(-np.sum(probability * np.log(probability)))
    assert result.best in ("column 0", "column 2")
    assert result.reduction[2] < 0.3 * result.reduction[:2].min()
