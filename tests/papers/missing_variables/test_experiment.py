"""The experiment with erased digits: what is erased, how settings are chosen, and how methods are compared."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from gapkernel.papers.missing_variables import experiment as cccp
from gapkernel.studies import Task


def test_up_to_a_quarter_of_the_pixels_are_erased(data_folder):
    gaps = np.isnan(cccp.erased(np.zeros((2000, 256)), np.random.default_rng(0))).sum(axis=1)
    assert (gaps.min(), gaps.max()) == (0, 64)
    assert abs(gaps.mean() - 32) < 4.5 * 18.8 / np.sqrt(2000)
    digits = small_digits(data_folder)
    erased, y, new, truth = digits.data(Task("usps", "uniform"))
    filled, *_ = digits.data(Task("usps", "mean"))
    whole, *_ = digits.data(Task("usps", "complete"))
    seen = ~np.isnan(erased)
    assert_array_equal(erased[seen], whole[seen])
    assert_array_equal(filled[seen], whole[seen])
    assert (len(y), new.shape, len(truth)) == (60, (2007, 256), 2007)
    result = digits(Task("usps", "uniform"))
    assert 0.1 < result["error"] < 0.4
    assert len(result["wrong"]) == round(2007 * result["error"])
    assert result["rises"] == 0


def small_digits(data_folder, **options):
    few = {"n_rows": 60, "n_basis": 20, "n_completions": 2, "gammas": (1 / 128,), "Cs": (10.0,), "n_factors": (2,)}
    return cccp.Digits(**few | options, data_dir=str(data_folder))


@pytest.mark.parametrize(
    ("method", "chosen"), [("svm", {"gamma", "C"}), ("genrbf", {"gamma", "C", "density__n_components"})]
)
def test_settings_are_chosen_among_training_digits(method, chosen, data_folder):
    digits, task = small_digits(data_folder, Cs=(1e-6, 10.0), n_factors=(1, 2)), Task("usps", method)
    result = digits(task)
    assert set(result["settings"]) == chosen
    assert result["settings"] in digits.settings_of(task)
    assert result["settings"]["C"] == 10.0  # the other penalty learns nothing
    assert result["error"] < 0.4


def test_pairs_of_methods_are_compared_digit_by_digit():
    frame = wrong_digits(density=[[0, 2, 3, 4, 5, 6, 7]], mean=[[0, 1]], svm=[[0, 1]])
    assert cccp.compared(frame, "svm", "mean") == (0, 0, 1.0)
    assert cccp.compared(frame, "density", "mean") == (6, 1, pytest.approx(2 * (1 + 7) / 2**7))


def test_a_digit_has_one_sign_over_all_draws():
    frame = wrong_digits(density=[[0, 2], [1, 2], [0, 2]], mean=[[0, 1]] * 3)
    # 0 is wrong in two draws against three, 1 in one against three, 2 in three against none
    assert cccp.compared(frame, "density", "mean") == (3, 3, 1.0)
    assert cccp.compared(wrong_digits(density=[[0], [0]], mean=[[], []]), "density", "mean") == (2, 0, 1.0)


def test_the_gain_of_integration_comes_with_the_error_over_digits():
    frame = wrong_digits(uniform=[[0], [0]], mean=[range(9), range(11)], svm_complete=[[], []])
    uniform, *_, gain = cccp.claims(frame)
    assert (uniform.ours, uniform.verdict) == ("0.05 %", "no")  # more than one point from the paper's
    assert gain.lead == pytest.approx(100 * 9 / 2007)
    assert (gain.ours, gain.verdict) == ("0.45 ± 0.14 points", "yes")
    assert cccp.claims(wrong_digits(uniform=[[0]], mean=[[0, 1]], svm_complete=[[]]))[-1].verdict == "open"


def wrong_digits(**methods):
    lines = [
        {"method": name, "draw": draw, "wrong": list(digits), "error": len(digits) / 2007}
        for name, draws in methods.items()
        for draw, digits in enumerate(draws)
    ]
    return pd.DataFrame(lines)
