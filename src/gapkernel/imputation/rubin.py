"""Rubin's rules: one estimate and its standard error from several completed tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from gapkernel.compute.doors import as_floats


@dataclass(frozen=True)
class Pooled:
    """A pooled estimate. Each attribute is a number, or an array for a vector of estimates.

    Attributes
    ----------
    estimate : float or ndarray
        Mean over the imputations.
    within, between : float or ndarray
        Mean sampling variance, and variance of the estimates over the imputations.
    total : float or ndarray
        within + (1 + 1/m) between, the variance of the estimate.
    dof : float or ndarray
        Degrees of freedom of its t distribution (Barnard and Rubin 1999).
    increase : float or ndarray
        Relative increase of the variance due to the gaps.
    fmi : float or ndarray
        Fraction of missing information.
    n_imputations : int
        How many completed tables were pooled.

    Examples
    --------
    >>> from gapkernel.imputation import pool_scalar
    >>> pooled = pool_scalar([1.0, 1.2, 1.1], [0.04, 0.05, 0.03])
    >>> low, high = pooled.interval(0.95)
    >>> round(float(low), 2), round(float(high), 2)
    (0.63, 1.57)
    """

    estimate: np.ndarray
    within: np.ndarray
    between: np.ndarray
    total: np.ndarray
    dof: np.ndarray
    increase: np.ndarray
    fmi: np.ndarray
    n_imputations: int

    @property
    def standard_error(self) -> np.ndarray:
        """Square root of the total variance."""
        return np.sqrt(self.total)

    def interval(self, coverage: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the confidence interval."""
        half = student.ppf(0.5 + 0.5 * coverage, self.dof) * self.standard_error
        return self.estimate - half, self.estimate + half


def pool_scalar(estimates, variances, *, n_samples=np.inf, n_parameters=1) -> Pooled:
    """Pool an estimate over completed tables by Rubin's rules.

    Parameters
    ----------
    estimates : array-like of shape (n_imputations,) or (n_imputations, n_estimates)
        The estimate from each completed table.
    variances : array-like of the same shape
        Its squared standard error in each.
    n_samples : int, default=inf
        Rows of the table, for the small-sample degrees of freedom of Barnard and Rubin.
    n_parameters : int, default=1
        Parameters of the model that was fitted to each table.

    Returns
    -------
    pooled : Pooled

    Examples
    --------
    >>> from gapkernel.imputation import pool_scalar
    >>> pooled = pool_scalar([1.0, 1.2, 1.1], [0.04, 0.05, 0.03])
    >>> float(round(pooled.estimate, 3)), float(round(pooled.total, 4))
    (1.1, 0.0533)
    """
    estimates, variances = as_floats(estimates, "estimates"), as_floats(variances, "variances")
    if estimates.shape != variances.shape or estimates.ndim not in (1, 2):
        raise ValueError(
            f"estimates and variances must have the same shape, (m,) or (m, q); got {estimates.shape} "
            f"and {variances.shape}."
        )
    m = len(estimates)
    if m < 2:
        raise ValueError(f"Pooling needs at least two imputations, got {m}.")
    if (variances < 0).any():
        raise ValueError("variances must not be negative.")
    within, between = variances.mean(axis=0), estimates.var(axis=0, ddof=1)
    extra = (1 + 1 / m) * between
    total = within + extra
    with np.errstate(divide="ignore", invalid="ignore"):
        increase = extra / within
        share = np.where(total > 0, extra / total, 0.0)
        dof = _degrees_of_freedom(m, share, n_samples - n_parameters)
        # the limit for within = 0: all of the information is missing
        fmi = np.where(np.isinf(increase), 1.0, (increase + 2 / (dof + 3)) / (increase + 1))
    return Pooled(estimates.mean(axis=0), within, between, total, dof[()], increase, fmi[()], m)


def _degrees_of_freedom(m: int, share: np.ndarray, complete_dof: float) -> np.ndarray:
    """Barnard and Rubin (1999); ``share`` is the share of the total variance due to the gaps."""
    if np.isinf(complete_dof):
        return (m - 1) / share**2
    observed = (complete_dof + 1) / (complete_dof + 3) * complete_dof * (1 - share)
    return observed / (1 + observed * share**2 / (m - 1))  # the harmonic sum with (m - 1) / share^2
