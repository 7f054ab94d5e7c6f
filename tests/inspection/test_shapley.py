"""Shapley values by hiding cells: the laws of the values, and the conditional expectations where they are exact."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from strategies import punch

import gapkernel as gk
from gapkernel.inspection import shapley
from gapkernel.inspection.shapley import all_coalitions, shapley_weights
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF
from gapkernel.papers.expected_kernel import RobustSVC


def by_permutations(worth, m):
    """The definition: what each cell adds, over all orders; ``worth`` is a function of a set."""
    orders = list(permutations(range(m)))
    values = np.zeros(m)
    for order in orders:
        for k, cell in enumerate(order):
            values[cell] += worth(frozenset(order[: k + 1])) - worth(frozenset(order[:k]))
    return values / len(orders)


def sets(m):
    return [frozenset(np.flatnonzero(told)) for told in all_coalitions(m)]


# --- games --------------------------------------------------------------------------------------------------


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_values_are_those_of_the_definition(m, seed):
    worth = np.random.default_rng(seed).standard_normal(2**m)
    places = {told: k for k, told in enumerate(sets(m))}
    values = shapley_weights(m) @ worth
    assert_allclose(values, by_permutations(lambda told: worth[places[told]], m), atol=1e-12)
    assert_allclose(values.sum(), worth[-1] - worth[0], atol=1e-12)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_a_cell_that_adds_nothing_has_no_value_and_equal_cells_have_equal_values(m, seed):
    random = np.random.default_rng(seed)
    told = all_coalitions(m)
    without = random.standard_normal(2**m)[(told[:, 1:] @ 2 ** np.arange(1, m)).astype(int)]  # cell 0 changes nothing
    assert_allclose(shapley_weights(m)[0] @ without, 0.0, atol=1e-12)
    both = random.standard_normal((3, 2**m))
    alike = both[told[:, 0].astype(int) + told[:, 1], (told[:, 2:] @ 2 ** np.arange(2, m)).astype(int)]
    values = shapley_weights(m) @ alike
    assert_allclose(values[0], values[1], atol=1e-12)


# --- models -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 4)) @ (np.eye(4) + 0.4 * random.standard_normal((4, 4)))
    y = X[:, 0] + np.sin(2 * X[:, 1]) * X[:, 2]
    return punch(random, X, 0.15), y


MODELS = {
    "svc": (gk.SVC(kernel="rbf"), "two", True),
    "svc genrbf": (gk.SVC(), "two", False),
    "svc indicator": (gk.SVC(kernel="rbf", indicator=True), "two", False),
    "svc three classes": (gk.SVC(kernel="rbf"), "three", False),
    "svc ehk": (gk.SVC(kernel="ehk"), "two", False),
    "svc sum": (gk.SVC(kernel=ExpectedRBF(0.2) + 0.5 * ExpectedLinear().on([0, 1])), "two", True),
    "svc sum of others": (gk.SVC(kernel=ExpectedRBF(0.2) + GenRBF(0.1)), "two", False),
    "svccv": (gk.SVCCV(Cs=[1.0], gammas=[0.1], kernel="rbf"), "two", True),
    "svr": (gk.SVR(kernel="linear"), "number", True),
    "ridge": (gk.KernelRidge(kernel="rbf"), "number", True),
    "ridge cv": (gk.KernelRidgeCV(kernel="rbf", alphas=[0.1], gammas=[0.1]), "number", True),
    "robust, imputed": (RobustSVC(mean="imputed", covariance="identity"), "two", False),
    "process": (gk.GaussianProcessRegressor(optimizer=None), "number", True),
    "process indicator": (gk.GaussianProcessRegressor(optimizer=None, indicator=True), "number", False),
    "process classifier": (gk.GaussianProcessClassifier(optimizer=None), "three", True),
    "gap": (gk.GapClassifier(members=["genrbf"], random_state=0), "three", False),
    "gap regressor": (gk.GapRegressor(members=["rbf"], random_state=0), "number", False),
    "pipeline": (make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3)), "two", False),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_sum_to_the_answer_less_the_base_value(name, data):
    model, kind, exact = MODELS[name]
    X, y = data
    model.fit(X, {"number": y, "two": np.where(y > 0, "b", "a"), "three": np.digitize(y, [-0.5, 0.5])}[kind])
    rows = X[:4]
    result = shapley(model, rows)
    assert result.exact is exact
    answers = getattr(model, result.method)(rows)
    base = getattr(model, result.method)(np.full((1, 4), np.nan))
    if answers.ndim > 1:  # the second of two classes, the largest of several
        which = answers.argmax(axis=1) if kind == "three" else [1] * 4
        base, answers = base[0, which], answers[np.arange(4), which]
    assert_allclose(result.base_value, base, atol=1e-10)
    assert_allclose(result.answers, answers, atol=1e-10)
    assert_array_equal(np.isnan(result.values), np.isnan(rows))
    assert_array_equal(result.standard_error[~np.isnan(rows)], 0.0)


def conditional_mean(density, row, told):
    mean, covariance = density.mean_, density.covariance_
    told = sorted(told)
    slope = np.linalg.solve(covariance[np.ix_(told, told)], covariance[told]) if told else np.zeros((0, len(mean)))
    return mean + (row[told] - mean[told]) @ slope


def test_a_linear_model_has_the_values_of_its_closed_form(data):
    X, y = data
    model = gk.KernelRidge(kernel="linear", alpha=0.1).fit(X, y)
    slope = model.predict(np.eye(4)) - model.predict(np.zeros((1, 4)))
    row = np.array([0.5, -1.0, 2.0, 0.3])

    def worth(told):
        return conditional_mean(model.density_, row, told) @ slope

    assert_allclose(shapley(model, [row]).values[0], by_permutations(worth, 4), atol=1e-10)
    independent = gk.KernelRidge(kernel="linear", alpha=0.1, density=gk.density.Marginals()).fit(X, y)
    slope = independent.predict(np.eye(4)) - independent.predict(np.zeros((1, 4)))
    means = independent.density_.moments().mean
    assert_allclose(shapley(independent, [row]).values[0], slope * (row - means), atol=1e-10)


def test_exact_values_are_those_of_brute_force_conditional_expectations(data):
    X, y = data
    model = gk.SVR(kernel="rbf", C=10.0).fit(X, y)
    row, n_draws = np.array([0.5, -1.0, np.nan, 0.3]), 4000
    cells = [0, 1, 3]
    means, variances = np.empty(8), np.empty(8)
    for k, told in enumerate(all_coalitions(3)):
        seen = np.full(4, np.nan)
        seen[np.array(cells)[told]] = row[np.array(cells)[told]]
        drawn = model.predict(model.density_.sample([seen], n_draws, random_state=k)[:, 0])
        means[k], variances[k] = drawn.mean(), drawn.var() / n_draws
    weights = shapley_weights(3)
    error = np.sqrt(weights**2 @ variances)
    assert np.all(np.abs(shapley(model, [row]).values[0, cells] - weights @ means) < 4 * error)
    assert np.all(error < 0.05)


def test_drawn_orders_give_the_values_within_their_errors_and_rows_do_not_mix(data):
    X, y = data
    model = gk.KernelRidge().fit(X, y)
    rows = np.nan_to_num(X[:3])
    rows[0, 2] = np.nan
    whole = shapley(model, rows)
    drawn = shapley(model, rows, max_exact=2, n_permutations=60, random_state=0)
    error = drawn.standard_error[~np.isnan(rows)]
    assert 0 < error.max() < 0.2
    assert np.all(np.abs(drawn.values - whole.values)[~np.isnan(rows)] <= 4.5 * error + 1e-12)
    assert_allclose(drawn.answers, whole.answers, atol=1e-10)
    alone = shapley(model, rows[[2]], max_exact=2, n_permutations=60, random_state=0)
    assert_allclose(alone.values, drawn.values[[2]], atol=1e-12)
    odd = shapley(model, rows, max_exact=2, n_permutations=59, random_state=0)  # no fewer orders than were asked for
    assert_array_equal(odd.values, drawn.values)


def test_interactions_sum_to_the_values_and_vanish_where_cells_only_add(data):
    X, y = data
    result = shapley(gk.KernelRidge().fit(X, y), X[:5], interactions=True)
    assert_allclose(np.nansum(result.interactions, axis=2), np.nan_to_num(result.values), atol=1e-10)
    assert_allclose(result.interactions, result.interactions.transpose(0, 2, 1))
    additive = gk.KernelRidge(kernel="linear", density=gk.density.Marginals()).fit(X, y)
    pairs = np.nan_to_num(shapley(additive, X[:5], interactions=True).interactions)
    assert_allclose(pairs * ~np.eye(4, dtype=bool), 0.0, atol=1e-10)
    with pytest.raises(ValueError, match=r"row 1 has 4 observed cells\. Raise max_exact"):
        shapley(additive, np.array([[np.nan] * 4, [1.0] * 4]), interactions=True, max_exact=3)


def test_a_category_is_one_player_and_an_unknown_level_none():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"size": np.arange(12.0), "kind": ["x", "y", "z"] * 4})
    model = gk.KernelRidge().fit(X, np.arange(12.0) % 3)
    result = shapley(model, pd.DataFrame({"size": [1.0, 2.0], "kind": ["x", "never seen"]}))
    assert result.names == ("size", "kind")
    assert_array_equal(np.isnan(result.values), [[False, False], [False, True]])


def test_the_target_says_what_is_explained(data):
    X, y = data
    two = gk.SVC(kernel="rbf").fit(X, np.where(y > 0, "b", "a"))
    against = shapley(two, X[:3], target="a")
    assert_allclose(against.values, -shapley(two, X[:3]).values)
    assert_array_equal(against.outputs, ["a"] * 3)
    sure = DecisionTreeClassifier(max_depth=2).fit(X, np.where(y > 0, "b", "a"))
    first = shapley(sure, X[:3], target="a")
    assert_array_equal(first.outputs, ["a"] * 3)
    assert_allclose(first.answers, sure.predict_proba(X[:3])[:, 0])
    truth = gk.SVC(kernel="rbf").fit(X, y > 0)
    for no in (False, truth.classes_[0]):  # Python's, and that of the labels
        assert_allclose(shapley(truth, X[:3], target=no).values, against.values)
    several = gk.KernelRidge().fit(X, np.column_stack([y, -y]))
    assert_allclose(shapley(several, X[:3], target=1).values, -shapley(several, X[:3], target=0).values, atol=1e-10)
    pairs = gk.SVC(kernel="rbf", decision_function_shape="ovo").fit(X, np.digitize(y, [-1.0, 1.0]) + 5)
    last = shapley(pairs, X[:3], target=2)
    assert_allclose(last.answers, pairs.decision_function(X[:3])[:, 2])
    assert last.title() == "decision value"  # of a pair, and not of a class
    for model, options, message in (
        (several, {}, "2 targets"),
        (several, {"response_method": "variance"}, "return_std"),
        (pairs, {}, "3 pairs"),
        (pairs, {"target": 6}, "target must be one of"),
        (several, {"target": 2}, "target must be one of"),
        (two, {"target": "c"}, "target must be one of"),
        (two, {"response_method": "predict"}, "response_method must be"),
        (two, {"response_method": "predict_proba"}, "response_method must be"),
        (two, {"max_exact": -1}, "max_exact"),
    ):
        with pytest.raises(ValueError, match=message):
            shapley(model, X[:2], **options)


def test_the_variance_says_which_cells_bought_certainty(data):
    X, y = data
    model = gk.GaussianProcessRegressor(optimizer=None).fit(X, y)
    result = shapley(model, X[:3], response_method="variance")
    assert_allclose(result.answers, model.predict(X[:3], return_std=True)[1] ** 2)
    assert not result.exact
    assert np.nansum(result.values) < 0


def test_shap_gets_the_same_values(data):
    pytest.importorskip("shap")
    X, y = data
    result = shapley(gk.KernelRidge().fit(X, y), X[:3])
    told = result.to_shap()
    assert_allclose(told.values, np.nan_to_num(result.values))
    assert_allclose(told.base_values + told.values.sum(axis=1), result.answers)
    assert list(told.feature_names) == ["0", "1", "2", "3"]
