"""Do pooled intervals cover the truth as often as they say?"""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

import gapkernel as gk
from gapkernel.imputation import pool_scalar

RUNS = 500
ROWS = 300
MEAN = np.array([1.0, -0.5, 2.0])
MIX = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.5, -0.3, 0.7]])
COVARIANCE = MIX @ MIX.T
SLOPE = np.linalg.solve(COVARIANCE[:2, :2], COVARIANCE[:2, 2])  # of column 2 on columns 0 and 1


def simulate(mechanism, random, rows=ROWS):
    """Three normal columns of known law. Under MAR the gaps of columns 1 and 2 depend on column 0, never missing."""
    X = MEAN + random.standard_normal((rows, 3)) @ MIX.T
    if mechanism == "mcar":
        chance = np.full((rows, 2), 0.3)
    else:
        z = X[:, :1] - MEAN[0]
        chance = 1 / (1 + np.exp(1.0 - 1.5 * z * [1.0, 0.8]))
    X[:, 1:][random.random((rows, 2)) < chance] = np.nan
    return X


def estimates_of(X):
    """Mean of columns 1 and 2 and the slopes of column 2 on the others, with their squared standard errors."""
    n = len(X)
    design = np.column_stack([np.ones(n), X[:, :2]])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ X[:, 2]
    noise = np.sum((X[:, 2] - design @ beta) ** 2) / (n - 3)
    estimate = [*X[:, 1:].mean(axis=0), *beta[1:]]
    return np.array(estimate), np.array([*(X[:, 1:].var(axis=0, ddof=1) / n), *(noise * np.diag(inverse)[1:])])


TRUTH = np.array([*MEAN[1:], *SLOPE])


def coverage(mechanism, runs=RUNS, **options):
    """Shares of the 95 % intervals that cover, bias of the pooled and of the complete-case estimates, mean width."""
    random = np.random.default_rng(20)
    covered, errors, discarded, widths = [], [], [], []
    for run in range(runs):
        X = simulate(mechanism, random)
        tables = gk.ChainedEquations(n_imputations=20, random_state=run, **options).fit_transform_all(X)
        estimates, variances = map(np.array, zip(*map(estimates_of, tables), strict=True))
        pooled = pool_scalar(estimates, variances, n_samples=ROWS, n_parameters=3)
        low, high = pooled.interval(0.95)
        covered.append((low < TRUTH) & (high > TRUTH))
        widths.append(high - low)
        errors.append(pooled.estimate - TRUTH)
        discarded.append(estimates_of(X[~np.isnan(X).any(axis=1)])[0] - TRUTH)
    return np.mean(covered, axis=0), np.mean(errors, axis=0), np.mean(discarded, axis=0), np.mean(widths, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["mcar", "mar"])
def test_proper_draws_cover_as_often_as_they_say(mechanism):
    share, bias, discarded, _ = coverage(mechanism)
    assert np.all((share >= 0.93) & (share <= 0.97)), f"coverage {share}"
    if mechanism == "mar":  # the means are what complete cases get wrong
        assert np.all(np.abs(bias[:2]) * 5 < np.abs(discarded[:2])), f"bias {bias}, complete cases {discarded}"


@pytest.mark.slow
def test_binary_draws_cover_as_often_as_they_say():
    """Also when the rows are completed again as new rows, by the chains' last parameters."""
    truth = quad(lambda x: norm.pdf(x) * expit(0.5 + 1.5 * x), -9, 9)[0]
    random = np.random.default_rng(3)
    covered, errors, discarded = [], [], []
    for run in range(RUNS):
        x = random.standard_normal(ROWS)
        X = np.column_stack([x, random.random(ROWS) < expit(0.5 + 1.5 * x)])
        X[random.random(ROWS) < expit(1.5 * x - 1.0), 1] = np.nan
        imputer = gk.ChainedEquations(n_imputations=20, n_sweeps=2, random_state=run)
        pools = [_pooled_mean(tables[:, :, 1]) for tables in (imputer.fit_transform_all(X), imputer.transform_all(X))]
        covered.append([pool.interval()[0] < truth < pool.interval()[1] for pool in pools])
        errors.append([pool.estimate - truth for pool in pools])
        discarded.append(np.nanmean(X[:, 1]) - truth)
    share = np.mean(covered, axis=0)
    assert np.all((share >= 0.93) & (share <= 0.97)), f"coverage {share}"
    assert np.all(np.abs(np.mean(errors, axis=0)) * 5 < np.abs(np.mean(discarded)))


def _pooled_mean(columns):
    return pool_scalar(columns.mean(axis=1), columns.var(axis=1, ddof=1) / ROWS, n_samples=ROWS)


@pytest.mark.slow
def test_draws_without_noise_give_intervals_too_narrow():
    proper, _, _, width = coverage("mar")
    share, _, _, narrower = coverage("mar", draws="expected")
    assert np.all(narrower < width)
    assert share.mean() < proper.mean()
    assert share.min() < 0.75


def test_gaps_at_random_bias_complete_cases_but_not_the_pooled_estimate():
    _, bias, discarded, _ = coverage("mar", runs=30)
    assert np.all(np.abs(discarded[:2]) > 0.2)
    assert np.all(np.abs(bias[:2]) < 0.05)


def test_new_rows_have_the_conditional_law():
    """transform draws a new row's gaps from the normal law of the gaps given the rest."""
    random = np.random.default_rng(0)
    X = simulate("mcar", random, rows=4000)
    imputer = gk.ChainedEquations(n_imputations=400, n_sweeps=8, random_state=0, n_jobs=2).fit(X[:1500])
    drawn = imputer.transform_all([[2.0, np.nan, np.nan]])[:, 0, 1:]
    gain = COVARIANCE[1:, 0] / COVARIANCE[0, 0]
    mean, covariance = MEAN[1:] + gain * 1.0, COVARIANCE[1:, 1:] - np.outer(gain, COVARIANCE[0, 1:])
    error = np.sqrt(np.diag(covariance) / 400)
    slack = 0.1  # the parameters are estimated from 1500 rows
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 4 * error + slack)
    assert np.all(np.abs(np.cov(drawn.T) - covariance) < 0.15)
