"""Margins in the columns that a row has: limits, optimality of the separable machine, and what is refused."""

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC, LinearSVC
from strategies import punch

from gapkernel.papers.genrbf import GeometricMarginSVC
from gapkernel.papers.genrbf.geometric_margin import FLOOR, ObservedColumnsKernel


def problem(seed=0, n=80, d=4, rate=0.3, noise=0.3, shift=0.0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    y = (X[:, 0] + X[:, 1] + noise * random.standard_normal(n) > 0).astype(int)
    X += shift * np.where(y == 1, 1.0, -1.0)[:, None]
    X[random.random(X.shape) < rate] = np.nan
    return X, y


def zero_filled(X):
    return np.nan_to_num(X), ~np.isnan(X)


def instance_margins(w, X, y):
    values, seen = zero_filled(X)
    return np.where(y == 1, 1.0, -1.0) * (values @ w) / np.sqrt(seen @ w**2)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("method", ["alternating", "average"])
def test_on_complete_data_it_is_an_ordinary_svm(kernel, method):
    X, y = problem(1, rate=0.0)
    plain = SVC(kernel=kernel, coef0=1.0, tol=1e-8).fit(X, y)
    machine = GeometricMarginSVC(kernel=kernel, method=method, tol=1e-8).fit(X, y)
    assert_allclose(machine.decision_function(X), plain.decision_function(X), atol=1e-10)
    assert_allclose(machine.scales_, 1.0)
    assert machine.n_iter_[0] == 1


def test_the_average_norm_is_an_svm_on_zero_filled_rows():
    X, y = problem(2)
    values, _ = zero_filled(X)
    average = GeometricMarginSVC(method="average").fit(X, y)
    assert_allclose(average.decision_function(X), SVC(kernel="linear").fit(values, y).decision_function(values))


def test_the_scales_are_the_share_of_the_weights_that_a_row_sees():
    X, y = problem(3)
    _, seen = zero_filled(X)
    rounds = [GeometricMarginSVC(max_iter=k).fit(X, y) for k in (1, 2, 3)]
    for before, after in pairwise(rounds):
        w = before.coef_[0]
        expected = np.maximum(np.sqrt(seen @ w**2) / np.linalg.norm(w), FLOOR)
        assert_allclose(after.scales_[0], expected[seen.any(axis=1)], rtol=1e-10)


def test_the_decision_value_is_the_score_over_the_scale_plus_the_intercept():
    X, y = problem(4)
    machine = GeometricMarginSVC().fit(X, y)
    new, _ = problem(5)
    values, seen = zero_filled(new)
    w = machine.coef_[0]
    scale = np.maximum(np.sqrt(seen @ w**2) / np.linalg.norm(w), FLOOR)
    expected = values @ w / scale + machine.intercept_[0]
    assert_allclose(machine.decision_function(new), expected, atol=1e-12)


def test_the_polynomial_of_degree_one_is_the_linear_machine():
    X, y = problem(6)
    linear = GeometricMarginSVC(tol=1e-8).fit(X, y)
    poly = GeometricMarginSVC(kernel="poly", degree=1, gamma=1.0, coef0=0.0, tol=1e-8).fit(X, y)
    assert_allclose(linear.scales_, poly.scales_, atol=1e-6)
    assert_allclose(linear.decision_function(X), poly.decision_function(X), atol=1e-5)


def test_the_separable_machine_on_complete_data_is_the_hard_margin_through_the_origin():
    X, y = problem(8, n=40, rate=0.0, shift=1.0)
    machine = GeometricMarginSVC(method="separable", tol=1e-6).fit(X, y)
    hard = LinearSVC(C=1e5, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(X, y).coef_[0]
    assert_allclose(machine.coef_[0], hard / np.linalg.norm(hard), atol=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_no_direction_beats_the_separable_machine(seed):
    X, y = problem(seed, n=40, shift=3.0, rate=0.2)
    kept = ~np.isnan(X).all(axis=1)
    X, y = X[kept], y[kept]
    machine = GeometricMarginSVC(method="separable", tol=1e-4).fit(X, y)
    best = instance_margins(machine.coef_[0], X, y).min()
    assert_allclose(machine.margin_[0], best, rtol=1e-3)
    assert_allclose(machine.decision_function(X) * np.where(y == 1, 1, -1), instance_margins(machine.coef_[0], X, y))
    random = np.random.default_rng(0)
    for size in (0.01, 0.1, 1.0):
        for _ in range(200):
            other = machine.coef_[0] + size * random.standard_normal(X.shape[1])
            assert instance_margins(other, X, y).min() <= best * (1 + 1e-3)


def test_rows_without_a_column_are_left_out_and_get_the_intercept():
    X, y = problem(9)
    X[5] = np.nan
    machine = GeometricMarginSVC().fit(X, y)
    without = GeometricMarginSVC().fit(np.delete(X, 5, axis=0), np.delete(y, 5))
    assert_allclose(machine.decision_function(X), without.decision_function(X))
    assert machine.decision_function(np.full((1, 4), np.nan))[0] == machine.intercept_[0]


def test_several_classes_are_told_apart_one_against_the_rest():
    random = np.random.default_rng(10)
    centres = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]])
    y = random.integers(3, size=150)
    X = centres[y] + random.standard_normal((150, 3))
    X[random.random(X.shape) < 0.1] = np.nan
    machine = GeometricMarginSVC().fit(X, np.array(["a", "b", "c"])[y])
    assert machine.decision_function(X).shape == (150, 3)
    assert machine.score(X, np.array(["a", "b", "c"])[y]) > 0.85


def test_the_rbf_repairs_an_indefinite_matrix_and_says_so():
    X, y = problem(11, rate=0.5)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        machine = GeometricMarginSVC(kernel="rbf", gamma=1.0).fit(X, y)
    assert np.isfinite(machine.decision_function(X)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "sigmoid"}, "'kernel' parameter .* must be a str among"),
        ({"method": "direct"}, "'method' parameter .* must be a str among"),
        ({"method": "separable", "kernel": "poly"}, "method='separable' is for kernel='linear'"),
        ({"max_iter": 0}, "'max_iter' parameter .* must be an int in the range"),
        ({"tol": 0.0}, "'tol' parameter .* must be a float in the range"),
        ({"kernel": "rbf", "gamma": -1.0}, "'gamma' parameter .* must be a str among {'scale'} or a float"),
        ({"C": -1.0}, "'C' parameter .* must be a float in the range"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = problem(12)
    machine = GeometricMarginSVC(**parameters)
    with pytest.raises(ValueError, match=message):
        machine.fit(X, y)
    assert not hasattr(machine, "classes_")


def test_classes_that_overlap_are_not_separable():
    X, y = problem(13, noise=3.0)
    with pytest.raises(ValueError, match="No direction separates the classes"):
        GeometricMarginSVC(method="separable").fit(X, y)


@pytest.mark.parametrize("y", [np.ones(80), np.r_[0.0, np.ones(79)]])
def test_one_class_is_refused(y):
    X, _ = problem(14)
    X[0] = np.nan  # the only row of its class has nothing to learn from
    with pytest.raises(ValueError, match="one class only"):
        GeometricMarginSVC().fit(X, y)


def mixed(seed=15, n=80):
    """Two numbers and a category with gaps, and classes that the category tells as well."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    colour = np.where(random.random(n) < 0.8, np.array(["red", "blue"])[y], "green").astype(object)
    frame = pd.DataFrame({"a": random.standard_normal(n) + y - 0.5, "colour": colour, "b": random.standard_normal(n)})
    return frame.mask(random.random(frame.shape) < 0.2), y


def coded(frame):
    """The numbers and 0/1 codes by hand: a missing category lacks all its codes."""
    codes = [
        (frame["colour"] == level).where(frame["colour"].notna()).astype(float) for level in ("blue", "green", "red")
    ]
    return np.column_stack([frame["a"], *codes, frame["b"]])


@pytest.mark.parametrize("options", [{}, {"kernel": "poly"}, {"method": "average"}])
def test_categories_are_codes_and_a_missing_one_lacks_them_all(options):
    frame, y = mixed()
    new, truth = mixed(16)
    new.loc[0, "colour"] = "purple"
    by_frame = GeometricMarginSVC(**options).fit(frame, y)
    by_codes = GeometricMarginSVC(**options).fit(coded(frame), y)
    expected = coded(new)
    expected[0, 1:4] = np.nan
    assert_allclose(by_frame.decision_function(new), by_codes.decision_function(expected))
    assert by_frame.score(new, truth) > 0.7


def test_the_indicator_is_a_column_that_every_row_has():
    frame, y = mixed()
    marked = GeometricMarginSVC(indicator=True).fit(frame, y)
    by_hand = GeometricMarginSVC().fit(np.hstack([coded(frame), frame.isna()]), y)
    some = ~frame.isna().all(axis=1)
    assert_allclose(
        marked.decision_function(frame)[some], by_hand.decision_function(np.hstack([coded(frame), frame.isna()]))[some]
    )


def test_a_weight_is_a_number_of_copies_and_class_weights_are_weights():
    X, y = problem(17)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = GeometricMarginSVC(tol=1e-8).fit(X, y, sample_weight=weight)
    copied = GeometricMarginSVC(tol=1e-8).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-5)
    by_class = GeometricMarginSVC(tol=1e-8, class_weight={1: 3.0}).fit(X, y)
    by_row = GeometricMarginSVC(tol=1e-8).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    assert_allclose(by_class.decision_function(X), by_row.decision_function(X))


def test_threads_change_nothing():
    X, _ = problem(18)
    y = np.random.default_rng(0).integers(0, 3, len(X))
    one, two = (GeometricMarginSVC(n_jobs=n).fit(X, y).decision_function(X) for n in (1, 2))
    assert_array_equal(one, two)


VARIANTS = [{}, {"kernel": "rbf"}, {"method": "average"}, {"method": "separable"}]


@pytest.mark.filterwarnings("ignore:The RBF kernel")
@pytest.mark.parametrize(("first", "second"), list(permutations(VARIANTS, 2)), ids=str)
def test_a_refit_keeps_nothing_of_an_earlier_fit(first, second):
    X, y = problem(0, n=40, shift=3.0, rate=0.2)
    refitted, fresh = GeometricMarginSVC(**first).fit(X, y), GeometricMarginSVC(**second).fit(X, y)
    refitted.set_params(**fresh.get_params()).fit(X, y)
    assert vars(refitted).keys() == vars(fresh).keys()


def test_dates_are_refused():
    frame, y = mixed()
    with pytest.raises(ValueError, match="Column 'day' of X holds dates"):
        GeometricMarginSVC().fit(frame.assign(day=pd.Timestamp("2020-01-01")), y)


def test_pattern_norms_are_those_of_masked_rows():
    random = np.random.default_rng(7)
    values, seen = zero_filled(punch(random, random.standard_normal((12, 4)), 0.3))
    weights = random.standard_normal(12)
    masks = np.array([[1, 1, 1, 1], [1, 0, 1, 0]], bool)
    kernel = ObservedColumnsKernel("poly", gamma=0.5, coef0=1.0, degree=2)
    for mask, norm in zip(masks, kernel.squared_norms(values, seen, weights, masks), strict=True):
        gram = (0.5 * (values * mask) @ (values * mask).T + 1.0) ** 2
        assert_allclose(norm, weights @ gram @ weights)


def test_the_rbf_counts_joint_columns_only():
    left, right = (zero_filled(np.array([row])) for row in ([1.0, np.nan, 2.0], [0.0, 5.0, np.nan]))
    assert_allclose(ObservedColumnsKernel("rbf", gamma=0.3).cross(*left, *right), np.exp(-0.3))
