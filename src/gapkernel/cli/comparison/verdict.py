"""What the results of a comparison say: scores with intervals, and only those differences that survive a test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gapkernel.cli.comparison.measures import Measure, measures_of
from gapkernel.cli.problem import FOLDS, Problem
from gapkernel.studies import CANDIDATES, AllPairs, all_pairs
from gapkernel.studies.candidates import SIMPLEST_FIRST
from gapkernel.studies.statistics import corrected_margin

BINS = 8
BASELINE = "baseline"


class Reliability(NamedTuple):
    """What was promised, and what happened, in groups of predictions of about equal size."""

    promised: np.ndarray
    happened: np.ndarray
    low: np.ndarray
    high: np.ndarray
    counts: np.ndarray
    what: str


@dataclass(frozen=True)
class Verdict:
    """What the results of a study of one table say.

    Attributes
    ----------
    problem : Problem
    results : DataFrame
        A line for each task.
    """

    problem: Problem
    results: Any

    @cached_property
    def natural(self) -> Any:
        """The tasks on the table as it is."""
        return self.results[self.results["fraction"] == 0]

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """What is shown, the measure that ranks first."""
        return measures_of(self.problem)

    @property
    def measure(self) -> Measure:
        """What methods are ranked by."""
        return self.measures[0]

    @cached_property
    def by_split(self) -> Any:
        """Values on the table as it is: a line for each split, a column for each method, the best first."""
        values = self.natural.pivot(index=["repeat", "fold"], columns="method", values=self.measure.column)
        means, others = values.mean(), self.natural.groupby("method")[self.measures[1].column].mean()
        order = np.lexsort(
            (-self.measures[1].sign * others[values.columns], -self.measure.sign * means.round(12))
        )  # the second measure parts equals
        return values[values.columns[order]]

    @cached_property
    def ranked(self) -> list[str]:
        """The methods, the best first."""
        return list(self.by_split.columns)

    @cached_property
    def pairs(self) -> AllPairs:
        """Every method against every other one on the table as it is."""
        return self._pairs(self.by_split)

    def _pairs(self, values) -> AllPairs:
        """The tests of all pairs; whether anything was learned at all is asked apart from which method is best."""
        return all_pairs(self.measure.sign * values, self.ranked, reference=BASELINE, test_share=1.0 / FOLDS)

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean value of each method."""
        return dict(self.by_split.mean())

    @cached_property
    def margins(self) -> dict[str, float]:
        """Half the width of the 95 % interval of each mean."""
        return dict(zip(self.ranked, corrected_margin(self.by_split.to_numpy(), 1.0 / FOLDS), strict=True))

    @property
    def winner(self) -> str:
        """The method with the best mean."""
        return self.ranked[0]

    @property
    def models(self) -> list[str]:
        """The methods that learn something, the best first."""
        return [name for name in self.ranked if name != BASELINE]

    def label(self, method: str) -> str:
        """What people call a method."""
        if method != BASELINE:
            return CANDIDATES[method].label
        return "majority class" if self.problem.is_classification else f"mean of {self.problem.target}"

    @property
    def columns(self) -> tuple[str, ...]:
        """What `cells` shows."""
        return self.measure.name, "± 95%", *(one.name for one in self.measures[1:]), "tune", "fit"

    def cells(self, method: str) -> tuple[str, ...]:
        """The line of a method, as people write it."""
        of_it = self.natural[self.natural["method"] == method]
        others = (one.show(of_it[one.column].mean()) for one in self.measures[1:])
        seconds = (f"{of_it[name].mean():.2f} s" for name in ("tune_seconds", "fit_seconds"))
        shown = self.measure.show(self.means[method]), self.measure.show(self.margins[method])
        return *shown, *others, *seconds

    # -- what may be said ------------------------------------------------------------------------------------------

    @property
    def as_good(self) -> list[str]:
        """The other methods that cannot be told from the best."""
        return [name for name in self.ranked[1:] if not self.pairs.beats(self.winner, name)]

    @property
    def beat_baseline(self) -> list[str]:
        """The methods that are better than no model at all; all of them where that was not compared."""
        if BASELINE not in self.ranked:
            return self.models
        return [name for name in self.models if self.pairs.beats(name, BASELINE)]

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        target, first = f"“{self.problem.target}”", _begun(self.label(self.winner))
        if not self.beat_baseline:
            return f"No method predicts {target} better than the {self.label(BASELINE)}, as far as these rows can show"
        tied = self.as_good
        if not tied:
            return f"{first} predicts {target} best"
        if len(tied) == len(self.models) - 1 and len(tied) > 1:
            return f"{_begun(_number(len(self.models)))} methods predict {target}; none can be told from the best"
        others = self.label(tied[0]) if len(tied) == 1 else f"{_number(len(tied))} others"
        return f"{first} predicts {target} best, but {others} cannot be told from it"

    @property
    def sentences(self) -> list[str]:
        """The verdict in full."""
        said = (self.summary, self.against_baseline, self.worth, self.sight, self.robustness)
        return [_begun(text) for text in said if text]

    @property
    def summary(self) -> str:
        """Who came first, and by how much."""
        measure, (first, second) = self.measure, self.ranked[:2]
        lead = self._lead(first, second)
        text = (
            f"{self.label(first)} has the best mean {measure.name}, {measure.show(self.means[first])}. Its lead over "
            f"{self.label(second)} is {lead}"
        )
        if self.pairs.beats(first, second):
            return f"{text}: more than chance explains."
        tied = self.as_good
        if len(tied) == len(self.ranked) - 1:
            return f"{text}, which chance may explain, and so it may the lead over every other method."
        return f"{text}, which chance may explain. Not told apart from it here: {', '.join(map(self.label, tied))}."

    @property
    def against_baseline(self) -> str:
        """What a prediction without a model is worth."""
        if BASELINE not in self.ranked:
            return ""
        label, value = self.label(BASELINE), self.measure.show(self.means[BASELINE])
        text = f"The {label} alone has {self.measure.name} {value}"
        better = self.beat_baseline
        if not better:
            return f"{text}, and no method is better by more than chance explains: there may be nothing to learn here."
        if len(better) == len(self.models):
            return f"{text}; every method is better by more than chance explains."
        return f"{text}; better by more than chance explains: {', '.join(map(self.label, better))}."

    def _lead(self, first: str, second: str) -> str:
        """How far apart two methods are, and what the interval says if the test of all pairs does not agree with it."""
        lead, margin = self.pairs.lead(first, second)
        tied = not (self.pairs.beats(first, second) or self.pairs.beats(second, first))
        aside = " (clear if only these two were compared)" if tied and abs(lead) > margin else ""
        return self.measure.lead(abs(lead), margin) + aside

    @property
    def worth(self) -> str:
        """Whether the Gap estimator is worth more than the simplest method that is as good."""
        name = next((name for name in self.ranked if name.startswith("gap")), None)
        if name is None or not self.beat_baseline:
            return ""
        label = self.label(name)
        for simple in (one for one in SIMPLEST_FIRST if one in self.ranked):
            if self.pairs.beats(simple, name):
                return (
                    f"{self.label(simple)} is simpler than the {label} and better here, by more than chance explains."
                )
            if not self.pairs.beats(name, simple):
                where = "ahead" if self.pairs.lead(name, simple)[0] >= 0 else "behind"
                return (
                    f"The simplest method that cannot be told from the {label} here is {self.label(simple)}: the "
                    f"{label} is {where} by {self._lead(name, simple)}."
                )
        return f"The {label} is better than every simpler method here, by more than chance explains."

    @property
    def sight(self) -> str:
        """Which differences these folds can show."""
        if len(self.models) < 2:
            return ""
        least, winner = self.pairs.least_lead(self.winner), self.label(self.winner)
        folds = f"What these {len(self.problem.y)} rows in {len(self.by_split)} folds can show"
        if least > abs(self.measure.best - self.means[self.winner]):
            return f"{folds}: no lead over {winner}, however large, would be more than chance explains."
        return (
            f"{folds}: a lead of {self.measure.lead(least)} over {winner} would be more than chance explains; smaller "
            f"ones may not be seen."
        )

    # -- hidden cells ----------------------------------------------------------------------------------------------

    @property
    def has_hidden(self) -> bool:
        """Whether cells were hidden."""
        return bool((self.results["fraction"] > 0).any())

    @cached_property
    def curve(self) -> Any:
        """Mean value for each share of hidden cells (lines) and method (columns)."""
        return self.results.pivot_table(index="fraction", columns="method", values=self.measure.column)[self.ranked]

    @cached_property
    def curve_margins(self) -> Any:
        """Half the widths of the 95 % intervals of `curve`."""
        column = self.results.groupby(["fraction", "method"])[self.measure.column]
        return column.apply(lambda values: corrected_margin(values.to_numpy(), 1.0 / FOLDS)).unstack()[self.ranked]

    def curve_cells(self, method: str) -> list[str]:
        """The curve of a method, as people write it."""
        pairs = zip(self.curve[method], self.curve_margins[method], strict=True)
        return [f"{self.measure.show(mean)} ± {self.measure.show(margin).removesuffix('%')}" for mean, margin in pairs]

    @cached_property
    def hidden_pairs(self) -> AllPairs:
        """Every method against every other one where cells are hidden: the mean over the shares, fold by fold."""
        hidden = self.results[self.results["fraction"] > 0]
        means = hidden.pivot_table(index=["draw", "fold"], columns="method", values=self.measure.column)
        return self._pairs(means[self.ranked])

    @property
    def robustness(self) -> str:
        """Who is better when cells are hidden, as far as a test can say."""
        if not self.has_hidden:
            return ""
        hidden = self.curve[self.curve.index > 0].mean()
        best = max(self.models, key=lambda name: self.measure.sign * hidden[name])
        beaten = [name for name in self.models if self.hidden_pairs.beats(best, name)]
        text = f"When cells are hidden, {self.label(best)} has the best mean"
        if not beaten:
            return f"{text}, but its lead over any other method may be chance."
        if len(beaten) == len(self.models) - 1:
            return f"{text}, ahead of every other method by more than chance explains."
        return f"{text}, ahead of {', '.join(map(self.label, beaten))} by more than chance explains."

    # -- answers ---------------------------------------------------------------------------------------------------

    def answers(self, method: str) -> tuple[np.ndarray, np.ndarray]:
        """Held-out answers of a method, each row once, and the truth (classes as numbers)."""
        tasks = self.natural[(self.natural["method"] == method) & (self.natural["repeat"] == 0)]
        rows = np.concatenate(tasks["rows"].to_list()).astype(int)
        return np.concatenate(tasks["answers"].to_list()), self.problem.codes[rows]

    def reliability(self, method: str) -> Reliability:
        """Whether the probabilities of a classifier keep their promise."""
        chances, truth = self.answers(method)
        if chances.shape[1] == 2:
            promised, happened = chances[:, 1], truth == 1
            what = f"probability of {np.unique(self.problem.y)[1]}"
        else:
            promised, happened = chances.max(axis=1), chances.argmax(axis=1) == truth
            what = "probability of the predicted class"
        groups = [group for group in np.array_split(np.argsort(promised, kind="stable"), BINS) if len(group)]
        hits, counts = np.array([happened[g].sum() for g in groups]), np.array([len(g) for g in groups])
        low, high = stats.beta.ppf([[0.025], [0.975]], hits + 0.5, counts - hits + 0.5)  # Jeffreys' interval
        low, high = np.where(hits == 0, 0.0, low), np.where(hits == counts, 1.0, high)
        return Reliability(np.array([promised[g].mean() for g in groups]), hits / counts, low, high, counts, what)


def _begun(text: str) -> str:
    """Text as a sentence begins, also with the name of a method."""
    return text[:1].upper() + text[1:]


def _number(number: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return words[number] if number < len(words) else str(number)
