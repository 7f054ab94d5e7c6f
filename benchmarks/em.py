"""Fitting the density: expectation maximisation against scikit-learn's IterativeImputer."""

import warnings

import numpy as np
from measure import correlated, few_patterns, mcar, peak_mib, report, seconds
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

import gapkernel as gk


def run():
    """Measure and write the table."""
    rng = np.random.default_rng(0)
    spread = rng.normal(size=(20000, 20)) @ rng.normal(size=(20, 20))  # nearly singular: a hard case for EM
    factor = correlated(20000, 20, rng)
    cases = {
        "every row its own pattern": mcar(factor, 0.3, rng),
        "50 patterns": few_patterns(factor, 0.3, 50, rng),
        "every row its own pattern, ill-conditioned": mcar(spread, 0.3, rng),
        "50 patterns, ill-conditioned": few_patterns(spread, 0.3, 50, rng),
    }
    lines = []
    for name, X in cases.items():
        density = gk.density.Gaussian(tol=1e-6)
        ours = seconds(lambda X=X, density=density: density.fit(X))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs = seconds(lambda X=X: IterativeImputer().fit(X), 1)
            their_peak = peak_mib(lambda X=X: IterativeImputer().fit(X))
        peak = peak_mib(lambda X=X, density=density: density.fit(X))
        lines.append(
            (
                name,
                f"{ours:.3f} s",
                density.n_iter_,
                f"{theirs:.2f} s",
                f"{theirs / ours:.3g} x",
                f"{peak:.0f} / {their_peak:.0f} MiB",
            )
        )
    report(
        "em",
        "Density of 20,000 x 20 with 30 % gaps",
        (
            "case",
            "Gaussian, tol=1e-6",
            "iterations",
            "IterativeImputer, defaults",
            "ratio",
            "peak memory, ours / theirs",
        ),
        lines,
        "Ratio: how many times faster than IterativeImputer, both measured in this run.",
    )
