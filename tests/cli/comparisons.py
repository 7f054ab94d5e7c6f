"""A small table to compare methods on, and made-up results."""

import numpy as np
import pandas as pd

from gapkernel.cli.problem import Problem
from gapkernel.cli.verdict import Verdict
from gapkernel.tables.files import labelled

NASTY = '<b>&"x"'


def frame(n=70):
    """A small table with gaps: numbers, a category, a class and a number to predict."""
    random = np.random.default_rng(1)
    table = pd.DataFrame(random.normal(size=(n, 3)), columns=["a", "b", NASTY])
    table["kind"] = pd.Categorical(random.choice(["u", "v"], n))
    score = table["a"] + (table["kind"] == "u") + 0.3 * random.normal(size=n)
    table["value"], table["class"] = score, pd.Categorical(np.where(score > 0.4, "high", "low"))
    table["third"] = pd.Categorical(np.select([score < 0, score > 0.8], ["x", "z"], "y"))
    table.loc[::6, "a"] = np.nan
    return table


def rows_of(target):
    return labelled(frame()[["a", "b", NASTY, "kind", target]], target)


def problem(target):
    return Problem("table.csv", target, rows_of(target))


def results(scores, fraction=0.0):
    """Results of a made-up study: for each method its accuracy by fold."""
    return pd.DataFrame(
        [
            {"method": name, "fraction": fraction, "draw": 0, "repeat": 0, "fold": fold}
            | {"accuracy": score, "balanced_accuracy": score, "log_loss": 1 - score, "r2": score, "rmse": 1 - score}
            | {"tune_seconds": 1.0, "fit_seconds": 0.1}
            for name, values in scores.items()
            for fold, score in enumerate(values)
        ]
    )


def verdict_of(target="class", hidden=None, **means):
    """A verdict on ten folds in which each method scores around a number, with noise of its own."""
    random = np.random.default_rng(0)

    def drawn(around):
        return {name: mean + 0.01 * random.standard_normal(10) for name, mean in around.items()}

    found = results(drawn(means))
    return Verdict(problem(target), pd.concat([found, results(drawn(hidden), 0.4)]) if hidden else found)
