"""What both Gaussian processes share: laws, hyperparameters and the search for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute.runtime.config import check_fits
from gapkernel.compute.runtime.threads import one_blas_thread
from gapkernel.estimators.base import KernelMachine, Laws
from gapkernel.estimators.calibration import Calibration
from gapkernel.estimators.process.evidence import Evidence, FittedProcess
from gapkernel.estimators.process.hyperparameters import Hyperparameters, hyperparameters, length_scales
from gapkernel.rows import Rows
from gapkernel.solvers.process import lbfgs, maximise
from gapkernel.tables import Table

FEW_ROWS = 500
"""Rows up to which the search takes one thread for matrix products: more would wait for each other, on a busy computer
many times as long as they work."""


class ProcessRows(NamedTuple):
    """The training rows of a process.

    Attributes
    ----------
    rows : Rows
        The laws, followed by 0/1 columns of their gaps if these count.
    scaling : dict
        Which length scale each column has.
    scale : float
        The length scale that gamma stands for.
    gap_columns : ndarray of bool or None
        The columns of the table whose gaps count.
    """

    rows: Rows
    scaling: dict[str, Any]
    scale: float
    gap_columns: np.ndarray | None


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianProcess(KernelMachine):
    """A latent process of covariance ``constant_value * exp(-1/2 sum_k (x_k - z_k)^2 / l_k^2)`` on rows with gaps."""

    kernel: str = field(default="rbf", init=False)  # with gamma it chooses the density, and where the search begins
    length_scale: Any = None
    constant_value: float = 1.0
    length_scale_bounds: Any = (1e-5, 1e5)
    constant_value_bounds: Any = (1e-5, 1e5)
    optimizer: str | Callable | None = "fmin_l_bfgs_b"
    n_restarts_optimizer: int = 0
    n_landmarks: int | str | None = "auto"
    random_state: Any = None
    calibration_: Calibration | None = field(init=False)

    noise_level: float = field(default=0.0, init=False)
    noise_level_bounds: Any = field(default="fixed", init=False)

    _learns_widths = True
    _parameter_constraints: ClassVar[dict] = {
        "optimizer": [StrOptions({"fmin_l_bfgs_b"}), callable, None],
        "n_restarts_optimizer": [Interval(Integral, 0, None, closed="left")],
        "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
    }

    def _validate_params(self) -> None:
        super()._validate_params()
        if not isinstance(self.length_scale, str | None) and self.gamma != "scale":  # a word starts from gamma
            raise ValueError(f"Give gamma={self.gamma!r} or length_scale={self.length_scale!r}, not both.")

    def _check_start(self, n_targets: int, n_columns: int) -> Hyperparameters:
        """The hyperparameters given, checked before any work is done; those that gamma stands for are not known yet."""
        check_fits((n_targets, n_targets), "The Gram matrix")
        return self._start(1.0, n_columns)

    def _fit_laws(self, table: Table, weight: np.ndarray | None = None, *, needs_gram: bool = True) -> Laws:
        return super()._fit_laws(table, weight, needs_gram=False)  # rows without a target are in no Gram matrix

    def _process_rows(self, laws: Laws, kept) -> ProcessRows:
        """The laws of the rows that have a target, as the process takes them."""
        if laws.rows.kind not in ("gaussian", "factor"):
            raise ValueError(
                f"A Gaussian process needs Gaussian laws, but {laws.density!r} gives {laws.rows.kind} ones. Use "
                f"density='auto', Gaussian(), FactorAnalysis() or JointGaussian()."
            )
        kernel, columns, gap_scale, gap_columns = laws.kernel, laws.density.columns_, None, None
        if self.indicator:
            if kernel.indicator.rule != "product":
                raise ValueError("indicator: a Gaussian process takes Missingness(rule='product') only.")
            gap_columns, gap_scale = kernel.columns, (2.0 * kernel.indicator.gamma) ** -0.5
            kernel, columns = kernel.kernel, np.append(columns, np.full(gap_columns.sum(), -1))
        rows, scaling = with_gaps(laws.rows.take(kept), gap_columns), {"columns": columns, "gap_scale": gap_scale}
        return ProcessRows(rows, scaling, (2.0 * kernel.gamma) ** -0.5, gap_columns)

    def _laws(self, X) -> Rows:
        return with_gaps(super()._laws(X), self._gap_columns)

    def _start(self, scale: float, n_columns: int, length_scale=None) -> Hyperparameters:
        """Where the search begins; ``scale`` is the length scale that gamma stands for."""
        given, scale_bounds = self.length_scale, self.length_scale_bounds
        if length_scale is not None:  # one for all columns
            given = length_scale
            if np.ndim(scale_bounds) == 2:
                scale_bounds = np.min(scale_bounds, axis=0)[0], np.max(scale_bounds, axis=0)[1]
        bounds = self.constant_value_bounds, scale_bounds, self.noise_level_bounds
        start = hyperparameters(self.constant_value, length_scales(given, scale, n_columns), self.noise_level, bounds)
        return replace(start, shrinks=isinstance(given, str) and given == "shrunk")

    def _fitted_process(self, evidence: Evidence, scale: float, n_columns: int, random) -> FittedProcess:
        """The process at the hyperparameters of the highest likelihood that was found."""
        start = self._start(scale, n_columns)
        if self.optimizer is not None and len(start.theta):
            if np.ptp(evidence.targets) == 0:
                warnings.warn(
                    "y is constant, which says nothing about the hyperparameters: they stay as given. "
                    "Set optimizer=None to keep them without this warning.",
                    UserWarning,
                    stacklevel=5,
                )
            else:
                if start.shrinks:  # from the best common scale
                    common = self._start(scale, n_columns, length_scale=scale)
                    start = start.around(common.at(self._optimum(evidence, common, random)))
                start = start.at(self._optimum(evidence, start, random))
                start.warn_at_bounds()
        return FittedProcess(evidence, start, evidence.posterior(start), self.n_landmarks)

    def _optimum(self, evidence: Evidence, start: Hyperparameters, random) -> np.ndarray:
        bounds = start.bounds[start.free]
        if self.n_restarts_optimizer and not np.isfinite(bounds).all():
            raise ValueError("n_restarts_optimizer > 0 needs finite bounds to draw from.")
        starts = [start.theta] + [random.uniform(*bounds.T) for _ in range(self.n_restarts_optimizer)]

        def objective(theta):
            parameters = start.at(theta)
            value, gradient = evidence.value_and_gradient(parameters)
            prior, slope = parameters.log_prior()
            return value + prior, gradient + slope

        with one_blas_thread() if len(evidence.targets) <= FEW_ROWS else nullcontext():
            return maximise(objective, starts, bounds, self.optimizer if callable(self.optimizer) else lbfgs)


def with_gaps(rows: Rows, gap_columns: np.ndarray | None) -> Rows:
    """Laws followed by 0/1 columns of their gaps, because the RBF kernel on these is the kernel on the gaps."""
    return rows if gap_columns is None else rows.rows.beside(rows.missing[:, gap_columns])  # type: ignore[attr-defined]
