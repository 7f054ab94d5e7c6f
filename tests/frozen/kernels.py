"""Every kernel on every kind of rows that it takes: four rows, two others, and each verb."""

from functools import cache, partial

import numpy as np
import pandas as pd
from sklearn.gaussian_process.kernels import Matern

from frozen import names
from frozen.names import (
    AnisotropicRBF,
    AtomicDensity,
    CompletionKernel,
    ExpectedLinear,
    ExpectedRBF,
    FactorAnalysis,
    Gaussian,
    GaussianMixture,
    GenRBF,
    HeterogeneousKernel,
    Karma,
    Laplacian,
    Marginals,
    Missingness,
    MonteCarlo,
    OnColumns,
    Product,
    Scaled,
    Sum,
    UnscaledExpectedRBF,
    make_kernel,
)
from frozen.rooms import Room
from frozen.tables import numbers

ROOM = Room("kernels")
D, N_LEFT = 4, 4
UPPER = np.triu_indices(N_LEFT)
random = np.random.default_rng(11)
ROOT = random.standard_normal((3, D, D)) / 2
COVARIANCES = ROOT @ ROOT.transpose(0, 2, 1) + 0.3 * np.eye(D)
BLOCKS = COVARIANCES[0] * np.kron(np.eye(2), np.ones((2, 2)))  # a product over {0, 1} and {2, 3} is exact
MEANS = np.arange(D) + random.standard_normal((2, D))
METRIC = COVARIANCES[2]


def categories(columns: list[int]) -> pd.DataFrame:
    """Twelve rows of numbers, some columns cut into three levels."""
    table = pd.DataFrame(numbers(5, 12), columns=list("abcd"))
    for k in columns:
        cut = pd.cut(table.iloc[:, k], 3, labels=["low", "mid", "top"])
        table["abcd"[k]] = cut if k == 1 else cut.astype(object).where(cut.notna(), None)
    return table


@cache
def laws(kind: str):
    """A density with known parameters (or marginals of twelve rows), and the laws of six rows."""
    X = numbers(5, 6)
    gaussian = Gaussian.from_moments(MEANS[0], BLOCKS)
    density = {
        "factor": FactorAnalysis.from_parameters(MEANS[0], ROOT[0][:, :2], np.full(D, 0.4)),
        "mixture": GaussianMixture.from_parameters([0.3, 0.7], MEANS, COVARIANCES[:2]),
    }.get(kind, gaussian)
    if kind in ("marginal numbers", "mixed", "categories"):
        X = categories({"marginal numbers": [], "mixed": [1, 3], "categories": [0, 1, 2, 3]}[kind])
        density, X = Marginals().fit(X), X.iloc[:6]
    if kind in OTHER_MARGINALS:
        law = {"numeric": kind.replace("normal columns", "gaussian")}
        density = Marginals(**law).fit(numbers(5, 12))
    if kind == "atoms":
        density = AtomicDensity(Marginals(numeric="empirical"), n_atoms=4, random_state=0).fit(numbers(5, 12))
    rows = density.condition(X)
    return density.moments(), names.with_mask(rows, X) if kind == "masked" else rows


OTHER_MARGINALS = ("normal columns", "empirical", "uniform")
CATEGORIES = ("categories",)
TWO = ("gaussian", "mixture")
MARGINAL = ("marginal numbers", "mixed", "categories")
GAUSSIAN = ("gaussian", "factor", "masked")
MIXTURES = (*GAUSSIAN, "mixture", "atoms")
NUMBERS = (*MIXTURES, "marginal numbers")
NOT_FACTOR = tuple(kind for kind in NUMBERS if kind != "factor")  # whose draws depend on the last bit of their means

KERNELS = {
    "linear": (ExpectedLinear(), NUMBERS),
    "rbf": (ExpectedRBF(0.3), MIXTURES),
    "rbf, narrow": (ExpectedRBF(30.0), ("gaussian", "atoms")),
    "rbf, scale": (ExpectedRBF(), TWO),
    "rbf, median": (ExpectedRBF("median"), TWO),
    "rbf, auto": (make_kernel("rbf", "auto"), ("gaussian",)),
    "unscaled rbf": (UnscaledExpectedRBF(0.3), GAUSSIAN),
    "anisotropic": (AnisotropicRBF([1.0, 2.0, 0.5, 3.0]), MIXTURES),
    "anisotropic, scale": (AnisotropicRBF(), ("gaussian",)),
    "genrbf": (GenRBF(0.3), MIXTURES),
    "genrbf, mahalanobis": (GenRBF(0.2, "mahalanobis"), ("gaussian", "factor", "mixture")),
    "genrbf, matrix": (GenRBF(0.2, METRIC), ("gaussian", "factor")),
    "genrbf, diagonal": (GenRBF("scale", np.diag([1.0, 0.5, 2.0, 0.3])), ("gaussian", "factor")),
    "genrbf, singular": (GenRBF("median", METRIC[:, :2] @ METRIC[:2]), TWO),
    "sum": (ExpectedLinear() + ExpectedRBF(0.5), TWO),
    "sum by name": (Sum(GenRBF(0.2), Scaled(ExpectedLinear(), 0.1)), ("gaussian",)),
    "scaled": (2.5 * ExpectedRBF(0.4), TWO),
    "on columns": (ExpectedRBF(0.4).on([2, 0]), ("gaussian", "factor", "mixture", "atoms")),
    "product": (ExpectedRBF(0.4).on([0, 1]) * ExpectedLinear().on([2, 3]), ("gaussian", "masked")),
    "product by name": (Product(OnColumns(GenRBF(0.4), [0, 1]), OnColumns(GenRBF(0.1), [2, 3])), ("gaussian",)),
    "masked": (names.masked(ExpectedRBF(0.3), Missingness()), ("masked",)),
    "masked, sum": (names.masked(GenRBF(0.3), Missingness(0.4, "sum")), ("masked",)),
    "karma": (Karma(2, normalize=False), NUMBERS),
    "karma, normalised": (Karma(3), ("gaussian", "atoms", "marginal numbers")),
    "karma, distance": (Karma(2, form="distance", gamma=0.5), ("gaussian", "factor")),
    "karma, distance, scale": (Karma(2, form="distance"), ("gaussian",)),
    "karma, featurewise": (Karma(2, form="featurewise"), TWO),
    "ehk": (HeterogeneousKernel(), MARGINAL),
    "ehk, alpha": (HeterogeneousKernel(0.5), MARGINAL),
    "ehk, alpha, not scaled": (HeterogeneousKernel(0.5, scaled=False), ("mixed",)),
    "ehk, sum of laplacian": (4.0 * HeterogeneousKernel(numeric="laplacian"), ("mixed",)),
    "ehk, columns": (HeterogeneousKernel(kernels={0: "laplacian", 1: "overlap"}), ("mixed",)),
    "ehk, laws": (HeterogeneousKernel(), OTHER_MARGINALS),
    "ehk, rbf of laws": (HeterogeneousKernel(numeric="rbf"), OTHER_MARGINALS),
    "ehk, laplacian of laws": (HeterogeneousKernel(numeric=Laplacian(2.0)), ("uniform",)),
    "ehk, ordinal": (HeterogeneousKernel(categorical="ordinal"), ("categories",)),
    "completions": (CompletionKernel(), CATEGORIES),
    "completions, distance": (CompletionKernel("exp-distance", gamma=0.3, completions="frequency"), CATEGORIES),
    "completions, mismatch": (CompletionKernel("exp-mismatch", gamma=0.3), CATEGORIES),
    "completions, exp-overlap": (CompletionKernel("exp-overlap", gamma=2.0), CATEGORIES),
    "completions, matches": (CompletionKernel("matches", function=lambda m: (m + 1.0) ** 2), CATEGORIES),
    "completions, listed": (CompletionKernel(lambda x, y: (x == y).prod(1), completions="frequency"), CATEGORIES),
    "monte carlo": (MonteCarlo("laplacian", {"gamma": 0.4}, n_draws=4, random_state=0), NOT_FACTOR),
    "monte carlo, function": (MonteCarlo(Matern(2.0), n_draws=4, random_state=0), TWO),
}  # fmt: skip
WIDTHS = [0.1, 2.0]
OVER_WIDTHS = {
    "rbf": MIXTURES,
    "genrbf": ("gaussian", "factor", "atoms"),
    "genrbf, mahalanobis": TWO,
    "scaled": ("gaussian",),
    "masked": ("masked",),
    "karma, distance": ("gaussian",),
}
VARIANCES = {
    "linear": MIXTURES,
    "rbf": MIXTURES,
    "genrbf": MIXTURES,
    "genrbf, matrix": ("gaussian",),
    "anisotropic": TWO,
    "scaled": TWO,
    "on columns": ("gaussian",),
    "masked": ("masked",),
}
COVARIANCES_OF_COLUMNS = {name: [k for k in kinds if k in GAUSSIAN] for name, kinds in VARIANCES.items()}


def answers(name: str, kind: str) -> dict:
    moments, rows = laws(kind)
    kernel = KERNELS[name][0].resolve(moments, rows)
    left, right = rows.take(slice(N_LEFT)), rows.take([4, 5])
    found = {
        "gram": kernel.gram(left)[UPPER],
        "cross": kernel.cross(left, right),
        "diag": kernel.diag(right),  # that of the left rows is in their matrix
        "self_cross": kernel.self_cross(left),
        "dot": kernel.dot(left, right, np.array([[1.0], [-0.5]])),
    }
    if kind in OVER_WIDTHS.get(name, ()):
        found["over_widths"] = kernel.over_widths(WIDTHS, left)[(slice(None), *UPPER)]
        found["over_widths, cross"] = kernel.over_widths(WIDTHS, left, right)
    if kind in VARIANCES.get(name, ()):
        found["variance"] = names.variance(kernel, left, right)
        found["gram_variance"] = names.gram_variance(kernel, left)[UPPER]
    if kind in COVARIANCES_OF_COLUMNS.get(name, ()):
        small = left.take(slice(1, 4))
        found["column_covariances"] = np.array([m[np.triu_indices(3)] for m in names.column_covariances(kernel, small)])
    return found


def all_kinds(name: str) -> dict:
    return {f"{kind}, {verb}": values for kind in KERNELS[name][1] for verb, values in answers(name, kind).items()}


for name in KERNELS:
    ROOM.add(name, partial(all_kinds, name))
