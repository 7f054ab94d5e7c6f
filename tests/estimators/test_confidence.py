"""Classifiers are less sure the less they are shown, down to the class prior."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV

import gapkernel as gk
from gapkernel.inspection import value_of_information
from gapkernel.papers.missing_variables import CCCPClassifier

# genRBF is divided by the norms of the laws, so its machines can be surer of a row with one gap than of a complete one
CLASSIFIERS = {
    "calibrated SVC": lambda: CalibratedClassifierCV(gk.SVC(kernel="rbf", gamma=0.1), cv=4),
    "CCCP": lambda: CCCPClassifier(random_state=0),
}


def two_classes(seed, n):
    """Two classes that differ in four correlated columns and mirror each other, so that nothing favours one."""
    random = np.random.default_rng(seed)
    positive = 0.9 + 0.4 * random.standard_normal((n // 2, 1)) + random.standard_normal((n // 2, 4))
    return np.stack([positive, -positive], axis=1).reshape(n, 4), np.tile([1, 0], n // 2)


@pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())
def test_confidence_falls_to_the_prior_as_cells_are_hidden(classifier):
    """With even classes; with uneven ones none of these ends at the prior exactly (docs/theory/process.md)."""
    X, y = two_classes(0, 200)
    random = np.random.default_rng(1)
    gaps = np.repeat(random.random((len(X) // 2, 4)) < 0.2, 2, axis=0)
    model = classifier().fit(np.where(gaps, np.nan, X), y)
    new, _ = two_classes(2, 300)
    order = random.random(new.shape).argsort(axis=1)
    confidence = []
    for hidden in range(5):
        shown = np.where(order < hidden, np.nan, new)
        confidence.append(model.predict_proba(shown).max(axis=1).mean())
    assert np.all(np.diff(confidence) < 0), confidence
    assert confidence[-1] == pytest.approx(0.5, abs=0.05)


def test_the_value_of_a_measurement_for_a_calibrated_classifier():
    X, y = two_classes(0, 200)
    X[:, 3] = np.random.default_rng(5).standard_normal(200)  # says nothing about the class
    model = CLASSIFIERS["calibrated SVC"]().fit(X, y)
    row = np.array([np.nan, 0.1, np.nan, np.nan])
    result = value_of_information(model, row, density=gk.density.Gaussian().fit(X))
    probability = model.predict_proba([row])[0]
    assert result.measure == "entropy"
    assert result.uncertainty == pytest.approx(-np.sum(probability * np.log(probability)))
    assert result.best in ("column 0", "column 2")
    assert result.reduction[2] < 0.3 * result.reduction[:2].min()
