"""The robust SVM: its program, its limits (tau = 0, complete data), its guarantee, and what it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from gapkernel import SVC, config_context
from gapkernel.density import Gaussian, GaussianMixture
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF, Missingness
from gapkernel.papers.expected_kernel import RobustSVC, UnscaledExpectedRBF
from gapkernel.papers.expected_kernel.cone_solver import cones_on_rows, diagonal_root
from gapkernel.papers.expected_kernel.variances import column_covariances, gram_variance
from gapkernel.papers.genrbf import Karma

COVARIANCES = ["identity", "variance", "full"]


def problem(seed=0, n=40, d=4, rate=0.25, n_classes=2):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.4 * random.standard_normal(n), np.linspace(-1, 1, n_classes + 1)[1:-1])
    X[random.random(X.shape) < rate] = np.nan
    return X, y


def robust_objective(machine, covariances, gram, y, c, b):
    """The program without constraints: 1/2 c'Kc + C sum [1 - y (k'c + b) + tau ||c||_i]_+."""
    sign = np.where(y == machine.classes_[1], 1.0, -1.0)
    widths = np.sqrt(np.maximum([c @ covariance @ c for covariance in covariances], 0.0))
    slack = np.maximum(1.0 - sign * (gram @ c + b) + machine.tau_ * widths, 0.0)
    return 0.5 * c @ gram @ c + machine.C * slack.sum()


def covariances_of(machine, X):
    rows = machine.density_.condition(X)
    if machine.covariance == "identity":
        return [np.eye(len(X)) * (not complete) for complete in rows.complete]
    if machine.covariance == "variance":
        return [np.diag(column) for column in gram_variance(machine.kernel_, rows).T]
    return [column.matrix() for column in column_covariances(machine.kernel_, rows)]


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("kernel", ["rbf", "genrbf", "linear"])
def test_without_room_it_is_the_svm_on_the_expected_kernel(kernel, covariance):
    X, y = problem(1, n=80)
    new = problem(2)[0]
    plain = SVC(kernel=kernel, tol=1e-10).fit(X, y)
    machine = RobustSVC(kernel=kernel, covariance=covariance, tau=0).fit(X, y)
    assert_allclose(machine.decision_function(new), plain.decision_function(new), atol=1e-5)


@pytest.mark.parametrize("mean", ["expected", "imputed"])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("kernel", ["rbf", "genrbf", "linear"])
def test_on_complete_data_it_is_the_svm_for_any_tau(kernel, covariance, mean):
    X, y = problem(3, n=80, rate=0.0)
    new = problem(4, rate=0.0)[0]
    plain = SVC(kernel=kernel, tol=1e-10).fit(X, y)
    machine = RobustSVC(kernel=kernel, covariance=covariance, mean=mean, tau=1.7).fit(X, y)
    assert_allclose(machine.decision_function(new), plain.decision_function(new), atol=1e-5)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("kernel", ["rbf", "genrbf"])
def test_the_optimum_is_that_of_the_unconstrained_objective_and_no_step_improves_it(kernel, covariance):
    X, y = problem(5)
    machine = RobustSVC(kernel=kernel, covariance=covariance, tau=0.3).fit(X, y)
    gram = machine.kernel_.gram(machine.rows_)
    arguments = machine, covariances_of(machine, X), gram, y
    c, b = machine.dual_coef_[0], machine.intercept_[0]
    best = robust_objective(*arguments, c, b)
    assert_allclose(machine.objective_[0], best, rtol=1e-6)
    random = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(40):
            step, shift = size * random.standard_normal(len(c)), size * random.standard_normal()
            assert robust_objective(*arguments, c + step, b + shift) >= best * (1 - 1e-6)


def test_the_primal_form_minimises_its_own_objective():
    X, y = problem(6)
    machine = RobustSVC(kernel="linear", covariance="full", mean="imputed", tau=0.8).fit(X, y)
    rows, sign = machine.density_.condition(X), np.where(y == 1, 1.0, -1.0)
    covariances = [rows.covariance_of(i) for i in range(len(X))]

    def objective(w, b):
        widths = np.sqrt([w @ covariance @ w for covariance in covariances])
        return 0.5 * w @ w + np.maximum(1 - sign * (rows.means @ w + b) + 0.8 * widths, 0).sum()

    w, b = machine.coef_[0], machine.intercept_[0]
    best = objective(w, b)
    assert_allclose(machine.objective_[0], best, rtol=1e-7)
    random = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(60):
            shift = size * random.standard_normal()
            assert objective(w + size * random.standard_normal(4), b + shift) >= best * (1 - 1e-8)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_the_optimality_conditions_hold_and_are_reported(covariance):
    X, y = problem(7)
    machine = RobustSVC(covariance=covariance, tau=0.2).fit(X, y)
    assert machine.status_ == ["Solved"]
    assert machine.solve_time_ > 0
    for residual in machine.residuals_[0].values():
        assert residual < 1e-5


ROOMS = (0.0, 0.1, 0.3, 1.0)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("seed", [8, 9])
def test_more_room_means_a_smaller_norm(covariance, seed):
    X, y = problem(seed)
    norms = [RobustSVC(tau=tau, covariance=covariance).fit(X, y).margin_norm_[0] for tau in ROOMS]
    assert np.all(np.diff(norms) <= 1e-5)
    assert norms[-1] < norms[0]


@pytest.mark.parametrize("options", [{"kernel": "linear", "mean": mean} for mean in ("expected", "imputed")])
def test_more_room_is_never_free_even_where_the_norm_may_grow(options):
    # in primal form the norm can rise with tau before it falls: a longer w lifts the margin of rows with narrow cones
    X, y = problem(8)
    objectives = [RobustSVC(tau=tau, **options).fit(X, y).objective_[0] for tau in ROOMS]
    assert np.all(np.diff(objectives) >= -1e-7)


def test_the_translations_of_kappa():
    X, y = problem(9)
    for kappa in (0.2, 0.5, 0.9):
        assert_allclose(RobustSVC(kappa=kappa).fit(X, y).tau_, np.sqrt(kappa / (1 - kappa)))
    for kappa in (0.5, 0.9, 0.99):
        machine = RobustSVC(kappa=kappa, translation="gaussian", kernel="linear").fit(X, y)
        assert_allclose(machine.tau_, norm.ppf(kappa), atol=1e-12)
    assert_allclose(RobustSVC(kappa=0.9).fit(X, y).tau_, 3.0)


def test_tau_of_each_row_is_used_for_that_row():
    X, y = problem(10)
    only_first = np.zeros(len(X))
    only_first[0] = 0.5
    same = RobustSVC(tau=np.full(len(X), 0.3)).fit(X, y)
    assert_allclose(same.dual_coef_, RobustSVC(tau=0.3).fit(X, y).dual_coef_, atol=1e-6)
    objectives = [RobustSVC(tau=tau).fit(X, y).objective_[0] for tau in (0.0, only_first, 0.5)]
    assert objectives[0] <= objectives[1] <= objectives[2]


def simulated(seed, kernel, **options):
    """A machine trained on gaps of a known Gaussian law, and many completions of its training rows."""
    random = np.random.default_rng(seed)
    covariance = 0.4 * np.eye(3) + 0.6
    X = random.multivariate_normal(np.zeros(3), covariance, size=40)
    y = np.where(X.sum(axis=1) + 0.5 * random.standard_normal(40) > 0, 1, 0)
    X[random.random(X.shape) < 0.3] = np.nan
    density = Gaussian.from_moments(np.zeros(3), covariance)
    machine = RobustSVC(kernel=kernel, density=density, covariance="full", **options).fit(X, y)
    return machine, np.where(y == 1, 1.0, -1.0), density.sample(X, 4000, random_state=seed)


@pytest.mark.parametrize("kappa", [0.6, 0.9])
def test_a_linear_machine_keeps_its_margins_with_the_probability_asked_for(kappa):
    machine, sign, draws = simulated(11, "linear", mean="imputed", kappa=kappa, translation="gaussian", C=5)
    scores = sign * (draws @ machine.coef_[0] + machine.intercept_[0])
    held = (scores >= 1 - machine.slack_[0] - 1e-6).mean(axis=0)
    noise = 4 * np.sqrt(kappa * (1 - kappa) / len(draws))
    assert held.min() >= kappa - noise
    assert held.min() <= kappa + noise  # and the bound is reached: a Gaussian score leaves nothing to spare


@pytest.mark.parametrize("kappa", [0.5, 0.8])
def test_an_rbf_machine_keeps_its_margins_whatever_the_law_of_the_kernel_values(kappa):
    machine, sign, draws = simulated(12, ExpectedRBF(0.3), kappa=kappa, C=5)
    squared = ((draws[:, :, None] - draws[:, None]) ** 2).sum(axis=3)
    scores = sign * (np.exp(-0.3 * squared) @ machine.dual_coef_[0] + machine.intercept_[0])
    held = (scores >= 1 - machine.slack_[0] - 1e-6).mean(axis=0)
    assert held.min() >= kappa - 4 * np.sqrt(kappa * (1 - kappa) / len(draws))


@pytest.mark.parametrize("kernel", [ExpectedRBF(0.3), GenRBF(0.3), 2.0 * ExpectedRBF(0.2), ExpectedLinear()], ids=repr)
def test_column_covariances_are_those_of_simulated_kernel_matrices(kernel):
    X, _ = problem(13, n=6, d=4, rate=0.4)
    X[0] = 0.5  # a complete row too
    density = Gaussian.from_moments(np.zeros(4), 0.5 * np.eye(4) + 0.5)
    rows, draws = density.condition(X), density.sample(X, 60_000, random_state=0)
    for j, column in enumerate(column_covariances(kernel, rows)):
        values = kernel_values(kernel, draws, j, rows)
        simulated = np.cov(values.T)
        centred = values - values.mean(axis=0)
        products = centred[:, :, None] * centred[:, None]
        error = products.std(axis=0) / np.sqrt(len(values))
        assert np.all(np.abs(column.matrix() - simulated) <= 5 * error + 1e-12)
        assert np.linalg.eigvalsh(column.matrix())[0] >= -1e-12 * max(1.0, np.abs(column.matrix()).max())
        assert_allclose(column.matrix().diagonal(), gram_variance(kernel, rows)[:, j], atol=1e-12)


def kernel_values(kernel, draws, j, rows):
    if isinstance(kernel, ExpectedLinear):
        return np.einsum("snd,sd->sn", draws, draws[:, j])
    factor = getattr(kernel, "factor", 1.0)
    kernel = getattr(kernel, "kernel", kernel)
    values = factor * np.exp(-kernel.gamma * ((draws - draws[:, [j]]) ** 2).sum(axis=2))
    kappa = ExpectedRBF(kernel.gamma).self_cross(rows) if isinstance(kernel, GenRBF) else np.ones(len(rows))
    values /= np.sqrt(kappa * kappa[j])
    values[:, j] = factor
    return values


def test_several_classes_are_told_apart_one_against_the_rest():
    X, y = problem(14, n=120, n_classes=3, rate=0.1)
    machine = RobustSVC(tau=0.1, C=10).fit(X, np.array(["a", "b", "c"])[y])
    values = machine.decision_function(X)
    assert values.shape == (120, 3)
    assert list(machine.classes_[values.argmax(axis=1)]) == list(machine.predict(X))
    assert machine.score(X, np.array(["a", "b", "c"])[y]) > 0.7
    assert len(machine.status_) == 3


def test_a_singular_kernel_matrix_does_no_harm():
    X, y = problem(16, n=60, d=2, rate=0.0)
    X[:, 1] = X[:, 0]
    machine, plain = RobustSVC(kernel="rbf", gamma=0.01).fit(X, y), SVC(kernel="rbf", gamma=0.01, tol=1e-10).fit(X, y)
    assert_allclose(machine.decision_function(X), plain.decision_function(X), atol=1e-5)


def test_rows_with_nothing_observed_are_trained_on_and_predicted():
    X, y = problem(17)
    X[3] = np.nan
    machine = RobustSVC(tau=0.3).fit(X, y)
    assert np.isfinite(machine.decision_function(np.full((1, 4), np.nan))).all()


def test_weights_multiply_the_penalty():
    X, y = problem(18, rate=0.0)
    weight = np.where(np.arange(len(X)) < 10, 0.0, 1.0)
    weighted, cut = RobustSVC().fit(X, y, weight), RobustSVC(gamma="scale").fit(X[10:], y[10:])
    assert_allclose(weighted.decision_function(X), cut.decision_function(X), atol=1e-6)
    heavy = RobustSVC(class_weight={0: 1.0, 1: 100.0}).fit(X, y)
    assert heavy.predict(X).sum() > RobustSVC().fit(X, y).predict(X).sum()


def test_an_early_stop_is_told():
    X, y = problem(19)
    with pytest.warns(ConvergenceWarning, match="MaxIterations after 2 iterations"):
        machine = RobustSVC(max_iter=2).fit(X, y)
    assert machine.status_ == ["MaxIterations"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tau": -0.1}, "tau must be finite and 0 or more"),
        ({"tau": np.inf}, "tau must be finite"),
        ({"tau": np.nan}, "tau must be finite"),
        ({"tau": [0.1, 0.2]}, "tau must be one number, or one for each of the 40 rows"),
        ({"kappa": 0.0}, "kappa is a probability"),
        ({"kappa": 1.0}, "kappa is a probability"),
        ({"kappa": 1.5}, "kappa is a probability"),
        ({"kappa": 0.3, "translation": "gaussian"}, "kappa must be 0.5 or more"),
        ({"tau": 1.0, "kappa": 0.9}, "give one of them"),
        ({"translation": "markov"}, "'translation' parameter of RobustSVC must be a str among"),
        ({"covariance": "sphere"}, "'covariance' parameter of RobustSVC must be a str among"),
        ({"mean": "median"}, "'mean' parameter of RobustSVC must be a str among"),
        ({"C": 0.0}, "'C' parameter of RobustSVC must be a float in the range"),
        ({"max_iter": 0}, "'max_iter' parameter of RobustSVC must be an int in the range"),
        ({"kernel": Karma()}, "covariance='identity', which takes any kernel"),
        ({"kernel": "cubic"}, "kernel must be one of"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = problem(21)
    machine = RobustSVC(**parameters)
    with pytest.raises(ValueError, match=message):
        machine.fit(X, y)
    assert not hasattr(machine, "classes_")


@pytest.mark.filterwarnings("ignore:UnscaledExpectedRBF is not positive definite")
def test_an_indefinite_kernel_is_refused():
    X = np.array([[0.0, 0.0], [0.0, np.nan], [0.0, 4.0], [0.1, 4.0]])
    density = Gaussian.from_moments(np.zeros(2), 9.0 * np.eye(2))
    machine = RobustSVC(kernel=UnscaledExpectedRBF(0.5), density=density, covariance="identity")
    with pytest.raises(ValueError, match="not positive semi-definite"):
        machine.fit(X, [0, 1, 0, 1])


def test_one_class_is_refused():
    X, _ = problem(22)
    with pytest.raises(ValueError, match="one class only"):
        RobustSVC().fit(X, np.ones(len(X)))


@pytest.mark.parametrize("kernel", ["rbf", "genrbf", "linear"])
def test_columns_that_say_nothing_give_a_constant_machine(kernel):
    X, y = np.ones((12, 3)), np.arange(12) % 3 == 0
    X[0, 0] = np.nan
    machine = RobustSVC(kernel=kernel).fit(X, y)
    assert not machine.predict(X).any()


def test_the_primal_form_needs_no_matrix_of_all_rows():
    X, y = problem(23, n=300, rate=0.1)
    with config_context(memory_budget=8 * 300 * 299):
        assert RobustSVC(kernel="linear", mean="imputed").fit(X, y).status_ == ["Solved"]
        with pytest.raises(MemoryError, match="memory_budget"):
            RobustSVC().fit(X, y)


@pytest.mark.parametrize(("first", "second"), [("rbf", "linear"), ("linear", "rbf")])
def test_a_refit_in_the_other_form_keeps_nothing_of_an_earlier_fit(first, second):
    X, y = problem(7)
    refitted, fresh = RobustSVC(kernel=first, tau=0.2).fit(X, y), RobustSVC(kernel=second, tau=0.2).fit(X, y)
    refitted.set_params(kernel=second).fit(X, y)
    assert vars(refitted).keys() == vars(fresh).keys()


@pytest.mark.slow
def test_at_the_size_of_the_published_experiment_it_trains_in_seconds():
    X, y = problem(24, n=240, d=13, rate=0.3)
    machine = RobustSVC(tau=0.3).fit(X, y)
    assert machine.status_ == ["Solved"]
    assert machine.solve_time_ < 30  # two to five seconds on one core, with room for a busy machine


def test_it_clones_and_names_its_parameters():
    machine = RobustSVC(kernel=ExpectedRBF(0.4), tau=0.3)
    assert clone(machine).get_params()["kernel__gamma"] == 0.4


def test_cones_of_mixtures_far_apart_are_not_dropped():
    X, _ = problem(0)
    X[:, 3] = np.where(np.arange(40) < 20, 0.0, 100.0)
    density = GaussianMixture.from_parameters([0.5, 0.5], np.zeros((2, 4)), np.array([np.eye(4), 2 * np.eye(4)]))
    rows = density.condition(X)
    cones = cones_on_rows(ExpectedRBF(0.5), rows, "variance", np.ones(len(rows)))
    assert all(cone.shape[0] > 0 for cone, complete in zip(cones.factors, rows.complete, strict=True) if not complete)
    with pytest.raises(ValueError, match="is NaN"):
        diagonal_root(np.array([1.0, np.nan]), 0.0)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("rule", ["product", "sum"])
def test_which_values_are_missing_may_count(covariance, rule):
    X, y = problem(0)
    indicator = Missingness(rule=rule)
    plain = SVC(kernel="rbf", indicator=indicator, tol=1e-10).fit(X, y)
    machine = RobustSVC(indicator=indicator, covariance=covariance, tau=0).fit(X, y)
    assert_allclose(machine.decision_function(X), plain.decision_function(X), atol=1e-5)
    robust = RobustSVC(indicator=indicator, covariance=covariance).fit(X, y)
    assert robust.objective_ > machine.objective_, "room costs something"


@pytest.mark.parametrize("mean", ["expected", "imputed"])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_multiple_of_the_linear_kernel_is_linear_with_a_larger_penalty(covariance, mean):
    X, y = problem(5)
    options = {"covariance": covariance, "mean": mean, "tau": 0.3}
    scaled = RobustSVC(kernel=2 * ExpectedLinear(), **options).fit(X, y)
    plain = RobustSVC(kernel="linear", C=2.0, **options).fit(X, y)
    assert scaled.form_ == "primal"
    assert_allclose(scaled.decision_function(X), plain.decision_function(X), atol=1e-5)
    assert_allclose(2 * scaled.objective_, plain.objective_, rtol=1e-6)
    assert_allclose(2 * scaled.margin_norm_**2, plain.margin_norm_**2, rtol=1e-4)


def two_groups(seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((60, 3)) + np.repeat([[0.0], [5.0]], 30, axis=0) * [1.0, -1.0, 0.5]
    y = np.repeat([0, 1], 30)
    X[random.random(X.shape) < 0.2] = np.nan
    return X, y


@pytest.mark.parametrize("covariance", ["identity", "variance", "full"])
def test_it_takes_mixtures_with_the_linear_kernel(covariance):
    X, y = two_groups()
    machine = RobustSVC(kernel="linear", density=GaussianMixture(2, random_state=0), covariance=covariance)
    assert machine.fit(X, y).score(X, y) > 0.95


def test_it_measures_covariances_in_the_metric():
    X, y = two_groups()
    factors = np.array([1.0, 0.5, 2.0])
    machine = RobustSVC(kernel=GenRBF(0.1, np.diag(factors**2)), covariance="full", tau=0.3).fit(X, y)
    by_hand = RobustSVC(kernel=GenRBF(0.1), covariance="full", tau=0.3).fit(X * factors, y)
    assert_allclose(machine.decision_function(X), by_hand.decision_function(X * factors), rtol=0, atol=1e-3)
