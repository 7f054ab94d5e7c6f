"""Small fixed tables with gaps, the same in every run: a complete row, a row without any value, and rows between."""

import numpy as np
import pandas as pd

N, N_NEW = 40, 6


def numbers(seed: int = 1, n: int = N, d: int = 4, rate: float = 0.25) -> np.ndarray:
    """Correlated numbers; row 0 is complete, row 3 lacks every value.

    They are rounded, so that they are the same on every computer: draws depend on each bit of a row.
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) @ (np.eye(d) + 0.4 * np.diag(np.ones(d - 1), 1)) + np.arange(d)
    X = np.round(X, 3)
    gaps = random.random(X.shape) < rate
    gaps[0] = False
    if n > 3:
        gaps[3] = True
    return np.where(gaps, np.nan, X)


def complete(seed: int = 1, n: int = N) -> np.ndarray:
    return numbers(seed, n, rate=0.0)[np.arange(n) != 3]


def frame(seed: int = 1, n: int = N) -> pd.DataFrame:
    """Two numbers, a category and an ordered one; new rows have a level that training rows do not."""
    random = np.random.default_rng(seed + 100)
    table = pd.DataFrame(numbers(seed, n)[:, :2], columns=["size", "weight"])
    kind = random.choice(["red", "green", "blue"], n).astype(object)
    grade = random.choice(["low", "mid", "high"], n).astype(object)
    for column in (kind, grade):
        column[random.random(n) < 0.2] = None
        column[0], column[3] = column[0] or "mid", None
    kind[0] = "red"
    if seed != 1:
        kind[-1] = "never"
    table["kind"] = pd.Categorical(kind) if seed == 1 else kind
    return table.assign(grade=pd.Categorical(grade, ["low", "mid", "high"], ordered=True))


def sources(seed: int = 1, n: int = N) -> np.ndarray:
    """Rows of two sources: the second lacks a column, and its numbers are shifted."""
    X = np.where(np.isnan(numbers(seed, n, rate=0.05)), 0.5, numbers(seed, n, rate=0.05))
    X[::2] += 2.0
    X[::2, 3] = np.nan
    X[5, 1] = np.nan
    return X


def value(X) -> np.ndarray:
    """A number to predict, from what is known of a row and some noise."""
    table = np.asarray(X.iloc[:, :2] if hasattr(X, "iloc") else X, dtype=float)
    filled = np.where(np.isnan(table), np.arange(table.shape[1]), table)
    noise = np.random.default_rng(7).standard_normal(len(table))
    return np.round(np.sin(filled[:, 0]) + 0.5 * filled[:, 1] ** 2 + 0.3 * noise, 3)


def classes(X, number: int) -> np.ndarray:
    """As many classes of about the same size."""
    numbers = value(X)
    places = np.searchsorted(np.quantile(numbers, np.arange(1, number) / number), numbers)
    return np.array(["ant", "bee", "cat"])[places]


TABLES = {
    "numbers": (numbers(), numbers(2, N_NEW)),
    "complete": (complete(), numbers(2, N_NEW)),
    "frame": (frame(), frame(2, N_NEW)),
    "sources": (sources(), sources(2, N_NEW)),
}
WEIGHT = np.round(np.random.default_rng(3).uniform(0.2, 3.0, N), 2)
WEIGHT[5] = 0.0


def problem(table: str, target: str):
    """Training rows, what is to be predicted ("two" or "three" classes, or "number"), and new rows."""
    X, new = TABLES[table]
    return X, value(X) if target == "number" else classes(X, {"two": 2, "three": 3}[target]), new
