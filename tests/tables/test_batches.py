"""Files read batch by batch give what they give when they are read whole."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gapkernel as gk


@pytest.fixture
def codes():
    """A column of text whose first half is digits only, beside numbers and a label."""
    random = np.random.default_rng(0)
    code = ["1", "2"] * 10 + ["x", "1"] * 10
    frame = pd.DataFrame({"c": code, "z": random.normal(size=40)})
    return frame, (np.array(code) == "1").astype(int)


def test_batches_of_digits_are_text_where_the_column_is(tmp_path, codes):
    frame, y = codes
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = gk.SVC(categorical_features=["c"]).fit(frame, y)
    for batch_size in (3, 10, 40):
        answers = model.decision_function(gk.batches(tmp_path / "t.csv", batch_size=batch_size))
        assert_allclose(answers, model.decision_function(frame), rtol=1e-12)


@pytest.mark.parametrize("batch_size", [10, 40])
@pytest.mark.parametrize("cut", [20, 40])
def test_fits_to_batches_of_digits_are_fits_to_text(tmp_path, codes, batch_size, cut):
    frame, y = codes
    labelled = frame.assign(y=y)
    labelled[:cut].to_csv(tmp_path / "1.csv", index=False)  # with cut=20 the first file is digits only
    labelled[cut:].to_csv(tmp_path / "2.csv", index=False)
    whole = gk.FourierClassifier(20, random_state=0).fit(frame, y)
    streamed = gk.FourierClassifier(20, random_state=0).fit(gk.batches(tmp_path, "y", batch_size=batch_size))
    assert_allclose(streamed.decision_function(frame), whole.decision_function(frame), rtol=1e-6)


def test_types_of_columns_are_those_of_the_whole_file(tmp_path):
    whole = pd.DataFrame(
        {
            "whole": [1, 2, 3, 4],
            "gaps": [1, np.nan, 2, 3],
            "truth": [True, False, True, True],
            "perhaps": [True, None, False, None],
            "mixed": ["1", "2", "True", None],
            "never": [None] * 4,
        }
    )
    whole.to_csv(tmp_path / "t.csv", index=False)
    parts = [part for part, _ in gk.batches(tmp_path / "t.csv", batch_size=1)]
    assert len({tuple(map(str, part.dtypes)) for part in parts}) == 1
    assert list(map(str, parts[0].dtypes[:4])) == ["int64", "float64", "bool", "boolean"]
    joined = pd.concat(parts)
    assert joined["mixed"].tolist()[:3] == ["1", "2", "True"]
    assert_array_equal(joined.isna(), whole.isna())


def test_numbers_meet_levels_of_text_by_what_these_spell(codes):
    frame, y = codes
    model = gk.SVC(categorical_features=["c"]).fit(frame, y)
    digits = frame[:20]
    for kind in (int, float):
        as_numbers = digits.assign(c=digits["c"].astype(kind))
        assert_allclose(model.decision_function(as_numbers), model.decision_function(digits))
    back = gk.SVC(categorical_features=["c"]).fit(digits.assign(c=digits["c"].astype(int)), y[:20])
    assert_allclose(back.decision_function(digits), back.decision_function(digits.assign(c=digits["c"].astype(int))))


@pytest.mark.parametrize("levels", [["a", "b"], ["1", "01"]])
def test_numbers_that_cannot_be_matched_with_text_are_refused(levels):
    frame = pd.DataFrame({"c": levels * 10, "z": np.arange(20.0)})
    model = gk.SVC().fit(frame, [0, 1] * 10)
    with pytest.raises(ValueError, match="Column 'c' of X holds numbers where it held text at fit"):
        model.predict(frame.assign(c=1))
    assert len(model.predict(frame.assign(c=np.nan))) == 20  # gaps are gaps


def test_answers_of_several_arrays_are_joined_one_by_one():
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 3))
    model = gk.GaussianProcessRegressor(optimizer=None).fit(X, X[:, 0])
    parts = gk.batches(X, batch_size=8)
    mean, deviation = model.predict(parts, return_std=True)
    expected = model.predict(X, return_std=True)
    assert_allclose(mean, expected[0])
    assert_allclose(deviation, expected[1])
    with pytest.raises(ValueError, match="return_cov is about pairs of rows"):
        model.predict(parts, return_cov=True)


def test_batches_without_rows_are_refused_by_name():
    X = np.arange(20.0).reshape(10, 2)
    model = gk.KernelRidge().fit(X, X[:, 0])
    for parts in (gk.batches(X[:0]), gk.batches(lambda: iter([])), gk.batches(lambda: iter([(X[:0], None)]))):
        with pytest.raises(ValueError, match="the batches hold no row"):
            model.predict(parts)
    assert len(model.predict(gk.batches(lambda: iter([(X[:0], None), (X, None)])))) == 10
