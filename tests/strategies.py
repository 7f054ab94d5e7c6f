"""Tables with gaps and batches of laws, for properties that must hold whatever the data."""

import re

import numpy as np
from hypothesis import strategies as st

from gapkernel.density import FactorAnalysis, Gaussian, GaussianMixture, Marginals
from gapkernel.rows import MaskedRows, Moments

SCALES = (1e-8, 1e-3, 1.0, 1e3, 1e8)
GAP_RATES = (0.0, 0.1, 0.3, 0.6, 0.95)


def random_covariance(random, d, strength=1.0):
    """A well-conditioned covariance with correlated columns."""
    factor = random.standard_normal((d, d)) * strength / np.sqrt(d)
    return factor @ factor.T + 0.3 * np.eye(d)


def punch(random, X, rate):
    """A copy of ``X`` with gaps completely at random."""
    return np.where(random.random(X.shape) < rate, np.nan, X)


def random_laws(seed, n, d, rate, n_patterns=None, spread=1.0):
    """A known density, a table with gaps, and the laws of its rows."""
    random = np.random.default_rng(seed)
    covariance = spread**2 * random_covariance(random, d)
    mean = spread * random.standard_normal(d)
    X = random.multivariate_normal(mean, covariance, size=n, method="cholesky")
    if n_patterns is None:
        X = punch(random, X, rate)
    else:
        X[(random.random((n_patterns, d)) < rate)[np.arange(n) % n_patterns]] = np.nan
    density = Gaussian.from_moments(mean, covariance)
    return density, X, density.condition(X)


def block_density(seed):
    """Four columns, {0, 1} and {2, 3} independent, so that a product over the two is exact."""
    random = np.random.default_rng(seed)
    covariance = np.zeros((4, 4))
    covariance[:2, :2], covariance[2:, 2:] = random_covariance(random, 2), random_covariance(random, 2)
    return Gaussian.from_moments(random.standard_normal(4), covariance)


def within_five_errors(draws, expected):
    """The mean over draws, axis 0, agrees with ``expected``."""
    error = draws.std(axis=0) / np.sqrt(len(draws)) + 1e-12
    worst = np.max(np.abs(draws.mean(axis=0) - expected) / error)
    assert worst < 5, f"{worst:.1f} standard errors away from the average of draws"


KINDS = ("gaussian", "factor", "mapped", "mixture", "numbers", "mixed", "categories", "atoms", "masked")
"""Kinds of rows; marginal ones with numbers, with categories, and with both."""


def laws(kind, seed=0, n=9, rate=0.4):
    """Moments and rows of a kind: four columns, some gaps, a complete row and a row that occurs twice."""
    random = np.random.default_rng(seed)
    X = punch(random, random.standard_normal((n, 4)), rate)
    X[0], X[-1] = random.standard_normal(4), X[1]
    if kind in ("numbers", "mixed", "categories"):
        table = np.array(X, dtype=object)
        categories = {"numbers": [], "mixed": [1, 3], "categories": [0, 1, 2, 3]}[kind]
        for k in categories:
            table[:, k] = [None if np.isnan(x) else "low" if x < 0 else "high" if x < 1 else "top" for x in X[:, k]]
        density = Marginals(categorical_features=categories).fit(table)
        return density.moments(), density.condition(table)
    block = block_density(seed)
    if kind == "factor":
        density = FactorAnalysis.from_parameters(np.zeros(4), random.standard_normal((4, 2)), np.full(4, 0.4))
    elif kind == "mixture":
        covariances = np.array([random_covariance(random, 4) for _ in range(2)])
        density = GaussianMixture.from_parameters([0.3, 0.7], random.standard_normal((2, 4)), covariances)
    else:
        density = block
    rows = density.condition(X)
    if kind == "atoms":
        rows = rows.atoms(5, "random", seed)
    if kind == "mapped":  # blocks of columns stay independent
        matrix = np.kron(np.eye(2), random.standard_normal((2, 2)))
        mean, covariance = matrix @ density.mean_, matrix @ density.covariance_ @ matrix.T
        return Moments(mean, covariance.diagonal(), covariance), rows.map(matrix)
    return density.moments(), MaskedRows(rows, np.isnan(X)) if kind == "masked" else rows


@st.composite
def gappy_tables(draw, min_rows=1, max_rows=30, max_columns=6, scales=SCALES, exotic_types=True):
    """A numeric table with gaps: any pattern, empty rows and columns, constants, repeats, extreme units."""
    n, d = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, max_columns))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.multivariate_normal(random.standard_normal(d), random_covariance(random, d), size=n)
    if draw(st.booleans()):
        X[:, random.integers(d)] = 1.0 + random.random()  # a constant column
    if draw(st.booleans()):
        X[random.integers(n)] = X[random.integers(n)]  # a repeated row
    X = punch(random, X, draw(st.sampled_from(GAP_RATES)))
    if draw(st.booleans()):
        X[random.integers(n)] = np.nan  # a row with no value
    if d > 1 and draw(st.booleans()):
        X[:, random.integers(d)] = np.nan  # a column with no value
    if np.isnan(X).all():
        X[0, 0] = 1.0
    X = X * np.array([draw(st.sampled_from(scales)) for _ in range(d)])
    kind = draw(st.sampled_from(["float64", "float32", "object"])) if exotic_types else "float64"
    return np.where(np.isnan(X), None, X.astype(object)) if kind == "object" else X.astype(kind)


@st.composite
def law_batches(draw, max_rows=25, max_columns=6):
    """A density with known moments and the laws of a table with gaps under it."""
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, max_columns))
    rate, seed = draw(st.sampled_from(GAP_RATES)), draw(st.integers(0, 2**32 - 1))
    n_patterns = draw(st.sampled_from([None, 2]))
    spread = draw(st.sampled_from([0.1, 1.0, 10.0]))
    return random_laws(seed, n, d, rate, n_patterns, spread)


def without_address(value) -> str:
    """``str`` as the name of a test case, the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


LIBSVM = (
    "libsvm stops within tol=1e-3 of the optimum, and repeated rows make it stop elsewhere; with a small tol the "
    "same check passes, see test_the_exempted_check_passes_with_a_small_tolerance"
)
"""Why the support vector machines are exempt from scikit-learn's check of repeated rows against weights."""
