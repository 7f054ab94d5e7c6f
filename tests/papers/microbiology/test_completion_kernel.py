"""Completion kernels against plain enumeration, and 1KE as a special case."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gapkernel as gk
from gapkernel.density import Marginals
from gapkernel.kernels import HeterogeneousKernel
from gapkernel.papers.microbiology import CompletionKernel

LEVELS = (2, 3, 4, 2, 3)
D = len(LEVELS)


def problem(seed=0, n=14):
    """Codes with gaps, every level seen, and the rows of a density fitted to them."""
    random = np.random.default_rng(seed)
    X = np.array([[random.integers(0, m) for m in LEVELS] for _ in range(n)], float)
    X[:4] = np.array([[min(i, m - 1) for m in LEVELS] for i in range(4)])
    X[4:][random.random((n - 4, D)) < 0.35] = np.nan
    X[-1] = np.nan
    density = Marginals(categorical_features=list(range(D))).fit(X)
    return X, density.condition(X)


def completions(x, chances):
    options = [[(v, 1.0)] if not np.isnan(v) else list(enumerate(p)) for v, p in zip(x, chances, strict=True)]
    return [(np.array([v for v, _ in c]), np.prod([p for _, p in c])) for c in itertools.product(*options)]


BASES = {
    "overlap": (CompletionKernel(), lambda a, b: np.mean(a == b)),
    "exp-distance": (CompletionKernel("exp-distance", gamma=0.7), lambda a, b: np.exp(-0.7 * np.sum((a - b) ** 2))),
    "exp-mismatch": (CompletionKernel("exp-mismatch", gamma=0.7), lambda a, b: np.exp(-1.4 * np.sum(a != b))),
    "exp-overlap": (CompletionKernel("exp-overlap", gamma=0.7), lambda a, b: np.exp(0.7 * np.mean(a == b))),
    "matches": (CompletionKernel("matches", function=lambda m: (1 + m) ** 3), lambda a, b: (1 + np.sum(a == b)) ** 3),
    "any": (
        CompletionKernel(lambda x, y: (1 + np.sum(x * y, axis=1)) ** 2),
        lambda a, b: (1 + np.sum(a * b)) ** 2,
    ),
}
every_base = pytest.mark.parametrize(("kernel", "plain"), BASES.values(), ids=BASES.keys())


@every_base
@pytest.mark.parametrize("law", ["uniform", "frequency"])
def test_every_base_equals_enumeration(kernel, plain, law):
    X, rows = problem()
    X, rows = X[2:9], rows.take(slice(2, 9))
    kernel.set_params(completions=law, max_completions=100_000)
    chances = [
        np.full(m, 1 / m) if law == "uniform" else f.probabilities for m, f in zip(LEVELS, rows.features, strict=True)
    ]
    listed = [completions(x, chances) for x in X]
    cross = [[sum(p * q * plain(a, b) for a, p in u for b, q in v) for v in listed] for u in listed]
    assert_allclose(kernel.cross(rows, rows), cross, rtol=1e-11)
    assert_allclose(kernel.diag(rows), [sum(p * plain(a, a) for a, p in u) for u in listed], rtol=1e-11)
    gram = kernel.gram(rows)
    np.fill_diagonal(gram, np.diagonal(cross))
    assert_allclose(gram, cross, rtol=1e-11)


@every_base
@pytest.mark.parametrize("law", ["uniform", "frequency"])
def test_gram_and_cross_are_positive_semi_definite(kernel, plain, law):
    _, rows = problem(1)
    rows = rows.take(slice(0, 8))
    kernel.set_params(completions=law, max_completions=100_000)
    for matrix in (kernel.gram(rows), kernel.cross(rows, rows)):
        assert np.linalg.eigvalsh(matrix)[0] >= -1e-10 * np.abs(matrix).max()


def test_golden_values():
    X = np.array([[0, None, 1, None], [0, 1, None, None], [1, 0, 0, 0], [1, 1, 1, 1]], dtype=object)
    rows = Marginals(categorical_features=[0, 1, 2, 3]).fit(X).condition(X)
    assert_allclose(CompletionKernel().gram(rows)[0, 1], 0.625, atol=1e-12)
    assert_allclose(CompletionKernel("exp-distance", gamma=0.7).gram(rows)[0, 1], 0.419000403932, atol=1e-11)


def test_the_first_extended_kernel_is_the_heterogeneous_one_on_categories():
    X, rows = problem(2, 40)
    assert_allclose(CompletionKernel(completions="frequency").gram(rows), HeterogeneousKernel().gram(rows), rtol=1e-12)
    uniform = Marginals(categorical="uniform", categorical_features=list(range(D))).fit(X).condition(X)
    assert_allclose(CompletionKernel().cross(rows, rows), HeterogeneousKernel().cross(uniform, uniform), rtol=1e-12)


def test_many_completions_cost_nothing_unless_the_kernel_is_arbitrary():
    X = np.full((3, 40), None, dtype=object)
    X[:2] = [["a"] * 40, ["b"] * 40]
    rows = Marginals().fit(X).condition(X)
    assert_allclose(CompletionKernel("exp-mismatch", gamma=0.1).gram(rows)[0, 2], ((1 + np.exp(-0.2)) / 2) ** 40)
    with pytest.raises(ValueError, match=r"1.1e\+12 exact completions.*max_completions=10000"):
        CompletionKernel(lambda x, y: np.ones(len(x))).gram(rows)


def test_a_machine_takes_it():
    random = np.random.default_rng(0)
    X = random.choice(["a", "b", "c"], (80, 6)).astype(object)
    y = (X[:, 0] == "a").astype(int)
    X[random.random(X.shape) < 0.1] = None
    assert gk.SVC(kernel=CompletionKernel("exp-mismatch", gamma=0.2), C=10).fit(X, y).score(X, y) > 0.9


def test_numbers_are_refused_by_name():
    with pytest.raises(ValueError, match="column 0 holds numbers"):
        gk.SVC(kernel=CompletionKernel()).fit(np.arange(6.0).reshape(3, 2), [0, 1, 0])


def test_a_category_never_seen_counts_as_equal():
    X = np.array([["a", None], ["b", None]], dtype=object)
    rows = Marginals(categorical_features=[0, 1]).fit(X).condition(X)
    assert_allclose(CompletionKernel().gram(rows), [[1, 0.5], [0.5, 1]])


@pytest.mark.parametrize(("kernel", "complaint"), [
    (CompletionKernel("euclid"), "base"), (CompletionKernel("matches"), "function"),
    (CompletionKernel(completions="some"), "completions"), (CompletionKernel("exp-distance", gamma=-1.0), "gamma"),
], ids=repr)  # fmt: skip
def test_settings_out_of_range_are_refused_by_name(kernel, complaint):
    with pytest.raises(ValueError, match=complaint):
        kernel.gram(problem()[1])
