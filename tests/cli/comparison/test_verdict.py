"""The words about a comparison: only what survives a test is claimed."""

import numpy as np
import pytest
from cli.comparisons import problem, results, verdict_of

from gapkernel.cli.comparison.measures import ACCURACY
from gapkernel.cli.comparison.verdict import Verdict
from gapkernel.studies import all_pairs
from gapkernel.studies.candidates import COMPARED_QUICKLY


def test_the_estimator_that_chooses_is_measured_against_the_simplest_as_good():
    tied = verdict_of(gap=0.9, genrbf=0.9, mean_indicator=0.7)
    assert "The simplest method that cannot be told from the Gap estimator here is genRBF SVM" in tied.worth
    assert "is ahead by 0.5 ±" in tied.worth
    assert "is behind by 0.5 ±" in verdict_of(gap=0.9, genrbf=0.91, mean_indicator=0.7).worth
    ahead = verdict_of(gap=0.9, genrbf=0.7, mean_indicator=0.7)
    assert "better than every simpler method" in ahead.worth
    assert verdict_of(genrbf=0.9, mean_indicator=0.7).worth == ""


def test_nothing_is_claimed_of_methods_that_do_not_beat_the_baseline():
    noise = verdict_of(gap=0.95, genrbf=0.95, ehk=0.95, baseline=0.95)
    assert noise.headline.startswith("No method predicts “class” better than the majority class")
    assert "there may be nothing to learn" in noise.against_baseline
    assert noise.worth == ""
    learned = verdict_of(gap=0.95, genrbf=0.94, baseline=0.5)
    assert "every method is better by more than chance explains" in learned.against_baseline
    assert "mean of value" in verdict_of("value", gap=0.5, baseline=0.5).headline


def test_five_folds_of_many_methods_can_show_that_something_was_learned():
    """With all 21 pairs counted together nothing could be said of a lead that is as clear as this."""
    noise = 0.01 * np.array([1.0, -1.0, 0.5, -0.5, 0.0])
    learned = {name: 0.735 + k / 1000 + np.roll(noise, k) for k, name in enumerate(COMPARED_QUICKLY[:-1])}
    quick = Verdict(problem("class"), results(learned | {"baseline": 0.7 + np.roll(noise, 2)}))
    together = all_pairs(quick.by_split, quick.ranked, test_share=0.2)
    assert not any(together.beats(name, "baseline") for name in quick.models)
    assert quick.beat_baseline
    assert not quick.headline.startswith("No method")


@pytest.mark.parametrize("target", ["class", "value"])
def test_a_claim_is_made_only_where_the_test_survives(target):
    clear = verdict_of(target, rbf=0.9, mean_indicator=0.7, ehk=0.69)
    assert clear.winner == "rbf"
    assert clear.headline == f"Expected RBF SVM predicts “{target}” best"
    assert "more than chance explains" in clear.summary
    close = verdict_of(target, rbf=0.9, mean_indicator=0.899, ehk=0.7)
    assert close.headline.endswith("cannot be told from it")
    assert "which chance may explain" in close.summary
    tied = verdict_of(target, rbf=0.9, mean_indicator=0.9, ehk=0.9)
    assert tied.headline == f"Three methods predict “{target}”; none can be told from the best"


def test_fewer_folds_show_less():
    many = results({"rbf": [0.9, 0.8, 0.85, 0.7] * 5, "ehk": [0.8, 0.85, 0.7, 0.75] * 5})
    seen = [Verdict(problem("class"), many[many["fold"] < folds]).pairs.least_lead("rbf") for folds in (4, 20)]
    assert seen[0] > seen[1]


def test_a_lead_that_no_method_can_have_is_not_asked_for():
    noisy = Verdict(problem("class"), results({"rbf": [0.9, 0.5, 0.95, 0.6], "ehk": [0.5, 0.9, 0.6, 0.95]}))
    assert noisy.means["rbf"] + noisy.pairs.least_lead("rbf") > 1
    assert "no lead over" in noisy.sight
    assert "no lead over" not in verdict_of(rbf=0.9, ehk=0.89).sight


def test_an_interval_without_zero_is_not_left_beside_a_verdict_of_chance():
    """The interval is that of one pair, the verdict that of all."""
    noise = 0.01 * np.array([1.0, -1.0, 0.5, -0.5, 0.0])
    values = {name: 0.735 + np.roll(noise, k) for k, name in enumerate(("gap", "ehk", "genrbf", "rbf"))}
    verdict = Verdict(
        problem("class"), results(values | {"mean_indicator": values["gap"] - 0.025, "baseline": 0.5 + noise})
    )
    lead, margin = verdict.pairs.lead("gap", "mean_indicator")
    assert lead > margin
    assert not verdict.pairs.beats("gap", "mean_indicator")
    assert "(clear if only these two were compared)" in verdict.worth
    weaker = {name: 0.705 + np.roll(noise, k) for k, name in enumerate(("ehk", "genrbf", "rbf", "mean_indicator"), 1)}
    verdict = Verdict(problem("class"), results({"gap": 0.735 + noise, **weaker, "baseline": 0.5 + noise}))
    assert "(clear if only these two were compared), which chance may explain" in verdict.summary


def test_what_is_said_of_hidden_cells_is_tested():
    same = {"rbf": 0.9, "mean_indicator": 0.9, "ehk": 0.9}
    clear = verdict_of(**same, hidden={"rbf": 0.8, "mean_indicator": 0.6, "ehk": 0.6})
    assert "expected RBF SVM has the best mean, ahead of every other method" in clear.robustness
    assert "expected RBF" not in clear.headline
    close = verdict_of(**same, hidden={"rbf": 0.8, "mean_indicator": 0.8, "ehk": 0.8})
    assert "may be chance" in close.robustness
    assert all("±" in cell for cell in close.curve_cells("rbf"))
    assert verdict_of(**same).robustness == ""


def test_no_difference_is_written_with_a_minus():
    assert ACCURACY.lead(-0.0001, 0.02) == "0.0 ± 2.0 points"
