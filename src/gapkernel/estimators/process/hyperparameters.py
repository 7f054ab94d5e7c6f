"""The hyperparameters of a Gaussian process as one vector of logarithms, some of them fixed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gapkernel.kernels import AnisotropicRBF
from gapkernel.rows import Rows

SHRINKAGE = 0.5
"""Deviation of the log length scales of columns around their mean, under the prior that shrinks them to it."""


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """Constant, length scales and noise, in this order, as scikit-learn orders ``ConstantKernel * RBF + WhiteKernel``.

    The entries between the constant and the noise are the kernel's own: `kernel` turns them into a kernel, `rows` gives
    the rows that it takes, and `by_length_scale` turns its derivatives into theirs.

    Attributes
    ----------
    logarithms : ndarray of shape (2 + n_length_scales,)
    bounds : ndarray of shape (2 + n_length_scales, 2)
        Of the logarithms; NaN for what stays as given.
    columns : ndarray of int
        Which length scale each column of the rows has; -1 for the 0/1 columns of gaps.
    gap_columns : ndarray of bool or None
        The columns of the table whose gaps count.
    gap_scale : float or None
        The length scale of the columns of gaps, which stays as it is.
    shrinks : bool
        Whether a log-normal prior draws the length scales of all columns to a common one.
    """

    logarithms: np.ndarray
    bounds: np.ndarray
    columns: np.ndarray
    gap_columns: np.ndarray | None = None
    gap_scale: float | None = None
    shrinks: bool = False

    @property
    def constant(self) -> float:
        """The prior variance of the function."""
        return float(np.exp(self.logarithms[0]))

    @property
    def length_scale(self) -> np.ndarray:
        """One length scale, or one for each column."""
        return np.exp(self.logarithms[1:-1])

    @property
    def noise(self) -> float:
        """The variance of the noise."""
        return float(np.exp(self.logarithms[-1]))

    @property
    def kernel(self) -> AnisotropicRBF:
        """The correlation of the process."""
        scales = self.length_scale
        if self.gap_scale is not None:
            return AnisotropicRBF(np.where(self.columns < 0, self.gap_scale, scales[self.columns]))
        return AnisotropicRBF(scales[self.columns] if len(scales) > 1 else float(scales[0]))

    def rows(self, laws: Rows) -> Rows:
        """Laws, followed by 0/1 columns of their gaps if these count: the RBF kernel on these is the kernel on gaps."""
        if self.gap_columns is None:
            return laws
        return laws.rows.beside(laws.missing[:, self.gap_columns])  # type: ignore[attr-defined]

    def by_length_scale(self, sums: np.ndarray) -> np.ndarray:
        """Sums over the columns of the rows, added up for each length scale."""
        searched = self.columns >= 0
        return np.bincount(self.columns[searched], sums[searched], minlength=len(self.length_scale))

    @property
    def free(self) -> np.ndarray:
        """False for what stays as given."""
        return ~np.isnan(self.bounds[:, 0])

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of the free ones."""
        return self.logarithms[self.free]

    def at(self, theta) -> Hyperparameters:
        """The same with other values for the free ones."""
        theta = np.asarray(theta, dtype=np.float64)
        if theta.shape != self.theta.shape:
            raise ValueError(f"theta must have {len(self.theta)} entries, got shape {theta.shape}.")
        logarithms = self.logarithms.copy()
        logarithms[self.free] = theta
        return replace(self, logarithms=logarithms)

    @property
    def common(self) -> Hyperparameters:
        """One length scale, that of the first column, in place of one for each."""
        three, columns = [0, 1, -1], np.minimum(self.columns, 0)
        bounds = self.bounds[three]
        bounds[1] = self.bounds[1:-1, 0].min(), self.bounds[1:-1, 1].max()
        return replace(self, logarithms=self.logarithms[three], bounds=bounds, columns=columns, shrinks=False)

    def around(self, common: Hyperparameters) -> Hyperparameters:
        """The same with the constant, the noise and the one length scale of ``common``."""
        logarithms = np.full(len(self.logarithms), common.logarithms[1])
        logarithms[[0, -1]] = common.logarithms[[0, -1]]
        return replace(self, logarithms=np.where(self.free, logarithms, self.logarithms))

    def log_prior(self) -> tuple[float, np.ndarray]:
        """Log density of the prior, but for a constant, and its gradient in ``theta``.

        log l_k is normal around a common log l_0 about which nothing is known, so that the best l_0 is the mean.
        """
        away = np.zeros(len(self.logarithms))
        if self.shrinks:
            away[1:-1] = (self.logarithms[1:-1] - self.logarithms[1:-1].mean()) / SHRINKAGE
        return float(-0.5 * away @ away), (-away / SHRINKAGE)[self.free]

    def warn_at_bounds(self) -> None:
        """Say which of the free ones lie at a bound, where a better value may be beyond."""
        names = ["constant_value", *["length_scale"] * len(self.length_scale), "noise_level"]
        for k, side in np.argwhere(np.isclose(self.bounds, self.logarithms[:, None])):
            column = f" of column {k - 1}" if names[k] == "length_scale" and len(self.length_scale) > 1 else ""
            warnings.warn(
                f"The {names[k]}{column} ended at its {('lower', 'upper')[side]} bound "
                f"{np.exp(self.bounds[k, side]):.3g}: a wider {names[k]}_bounds may fit better, 'fixed' keeps a value.",
                ConvergenceWarning,
                stacklevel=4,
            )


def hyperparameters(
    process, n_columns: int, scale: float = 1.0, columns=(), gap_columns=None, gap_scale=None
) -> Hyperparameters:
    """Where the search of an estimator begins; ``scale`` is the length scale that its gamma stands for."""
    if not isinstance(process.length_scale, str | None) and process.gamma != "scale":  # words start from it
        raise ValueError(f"Give gamma={process.gamma!r} or length_scale={process.length_scale!r}, not both.")
    scales = _length_scales(process.length_scale, scale, n_columns)
    bounds = (
        _log_bounds("constant_value", process.constant_value_bounds, 1),
        _log_bounds("length_scale", process.length_scale_bounds, len(scales)),
        # where there is no noise, there is nothing to learn about it
        _log_bounds("noise_level", process.noise_level_bounds if process.noise_level > 0 else "fixed", 1),
    )
    with np.errstate(divide="ignore"):
        logarithms = np.log(np.concatenate([[process.constant_value], scales, [process.noise_level]]))
    shrinks = isinstance(process.length_scale, str) and process.length_scale == "shrunk"
    owners = columns if len(scales) > 1 else np.minimum(columns, 0)
    return Hyperparameters(logarithms, np.concatenate(bounds), owners, gap_columns, gap_scale, shrinks)


def _length_scales(given, scale: float, n_columns: int) -> np.ndarray:
    """What None (one of ``scale``), "ard" or "shrunk" (one for each column), a number or an array stand for."""
    if given is None or (isinstance(given, str) and given in ("ard", "shrunk")):
        return np.full(1 if given is None else n_columns, scale)
    try:
        scales = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        scales = np.empty((0, 0))
    if scales.shape not in ((), (n_columns,)) or not (np.all(scales > 0) and np.isfinite(scales).all()):
        raise ValueError(
            f"length_scale must be None, 'ard', 'shrunk', a positive number or {n_columns} of them, got {given!r}."
        )
    return scales.reshape(-1)


def _log_bounds(name: str, limit, n_values: int) -> np.ndarray:
    """The logarithms of a pair of bounds, or of one for each value; NaN for "fixed"."""
    if isinstance(limit, str) and limit == "fixed":
        return np.full((n_values, 2), np.nan)
    try:
        pairs = np.atleast_2d(np.asarray(limit, dtype=np.float64))
    except (TypeError, ValueError):
        pairs = np.empty((0, 0))
    fits = pairs.shape in ((1, 2), (n_values, 2))
    if not (fits and np.all(pairs[:, 0] > 0) and np.all(pairs[:, 0] < pairs[:, 1])):
        raise ValueError(f"{name}_bounds must be 'fixed' or a pair (low, high) with 0 < low < high, got {limit!r}.")
    return np.broadcast_to(np.log(pairs), (n_values, 2))
