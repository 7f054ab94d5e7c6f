"""Truths about the solvers on a Gram matrix: optimality conditions, weights, and rows that are left out."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import kernel_ridge, svm
from sklearn.metrics.pairwise import rbf_kernel

from gapkernel.solvers.libsvm import Classification, Novelty, Regression
from gapkernel.solvers.ridge import Ridge

TIGHT = {"tol": 1e-10}

SOLVERS = {
    "classification": (Classification(C=2.0, **TIGHT), svm.SVC(C=2.0, kernel="precomputed", **TIGHT)),
    "three classes": (
        Classification(C=2.0, **TIGHT),
        svm.SVC(C=2.0, kernel="precomputed", decision_function_shape="ovo", **TIGHT),
    ),
    "regression": (
        Regression(C=2.0, epsilon=0.05, **TIGHT),
        svm.SVR(C=2.0, epsilon=0.05, kernel="precomputed", **TIGHT),
    ),
    "novelty": (Novelty(nu=0.3, **TIGHT), svm.OneClassSVM(nu=0.3, kernel="precomputed", **TIGHT)),
    "ridge": (Ridge(0.1), kernel_ridge.KernelRidge(alpha=0.1, kernel="precomputed")),
    "ridge, two targets": (Ridge([0.1, 2.0]), kernel_ridge.KernelRidge(alpha=[0.1, 2.0], kernel="precomputed")),
}
every = pytest.mark.parametrize("name", SOLVERS)


def problem(name, seed=0, n=40):
    """A Gram matrix, the kernel with new rows, and targets of the solver's kind."""
    random = np.random.default_rng(seed)
    X, new = random.standard_normal((n, 3)), random.standard_normal((9, 3))
    value = X[:, 0] + X[:, 1] ** 2
    n_classes = {"classification": 2, "three classes": 3}.get(name, 0)
    if n_classes:
        value = np.searchsorted(np.quantile(value, np.arange(1, n_classes) / n_classes), value)
    elif name == "ridge, two targets":
        value = np.column_stack([value, X[:, 2]])
    return rbf_kernel(X), rbf_kernel(new, X), None if name == "novelty" else value


@every
@pytest.mark.parametrize("weighted", [False, True])
def test_decision_values_are_those_of_scikit_learn_on_the_same_matrix(name, weighted):
    gram, cross, y = problem(name)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(gram)) if weighted else None
    ours, theirs = SOLVERS[name][0].solve(gram, y, weight), SOLVERS[name][1].fit(gram, y, sample_weight=weight)
    verb = "decision_function" if hasattr(theirs, "decision_function") else "predict"
    expected = getattr(theirs, verb)(cross).reshape(len(cross), -1)
    assert_allclose(ours.values(cross), expected, rtol=1e-10, atol=1e-10)


@every
def test_a_solver_keeps_nothing_and_leaves_its_arrays_alone(name):
    gram, cross, y = problem(name)
    for array in (gram, cross, y):
        if array is not None:
            array.flags.writeable = False
    first = SOLVERS[name][0].solve(gram, y).values(cross)
    SOLVERS[name][0].solve(problem(name, 1)[0], problem(name, 1)[2])
    assert_array_equal(SOLVERS[name][0].solve(gram, y).values(cross), first)


LISTS = {
    "classification": [Classification(C=C, **TIGHT) for C in (50.0, 0.1, 4.0, 2000.0)],
    "three classes": [Classification(C=C, class_weight="balanced", **TIGHT) for C in (0.1, 50.0, 4.0, 2000.0)],
    "regression": [Regression(C=C, epsilon=e, **TIGHT) for e in (0.05, 0.2) for C in (50.0, 0.1, 4.0, 2000.0)],
    "ridge": [Ridge(alpha) for alpha in (0.1, 10.0)],
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_solving_many_is_solving_each(name, weighted):
    gram, cross, y = problem(name)
    gram = gram**4 if name != "ridge" else gram  # narrow enough for coefficients that no bound stops
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(gram)) if weighted else None
    solvers = LISTS[name]
    for solver, solution in zip(solvers, type(solvers[0]).solve_all(solvers, gram, y, weight), strict=True):
        alone = solver.solve(gram, y, weight)
        assert_allclose(solution.values(cross**4), alone.values(cross**4), rtol=1e-6, atol=1e-6)


def test_a_penalty_that_no_coefficient_reaches_is_not_solved_again():
    gram, _, y = problem("classification")
    low, free, high = Classification.solve_all(LISTS["classification"][1:4], gram**4, y)
    assert free is high
    assert low is not free


@every
def test_whole_weights_are_repeated_rows(name):
    gram, cross, y = problem(name)
    weight = np.random.default_rng(2).integers(1, 4, len(gram))
    places = np.repeat(np.arange(len(gram)), weight)
    repeated = SOLVERS[name][0].solve(gram[np.ix_(places, places)], None if y is None else y[places])
    weighted = SOLVERS[name][0].solve(gram, y, weight.astype(float))
    assert_allclose(weighted.values(cross), repeated.values(cross[:, places]), rtol=1e-6, atol=1e-6)


@given(seed=st.integers(0, 2**32 - 1), C=st.floats(0.01, 100.0))
def test_classification_satisfies_the_conditions_of_its_dual(seed, C):
    """0 <= alpha <= C weight, sum alpha y = 0, and the margin of a row decides which of the bounds it meets."""
    gram, _, y = problem("classification", seed, n=25)
    weight = np.random.default_rng(seed).uniform(0.2, 3.0, 25)
    solution = Classification(C=C, **TIGHT).solve(gram, y, weight)
    sign = np.where(y == 1, 1.0, -1.0)
    alpha, bound = np.zeros(25), C * weight
    alpha[solution.kept] = solution.weights[:, 0] * sign[solution.kept]
    slack = 1e-7 * bound
    assert np.all((alpha >= -slack) & (alpha <= bound + slack))
    assert abs(alpha @ sign) <= 1e-7 * bound.sum()
    margin = sign * solution.values(gram)[:, 0]
    rounding = 1e-6 + 1e-7 * alpha.sum()  # libsvm holds the kernel values in single precision
    assert np.all(margin[alpha <= slack] >= 1 - rounding)
    assert np.all(margin[alpha >= bound - slack] <= 1 + rounding)
    free = (alpha > slack) & (alpha < bound - slack)
    assert_allclose(margin[free], 1.0, rtol=0, atol=rounding)


@given(seed=st.integers(0, 2**32 - 1), alpha=st.floats(1e-3, 100.0))
def test_ridge_satisfies_its_normal_equations(seed, alpha):
    gram, _, y = problem("ridge", seed, n=25)
    weight = np.random.default_rng(seed).uniform(0.2, 3.0, 25)
    solution = Ridge(alpha).solve(gram, y, weight)
    assert_array_equal(solution.kept, np.arange(25))
    assert not solution.intercept.any()
    c = solution.weights[:, 0]
    assert_allclose(gram @ c + alpha / weight * c, y, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["regression", "ridge", "ridge, two targets"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_left_out_row_is_answered_by_the_others(name, weighted):
    gram, _, y = problem(name, n=20)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, 20) if weighted else None
    one_by_one = [(np.delete(np.arange(20), i), np.array([i])) for i in range(20)]
    values = SOLVERS[name][0].left_out(gram, y, weight, one_by_one)
    assert values.shape == y.shape
    for train, test in one_by_one:
        part = None if weight is None else weight[train]
        alone = SOLVERS[name][0].solve(gram[np.ix_(train, train)], y[train], part)
        assert_allclose(values[test].ravel(), alone.values(gram[np.ix_(test, train)]).ravel(), rtol=1e-10)
    if name != "regression":  # in closed form
        assert_allclose(SOLVERS[name][0].left_out(gram, y, weight), values, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: Classification(C=-1.0), "'C'"),
        (lambda: Regression(epsilon=-1.0), "'epsilon'"),
        (lambda: Novelty(nu=2.0), "'nu'"),
        (lambda: Ridge(-1.0), "'alpha'"),
    ],
    ids=["C", "epsilon", "nu", "alpha"],
)
def test_a_wrong_parameter_is_refused_before_there_is_a_problem(make, parameter):
    with pytest.raises(ValueError, match=parameter):
        make()
