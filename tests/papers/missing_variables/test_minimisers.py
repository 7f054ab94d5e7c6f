"""Losses with missing inputs and labels, and the three ways to minimise them."""

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from reference.margin_cone import minimum_by_cones
from scipy.optimize import OptimizeResult, minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from gapkernel.papers.missing_variables import CCCP, LBFGS, SGD, Transduction, minimisers
from gapkernel.papers.missing_variables.losses import Labels, Margin, Softmax
from gapkernel.papers.missing_variables.minimisers import quiet
from gapkernel.papers.missing_variables.objective import Balance, Block, IncompleteProblem

LOSSES = {"gp": Softmax(), "svm": Margin(), "smooth svm": Margin(temperature=0.2)}
TRANSDUCTIVE = (0.0, 0.4, 1.0)


def minimised(solver, problem, start=None):
    theta = np.zeros(problem.shape) if start is None else start
    return solver.minimise(problem, theta, watch=quiet, random=np.random.default_rng(0))


def random_problem(seed, loss, *, n=30, classes=3, size=4, most=5, penalty=0.5, t=0.0, partial=True, n_blocks=3):
    """Rows with different numbers of completions, labels known, known in part, and unknown; weights; a balance."""
    random = np.random.default_rng(seed)
    counts = random.integers(1, most + 1, n)
    truth = random.integers(0, classes, n)
    centres = 1.5 * random.standard_normal((classes, size))
    features = np.repeat(centres[truth], counts, axis=0) + random.standard_normal((counts.sum(), size))
    weights = random.random(counts.sum()) + 0.1
    starts = np.concatenate([[0], np.cumsum(counts)])
    log_weight = np.concatenate([np.log(w / w.sum()) for w in np.split(weights, starts[1:-1])])
    candidates = np.eye(classes, dtype=bool)[truth]
    if partial:
        candidates[: n // 3] |= random.random((n // 3, classes)) < 0.4
        candidates[: n // 6] = True
    ambiguous = candidates.sum(axis=1) > 1
    labels = Labels(candidates, random.random(n) + 0.5 if partial else np.ones(n), t * ambiguous)
    balance = Balance(2.0, features.mean(axis=0), random.standard_normal(classes)) if t > 0 else None
    edges = np.linspace(0, n, n_blocks + 1).astype(int)
    rows = [slice(a, b) for a, b in pairwise(edges)]
    cells = [slice(starts[part.start], starts[part.stop]) for part in rows]
    return IncompleteProblem(
        blocks=[Block(features[c], log_weight[c], counts[r]) for c, r in zip(cells, rows, strict=True)],
        labels=[labels[part] for part in rows],
        loss=loss,
        penalty=penalty,
        shape=(classes, size),
        balance=balance,
    )


def slope(function, theta, direction, h=1e-6):
    return (function(theta + h * direction)[0] - function(theta - h * direction)[0]) / (2 * h)


@pytest.mark.parametrize("t", TRANSDUCTIVE)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_finite_differences(loss, t, seed):
    problem = random_problem(seed, LOSSES[loss], t=t)
    random = np.random.default_rng(seed)
    theta, present, direction = (random.standard_normal(problem.shape) for _ in range(3))
    planes = problem.tangent(present)
    for function in (problem.objective, lambda x: problem.majorant(x, planes)):
        assert_allclose(np.vdot(function(theta)[1], direction), slope(function, theta, direction), rtol=2e-6)


@pytest.mark.parametrize("t", TRANSDUCTIVE)
@pytest.mark.parametrize("loss", ["gp", "svm"])
@given(seed=st.integers(0, 10**6))
def test_the_majorant_is_convex_touches_and_lies_above(loss, t, seed):
    problem = random_problem(seed, LOSSES[loss], t=t, n=12)
    random = np.random.default_rng(seed)
    present, a, b = (random.choice([0.1, 1.0, 3.0]) * random.standard_normal(problem.shape) for _ in range(3))
    planes = problem.tangent(present)

    def bound(theta):
        return problem.majorant(theta, planes)[0]

    assert_allclose(bound(present), problem.objective(present)[0], rtol=1e-12)
    for theta in (a, b, present + 1e-3 * a):
        assert bound(theta) >= problem.objective(theta)[0] * (1 - 1e-12)
    assert bound(0.3 * a + 0.7 * b) <= 0.3 * bound(a) + 0.7 * bound(b) + 1e-9


class Spied(IncompleteProblem):
    """A problem that remembers each value of its objective."""

    def __init__(self, problem):
        super().__init__(**{f.name: getattr(problem, f.name) for f in fields(problem)})
        object.__setattr__(self, "seen", [])

    def objective(self, theta):
        value, gradient = super().objective(theta)
        self.seen.append(value)
        return value, gradient


class WrongTangent(Softmax):
    """A sign error in the slope of the plane."""

    def tangent(self, scores, counts, labels):
        plane = super().tangent(scores, counts, labels)
        return replace(plane, slope=-plane.slope)


def test_a_step_that_climbs_is_an_error_and_no_convergence():
    problem = random_problem(0, WrongTangent(), partial=False)
    near = minimised(CCCP(1e-6), replace(problem, loss=Softmax())).theta
    with pytest.raises(RuntimeError, match=r"The objective rose from .* in step 1"):
        minimised(CCCP(1e-6, max_iter=15), problem, near)


@pytest.mark.parametrize(("last_fall", "converged"), [(1.0, False), (1e-9, True)])
def test_a_failed_line_search_is_convergence_only_where_the_objective_has_settled(last_fall, converged, monkeypatch):
    problem = random_problem(0, Softmax())

    def fails(function, start, callback, **_):
        value, gradient = function(start)
        callback(OptimizeResult(fun=value - last_fall))
        return OptimizeResult(x=start, fun=value - last_fall, jac=gradient, nit=1, status=2)

    monkeypatch.setattr(minimisers, "minimize", fails)
    solution = minimised(LBFGS(1e-8), problem, np.ones(problem.shape))
    assert solution.converged == converged


@pytest.mark.parametrize("t", [0.0, 1.0])
@pytest.mark.parametrize("loss", ["gp", "smooth svm"])
@settings(max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_the_objective_of_the_procedure_never_rises(loss, t, seed):
    problem = random_problem(seed, LOSSES[loss], t=t, n=15, size=3, penalty=0.2, n_blocks=1)
    start = np.random.default_rng(seed).standard_normal(problem.shape)
    spied = Spied(problem)
    solution = minimised(CCCP(1e-6, max_iter=15), spied, start)
    assert len(spied.seen) == solution.n_iter + 1
    assert np.diff(spied.seen).max() <= 1e-9 * (1 + abs(spied.seen[0]))  # of the proposals, before any is turned down
    assert_allclose(problem.objective(solution.theta)[0], solution.objective[-1], rtol=1e-12)
    assert solution.objective[-1] < solution.objective[0]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_limit_of_the_procedure_is_stationary(seed):
    problem = random_problem(seed, Softmax())
    solution = minimised(CCCP(1e-14), problem)
    assert np.abs(problem.objective(solution.theta)[1]).max() < 1e-4


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_bound_has_the_minimum_of_the_cone_program(seed):
    """The convex step of the hinge, which is a program with exponential cones, through smooth losses."""
    problem = random_problem(seed, Margin(), n=12, partial=False, n_blocks=1, penalty=1.0)
    planes, theta = problem.tangent(np.random.default_rng(seed).standard_normal(problem.shape)), np.zeros(12)

    def smooth_bound(x, temperature):
        value, gradient = replace(problem, loss=Margin(temperature)).majorant(x.reshape(problem.shape), planes)
        return value, gradient.ravel()

    for temperature in LBFGS.temperatures:
        near = minimize(smooth_bound, theta, (temperature,), "L-BFGS-B", jac=True, options={"ftol": 1e-14})
        theta = near.x
    block, plane = problem.blocks[0], planes[0]
    by_cones = minimum_by_cones(
        block.features, block.log_weight, block.counts, plane.own, plane.offset, plane.slope.sum(axis=1), 1.0
    )
    room = LBFGS.temperatures[-1] * np.log(3) * 12
    assert (
        by_cones * (1 - 1e-6)
        <= problem.majorant(theta.reshape(problem.shape), planes)[0]
        <= near.fun
        <= by_cones + room
    )


@pytest.mark.parametrize("solver", [CCCP(), LBFGS()])
@pytest.mark.parametrize("loss", ["gp", "svm"])
def test_a_problem_without_rows_is_its_penalty(loss, solver):
    problem = replace(random_problem(0, LOSSES[loss]), blocks=[], labels=[])
    solution = minimised(solver, problem, np.ones(problem.shape))
    assert solution.converged
    assert 0 <= solution.objective[-1] <= 1e-5


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("loss", ["gp", "svm"])
def test_all_solvers_reach_the_same_value(loss, seed):
    problem = random_problem(seed, LOSSES[loss], n=20, partial=False, penalty=1.0, n_blocks=1)
    direct = minimised(LBFGS(1e-12, max_iter=3000), problem).objective[-1]
    procedure, stochastic = (minimised(solver(1e-7), problem).objective[-1] for solver in (CCCP, SGD))
    if loss == "gp":
        assert_allclose([procedure, stochastic], direct, rtol=1e-5)
    else:  # the smooth losses are above the hinge by up to temperature * log(n_classes) for each row
        assert_allclose(procedure, direct, atol=20 * np.log(3) * LBFGS.temperatures[-1])
        assert_allclose(stochastic, direct, atol=20 * np.log(3) * SGD.temperatures[-1])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("solver", "size"), [(CCCP, 4), (CCCP, 8), (LBFGS, 4)])
def test_the_hinge_is_minimised_to_within_a_thousandth(solver, size, seed):
    """Of the minimum that the finest tolerance finds. With 8 columns the classes lie apart, and it is near 0."""
    problem = random_problem(seed, Margin(), n=60, size=size, partial=False, penalty=0.3)
    finest = minimised(LBFGS(1e-13, max_iter=20_000), problem).objective[-1]
    assert minimised(solver(), problem).objective[-1] <= 1.001 * finest


@pytest.mark.parametrize("t", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("max_iter", [1, 3000])
@pytest.mark.parametrize("solver", [CCCP, LBFGS, SGD])
def test_the_hinge_falls_from_one_smooth_loss_to_the_next(t, dtype, max_iter, solver):
    problem = random_problem(0, Margin(), t=t, penalty=0.3)
    problem = replace(problem, blocks=[replace(b, features=b.features.astype(dtype)) for b in problem.blocks])
    solution = minimised(solver(max_iter=max_iter), problem)
    assert (np.diff(solution.objective) <= 0).all()
    assert solution.objective[-1] < solution.objective[0] == problem.objective(np.zeros(problem.shape))[0]
    assert_allclose(problem.objective(solution.theta)[0], solution.objective[-1], rtol=1e-12)
    assert solution.n_iter <= max_iter
    assert solution.converged == (max_iter > 1)


class Strays(LBFGS):
    """Ends far away from the minimum of all smooth losses but the first."""

    def _descend(self, problem, theta, max_iter, watch, random):
        solution = super()._descend(problem, theta, max_iter, watch, random)
        away = 0.0 if problem.loss.temperature == self.temperatures[0] else 10.0
        return replace(solution, theta=solution.theta + away)


def test_a_smooth_loss_is_kept_only_if_the_hinge_fell():
    problem = random_problem(0, Margin(), penalty=0.3)
    solution = minimised(Strays(), problem)
    first = minimised(LBFGS(), replace(problem, loss=Margin(LBFGS.temperatures[0])))
    assert_allclose(solution.theta, first.theta)
    assert len(set(solution.objective[1:])) == 1


def test_the_stages_of_transduction_lead_from_labelled_rows_to_all_of_the_wish():
    problem = replace(random_problem(0, Softmax(), t=0.8), balance=None)
    first, *between, last = Transduction(0.8, balance=3.0).stages(problem)
    assert first.balance is None
    assert not any(labels.transductive.any() for labels in first.labels)
    shares = [np.concatenate([labels.transductive for labels in stage.labels]).max() for stage in (*between, last)]
    assert shares == sorted(shares)
    assert shares[-1] == 0.8
    theta = np.random.default_rng(0).standard_normal(problem.shape)
    assert_allclose(last.objective(theta)[0] - problem.objective(theta)[0], last.balance(theta)[0])
    wish = sum(float(part.weight[part.transductive > 0].sum()) for part in problem.labels)
    assert_allclose(last.balance.strength, 3.0 * wish)


def complete(problem):
    """The same problem with the first completion of each row only."""
    blocks = []
    for block in problem.blocks:
        first = np.concatenate([[0], np.cumsum(block.counts)[:-1]])
        blocks.append(Block(block.features[first], np.zeros(len(first)), np.ones(len(first), np.int64)))
    return IncompleteProblem(blocks, problem.labels, problem.loss, problem.penalty, problem.shape)


def rows_and_labels(problem):
    X = np.concatenate([block.features for block in problem.blocks])
    return X, np.concatenate([labels.candidates.argmax(axis=1) for labels in problem.labels])


def test_complete_rows_give_multinomial_logistic_regression():
    problem = complete(random_problem(3, Softmax(), n=40, partial=False, penalty=0.25))
    X, y = rows_and_labels(problem)
    theirs = LogisticRegression(C=4.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, y)
    solution = minimised(CCCP(1e-14), problem)
    assert_allclose(solution.theta, theirs.coef_, atol=1e-4)
    assert_allclose(solution.objective[-1], problem.objective(theirs.coef_)[0], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:Liblinear failed")  # it leaves the count of its iterations unset for this machine
def test_complete_rows_give_the_machine_of_crammer_and_singer():
    problem = complete(random_problem(4, Margin(), n=40, partial=False, penalty=0.5))
    X, y = rows_and_labels(problem)
    theirs = LinearSVC(
        multi_class="crammer_singer", C=2.0, fit_intercept=False, tol=1e-8, max_iter=100_000, random_state=0
    ).fit(X, y)
    hinge = problem.objective(theirs.coef_)[0]
    assert hinge <= minimised(CCCP(1e-9), problem).objective[-1] * (1 + 1e-6)
    assert minimised(CCCP(1e-9), problem).objective[-1] <= hinge + 40 * np.log(3) * LBFGS.temperatures[-1]


@pytest.mark.parametrize("loss", ["gp", "svm"])
def test_a_row_that_may_be_anything_changes_nothing(loss):
    problem = random_problem(5, LOSSES[loss])
    theta = np.random.default_rng(5).standard_normal(problem.shape)
    without = [
        Labels(p.candidates, np.where(p.candidates.all(axis=1), 0.0, p.weight), p.transductive) for p in problem.labels
    ]
    other = IncompleteProblem(problem.blocks, without, problem.loss, problem.penalty, problem.shape)
    assert any(p.candidates.all(axis=1).any() for p in problem.labels)
    for mine, theirs in zip(problem.objective(theta), other.objective(theta), strict=True):
        assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", ["gp", "svm"])
def test_the_loss_is_that_of_its_definition(loss):
    """Row by row, from the formulas."""
    problem = random_problem(6, LOSSES[loss], t=0.3, n_blocks=1)
    theta = np.random.default_rng(6).standard_normal(problem.shape)
    block, labels = problem.blocks[0], problem.labels[0]
    expected, starts = 0.0, np.concatenate([[0], np.cumsum(block.counts)])
    for i in range(len(labels)):
        cells = slice(starts[i], starts[i + 1])
        G = logsumexp(block.features[cells] @ theta.T + block.log_weight[cells, None], axis=0)
        A, t = labels.candidates[i], labels.transductive[i]
        if loss == "gp":
            p = np.exp(G - logsumexp(G))
            term = -(1 - t) * np.log(p[A].sum()) - 0.5 * t * np.log(np.sum(p[A] ** 2))
        else:
            best = np.flatnonzero(A)[G[A].argmax()]
            outside, others = np.append(G[~A], -np.inf).max(), np.delete(G, best).max()
            term = (1 - t) * max(0, 1 + outside - G[best]) + t * max(0, 1 + others - G[best])
        expected += labels.weight[i] * term
    balance, penalty = problem.balance(theta)[0], 0.5 * problem.penalty * np.sum(theta**2)
    assert_allclose(problem.objective(theta)[0], expected + balance + penalty, rtol=1e-12)


@pytest.mark.parametrize("loss", ["gp", "svm"])
def test_blocks_do_not_matter(loss):
    theta = np.random.default_rng(7).standard_normal((3, 4))
    whole, parts = (random_problem(7, LOSSES[loss], n_blocks=b) for b in (1, 7))
    for mine, theirs in zip(whole.objective(theta), parts.objective(theta), strict=True):
        assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_huge_scores_do_not_overflow():
    problem = random_problem(8, Softmax())
    value, gradient = problem.objective(1e5 * np.ones(problem.shape) * np.arange(3)[:, None])
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
