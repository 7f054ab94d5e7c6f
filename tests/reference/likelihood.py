"""The observed-data likelihood of a Gaussian with gaps: evaluated, climbed by BFGS, and by plain EM."""

import numpy as np
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from reference.oracle import condition


def log_likelihood(X, mean, covariance):
    """Sum of the log densities of the observed parts."""
    total = 0.0
    for row in X:
        seen = ~np.isnan(row)
        if seen.any():
            total += multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).logpdf(row[seen])
    return total


def maximum_likelihood(X):
    """Mean and covariance at the optimum, found without EM: BFGS over the mean and a Cholesky factor."""
    d = X.shape[1]
    lower = np.tril_indices(d)
    location, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    Z = (X - location) / scale

    def unpack(parameters):
        factor = np.zeros((d, d))
        factor[lower] = parameters[d:]
        return parameters[:d], factor

    def negative(parameters):
        mean, factor = unpack(parameters)
        covariance = factor @ factor.T
        value, slope_mean, slope = 0.0, np.zeros(d), np.zeros((d, d))
        for row in Z:
            seen = np.flatnonzero(~np.isnan(row))
            block = np.ix_(seen, seen)
            precision = np.linalg.inv(covariance[block])
            pull = precision @ (row[seen] - mean[seen])
            value += 0.5 * (np.linalg.slogdet(covariance[block])[1] + (row[seen] - mean[seen]) @ pull)
            slope_mean[seen] -= pull
            slope[block] += 0.5 * (precision - np.outer(pull, pull))
        return value, np.concatenate([slope_mean, (2 * slope @ factor)[lower]])

    start = np.concatenate([np.zeros(d), np.eye(d)[lower]])
    result = minimize(negative, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    steepest = np.abs(negative(result.x)[1]).max()
    assert steepest < 1e-6, f"the reference optimum is not stationary: gradient {steepest:.1e}"
    mean, factor = unpack(result.x)
    return location + scale * mean, factor @ factor.T * np.outer(scale, scale)


def plain_em(X, n_iter, scatter=0.0, divisor=0.0, prior_mean=0.0, prior_strength=0.0):
    """Textbook EM for ``n_iter`` steps, with the normal-inverse-Wishart terms in the M-step."""
    n = len(X)
    mean, covariance = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(n_iter):
        completed, spread = condition(mean, covariance, X)
        centre = completed.mean(axis=0)
        away = centre - prior_mean
        total = (completed - centre).T @ (completed - centre) + spread.sum(axis=0) + scatter
        total = total + n * prior_strength / (n + prior_strength) * np.outer(away, away)
        mean = (n * centre + prior_strength * prior_mean) / (n + prior_strength)
        covariance = total / (n + divisor)
    return mean, covariance
