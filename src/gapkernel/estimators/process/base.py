"""What both Gaussian processes share: the fit, the search for hyperparameters, and the laws of new rows."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.runtime.config import check_fits
from gapkernel.compute.runtime.threads import one_blas_thread
from gapkernel.density import Density
from gapkernel.estimators.base import KernelEstimator, Training
from gapkernel.estimators.calibration.base import Calibration, Conformal, check_enough
from gapkernel.estimators.calibration.masks import MaskCalibration
from gapkernel.estimators.process.evidence import Evidence
from gapkernel.estimators.process.hyperparameters import Hyperparameters, hyperparameters
from gapkernel.estimators.process.prediction import FittedProcess
from gapkernel.kernels import Kernel
from gapkernel.rows import Rows
from gapkernel.solvers.process import lbfgs, maximise
from gapkernel.tables import Table

FEW_ROWS = 500
"""Rows up to which the search takes one thread for matrix products: more would wait for each other, on a busy computer
many times as long as they work."""


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianProcess(Conformal, KernelEstimator, ABC):
    """A latent process of covariance ``constant_value * exp(-1/2 sum_k (x_k - z_k)^2 / l_k^2)`` on rows with gaps."""

    kernel: str | Kernel = field(default="rbf", init=False)  # with gamma the start of the search
    length_scale: Any = None
    constant_value: float = 1.0
    noise_level: float = field(default=0.0, init=False)
    length_scale_bounds: Any = (1e-5, 1e5)
    constant_value_bounds: Any = (1e-5, 1e5)
    noise_level_bounds: Any = field(default="fixed", init=False)
    optimizer: str | Callable | None = "fmin_l_bfgs_b"
    n_restarts_optimizer: int = 0
    n_landmarks: int | str | None = "auto"
    random_state: Any = None
    conformal: bool | str = False

    _learns_widths = True
    _parameter_constraints: ClassVar[dict] = {
        "constant_value": [Interval(Real, 0, np.inf, closed="neither")],
        "optimizer": [StrOptions({"fmin_l_bfgs_b"}), callable, None],
        "n_restarts_optimizer": [Interval(Integral, 0, None, closed="left")],
        "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
    }

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Fit density, hyperparameters and process.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts, in the density too; the description of the estimator says what it means for
            targets. A weight of zero leaves a row out.

        Returns
        -------
        self : object
        """
        self._validate_params()
        random = check_random_state(self.random_state)
        training = self._training(X, y, sample_weight)
        check_fits((len(training.y), len(training.y)), "The Gram matrix")
        hyperparameters(self, training.table.shape[1])  # refuses wrong ones before any work is done

        density, kernel, laws = self._fit_laws(training.table, training.weight)
        start = self._start(density, kernel, laws)
        rows = start.rows(laws)
        processes = []
        for evidence in self._evidences(rows, training):
            parameters = self._likeliest(evidence.searched, start, random)
            covariance = parameters.constant * parameters.kernel.gram(rows)
            posterior = evidence.posterior(parameters, covariance)  # Cholesky factor, coefficients, log evidence
            processes.append(FittedProcess(evidence, parameters, posterior, self.n_landmarks))
        calibration: Calibration | None = None
        if self.conformal:
            check_enough(len(rows))
            table, scores = training.table, self._scores(processes)
            calibration = MaskCalibration(table, table.missing, scores).as_asked(self.conformal)

        self.density_, self.kernel_, self.rows_ = density, processes[0].kernel, rows
        self.processes_, self.calibration_ = processes, calibration
        self.log_marginal_likelihood_value_ = float(np.mean([p.posterior.log_likelihood for p in processes]))
        self.training_summary_ = training.summary
        self._keep(training)
        return self

    @abstractmethod
    def _training(self, X, y, sample_weight) -> Training:
        """The rows to learn from, after every check."""

    @abstractmethod
    def _evidences(self, rows: Rows, training: Training) -> Sequence[Evidence]:
        """The rows with their targets: once for numbers or two classes, else with each class against the rest."""

    @abstractmethod
    def _scores(self, processes: list[FittedProcess], rows: Rows | None = None, places=slice(None)) -> np.ndarray:
        """The scores of left-out rows at ``places``, all training rows by default; ``rows`` may know less of them."""

    @abstractmethod
    def _keep(self, training: Training) -> None:
        """The attributes of numbers or classes."""

    def _start(self, density: Density, kernel: Any, laws: Rows) -> Hyperparameters:
        """Where the search begins."""
        if laws.kind not in ("gaussian", "factor"):
            raise ValueError(
                f"A Gaussian process needs Gaussian laws, but {density!r} gives {laws.kind} ones. Use "
                f"density='auto', Gaussian(), FactorAnalysis() or JointGaussian()."
            )
        columns, gap_columns, gap_scale = density.columns_, None, None
        if self.indicator:
            if kernel.indicator.rule != "product":
                raise ValueError("indicator: a Gaussian process takes Missingness(rule='product') only.")
            gap_columns, gap_scale = kernel.columns, (2.0 * kernel.indicator.gamma) ** -0.5
            kernel, columns = kernel.kernel, np.append(columns, np.full(gap_columns.sum(), -1))
        scale = (2.0 * kernel.gamma) ** -0.5
        return hyperparameters(self, len(density.schema_.levels), scale, columns, gap_columns, gap_scale)

    def _likeliest(self, evidence: Evidence, start: Hyperparameters, random) -> Hyperparameters:
        """The hyperparameters of the highest evidence that was found; those of the start without a search."""
        if self.optimizer is None or not len(start.theta):
            return start
        if np.ptp(evidence.targets) == 0:
            warnings.warn(
                "y is constant, which says nothing about the hyperparameters: they stay as given. "
                "Set optimizer=None to keep them without this warning.",
                UserWarning,
                stacklevel=3,
            )
            return start
        if start.shrinks:
            start = start.around(self._maximum(evidence, start.common, random))
        found = self._maximum(evidence, start, random)
        found.warn_at_bounds()
        return found

    def _maximum(self, evidence: Evidence, start: Hyperparameters, random) -> Hyperparameters:
        """The highest of the maxima of evidence times prior that are found from several starts."""
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
            minimise = self.optimizer if callable(self.optimizer) else lbfgs
            return start.at(maximise(objective, starts, bounds, minimise))

    def log_marginal_likelihood(self, theta=None, eval_gradient=False) -> Any:
        """Log probability (density, for numbers) of the training targets; approximate for classes.

        Parameters
        ----------
        theta : array-like, default=None
            Logarithms of the hyperparameters that are not fixed: constant, length scales, noise; the same for all
            processes. None means those found by `fit`.
        eval_gradient : bool, default=False

        Returns
        -------
        value : float
            The mean over processes.
        gradient : ndarray of shape (n_free,)
            If ``eval_gradient``.
        """
        check_is_fitted(self, "density_")
        asked = [(p.evidence, p.parameters if theta is None else p.parameters.at(theta)) for p in self.processes_]
        if not eval_gradient:
            return float(np.mean([evidence.value(parameters) for evidence, parameters in asked]))
        pairs = [evidence.value_and_gradient(parameters) for evidence, parameters in asked]
        values, gradients = zip(*pairs, strict=True)
        return float(np.mean(values)), np.mean(gradients, axis=0)

    @property
    def averages_gaps(self) -> bool:
        """Whether the mean of a row is its exact average over the row's law."""
        check_is_fitted(self, "density_")
        return not self.indicator

    def _laws(self, X) -> Rows:
        laws = super()._laws(X)
        return self.processes_[0].parameters.rows(laws)

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        return self._scores(self.processes_, self._laws(table), places)
