"""Truths about every density, over one list: reading, weights, order, units, laws, draws, moments, and the edges."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from strategies import two_lumps

from gapkernel.density import (
    BestDensity,
    Density,
    FactorAnalysis,
    Gaussian,
    GaussianMixture,
    JointGaussian,
    Marginals,
    Neighbours,
)
from gapkernel.papers.missing_variables import AtomicDensity

D = 4
TIGHT = {"tol": 1e-12, "max_iter": 20_000, "ridge": 0.01}

DENSITIES = {
    "gaussian": Gaussian(**TIGHT),
    "one factor": FactorAnalysis(1, **TIGHT),
    "two components": GaussianMixture(2, random_state=0, **TIGHT),
    "best": BestDensity([Gaussian(**TIGHT), FactorAnalysis(1, **TIGHT)], random_state=0),
    "joint gaussian": JointGaussian(gaussian=Gaussian(**TIGHT)),
    "joint factors": JointGaussian(gaussian=FactorAnalysis(1, **TIGHT)),
    "windows": Marginals(bandwidth=0.3),
    "normal columns": Marginals(numeric="gaussian"),
    "empirical columns": Marginals(numeric="empirical"),
    "box": Marginals(numeric="uniform"),
    "levels": Marginals(numeric="levels", categorical="uniform"),
    "neighbours": Neighbours(64, random_state=0),
    "atoms": AtomicDensity(n_atoms=64, random_state=0),
    "atoms of a mixture": AtomicDensity(GaussianMixture(2, random_state=0), n_atoms=64, random_state=0),
}
NUMBERS_ONLY = ("gaussian", "one factor", "two components", "best", "atoms of a mixture")
DRAWN = ("neighbours", "atoms", "atoms of a mixture")  # draws belong to a row as it is: units and order change them
numbers = partial(two_lumps, d=D, apart=4.0)
every_density = pytest.mark.parametrize("name", DENSITIES)


def fitted(name, X, weight=None) -> Density:
    return clone(DENSITIES[name]).fit(X, sample_weight=weight)


def frame(seed=0, n=60):
    """Numbers, a category and an ordered category, with gaps."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(numbers(seed, n)[:, :2], columns=["size", "weight"])
    X["kind"] = random.choice(["a", "b", "c", None], n)
    grade = pd.Categorical(random.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True)
    X["grade"] = grade
    X.loc[::7, "grade"] = None
    return X


@every_density
@pytest.mark.parametrize("form", ["array", "numbers", "categories"])
def test_a_density_states_what_its_columns_are(name, form):
    X = {"array": numbers(), "numbers": pd.DataFrame(numbers(), columns=list("abcd")), "categories": frame()}[form]
    if form == "categories" and name in NUMBERS_ONLY:
        with pytest.raises(ValueError, match=r"Column 'kind' of X holds categories.* for numbers"):
            fitted(name, X)
        return
    density = fitted(name, X)
    rows = density.condition(X)
    assert isinstance(density, Density)
    assert len(density.schema_.levels) == density.n_features_in_ == 4
    assert density.schema_.categorical.tolist() == [False, False, form == "categories", form == "categories"]
    assert rows.n_features == len(density.columns_) == len(density.moments().mean) == len(density.moments().variances)
    assert_array_equal(np.unique(density.columns_), np.arange(4))
    draws = density.sample(X, n_draws=2, random_state=0)
    assert draws.shape == (2, len(X), len(density.columns_))
    vectors = density.vectors(draws[0])
    assert np.isfinite(vectors).all()
    assert vectors.shape == (len(X), len(density.schema_.code_columns))


@every_density
def test_nothing_works_before_fit_and_clones_are_not_fitted(name):
    for density in (DENSITIES[name], clone(fitted(name, numbers()))):
        for verb in (density.condition, density.sample, *([density.score_samples] if density.has_log_density else [])):
            with pytest.raises(NotFittedError):
                verb(numbers())
        with pytest.raises(NotFittedError):
            density.moments()


@every_density
def test_inputs_are_never_written_to(name):
    X = numbers()
    before = X.copy()
    X.flags.writeable = False
    density = fitted(name, X)
    density.condition(X)
    density.sample(X, random_state=0)
    assert_array_equal(X, before)


@every_density
@pytest.mark.parametrize("form", [numbers, frame], ids=["numbers", "frame"])
def test_observed_cells_stay_in_laws_and_draws(name, form):
    if form is frame and name in NUMBERS_ONLY:
        pytest.skip("for numbers only")
    X = form()
    density = fitted(name, X)
    vectors = density.vectors(density.sample(X, random_state=0)[0])
    observed = Marginals().fit(X)  # reads the table
    codes = observed.vectors(observed.condition(X).values)
    seen = ~np.isnan(codes)
    assert_allclose(vectors[seen], codes[seen], rtol=1e-9, atol=1e-9)


@every_density
def test_the_law_of_a_row_does_not_depend_on_its_company(name):
    X = numbers()
    density = fitted(name, X)
    rows = density.condition(X)
    for i in (0, 7, 23):
        alone = density.condition(X[i : i + 1])
        assert_allclose(alone.means[0], rows.means[i], rtol=1e-10, atol=1e-12)
        assert_allclose(alone.total_variance[0], rows.total_variance[i], rtol=1e-9, atol=1e-12)


@every_density
def test_draws_have_the_moments_of_the_laws(name):
    X = numbers(2, n=12, rate=0.4)
    density = fitted(name, X)
    rows, draws = density.condition(X), density.sample(X, n_draws=20_000, random_state=1)
    error = draws.std(axis=0) / np.sqrt(len(draws)) + 1e-9
    assert np.all(np.abs(draws.mean(axis=0) - rows.means) < 5 * error)
    squared = np.sum((draws - rows.means) ** 2, axis=2)
    error = squared.std(axis=0) / np.sqrt(len(draws)) + 1e-9
    assert np.all(np.abs(squared.mean(axis=0) - rows.total_variance) < 5 * error)
    assert_array_equal(draws[:3], density.sample(X, n_draws=20_000, random_state=1)[:3])
    assert not np.array_equal(density.sample(X, random_state=1), density.sample(X, random_state=2))


@pytest.mark.parametrize("name", [name for name in DENSITIES if name not in DRAWN])
def test_a_row_of_which_nothing_is_known_has_the_moments_of_the_density(name):
    density = fitted(name, numbers())
    row, moments = density.condition(np.full((1, D), np.nan)), density.moments()
    assert_allclose(row.means[0], moments.mean, rtol=1e-9, atol=1e-9)
    assert_allclose(moments.covariance, moments.covariance.T)
    assert_allclose(row.total_variance[0], np.trace(moments.covariance), rtol=1e-8)
    assert np.all(moments.variances <= moments.covariance.diagonal() + 1e-12), "variances are without the ridge"


def assert_same_laws(name, density, other, X):
    rows, same = density.condition(X), other.condition(X)
    assert_allclose(same.means, rows.means, rtol=1e-4, atol=1e-4)
    assert_allclose(same.total_variance, rows.total_variance, rtol=1e-3, atol=1e-4)
    if density.has_log_density:
        assert_allclose(other.score_samples(X), density.score_samples(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in DENSITIES if name != "best"])
def test_weights_are_repeated_rows(name):
    """Except that splits of repeated rows differ."""
    X = numbers(1)
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    assert_same_laws(name, fitted(name, X, weight), fitted(name, np.repeat(X, weight, axis=0)), X)
    fitted(name, X, weight / weight.sum())  # shares of rows are weights, too
    with pytest.raises(ValueError, match="sample_weight"):
        fitted(name, X, -np.ones(len(X)))


@pytest.mark.parametrize("name", [name for name in DENSITIES if name not in ("best", "neighbours")])
def test_the_order_of_rows_does_not_matter(name):
    """Except for splits of rows, and for donors, which are drawn by their places."""
    X = numbers(3)
    assert_same_laws(name, fitted(name, X), fitted(name, X[np.random.default_rng(0).permutation(len(X))]), X)


@pytest.mark.parametrize("name", [name for name in DENSITIES if name not in DRAWN])
def test_the_order_and_the_units_of_columns_do_not_matter(name):
    X = numbers(4)
    columns = np.array([2, 0, 3, 1])
    density = clone(DENSITIES[name])
    if name == "windows":
        density.set_params(bandwidth="ste")  # a given one is in the units of the column
    if name != "gaussian with a prior":  # which is in the units of the columns
        units, origin = np.array([1e-6, 1.0, 1e3, 1e6]), np.array([0.0, 5.0, -1e3, 1e5])
        plain, scaled = clone(density).fit(X), clone(density).fit(X * units + origin)
        expected = plain.vectors(plain.condition(X).means) * units + origin
        found = scaled.vectors(scaled.condition(X * units + origin).means)
        assert_allclose((found - expected) / units, 0, atol=1e-5)
        shift = ~np.isnan(X) @ np.log(units)
        if name not in ("empirical columns", "levels"):  # probabilities have no units
            found = scaled.score_samples(X * units + origin)
            assert_allclose(found, plain.score_samples(X) - shift, rtol=1e-5, atol=1e-5)
    density.fit(X)
    moved = clone(density).fit(X[:, columns])
    assert_allclose(moved.condition(X[:, columns]).means, density.condition(X).means[:, columns], rtol=1e-4, atol=1e-4)


@every_density
def test_a_fitted_density_survives_pickling(name):
    X = numbers()
    density = fitted(name, X)
    copy = pickle.loads(pickle.dumps(density))
    assert_array_equal(copy.condition(X).means, density.condition(X).means)


@every_density
def test_a_table_without_any_value_is_refused_and_one_of_another_width_too(name):
    with pytest.raises(ValueError, match="no observed value"):
        fitted(name, np.full((3, D), np.nan))
    empty = np.vstack([numbers(), np.full((2, D), np.nan)])
    with pytest.raises(ValueError, match="no observed value"):
        fitted(name, empty, np.repeat([0.0, 1.0], [60, 2]))
    with pytest.raises(ValueError, match="3 features"):
        fitted(name, numbers()).condition(numbers()[:, :3])


@every_density
def test_a_column_without_values_says_nothing(name):
    if name == "gaussian with a prior":
        pytest.skip("a prior says something of every column")
    X = numbers(5)
    X[:, 2] = np.nan
    later = X.copy()
    later[:, 2] = np.arange(len(X))
    density = fitted(name, X)
    if name == "neighbours":  # the draws of a row depend on the row as it is, so only the mean of many is the same
        plain, met = (density.set_params(n_draws=4096).condition(rows).means for rows in (X, later))
        assert_allclose(np.delete(met, 2, axis=1), np.delete(plain, 2, axis=1), atol=0.01)
        return
    plain, met = (density.vectors(np.nan_to_num(density.sample(rows, random_state=0)[0])) for rows in (X, later))
    if name not in DRAWN:  # whose draws depend on the row as it is
        assert_allclose(np.delete(met, 2, axis=1), np.delete(plain, 2, axis=1))
    if density.has_log_density:
        assert_allclose(density.score_samples(later), density.score_samples(X), rtol=1e-10)
