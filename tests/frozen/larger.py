"""Tables of some hundred rows or some dozen columns, where other ways to the same numbers are taken.

Matrices are kept as their products with a few fixed vectors.
"""

from functools import partial

import numpy as np

from frozen.names import (
    ExpectedLinear,
    ExpectedRBF,
    FactorAnalysis,
    FourierRegressor,
    Gaussian,
    GaussianMixture,
    GaussianProcessRegressor,
    GenRBF,
    HeterogeneousKernel,
    KernelRidge,
    Marginals,
)
from frozen.rooms import Room
from frozen.tables import numbers, value

ROOM = Room("larger")
N = 220


def few_patterns(n: int = N, d: int = 6) -> np.ndarray:
    """Many rows share each of three gap patterns."""
    X = numbers(9, n, d, rate=0.0)
    X[3] = 0.5
    X[1::3, 1] = np.nan
    X[2::3, 2:4] = np.nan
    return X


def shrunk(matrix: np.ndarray) -> np.ndarray:
    """A matrix between three fixed vectors on each side."""
    left, right = (np.round(np.random.default_rng(n).standard_normal((n, 3)), 3) / np.sqrt(n) for n in matrix.shape)
    return left.T @ matrix @ right


TABLES = {
    "scattered": (Gaussian(ridge=0.1), numbers(9, N, 6)),
    "shared": (Gaussian(ridge=0.1), few_patterns()),
    "many gaps": (Gaussian(ridge=0.1), numbers(9, 60, 24, rate=0.6)),
    "factors": (FactorAnalysis(2, ridge=0.1), numbers(9, 60, 24, rate=0.6)),
    "mixture": (GaussianMixture(2, ridge=0.1, random_state=0), numbers(9, N, 6)),
}
KERNELS = {
    "linear": ExpectedLinear(),
    "rbf": ExpectedRBF(0.05),
    "genrbf": GenRBF(0.05),
    "genrbf, metric": GenRBF(0.05, "mahalanobis"),
}


def kernels(name: str) -> dict:
    """Matrices of many rows, by each verb."""
    density, X = TABLES[name]
    density = density.fit(X)
    rows = density.condition(X)
    half = len(rows) // 2
    left, right = rows.take(slice(half)), rows.take(slice(half, None))
    found = {}
    for word, kernel in KERNELS.items():
        kernel = kernel.resolve(density.moments(), rows)
        found |= {
            f"{word}, gram": shrunk(kernel.gram(rows)),
            f"{word}, cross": shrunk(kernel.cross(left, right)),
            f"{word}, self_cross": kernel.self_cross(rows).sum(),
            f"{word}, dot": kernel.dot(left, right, np.ones((len(right), 1)))[::30],
        }
        if word in ("rbf", "genrbf"):
            found[f"{word}, over_widths"] = [shrunk(one).trace() for one in kernel.over_widths([0.02, 0.3], left)]
    return found


for name in TABLES:
    ROOM.add(f"kernels, {name}", partial(kernels, name))


@ROOM.group("columns of numbers")
def columns_of_numbers():
    X = numbers(9, N, 6)
    rows = Marginals().fit(X).condition(X)
    kernels = {"gower": HeterogeneousKernel(), "rbf": HeterogeneousKernel(0.5, numeric="rbf")}
    return {name: shrunk(kernel.gram(rows)) for name, kernel in kernels.items()}


@ROOM.group("densities")
def densities():
    """EM on many rows, on shared patterns, with a rank, and with more components."""
    found = {}
    for name, X in {"scattered": numbers(9, N, 6), "shared": few_patterns()}.items():
        models = {"gaussian": Gaussian(), "factors": FactorAnalysis(), "mixture": GaussianMixture(random_state=0)}
        for word, model in models.items():
            moments = model.fit(X).moments()
            found |= {
                f"{name}, {word}, mean": moments.mean,
                f"{name}, {word}, covariance": shrunk(moments.covariance),
                f"{name}, {word}, score": model.score(X),
            }
    return found


@ROOM.group("models")
def models():
    """Deviations by points that stand for the training rows, and regressions."""
    X, new = few_patterns(), numbers(9, N, 6)[4:12]
    y = value(X[:, :2])
    given = {"optimizer": None, "length_scale": 2.0, "noise_level": 0.3, "random_state": 0}
    found = {}
    for landmarks in ("auto", None, 30):
        process = GaussianProcessRegressor(**given, n_landmarks=landmarks).fit(X, y)
        found |= {f"process, {landmarks}": np.array(process.predict(new, return_std=True))}
    found["ridge"] = KernelRidge(kernel="rbf", gamma=0.1).fit(X, y).predict(new)
    found["fourier"] = FourierRegressor(64, random_state=0).fit(X, y).predict(new)
    return found
