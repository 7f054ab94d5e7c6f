"""The hyperparameters of a Gaussian process as one vector of logarithms, some of them fixed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

SHRINKAGE = 0.5
"""Deviation of the log length scales of columns around their mean, under the prior that shrinks them to it."""


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """Constant, length scales and noise, in this order, as scikit-learn orders ``ConstantKernel * RBF + WhiteKernel``.

    Attributes
    ----------
    logarithms : ndarray of shape (2 + n_length_scales,)
    bounds : ndarray of shape (2 + n_length_scales, 2)
        Of the logarithms.
    free : ndarray of bool
        False for what stays as given.
    shrinks : bool
        Whether a log-normal prior draws the length scales of all columns to a common one.
    """

    logarithms: np.ndarray
    bounds: np.ndarray
    free: np.ndarray
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

    def around(self, common: Hyperparameters) -> Hyperparameters:
        """The same with the constant, the noise and the one length scale of ``common``."""
        constant, scale, noise = common.logarithms
        logarithms = np.concatenate([[constant], np.full(len(self.length_scale), scale), [noise]])
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
        found = np.isclose(self.bounds, self.logarithms[:, None]) & self.free[:, None]
        for k, side in np.argwhere(found):
            column = f" of column {k - 1}" if names[k] == "length_scale" and len(self.length_scale) > 1 else ""
            warnings.warn(
                f"The {names[k]}{column} ended at its {('lower', 'upper')[side]} bound "
                f"{np.exp(self.bounds[k, side]):.3g}: a wider {names[k]}_bounds may fit better, 'fixed' keeps a value.",
                ConvergenceWarning,
                stacklevel=4,
            )


def hyperparameters(constant, length_scale, noise, bounds) -> Hyperparameters:
    """Check values and bounds; ``bounds`` has an entry for each of the three, a pair (pairs) or "fixed"."""
    names = ("constant_value", "length_scale", "noise_level")
    values, limits, free = [], [], []
    for name, value, limit in zip(names, (constant, length_scale, noise), bounds, strict=True):
        value = _checked_value(name, value)
        absent = name == "noise_level" and value[0] == 0  # no noise: nothing to learn
        if not np.isfinite(value).all() or (np.any(value <= 0) and not absent):
            raise ValueError(f"{name} must be positive, got {value if len(value) > 1 else value[0]}.")
        fixed = isinstance(limit, str) and limit == "fixed"
        pair = np.array([[1.0, 1.0]]) if fixed or absent else _checked_bounds(name, limit, len(value))
        with np.errstate(divide="ignore"):
            values.append(np.log(value))
        limits.append(np.broadcast_to(np.log(pair), (len(value), 2)))
        free.append(np.full(len(value), not (fixed or absent)))
    return Hyperparameters(np.concatenate(values), np.concatenate(limits), np.concatenate(free))


def length_scales(length_scale, scale: float, n_columns: int):
    """What None (one of ``scale``), "ard" or "shrunk" (one for each column), a number or an array stand for."""
    if length_scale is None or isinstance(length_scale, str):
        if length_scale not in (None, "ard", "shrunk"):
            raise ValueError(f"length_scale must be None, 'ard', 'shrunk', a number or an array, got {length_scale!r}.")
        return np.full(1 if length_scale is None else n_columns, scale)
    if np.ndim(length_scale) and np.shape(length_scale) != (n_columns,):
        raise ValueError(f"length_scale must be one number or {n_columns}, got shape {np.shape(length_scale)}.")
    return length_scale


def _checked_value(name, value) -> np.ndarray:
    """One number, or one for each column if it is a length scale."""
    try:
        values = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a positive number, got {value!r}.") from None
    if name != "length_scale" and values.size != 1:
        raise ValueError(f"{name} must be one positive number, got {value!r}.")
    return values.reshape(-1)


def _checked_bounds(name, limit, n_values) -> np.ndarray:
    try:
        pairs = np.atleast_2d(np.asarray(limit, dtype=np.float64))
    except (TypeError, ValueError):
        pairs = np.empty((0, 0))
    fits = pairs.shape in ((1, 2), (n_values, 2))
    if not (fits and np.all(pairs[:, 0] > 0) and np.all(pairs[:, 0] < pairs[:, 1])):
        raise ValueError(f"{name}_bounds must be 'fixed' or a pair (low, high) with 0 < low < high, got {limit!r}.")
    return pairs
