"""CCCPClassifier on tables with categories: codes, completions of a level, levels that are unknown."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from gapkernel.papers.missing_variables import AtomicDensity, CCCPClassifier
from gapkernel.tables import read_table

LISTED = AtomicDensity("levels", method="exact")
LAWS = {word: AtomicDensity(word, n_atoms=8) for word in ("auto", "uniform", "neighbours")} | {"listed": LISTED}


def classifier(**options):
    return CCCPClassifier(**{"gamma": 0.05, "basis": 40, "density": LAWS["auto"], "random_state": 0} | options)


def mixed(n=90, seed=0, gap_rate=0.2):
    """A number and two categories that tell the class, with gaps, and the class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    colour = np.where(random.random(n) < 0.85, np.array(["red", "blue"])[y], "green").astype(object)
    grade = pd.Categorical(np.array(["low", "high"])[(random.random(n) < 0.2) ^ y], ["low", "high"], ordered=True)
    frame = pd.DataFrame({"length": random.standard_normal(n) + y, "colour": colour, "grade": grade})
    return frame.mask(random.random(frame.shape) < gap_rate), y


@pytest.mark.parametrize("law", LAWS)
def test_categories_at_fit_and_predict(law):
    frame, y = mixed()
    frame = frame.round({"length": 0}) if law == "listed" else frame
    new, truth = mixed(60, seed=1)
    new.loc[0, "colour"] = "purple"  # unknown: a gap
    model = classifier(density=LAWS[law], gamma=0.5, indicator=law == "uniform").fit(frame, y)
    assert model.score(new, truth) > 0.75
    assert_allclose(model.predict_proba(new.iloc[:5]), model.predict_proba(new)[:5], rtol=1e-10)
    gap = new.iloc[:1].assign(colour=None)
    assert_allclose(model.predict_proba(new.iloc[:1]), model.predict_proba(gap), rtol=1e-10)


@pytest.mark.parametrize("law", ["uniform", "neighbours", "listed"])
def test_a_missing_category_is_completed_to_a_level(law):
    frame, y = mixed()
    frame = frame.round({"length": 0})
    model = classifier(density=LAWS[law]).fit(frame, y)
    table = read_table(model, frame, reset=False, schema=model.schema_)
    codes = model.completions_.condition(table).values[:, 1:4]
    assert set(np.unique(codes)) == {0.0, 1.0}
    assert_allclose(codes.sum(axis=1), 1.0)


def test_complete_categories_are_their_codes():
    frame, y = mixed(gap_rate=0.0)
    levels = [(frame["colour"] == level).to_numpy(float) for level in ("blue", "green", "red")]
    codes = np.column_stack([frame["length"], *levels, frame["grade"].cat.codes])
    expected = classifier(gamma="scale").fit(codes, y).predict_proba(codes)
    assert_allclose(classifier(gamma="scale").fit(frame, y).predict_proba(frame), expected, rtol=1e-8)


def test_dates_are_refused():
    frame, y = mixed()
    with pytest.raises(ValueError, match="Column 'day' of X holds dates"):
        classifier().fit(frame.assign(day=pd.Timestamp("2020-01-01")), y)
