"""What the results of a comparison say: scores with intervals, the winner, and what it would take to beat it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from gapkernel.cli.problem import FOLDS, Problem
from gapkernel.experiments import METHODS
from gapkernel.experiments.methods import SIMPLEST_FIRST
from gapkernel.experiments.statistics import corrected_error

BINS = 8


class Difference(NamedTuple):
    """How much better one method is than another on the same splits, with a 95 % interval."""

    mean: float
    margin: float

    @property
    def is_noise(self) -> bool:
        """Whether no difference at all is a good explanation."""
        return abs(self.mean) <= self.margin


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
    results: pd.DataFrame

    @property
    def natural(self) -> pd.DataFrame:
        """The tasks on the table as it is."""
        return self.results[self.results["fraction"] == 0]

    @cached_property
    def by_split(self) -> pd.DataFrame:
        """Scores on the table as it is: a line for each split, a column for each method."""
        return self.natural.pivot(index=["repeat", "fold"], columns="method", values="score")

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A line for each method, the best first: mean, spread, margin of a 95 % interval, seconds, second score."""
        second = "log_loss" if self.problem.is_classification else "rmse"
        per_method = self.natural.groupby("method")
        table = pd.DataFrame(
            {
                "mean": self.by_split.mean(),
                "spread": self.by_split.std(ddof=1),
                "margin": [margin(self.by_split[name]) for name in self.by_split],
                "second": per_method[second].mean(),
                "tune_seconds": per_method["tune_seconds"].mean(),
                "fit_seconds": per_method["fit_seconds"].mean(),
            }
        )
        return table.iloc[np.lexsort((table["second"], -table["mean"].round(12)))]  # the second score parts equals

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Mean score for each share of hidden cells (lines) and method (columns)."""
        return self.results.pivot_table(index="fraction", columns="method", values="score")

    @property
    def winner(self) -> str:
        """The method with the best mean."""
        return self.scores.index[0]

    @property
    def runner_up(self) -> str:
        """The second."""
        return self.scores.index[1]

    @property
    def lead(self) -> Difference:
        """The winner's lead over the runner-up."""
        return difference(self.by_split[self.winner], self.by_split[self.runner_up])

    @property
    def least_lead(self) -> float:
        """The least lead that is more than noise: over the best method that does not tie on every fold."""
        best = self.by_split[self.winner]
        margins = (difference(best, self.by_split[name]).margin for name in self.scores.index[1:])
        return next((margin for margin in margins if margin > 0), 0.0)

    def show(self, score: float) -> str:
        """A score as people write it."""
        return f"{score:.1%}" if self.problem.is_classification else f"{score:.3f}"

    def points(self, score: float, margin: float | None = None) -> str:
        """A difference of scores as people write it."""
        scale, digits, unit = (100, 1, " points") if self.problem.is_classification else (1, 3, "")
        around = "" if margin is None else f" ± {scale * margin:.{digits}f}"
        return f"{scale * score:.{digits}f}{around}{unit}"

    @property
    def measure(self) -> str:
        """The name of the score."""
        return "accuracy" if self.problem.is_classification else "R²"

    @property
    def columns(self) -> tuple[str, ...]:
        """What `cells` shows."""
        second = "log loss" if self.problem.is_classification else "RMSE"
        return self.measure, "± 95%", "spread", second, "tune", "fit"

    def cells(self, method: str) -> tuple[str, ...]:
        """The line of `scores` for a method, as people write it."""
        line = self.scores.loc[method]
        second = f"{line['second']:{'.3f' if self.problem.is_classification else '.4g'}}"
        seconds = [f"{line[name]:.2f} s" for name in ("tune_seconds", "fit_seconds")]
        return *(self.show(line[name]) for name in ("mean", "margin", "spread")), second, *seconds

    @property
    def as_good(self) -> list[str]:
        """The methods that cannot be told from the winner."""
        best = self.by_split[self.winner]
        return [name for name in self.scores.index[1:] if difference(best, self.by_split[name]).is_noise]

    @property
    def sturdiest(self) -> str | None:
        """The method that does best over all shares of hidden cells; None if none were hidden."""
        hidden = self.curve[self.curve.index > 0]
        return None if hidden.empty else str(hidden.mean().idxmax())

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        first, tied = METHODS[self.winner].label, self.as_good
        text = f"{first} predicts “{self.problem.target}” best"
        if not tied:
            return text
        if len(tied) > 1 and len(tied) == len(self.scores) - 1 and self.sturdiest:
            all_of_them = _counted(len(self.scores)).capitalize()
            return (
                f"{all_of_them} methods predict “{self.problem.target}” equally well; "
                f"{METHODS[self.sturdiest].label} holds up best as cells go missing"
            )
        others = METHODS[tied[0]].label if len(tied) == 1 else f"{_counted(len(tied))} others"
        return f"{text}, but {others} cannot be told from it"

    @property
    def summary(self) -> str:
        """Who won, and by how much."""
        first, second, lead = METHODS[self.winner].label, METHODS[self.runner_up].label, self.lead
        text = (
            f"{first} has the best mean {self.measure}, {self.show(self.scores['mean'].iloc[0])}. "
            f"Its lead over {second} is {self.points(lead.mean, lead.margin)}"
        )
        if not lead.is_noise:
            return f"{text}: more than noise explains."
        tied = self.as_good
        if len(tied) == len(self.scores) - 1:
            return f"{text}: within noise, and so is its lead over every other method."
        return f"{text}: within noise. As good as it is here: {', '.join(METHODS[name].label for name in tied)}."

    @property
    def worth(self) -> str:
        """Whether the estimator that chooses is worth more than the simplest method that is as good."""
        if "gap" not in self.scores.index:
            return ""
        label, own = METHODS["gap"].label, self.by_split["gap"]
        for name in SIMPLEST_FIRST:
            if name in self.scores.index:
                lead = difference(own, self.by_split[name])
                if lead.mean < -lead.margin:
                    simpler = METHODS[name].label
                    return f"{simpler} is simpler than the {label} and better here, by more than noise explains."
                if lead.mean <= 0 or lead.is_noise:
                    return (
                        f"The simplest method that cannot be told from the {label} here is {METHODS[name].label}: the "
                        f"lead is {self.points(lead.mean, lead.margin)}."
                    )
        return f"The {label} is better than every simpler method here, by more than noise explains."

    @property
    def to_beat(self) -> str:
        """What another method would have to reach."""
        mean, margin, rows = self.scores["mean"].iloc[0], self.least_lead, len(self.problem.y)
        blind = f"differences under {self.points(margin)} cannot be seen with {rows} rows"
        if mean + margin < 1.0:
            reach = self.show(mean + margin)
            return f"To beat it beyond doubt, a method has to reach {reach} on the same folds: {blind}."
        left = self.points(1.0 - mean)
        return f"No method can beat it beyond doubt on these rows: {blind}, and {left} are left above it."

    @property
    def robustness(self) -> str:
        """Who suffers least when cells are hidden."""
        hidden = self.curve[self.curve.index > 0]
        if hidden.empty:
            return ""
        ranked, most = hidden.mean().sort_values(ascending=False), hidden.index[-1]
        best, worst = (
            f"{METHODS[name].label} ({self.show(hidden[name].iloc[-1])} with {most:.0%} hidden)"
            for name in (ranked.index[0], ranked.index[-1])
        )
        return f"When cells are hidden, {best} holds up best and {worst} least."

    def answers(self, method: str) -> tuple[np.ndarray, np.ndarray]:
        """Held-out answers of a method, each row once, and the truth (classes as numbers)."""
        tasks = self.natural[(self.natural["method"] == method) & (self.natural["repeat"] == 0)]
        rows = np.concatenate(tasks["rows"].to_list())
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


def difference(first: pd.Series, second: pd.Series) -> Difference:
    """The mean difference of two methods over the same splits."""
    apart = first - second
    return Difference(float(apart.mean()), margin(apart))


def margin(values: pd.Series) -> float:
    """Half the width of a 95 % interval of a mean over splits."""
    return float(stats.t.ppf(0.975, len(values) - 1) * corrected_error(values, 1.0 / FOLDS))


def _counted(number: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return words[number] if number < len(words) else str(number)
