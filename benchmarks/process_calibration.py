"""Simulation-based calibration of the Gaussian process regressor at known hyperparameters.

In each simulation a truth f is drawn from the prior, rows from a normal law, targets from f with noise, and cells of a
new row are hidden. The truth f(x) of the new row is ranked among draws of the posterior of f over the row's law: a row
is completed from its law, then f drawn there. A right posterior gives uniform ranks.

    python benchmarks/process_calibration.py [--simulations 1000]
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent))
from measure import report

import gapkernel as gk

D, ROWS, DRAWS = 4, 60, 99
SETTINGS = {"length_scale": 1.5, "constant_value": 2.0, "noise_level": 0.1, "optimizer": None}
COVARIANCE = 0.5 * np.eye(D) + 0.5
TRAINING_GAPS = (0.0, 0.1, 0.3, 0.5)


def prior_covariance(X):
    """Of f at complete rows."""
    apart = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return SETTINGS["constant_value"] * np.exp(-0.5 * apart / SETTINGS["length_scale"] ** 2)


def ranks(seed, training_gaps):
    """The rank of the truth among draws for one row with each number of gaps, and the deviations of the draws."""
    random = np.random.RandomState(seed)
    X = random.multivariate_normal(np.zeros(D), COVARIANCE, ROWS + D + 1)
    f = random.multivariate_normal(np.zeros(len(X)), prior_covariance(X) + 1e-9 * np.eye(len(X)))
    y = f + np.sqrt(SETTINGS["noise_level"]) * random.standard_normal(len(X))
    train = np.where(random.random((ROWS, D)) < training_gaps, np.nan, X[:ROWS])
    new = X[ROWS:].copy()
    for gaps in range(D + 1):
        new[gaps, random.permutation(D)[:gaps]] = np.nan
    density = gk.density.Gaussian.from_moments(np.zeros(D), COVARIANCE)
    model = gk.GaussianProcessRegressor(density=density, alpha=1e-8, n_landmarks=None, **SETTINGS).fit(train, y[:ROWS])
    rows = model.density_.condition(new)
    points = rows.draws(DRAWS, random).reshape(-1, D)  # each row completed from its law
    mean, std = model.predict(points, return_std=True)
    latent = np.sqrt(np.maximum(std**2 - SETTINGS["noise_level"], 0.0))  # without the noise of a target
    draws = (mean + latent * random.standard_normal(len(mean))).reshape(DRAWS, -1)
    return (draws < f[ROWS:]).sum(axis=0), draws.std(axis=0)


def uniformity(found):
    """p-value of the chi-square test in twenty bins, and the share of truths inside the middle 90 % of the draws."""
    counts = np.bincount(found * 20 // (DRAWS + 1), minlength=20)
    inside = np.mean((found >= 5) & (found < 95))
    return stats.chisquare(counts).pvalue, inside


def lines(simulations):
    """A line for each share of gaps in the training rows and number of gaps in the new row."""
    for share in TRAINING_GAPS:
        found, spread = (
            np.array(part) for part in zip(*(ranks(seed, share) for seed in range(simulations)), strict=True)
        )
        for gaps in range(D + 1):
            pvalue, inside = uniformity(found[:, gaps])
            mean = found[:, gaps].mean() / DRAWS
            sharp = spread[:, gaps].mean() / np.sqrt(SETTINGS["constant_value"])
            yield f"{share:.0%}", gaps, f"{pvalue:.3f}", f"{mean:.3f}", f"{inside:.1%}", f"{sharp:.2f}"


def run(simulations=1000):
    """Simulate and write the table."""
    error = 100 * np.sqrt(0.09 / simulations)
    report(
        "process_calibration",
        "Simulation-based calibration of the Gaussian process regressor",
        ("training cells missing", "gaps of the new row", "p-value", "mean rank", "in the middle 90 %", "deviation"),
        list(lines(simulations)),
        f"{simulations} simulations for each line: f drawn from the prior, {ROWS} rows of {D} normal columns with "
        f"correlations of 0.5, noise of variance {SETTINGS['noise_level']}, hyperparameters and density known, and the "
        f"truth ranked among {DRAWS} draws of the posterior. p-value: chi-square test of uniform ranks in 20 bins. The "
        f"share in the middle has a standard error of {error:.1f} points. Deviation: mean deviation of the draws as a "
        f"share of the prior's, so that a posterior that learns nothing would have 1 in a row without gaps. With "
        f"complete training rows the posterior is exact, and ranks are uniform whatever the new row misses. A training "
        f"row with gaps counts as a target with more noise of a normal law (a match of two moments): where the lines "
        f"with gaps in training rows differ from those without, that is the cost of this step.",
        command=f"python benchmarks/process_calibration.py --simulations {simulations}",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000)
    run(parser.parse_args().simulations)
