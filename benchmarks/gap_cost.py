"""What a fit and its answers cost: the Gap estimators beside tuned boosting, and deviations by landmarks.

    python benchmarks/gap_cost.py [--large]

With ``--large`` only the case of 100,000 rows is run, and its table written.
"""

import argparse
import time

import numpy as np
from measure import peak_mib, report
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV

import gapkernel as gk

GRID = {"learning_rate": [0.05, 0.1, 0.2], "max_leaf_nodes": [7, 15, 31], "max_iter": [50, 100]}
N_EXACT = 50
"""Rows that the exact deviations are timed on, which all cost the same."""


def problem(n, d, fraction, seed=0):
    """A class that depends on few of many correlated columns with gaps."""
    random = np.random.default_rng(seed)
    hidden = random.standard_normal((n, 8))
    X = hidden @ random.standard_normal((8, d)) + random.standard_normal((n, d))
    value = hidden[:, 0] + hidden[:, 1] * hidden[:, 2] + 0.5 * random.standard_normal(n)
    X[random.random(X.shape) < fraction] = np.nan
    return X / np.nanstd(X, axis=0), value


def timed(task):
    """The result of a task, and its wall time."""
    begin = time.perf_counter()
    result = task()
    return result, time.perf_counter() - begin


def run():
    """Write the table."""
    rows = []
    X, value = problem(1500, 30, 0.3)
    y = (value > 0).astype(int)
    gk.GapClassifier(random_state=0).fit(X[:60], y[:60]).predict_proba(X[:9])  # compile
    ours, ours_fit = timed(lambda: gk.GapClassifier(random_state=0).fit(X[:500], y[:500]))
    _, ours_predict = timed(lambda: ours.predict_proba(X[500:]))
    search = GridSearchCV(HistGradientBoostingClassifier(random_state=0), GRID, scoring="neg_log_loss", cv=5)
    theirs, theirs_fit = timed(lambda: search.fit(X[:500], y[:500]))
    _, theirs_predict = timed(lambda: theirs.predict_proba(X[500:]))
    losses = [-np.log(m.predict_proba(X[500:])[np.arange(1000), y[500:]]).mean() for m in (ours, theirs)]
    peak = peak_mib(lambda: gk.GapClassifier(random_state=0).fit(X[:500], y[:500]))
    rival = "tuned HistGradientBoosting"
    rows.append(_line("GapClassifier, fit 500 x 30, 30 % gaps", ours_fit, rival, theirs_fit, f"{peak:.0f} MiB"))
    rows.append(_line("GapClassifier, answers to 1,000 rows", ours_predict, rival, theirs_predict, ""))

    X, value = problem(2500, 20, 0.3)
    model, fit_seconds = timed(lambda: gk.GaussianProcessRegressor(normalize_y=True).fit(X[:1500], value[:1500]))
    exact = gk.GaussianProcessRegressor(
        normalize_y=True,
        optimizer=None,
        n_landmarks=None,
        length_scale=model.length_scale_,
        constant_value=model.constant_value_,
        noise_level=model.noise_level_,
    ).fit(X[:1500], value[:1500])
    (_, close), first = timed(lambda: model.predict(X[1500:], return_std=True))
    _, again = timed(lambda: model.predict(X[1500:], return_std=True))
    (_, right), slow = timed(lambda: exact.predict(X[1500 : 1500 + N_EXACT], return_std=True))
    off = np.abs(close[:N_EXACT] / right - 1.0).max()
    label = "deviations of 1,000 rows, n = 1,500, d = 20, 30 % gaps"
    rows.append(_line(f"{label}, first call", first, "exact sum", 20 * slow, f"off by {off:.1%} at most"))
    rows.append(_line(f"{label}, further calls", again, "exact sum", 20 * slow, ""))
    classes = (value[:1000] > 0).astype(int)
    for scales in (None, "shrunk"):
        fitted = gk.GaussianProcessClassifier(length_scale=scales)
        _, seconds = timed(lambda fitted=fitted: fitted.fit(X[:1000], classes))
        what = f"GaussianProcessClassifier, {scales or 'one'} length scale, fit 1,000 x 20"
        rows.append(_line(what, seconds, "GaussianProcessRegressor, fit 1,500 x 20", fit_seconds, ""))
    report(
        "gap_cost",
        "What the Gap estimators and the processes cost",
        ["case", "seconds", "alternative", "its seconds", "ratio", "memory, error"],
        rows,
        f"Log loss on the 1,000 rows: {losses[0]:.3f} (GapClassifier) and {losses[1]:.3f} (boosting, 18 settings x 5 "
        f"folds). The exact sum was timed on {N_EXACT} rows and multiplied.",
    )


def run_large(n=100_000, d=20):
    """Write the table of a fit to many rows, as a whole and in batches."""
    X, value = problem(n + 2000, d, 0.3)
    y, rows = (value > 0).astype(int), []
    for case in ("in memory", "in batches"):
        model = gk.GapClassifier(random_state=0)
        data = (X[:n], y[:n]) if case == "in memory" else (gk.batches(X[:n], y[:n], batch_size=10_000),)
        began = time.process_time()
        peak, seconds = timed(lambda model=model, data=data: peak_mib(lambda: model.fit(*data)))
        processor = time.process_time() - began
        right = (model.predict(X[n:]) == y[n:]).mean()
        rows.append([case, f"{seconds:.0f}", f"{processor:.0f}", f"{peak:.0f}", f"{right:.3f}"])
    report(
        "gap_cost_large",
        f"GapClassifier on {n:,} x {d}, 30 % gaps",
        ["table", "seconds", "processor seconds", "MiB", "accuracy on 2,000 new rows"],
        rows,
        command="python benchmarks/gap_cost.py --large",
    )


def _line(case, ours, rival, theirs, more):
    return [case, f"{ours:.2f}", rival, f"{theirs:.2f}", f"{ours / theirs:.2g} x", more]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    run_large() if parser.parse_args().large else run()
