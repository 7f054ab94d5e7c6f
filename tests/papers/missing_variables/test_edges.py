"""CCCPClassifier at its edges: what is refused, by which words, and what memory and rounding must not change."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

import gapkernel as gk
from gapkernel.compute.linalg.basis import pivoted_cholesky
from gapkernel.inspection import value_of_information
from gapkernel.papers.missing_variables import (
    CCCP,
    AtomicDensity,
    CCCPClassifier,
    KernelBasis,
    Transduction,
    completion_features,
)
from gapkernel.tables import Schema, Table


def table(n=24, d=3, seed=0):
    """Two classes that lie apart, and a gap in every fourth row."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = random.standard_normal((n, d)) + 2.0 * y[:, None]
    X[::4, 0] = np.nan
    return X, y


def table_of(X):
    return Table(X, Schema.of_numbers(X.shape[1]))


def classifier(**options):
    return CCCPClassifier(
        **{"density": AtomicDensity(n_atoms=4), "random_state": 0, "solver": CCCP(max_iter=500)} | options
    )


def test_labels_without_weight_are_no_labels():
    X, y = table()
    y[6:] = -1
    with pytest.raises(ValueError, match=r"No row of positive weight has a label"):
        classifier().fit(X, y, sample_weight=(y == -1).astype(float))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": lambda a, b: np.ones(len(a))}, r"kernel must give a matrix of shape .*, got shape"),
        ({"solver": CCCP("a")}, r"'tol' parameter of CCCP must be a float in the range \[0.0, inf\). Got 'a'"),
        ({"solver": CCCP(-1.0)}, r"'tol' parameter of CCCP must be a float in the range \[0.0, inf\). Got -1.0"),
        ({"basis": KernelBasis(tol=-1.0)}, r"'tol' parameter of KernelBasis must be a float in the range"),
        ({"transduction": Transduction(None)}, r"'weight' parameter .* in the range \(0.0, 1.0\]. Got None"),
        (
            {"C": np.inf},
            r"'C' parameter .* must be a float in the range \[1e-100, 1e\+100\] or a str among {.cv.}. Got inf",
        ),
        (
            {"C": "1"},
            r"'C' parameter .* must be a float in the range \[1e-100, 1e\+100\] or a str among {.cv.}. Got .1.",
        ),
        ({"loss": ["gp"]}, r"'loss' parameter .* must be a str among"),
        ({"solver": CCCP(max_iter=1.5)}, r"'max_iter' parameter .* must be an int in the range"),
    ],
)
def test_a_wrong_parameter_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        classifier(**options).fit(*table())


@pytest.mark.parametrize("weightless", [False, True])
def test_the_row_with_too_many_completions_is_that_of_the_caller(weightless):
    X, y = table(n=40, d=6)
    X[31] = np.nan
    y[:10] = -1  # rows that are not learned from stand before it
    weight = np.ones(40)
    weight[10:20] = 0.0 if weightless else 1.0
    with pytest.raises(ValueError, match=r"Row 31, which has 6 gaps, has .* exact completions"):
        classifier(density=AtomicDensity("levels", method="exact")).fit(X, y, sample_weight=weight)


def test_repeated_rows_and_no_tolerance():
    X = np.repeat(np.random.default_rng(0).standard_normal((5, 2)), 20, axis=0)
    X = np.concatenate([X, X + 1e-9])
    basis = pivoted_cholesky(X, lambda a, b: rbf_kernel(a, b, gamma=0.5), np.ones(200), 50, 0.0)
    assert len(basis.rows) == 5
    assert np.abs(basis.whitening).max() < 1e3
    y = np.tile(np.repeat(np.arange(5) % 2, 20), 2)
    assert classifier(basis=KernelBasis(tol=0.0), gamma=0.5).fit(X, y).n_basis_ == 5


@pytest.mark.parametrize("budget", [4 << 30, 2000])
def test_blocks_are_no_wider_than_allowed(budget, monkeypatch):
    """Rows of 50 columns and 3 features: it is the completed rows that fill the memory."""
    X = np.random.default_rng(0).standard_normal((30, 50))
    X[:, 0] = np.nan
    completions = AtomicDensity("uniform", n_atoms=4, method="random", random_state=0).fit(X)
    monkeypatch.setattr(completion_features, "BLOCK_BYTES", 8000)
    sizes = []

    class Features:
        size, dtype = 3, np.dtype(np.float64)

        def __call__(self, rows):
            sizes.append(rows.nbytes)
            return np.ones((len(rows), 3))

    with gk.config_context(memory_budget=budget):
        blocks = completion_features.FeatureBlocks(table_of(X), completions, Features(), keep=False)
        assert sum(len(block.counts) for block in blocks) == 30
    assert max(sizes) <= max(min(8000, budget), 4 * 50 * 8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_unknown_row_has_about_the_shares_of_uneven_classes(seed):
    """At C = 1; with larger C the high scores of single completions carry it away, as docs/theory/cccp.md says."""
    y = (np.arange(100) < 30).astype(int)
    X = np.random.default_rng(seed).standard_normal((100, 2)) + 1.5 * y[:, None]
    model = classifier(C=1.0, density=AtomicDensity(n_atoms=64)).fit(X, y)
    assert_allclose(model.predict_proba(np.full((1, 2), np.nan))[0, 1], 0.3, atol=0.07)


def test_the_density_is_there_for_the_value_of_information():
    X, y = table(n=60)
    model = classifier().fit(X, y)
    row = [np.nan, 1.0, np.nan]
    own, given = value_of_information(model, row), value_of_information(model, row, density=model.density_)
    assert_array_equal(own.reduction, given.reduction)
    assert own.columns.tolist() == [0, 2]
