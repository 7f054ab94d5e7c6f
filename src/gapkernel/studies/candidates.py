"""The candidates that people compare and fit by name, and the grids from which they take their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC as CompleteSVC, SVR as CompleteSVR

from gapkernel.density import Density, Gaussian, JointGaussian, Marginals
from gapkernel.estimators import SVC, SVR, GapClassifier, GapRegressor
from gapkernel.estimators.candidate import Candidate, Grid, from_grid
from gapkernel.imputation import GapFiller, OneHotWithGaps
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF, HeterogeneousKernel, Kernel

EM_TOLERANCE = 1e-4
"""Relative; that of the R package norm, which the genRBF paper used. With most cells missing it also spares a long tail
of iterations that overfit the covariance."""


def powers_of_two(*exponents: int) -> tuple[float, ...]:
    """2^k for each k."""
    return tuple(2.0**k for k in exponents)


PAPER_GRID = Grid(C=powers_of_two(*range(-5, 10, 2)), gamma=powers_of_two(*range(-5, 16, 2)))
"""The grid of the genRBF paper."""
QUICK_GRID = Grid(C=powers_of_two(-1, 3, 7), gamma=powers_of_two(-5, -3, -1, 1), alpha=(0.5, 0.95))
"""Every second value of it in the part that is ever chosen on standardised columns."""


def table_grid(n_columns: int) -> Grid:
    """A grid for a table of standardised columns, whose squared distances grow with their number.

    Parameters
    ----------
    n_columns : int
        Of the table.

    Returns
    -------
    grid : Grid

    Examples
    --------
    >>> from gapkernel.studies import table_grid
    >>> table_grid(10).gamma
    (0.01, 0.03, 0.1)
    """
    gamma = tuple(float(f"{width / n_columns:.3g}") for width in (0.1, 0.3, 1.0))
    return Grid(C=(0.3, 1.0, 3.0, 10.0, 30.0, 100.0), gamma=gamma, alpha=(None, 0.5, 0.9))


def on_laws(
    name: str,
    short: str,
    kernel: Kernel,
    *parameters: str,
    density: Density | None = None,
    options: Mapping[str, Any] | None = None,
    **fields,
) -> Candidate:
    """A support vector machine with a kernel on laws, which takes these parameters, C and epsilon from a grid.

    Without a density it is one Gaussian over standardised columns. ``options`` are further parameters of `SVC` or
    `SVR`.
    """

    def unfitted(task: str, categories: bool) -> BaseEstimator:
        laws = JointGaussian(gaussian=None if categories else Gaussian(tol=EM_TOLERANCE))
        machine = SVR if task == "regression" else SVC
        return machine(kernel=clone(kernel), density=laws if density is None else clone(density), **(options or {}))

    usual: dict[str, Any] = {"family": "kernel", "label": f"{short} SVM", "ours": True, "scales_target": True}
    grid = from_grid(*parameters, "C", "epsilon")
    return Candidate(**usual | {"name": name, "estimator": unfitted, "grid": grid, "short": short} | fields)


def on_filled(name: str, short: str, filler: BaseEstimator, **fields) -> Candidate:
    """An RBF support vector machine on a table that a transformer fills, or makes complete in another way."""

    def unfitted(task: str, categories: bool) -> BaseEstimator:
        return make_pipeline(clone(filler), CompleteSVR() if task == "regression" else CompleteSVC())

    usual: dict[str, Any] = {"grid": from_grid("gamma", "C", "epsilon"), "label": f"{short} SVM", "scales_target": True}
    return Candidate(**usual | {"name": name, "estimator": unfitted, "family": "imputed", "short": short} | fields)


def _gap(name: str, label: str, short: str, **parameters) -> Candidate:
    def unfitted(task: str, categories: bool) -> BaseEstimator:
        return (GapRegressor if task == "regression" else GapClassifier)(random_state=0, **parameters)

    return Candidate(name=name, estimator=unfitted, label=label, short=short, ours=True)


def _no_model(task: str, categories: bool) -> BaseEstimator:
    return DummyRegressor() if task == "regression" else DummyClassifier()


def _landmarks(task: str, categories: bool) -> BaseEstimator:
    """A filled table, an RBF kernel with 300 landmarks, and a linear model: for many rows."""
    from sklearn.kernel_approximation import Nystroem  # these are slow to import
    from sklearn.linear_model import LogisticRegression, Ridge

    linear = Ridge() if task == "regression" else LogisticRegression(max_iter=1000)
    features = Nystroem(n_components=300, random_state=0)
    return make_pipeline(GapFiller(name="mean_indicator", random_state=0), features, linear)


def _landmark_values(grid: Grid, task: str) -> dict[str, tuple[float, ...]]:
    """Penalties of the linear model; ridge regression says 1 / C."""
    penalties = {"alpha": (10.0, 1.0, 0.1)} if task == "regression" else {"C": (0.1, 1.0, 10.0)}
    return penalties | {"gamma": grid.gamma}


def _boosting(task: str, categories: bool) -> BaseEstimator:
    """Boosted trees on one-hot codes: with categories of its own a file of the model would hold functions."""
    from sklearn import ensemble  # slow to import

    kind = "Regressor" if task == "regression" else "Classifier"
    return make_pipeline(OneHotWithGaps(), getattr(ensemble, f"HistGradientBoosting{kind}")(random_state=0))


CANDIDATES: dict[str, Candidate] = {
    candidate.name: candidate
    for candidate in (
        _gap("gap", "Gap estimator", "Gap"),
        _gap("gap-quick", "Gap estimator (quick)", "Gap (quick)", members=["genrbf", "ehk", "trees, small"], cv=3),
        _gap("fourier", "genRBF, Fourier features", "Fourier", members=["fourier"]),
        _gap("fourier-quick", "genRBF, Fourier features (quick)", "Fourier (quick)", members=["fourier"], cv=3),
        Candidate(name="baseline", estimator=_no_model, label="no model", short="no model"),
        on_laws("genrbf", "genRBF", GenRBF(), "gamma"),
        on_laws(
            "genrbf-indicator",
            "genRBF + ind.",
            GenRBF(),
            "gamma",
            options={"indicator": True},
            label="genRBF + indicator SVM",
        ),
        on_laws("rbf", "expected RBF", ExpectedRBF(), "gamma"),
        on_laws("ehk", "EHK", HeterogeneousKernel(), "alpha", density=Marginals()),
        on_laws("linear", "expected linear", ExpectedLinear()),
        on_filled(
            "mean_indicator",
            "mean + ind.",
            GapFiller(name="mean_indicator", random_state=0),
            label="mean + indicator SVM",
        ),
        Candidate(
            name="mean_landmarks",
            estimator=_landmarks,
            grid=_landmark_values,
            family="imputed",
            label="mean + indicator, landmarks",
            short="landmarks",
            scales_target=True,
        ),
        Candidate(
            name="boosting-one-hot",
            estimator=_boosting,
            grid={"learning_rate": (0.05, 0.2), "max_leaf_nodes": (7, 31)},
            family="boosting",
            label="HistGradientBoosting, one-hot",
            short="boosting",
        ),
    )
}
"""The candidates by name."""

EXACT_ROWS = 3000
"""Rows up to which every candidate learns from all pairs of them."""

COMPARED = ("gap", "genrbf", "genrbf-indicator", "rbf", "ehk", "mean_indicator", "boosting-one-hot", "baseline")
"""Those of ``gapkernel compare``."""

COMPARED_QUICKLY = ("gap-quick", "genrbf", "rbf", "ehk", "mean_indicator", "boosting-one-hot", "baseline")
"""Those of ``gapkernel compare --quick``."""

COMPARED_ON_MANY_ROWS = ("gap", "fourier", "mean_landmarks", "boosting-one-hot", "baseline")
"""Those of ``gapkernel compare`` above `EXACT_ROWS`: time grows with the rows, not with their square."""

COMPARED_QUICKLY_ON_MANY_ROWS = ("fourier-quick", "mean_landmarks", "boosting-one-hot", "baseline")
"""Those of ``gapkernel compare --quick`` above `EXACT_ROWS`."""

SIMPLEST_FIRST = (
    *("linear", "mean_indicator", "mean_landmarks", "rbf", "genrbf", "fourier", "ehk", "genrbf-indicator"),
    "boosting-one-hot",
)
"""Candidates that are simpler than "gap"."""
