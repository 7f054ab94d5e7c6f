"""The words about a comparison: only what survives a test is claimed."""

import re

import numpy as np
import pytest
from cli.comparisons import problem, results, verdict_of

from gapkernel.cli.measures import ACCURACY
from gapkernel.cli.verdict import Verdict
from gapkernel.studies import all_pairs
from gapkernel.studies.candidates import COMPARED_QUICKLY


def said(verdict):
    return " ".join(verdict.sentences)


def test_the_simplest_method_that_may_be_as_good_is_named():
    tied = verdict_of(gap=0.9, genrbf=0.9, ehk=0.9, mean_indicator=0.7)
    assert tied.simplest == "genrbf"
    assert re.search(r"0\.\d ± \d\.\d points over genRBF SVM \(the simplest that may be as good\)", said(tied))
    assert verdict_of(rbf=0.9, genrbf=0.9, mean_indicator=0.7).simplest == "rbf"
    ahead = verdict_of(gap=0.9, genrbf=0.7, mean_indicator=0.7)
    assert ahead.simplest == "gap"
    assert "It is better than every other method by more than chance explains." in said(ahead)
    assert "simplest" not in said(ahead)


def test_nothing_is_claimed_of_methods_that_do_not_beat_the_baseline():
    noise = verdict_of(gap=0.95, genrbf=0.95, ehk=0.95, baseline=0.95)
    assert noise.headline.startswith("Do not rely on predictions of “class” yet")
    assert noise.headline.endswith("no method is shown to beat the majority class")
    learned = verdict_of(gap=0.95, genrbf=0.94, baseline=0.5)
    assert learned.beat_baseline == ["gap", "genrbf"]
    assert re.search(r"4\d\.\d ± \d\.\d points over the majority class \(no model at all\)", said(learned))
    assert "mean of value" in verdict_of("value", gap=0.5, baseline=0.5).headline
    best = verdict_of(baseline=0.95, gap=0.5, genrbf=0.4)
    assert best.sentences == [best.sentences[0]]
    assert best.sentences[0].startswith("Best mean accuracy: majority class")


def test_five_folds_of_many_methods_can_show_that_something_was_learned():
    """With all 21 pairs counted together nothing could be said of a lead that is as clear as this."""
    noise = 0.01 * np.array([1.0, -1.0, 0.5, -0.5, 0.0])
    learned = {name: 0.735 + k / 1000 + np.roll(noise, k) for k, name in enumerate(COMPARED_QUICKLY[:-1])}
    quick = Verdict(problem("class"), results(learned | {"baseline": 0.7 + np.roll(noise, 2)}))
    together = all_pairs(quick.by_split, quick.ranked, test_share=0.2)
    assert not any(together.beats(name, "baseline") for name in quick.models)
    assert quick.beat_baseline
    assert quick.headline.startswith("Use")


@pytest.mark.parametrize("target", ["class", "value"])
def test_a_claim_is_made_only_where_the_test_survives(target):
    clear = verdict_of(target, rbf=0.9, mean_indicator=0.7, ehk=0.69)
    assert clear.winner == "rbf"
    assert clear.headline == f"Use expected RBF SVM to predict “{target}”: it beats every other method"
    assert "every other method by more than chance explains" in said(clear)
    close = verdict_of(target, rbf=0.9, mean_indicator=0.899, ehk=0.7)
    assert close.headline.endswith(f"; {close.label(close.ranked[1])} may be as good")
    assert f"better than {close.label('ehk')} by more than chance explains" in said(close)
    tied = verdict_of(target, rbf=0.9, mean_indicator=0.9, ehk=0.9)
    assert tied.headline.endswith("2 others may be as good")
    assert "Chance may explain its lead over every other method." in said(tied)


def test_fewer_folds_show_less():
    many = results({"rbf": [0.9, 0.8, 0.85, 0.7] * 5, "ehk": [0.8, 0.85, 0.7, 0.75] * 5})
    seen = [Verdict(problem("class"), many[many["fold"] < folds]).pairs.least_lead("rbf") for folds in (4, 20)]
    assert seen[0] > seen[1]


def test_a_lead_that_no_method_can_have_is_not_asked_for():
    noisy = Verdict(problem("class"), results({"rbf": [0.9, 0.5, 0.95, 0.6], "ehk": [0.5, 0.9, 0.6, 0.95]}))
    assert noisy.means["rbf"] + noisy.pairs.least_lead("rbf") > 1
    assert "no lead over" in noisy.sight
    assert verdict_of(rbf=0.9, ehk=0.89).sight.endswith(" points or more.")


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
    assert "(clear if only these two were compared)" in verdict.lead("gap", "mean_indicator")
    weaker = {name: 0.705 + np.roll(noise, k) for k, name in enumerate(("ehk", "genrbf", "rbf", "mean_indicator"), 1)}
    verdict = Verdict(problem("class"), results({"gap": 0.735 + noise, **weaker, "baseline": 0.5 + noise}))
    assert "(clear if only these two were compared) over" in said(verdict)
    assert "Chance may explain its lead over every other method." in said(verdict)


def test_what_is_said_of_hidden_cells_is_tested():
    same = {"rbf": 0.9, "mean_indicator": 0.9, "ehk": 0.9}
    clear = verdict_of(**same, hidden={"rbf": 0.8, "mean_indicator": 0.6, "ehk": 0.6})
    assert "expected RBF SVM has the best mean. It is better than every other method" in clear.robustness
    assert clear.robustness in clear.sentences
    close = verdict_of(**same, hidden={"rbf": 0.8, "mean_indicator": 0.8, "ehk": 0.8})
    assert "Chance may explain its lead over every other method." in close.robustness
    assert all("±" in cell for cell in close.curve_cells("rbf"))
    assert "hidden" not in said(verdict_of(**same))


def test_no_difference_is_written_with_a_minus():
    assert ACCURACY.lead(-0.0001, 0.02) == "0.0 ± 2.0 points"
