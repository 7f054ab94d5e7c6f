"""What the results of a comparison say: scores with intervals, and only those differences that survive a test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gapkernel.cli.measures import Measure, measures_of
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
        """The measures that are shown; the first one ranks the methods."""
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
        )  # equal means are ordered by the second measure
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
        """The other methods that are not shown to be worse than the best."""
        return [name for name in self.models if name != self.winner and not self.pairs.beats(self.winner, name)]

    @property
    def simplest(self) -> str:
        """The simplest method that is not shown to be worse than the best."""
        return next((name for name in SIMPLEST_FIRST if name in (self.winner, *self.as_good)), self.winner)

    @property
    def beat_baseline(self) -> list[str]:
        """The methods that are better than no model at all; all of them where that was not compared."""
        return [name for name in self.models if BASELINE not in self.ranked or self.pairs.beats(name, BASELINE)]

    @property
    def headline(self) -> str:
        """What to do, in one line."""
        target, tied = f"“{self.problem.target}”", self.as_good
        if not self.beat_baseline:
            return f"Do not rely on predictions of {target} yet: no method is shown to beat the {self.label(BASELINE)}"
        if not tied:
            return f"Use {self.label(self.winner)} to predict {target}: it beats every other method"
        others = self.label(tied[0]) if len(tied) == 1 else f"{len(tied)} others"
        return f"Use {self.label(self.winner)} to predict {target}; {others} may be as good"

    @property
    def sentences(self) -> list[str]:
        """What the headline rests on."""
        first, second, *_ = self.ranked
        mean, margin = self.measure.show(self.means[first]), self.measure.show(self.margins[first])
        said = [f"Best mean {self.measure.name}: {self.label(first)}, {mean} ± {margin}."]
        if first != BASELINE:
            names = dict.fromkeys(name for name in (second, self.simplest, BASELINE) if name in self.ranked[1:])
            leads = [f"{self.lead(first, name)} over {self._known(name)}" for name in names]
            said += [f"Its lead is {_joined(leads)}. {self._claim(first, self.pairs)}"]
        return [*said, self.robustness] if self.has_hidden else said

    def lead(self, first: str, second: str) -> str:
        """How far apart two methods are, and what the interval says if the test of all pairs does not agree with it."""
        lead, margin = self.pairs.lead(first, second)
        tied = not (self.pairs.beats(first, second) or self.pairs.beats(second, first))
        aside = " (clear if only these two were compared)" if tied and abs(lead) > margin else ""
        return self.measure.lead(lead, margin) + aside

    def _known(self, method: str) -> str:
        """A method in the list of leads."""
        if method == BASELINE:
            return f"the {self.label(method)} (no model at all)"
        return self.label(method) + " (the simplest that may be as good)" * (method == self.simplest)

    def _claim(self, best: str, pairs: AllPairs) -> str:
        """Which methods the best one beats."""
        beaten = [name for name in self.models if pairs.beats(best, name)]
        if not beaten:
            return "Chance may explain its lead over every other method."
        everyone = len(beaten) == len(self.models) - 1
        listed = "every other method" if everyone else _joined(list(map(self.label, beaten)))
        return f"It is better than {listed} by more than chance explains."

    @property
    def sight(self) -> str:
        """Which leads over the best method these folds could show."""
        least, winner = self.pairs.least_lead(self.winner), self.label(self.winner)
        if least > abs(self.measure.best - self.means[self.winner]):
            return f"These folds could show no lead over {winner}, however large."
        return f"These folds could show a lead over {winner} of {self.measure.lead(least)} or more."

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
        hidden = self.curve[self.curve.index > 0].mean()
        best = max(self.models, key=lambda name: self.measure.sign * hidden[name])
        return f"When cells are hidden, {self.label(best)} has the best mean. {self._claim(best, self.hidden_pairs)}"

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


def _joined(words: list[str]) -> str:
    """A list as people write it."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
