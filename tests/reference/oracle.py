"""Conditional Gaussians and expected kernels in plain NumPy, and the kernels once more with 50 digits."""

import mpmath
import numpy as np


def condition(mean, covariance, X):
    """Conditional means (n, d) and covariances (n, d, d) of the rows of ``X``, by the textbook formula."""
    mean, covariance, X = (np.asarray(a, dtype=float) for a in (mean, covariance, X))
    means, covariances = X.copy(), np.zeros((*X.shape, X.shape[1]))
    missing = np.isnan(X)
    for pattern in np.unique(missing, axis=0):
        rows = np.flatnonzero((missing == pattern).all(axis=1))
        gap, seen = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        gain = covariance[np.ix_(gap, seen)] @ np.linalg.pinv(covariance[np.ix_(seen, seen)], hermitian=True)
        means[np.ix_(rows, gap)] = mean[gap] + (X[np.ix_(rows, seen)] - mean[seen]) @ gain.T
        covariances[np.ix_(rows, gap, gap)] = covariance[np.ix_(gap, gap)] - gain @ covariance[np.ix_(seen, gap)]
    return means, covariances


def moments(rows):
    """Means (n, d) and full covariances (n, d, d) of a batch of laws."""
    covariances = np.zeros((len(rows), rows.n_features, rows.n_features))
    for members, columns, covariance in rows.by_pattern():
        covariances[np.ix_(members, columns, columns)] = covariance
    return np.array(rows.means), covariances


def log_expected_rbf(left, right, gamma, metric=None):
    """log E exp(-gamma (x - y)' W (x - y)), by one Cholesky of size d for each pair.

    With W = R'R the laws are mapped by R, which is the definition of a metric.
    """
    (means_left, cov_left), (means_right, cov_right) = _mapped(left, metric), _mapped(right, metric)
    d = means_left.shape[1]
    out = np.empty((len(means_left), len(means_right)))
    for i in range(len(means_left)):
        factor = np.linalg.cholesky(np.eye(d) + 2 * gamma * (cov_left[i] + cov_right))
        delta = means_left[i] - means_right
        z = np.linalg.solve(factor, delta[:, :, None])[:, :, 0]
        out[i] = -gamma * np.sum(z**2, axis=1) - np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    return out


def log_norm(batch, gamma, metric=None):
    """log kappa_i = log E k(x_i, x_i') for an independent copy."""
    _, covariances = _mapped(batch, metric)
    return -0.5 * np.linalg.slogdet(np.eye(covariances.shape[1]) + 4 * gamma * covariances)[1]


def log_gen_rbf(left, right, gamma, metric=None):
    """The expected RBF divided by the norms of both mean embeddings."""
    norms = log_norm(left, gamma, metric)[:, None] + log_norm(right, gamma, metric)[None, :]
    return log_expected_rbf(left, right, gamma, metric) - 0.5 * norms


def mahalanobis_gen_rbf(left, right, n_gaps_left, n_gaps_right, gamma, covariance):
    """The whitened form in the original coordinates: Sigma / (2 gamma) + S in place of I / (2 gamma) + S."""
    (means_left, cov_left), (means_right, cov_right) = left, right
    out = np.empty((len(means_left), len(means_right)))
    precision = np.linalg.inv(covariance)
    for i in range(len(out)):
        for j in range(len(out[0])):
            spread = cov_left[i] + cov_right[j]
            delta = means_left[i] - means_right[j]
            log_det = np.linalg.slogdet(np.eye(len(delta)) + 2 * gamma * precision @ spread)[1]
            quadratic = delta @ np.linalg.solve(covariance / (2 * gamma) + spread, delta)
            norm = 0.25 * (n_gaps_left[i] + n_gaps_right[j]) * np.log1p(4 * gamma)
            out[i, j] = np.exp(norm - 0.5 * log_det - 0.5 * quadratic)
    return out


def log_expected_rbf_50_digits(mean_left, cov_left, mean_right, cov_right, gamma):
    """One pair in 50 digits, exact in its inputs."""
    with mpmath.workdps(50):
        d = len(mean_left)
        gamma = mpmath.mpf(float(gamma))
        spread = mpmath.matrix(cov_left.tolist()) + mpmath.matrix(cov_right.tolist())
        system = mpmath.eye(d) + 2 * gamma * spread
        delta = mpmath.matrix(mean_left.tolist()) - mpmath.matrix(mean_right.tolist())
        quadratic = (delta.T * mpmath.lu_solve(system, delta))[0]
        return float(-gamma * quadratic - mpmath.log(mpmath.det(system)) / 2)


def log_norm_50_digits(covariance, gamma):
    """log kappa of one law in 50 digits."""
    with mpmath.workdps(50):
        system = mpmath.eye(len(covariance)) + 4 * mpmath.mpf(float(gamma)) * mpmath.matrix(covariance.tolist())
        return float(-mpmath.log(mpmath.det(system)) / 2)


def _mapped(batch, metric):
    means, covariances = batch
    if metric is None:
        return means, covariances
    root = np.linalg.cholesky(metric).T
    return means @ root.T, root @ covariances @ root.T
