"""CCCPClassifier: the scikit-learn face of missing inputs and labels."""

import pickle
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp, softmax
from sklearn.datasets import load_digits, load_wine, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import punch

import gapkernel as gk
from gapkernel.compute.linalg.basis import pivoted_cholesky
from gapkernel.papers.missing_variables import (
    CCCP,
    LBFGS,
    SGD,
    AtomicDensity,
    CCCPClassifier,
    KernelBasis,
    Transduction,
    completion_features,
)

UNOBSERVED = (
    "the check has a class -1, which here is an unobserved label, as in scikit-learn's semi-supervised estimators "
    "(the check knows these by name and leaves the class out for them)"
)


@parametrize_with_checks(
    [CCCPClassifier(), CCCPClassifier(loss="svm", solver=LBFGS(), C=1.0)],
    expected_failed_checks=lambda estimator: {"check_classifiers_classes": UNOBSERVED},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def wine(rate=0.3, seed=0):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return punch(np.random.default_rng(seed), X, rate)[::2], y[::2]


LISTED = AtomicDensity("levels", method="exact")
LAWS = {word: AtomicDensity(word, n_atoms=8) for word in ("auto", "uniform", "neighbours")} | {"listed": LISTED}


def classifier(**options):
    return CCCPClassifier(**{"gamma": 0.05, "basis": 40, "density": LAWS["auto"], "random_state": 0} | options)


def few_labels(y, per_class, random):
    """All but some labels of each class replaced by -1."""
    kept = np.concatenate([random.choice(np.flatnonzero(y == k), per_class, replace=False) for k in np.unique(y)])
    return np.where(np.isin(np.arange(len(y)), kept), y, -1)


@pytest.mark.parametrize(
    "options", [{"density": LAWS[word]} for word in ("auto", "uniform", "neighbours")] + [{"loss": "svm"}]
)
def test_it_learns_from_and_predicts_rows_with_gaps(options):
    X, y = wine()
    model = classifier(**options).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.8
    assert np.diff(model.objective_).max() <= 1e-9 * model.objective_[0]
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


@pytest.mark.parametrize("loss", ["gp", "svm"])
@pytest.mark.parametrize("solver", [CCCP, LBFGS])
def test_a_finer_tolerance_goes_further(loss, solver):
    X, y = wine()
    coarse, fine = (classifier(loss=loss, C=10.0, solver=solver(tol)).fit(X, y) for tol in (1e-5, 1e-8))
    assert fine.objective_[-1] < coarse.objective_[-1]
    assert_allclose(coarse.objective_[-1], fine.objective_[-1], rtol=2e-3)


def test_no_solver_and_no_basis_are_those_of_the_paper_and_of_many_centres():
    X, y = wine()
    plain, said = CCCPClassifier(random_state=0), CCCPClassifier(solver=CCCP(), basis=KernelBasis(), random_state=0)
    assert_array_equal(plain.fit(X, y).theta_, said.fit(X, y).theta_)
    assert_array_equal(classifier(basis=40).fit(X, y).theta_, classifier(basis=KernelBasis(40)).fit(X, y).theta_)


def test_a_density_that_says_nothing_of_completions_is_drawn_from_fifty_times():
    X, y = wine()
    plain, said = (
        classifier(density=density).fit(X, y)
        for density in (gk.density.Gaussian(tol=1e-2), AtomicDensity(gk.density.Gaussian(tol=1e-2), n_atoms=50))
    )
    assert_array_equal(plain.theta_, said.theta_)
    assert not np.array_equal(plain.theta_, classifier(density="auto").fit(X, y).theta_)


def test_what_is_given_is_left_alone_and_may_have_a_seed_of_its_own():
    X, y = wine()
    density, seeded = AtomicDensity(n_atoms=8), AtomicDensity(n_atoms=8, random_state=7)
    first, second = (classifier(density=density, random_state=seed).fit(X, y) for seed in (0, 1))
    assert density.random_state is None
    assert not hasattr(density, "density_")
    row = X[np.isnan(X).any(axis=1)][:1]
    draws = [model.completions_.condition(row).values for model in (first, second)]
    assert not np.array_equal(*draws)
    models = [classifier(density=seeded, random_state=seed).fit(X, y) for seed in (0, 1)]
    assert_array_equal(*(model.completions_.condition(row).values for model in models))


def test_exact_completions_are_brute_force_integration():
    """Probabilities of rows with gaps against a sum over all values, written out with the model's own scores."""
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (40, 4)).astype(float)
    y = (X.sum(axis=1) > 4).astype(int)
    X = punch(random, X, 0.2)
    model = classifier(density=LISTED, gamma=0.3, basis=30).fit(X, y)
    values = [0.0, 1.0, 2.0]
    for row in X[np.isnan(X).any(axis=1)][:5]:
        gaps = np.flatnonzero(np.isnan(row))
        scores = []
        for filling in product(values, repeat=len(gaps)):
            full = row.copy()
            full[gaps] = filling
            coefficients = model.theta_[:, :-1] @ model._features.whitening.T
            scores.append(coefficients @ rbf_kernel(model.basis_, full[None], gamma=0.3)[:, 0] + model.theta_[:, -1])
        expected = softmax(logsumexp(np.array(scores), axis=0))
        assert_allclose(model.predict_proba(row[None])[0], expected, rtol=1e-10)


def test_a_prediction_does_not_depend_on_the_other_rows():
    X, y = wine()
    model = classifier().fit(X, y)
    together = model.predict_proba(X)
    assert_allclose(model.predict_proba(X[::-1])[::-1], together, rtol=1e-10)
    assert_allclose(np.vstack([model.predict_proba(X[i : i + 1]) for i in range(10)]), together[:10], rtol=1e-10)


def test_blocks_and_the_memory_budget_do_not_change_the_solution(monkeypatch):
    X, y = wine()
    whole = classifier().fit(X, y)
    monkeypatch.setattr(completion_features, "BLOCK_BYTES", 40_000)
    parts = classifier().fit(X, y)
    with gk.config_context(memory_budget=40_000):
        streamed = classifier().fit(X, y)
    for other in (parts, streamed):
        assert_allclose(other.objective_[-1], whole.objective_[-1], rtol=1e-9)
        assert_allclose(other.predict_proba(X), whole.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("offset", [0.0, 1000.0, 2000.0])
def test_single_precision_is_close(offset):
    X, y = wine()
    X = X + offset
    double, single = classifier().fit(X, y), classifier(basis=KernelBasis(40, single_precision=True)).fit(X, y)
    assert (single._features.dtype, double._features.dtype) == (np.float32, np.float64)
    assert_allclose(single.objective_[-1], double.objective_[-1], rtol=1e-5)
    assert_allclose(single.predict_proba(X), double.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize("loss", ["gp", "svm"])
def test_candidate_sets(loss):
    """One candidate is a label, all candidates are -1, and a set that holds the truth still teaches."""
    X, y = wine()
    labels = y.copy()
    labels[::3] = -1
    matrix = np.eye(3, dtype=bool)[y]
    matrix[::3] = True
    by_label, by_matrix = (classifier(loss=loss).fit(X, target) for target in (labels, matrix))
    assert_allclose(by_matrix.theta_, by_label.theta_, rtol=1e-12)
    assert_array_equal(by_matrix.label_distributions_[1], np.eye(3)[y[1]])
    matrix[:, :2] |= (y < 2)[:, None]  # classes 0 and 1 are never told apart
    partial = classifier(loss=loss).fit(X, matrix)
    assert np.mean((partial.predict(X) == 2) == (y == 2)) > 0.95
    assert np.all(partial.label_distributions_[~matrix] == 0)


def test_names_of_classes():
    X, y = wine()
    names = np.array(["barolo", "grignolino", "barbera"], dtype=object)[y]
    names[::4] = -1
    model = classifier().fit(X, names.tolist())
    assert_array_equal(model.classes_, ["barbera", "barolo", "grignolino"])
    assert np.mean(model.transduction_[::4] == np.array(["barolo", "grignolino", "barbera"])[y[::4]]) > 0.8
    frame = pd.DataFrame(np.eye(3, dtype=bool)[y], columns=["a", "b", "c"])
    assert_array_equal(classifier().fit(X, frame).classes_, ["a", "b", "c"])


def test_less_known_is_less_certain():
    """A row of which nothing is known has about the shares of the classes, and confidence falls as cells are hidden."""
    X, y = wine(rate=0.1)
    model = classifier(C=10.0, density=AtomicDensity(n_atoms=64)).fit(X, y)
    random = np.random.default_rng(1)
    complete, order = np.where(np.isnan(X), 0.0, X), random.random(X.shape).argsort(axis=1)
    confidence = []
    for hidden in (0, 4, 8, 13):
        rows = complete.copy()
        np.put_along_axis(rows, order[:, :hidden], np.nan, axis=1)
        confidence.append(model.predict_proba(rows).max(axis=1).mean())
    assert np.all(np.diff(confidence) < 0)
    shares = np.bincount(y) / len(y)
    assert np.abs(model.predict_proba(np.full((1, 13), np.nan))[0] - shares).max() < 0.15


@pytest.mark.parametrize("loss", ["gp", "svm"])
def test_transduction_beats_supervision_on_two_moons(loss):
    shares = []
    for seed in range(4):
        X, y = make_moons(120, noise=0.1, random_state=seed)
        labels = few_labels(y, 3, np.random.default_rng(seed))
        X = punch(np.random.default_rng(seed), X, 0.03)
        models = [
            classifier(loss=loss, gamma=15.0, C=10.0, basis=60, solver=LBFGS(max_iter=2000), transduction=wish)
            for wish in (None, Transduction())
        ]
        shares.append([np.mean(m.fit(X, labels).transduction_ == y) for m in models])
    supervised, transductive = np.mean(shares, axis=0)
    assert transductive > supervised + 0.03


@pytest.mark.parametrize("loss", ["gp", "svm"])
def test_a_wish_of_no_weight_is_none(loss):
    X, y = wine()
    labels = few_labels(y, 5, np.random.default_rng(0))
    none, faint, full = (
        classifier(loss=loss, C=10.0, solver=LBFGS(1e-9), transduction=wish).fit(X, labels).predict_proba(X)
        for wish in (None, Transduction(1e-9, balance=0.0), Transduction())
    )
    assert_allclose(faint, none, atol=2e-3)
    assert np.abs(full - none).max() > 0.05


def test_transduction_beats_supervision_on_digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16, y[:400]
    labels = few_labels(y, 2, np.random.default_rng(0))
    X = punch(np.random.default_rng(0), X, 0.1)
    options = {
        "gamma": 0.3,
        "C": 10.0,
        "basis": 100,
        "density": AtomicDensity(n_atoms=4),
        "solver": LBFGS(max_iter=500),
    }
    supervised, transductive = (
        classifier(**options, transduction=wish).fit(X, labels) for wish in (None, Transduction())
    )
    assert np.mean(transductive.transduction_ == y) > np.mean(supervised.transduction_ == y)


def test_kernels_from_everywhere_agree():
    X, y = wine()
    models = [
        classifier(),
        classifier(kernel=RBF(np.sqrt(10.0)), gamma="scale"),
        classifier(kernel=gk.kernels.GenRBF(0.05), gamma="scale"),
        classifier(kernel=lambda a, b: rbf_kernel(a, b, gamma=0.05), gamma="scale"),
    ]
    first, *others = (model.fit(X, y).predict_proba(X) for model in models)
    for other in others:
        assert_allclose(other, first, atol=1e-4)
    quadratic = partial(polynomial_kernel, degree=2, gamma=0.05)
    assert classifier(kernel=quadratic, gamma="scale").fit(X, y).score(X, y) > 0.9


def test_the_basis_reproduces_the_kernel():
    X = np.random.default_rng(0).standard_normal((30, 3))
    K = rbf_kernel(X, gamma=0.5)
    residuals = []
    for size in (5, 15, 30):
        basis = pivoted_cholesky(X, lambda a, b: rbf_kernel(a, b, gamma=0.5), np.ones(30), size, 0.0)
        features = rbf_kernel(X, basis.rows, gamma=0.5) @ basis.whitening
        gap = K - features @ features.T
        assert np.linalg.eigvalsh(gap).min() > -1e-8
        assert_allclose(gap.diagonal().max(), basis.residual, atol=1e-8)
        residuals.append(basis.residual)
    assert residuals[0] > residuals[1] > residuals[2]
    assert residuals[2] < 1e-8


def test_the_basis_comes_from_complete_rows_when_there_are_enough():
    X, y = wine(rate=0.02)
    complete = X[~np.isnan(X).any(axis=1)]
    model = classifier(basis=KernelBasis(20, method="auto")).fit(X, y)
    assert all((complete == row).all(axis=1).any() for row in model.basis_)
    everything = classifier(basis=KernelBasis(len(X), method="auto", tol=0.0)).fit(X, y)
    assert everything.n_basis_ == len(X)


def test_as_many_centres_as_rows_are_the_rows():
    X, y = wine(rate=0.0)
    centres, rows = (
        classifier(basis=KernelBasis(len(X), method=method, tol=0.0), solver=LBFGS(1e-9)).fit(X, y)
        for method in ("kmeans", "auto")
    )
    assert_allclose(centres.predict_proba(X), rows.predict_proba(X), atol=1e-3)


def test_centres_lie_among_rows_with_gaps_and_without():
    X, y = wine(rate=0.3)
    model = classifier(basis=20).fit(X, y)
    assert model.n_basis_ == 20
    completed = model.completions_.means(X)
    assert np.all((model.basis_ >= completed.min(axis=0)) & (model.basis_ <= completed.max(axis=0)))
    assert model.score(X, y) > 0.9
    same = np.repeat(X[:2], 10, axis=0)
    assert classifier(basis=20).fit(same, np.repeat([0, 1], 10)).n_basis_ <= 2


def test_seeds_decide():
    X, y = wine()
    assert not np.allclose(classifier(random_state=1).fit(X, y).theta_, classifier().fit(X, y).theta_)


def test_a_copy_predicts_the_same_and_data_is_left_alone():
    X, y = wine()
    X.flags.writeable = y.flags.writeable = False
    model = classifier(solver=SGD()).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


def test_edges():
    X, y = wine()
    X[:, 4] = np.nan  # never observed
    X[:, 5] = np.where(np.isnan(X[:, 5]), np.nan, 1.0)  # constant
    X[3] = np.nan  # a row with no value
    for word in ("auto", "uniform", "neighbours"):
        model = classifier(density=AtomicDensity(word, n_atoms=4)).fit(X * 1e6, y)
        assert np.isfinite(model.predict_proba(X * 1e6)).all()
    two = CCCPClassifier(random_state=0).fit(np.array([[0.0, np.nan], [1.0, 2.0]]), [0, 1])
    assert_array_equal(two.predict([[0.0, np.nan], [1.0, 2.0]]), [0, 1])


EMPTY = np.eye(3, dtype=bool)[wine()[1]]
EMPTY[5] = False


@pytest.mark.parametrize(
    ("options", "labels", "message"),
    [
        ({}, -np.ones(89, int), r"No label is observed"),
        ({}, np.ones((89, 3), bool), r"No label is observed"),
        ({}, EMPTY, r"Row 5 of y has no possible class"),
        ({}, np.where(wine()[1] == 0, 0, -1), r"one class only"),
        ({"basis": 90}, None, r"basis of 90 functions cannot be picked from 89 rows. Use at most size=89"),
        ({"basis": KernelBasis(method="complete")}, None, r"every row of X has a gap"),
        ({"kernel": gk.kernels.HeterogeneousKernel(), "gamma": "scale"}, None, r"so not complete vectors either"),
        ({"kernel": "ehk"}, None, r"kernel must be a name"),
        ({"kernel": gk.kernels.GenRBF(0.1)}, None, r"Set it on the kernel object"),
        ({"gamma": -1.0}, None, r"gamma must be a positive number"),
        ({"density": LISTED}, None, r"exact completions; at most 4096 are allowed.*AtomicDensity\(method='sobol'\)"),
        ({"density": AtomicDensity(method="exact")}, None, r"lists the values of density.Marginals, got .*Gaussian"),
        ({"loss": "hinge"}, None, r"'loss' parameter .* must be a str among"),
        ({"C": 0.0}, None, r"'C' parameter .* must be a float in the range"),
        ({"density": AtomicDensity(n_atoms=2.5)}, None, r"'n_atoms' parameter .* must be an int in the range"),
        ({"transduction": Transduction(2.0)}, None, r"'weight' parameter of Transduction must be a float in the range"),
        ({"transduction": True}, None, r"'transduction' parameter .* must be an instance of"),
        ({"solver": "cccp"}, None, r"'solver' parameter .* must be an instance of"),
        ({"density": gk.density.Gaussian}, None, r"'density' parameter .* must be a str among {'auto'} or an instance"),
    ],
)
def test_bad_input_gets_one_clear_complaint(options, labels, message):
    X, y = wine(rate=0.6)
    X[np.arange(len(X)), np.arange(len(X)) % 13] = np.nan
    model = classifier(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y if labels is None else labels)
    assert not hasattr(model, "theta_")


def test_the_indicator_is_a_column_that_is_always_known():
    X, y = wine()
    marked = classifier(density=LAWS["uniform"], indicator=True, basis=KernelBasis(40, method="auto")).fit(X, y)
    assert marked.basis_.shape[1] == 26
    assert set(np.unique(marked.basis_[:, 13:])) <= {0.0, 1.0}
    assert marked.score(X, y) > 0.9


def test_class_weights_are_weights_of_labelled_rows():
    X, y = wine()
    labels = np.where(np.arange(len(y)) % 5 == 0, -1, y)
    by_class = classifier(class_weight={0: 2.0, 1: 1.0, 2: 0.5}).fit(X, labels)
    weight = np.where(labels == 0, 2.0, np.where(labels == 2, 0.5, 1.0))
    assert_allclose(by_class.theta_, classifier().fit(X, labels, sample_weight=weight).theta_, rtol=1e-10)


def test_stopping_early_is_said():
    X, y = wine()
    with pytest.warns(ConvergenceWarning, match="LBFGS.* stopped after 1 iterations.* max_iter=1 or its tol"):
        classifier(solver=LBFGS(max_iter=1)).fit(X, y)
