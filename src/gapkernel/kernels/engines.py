"""Which engine compares two batches of laws."""

from __future__ import annotations

from gapkernel.compute.pairs.expected_rbf import ExpectedRBFEngine
from gapkernel.compute.pairs.factor import FactorEngine, factor_log_det
from gapkernel.compute.pairs.mixture import MixtureEngine, mixture_log_norm
from gapkernel.compute.pairs.side import row_log_det
from gapkernel.rows import FactorRows, MixtureRows


def expected_rbf(left, right, gamma, scale_left, scale_right):
    """The engine for these laws: mixtures, laws of the same few factors, or any Gaussian laws."""
    other = left if right is None else right
    if isinstance(left, MixtureRows) or isinstance(other, MixtureRows):
        return MixtureEngine(left, right, gamma, scale_left, scale_right)
    if isinstance(left, FactorRows) and left.same_factors(other):
        return FactorEngine(left, right, gamma, scale_left, scale_right)
    return ExpectedRBFEngine(left.dense, None if right is None else right.dense, gamma, scale_left, scale_right)


def log_norm(rows, gamma):
    """log kappa_i = log E k(x_i, x_i') for an independent copy of each row, -1/2 log |I + 4 gamma Sigma_i|."""
    if isinstance(rows, MixtureRows):
        return mixture_log_norm(rows, gamma)
    log_det = factor_log_det if isinstance(rows, FactorRows) else row_log_det
    return -0.5 * log_det(rows, 2.0 * gamma)
