"""Gaussian process regression for rows with gaps: predictions that say how sure they are."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy.stats import norm
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.runtime.config import check_fits
from gapkernel.estimators.base import KernelMachine, Laws
from gapkernel.estimators.calibration import ConformalIntervals, GapCountCalibration
from gapkernel.estimators.process.evidence import Evidence, FittedProcess
from gapkernel.estimators.process.hyperparameters import Hyperparameters, hyperparameters, length_scales
from gapkernel.estimators.process.training import ProcessTraining, location_and_unit, process_training, read_targets
from gapkernel.rows import GaussianRows, Rows
from gapkernel.solvers.base import Solver
from gapkernel.solvers.process import ProcessSolver, lbfgs, maximise
from gapkernel.tables import Table


class GaussianProcessRegressor(ConformalIntervals, RegressorMixin, KernelMachine):
    """Gaussian process regression on rows with gaps, at fit and at predict.

    The prior is a process f of covariance ``constant_value * exp(-1/2 sum_k (x_k - z_k)^2 / l_k^2)``, seen with noise.
    A training row with gaps tells about the average of f over its law, with an extra noise of its own that grows with
    what is missing. A new row with gaps gets the exact mean and variance of f over both the posterior and its law, so
    the less is known of a row, the wider its interval. On complete data everything equals scikit-learn's
    `GaussianProcessRegressor` with ``ConstantKernel() * RBF() + WhiteKernel()``, whose parameter names are used here.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Start of a single length scale 1 / sqrt(2 gamma), when ``length_scale`` is None.
    length_scale : None, float, array-like of shape (n_features,) or "ard", default=None
        Start of the length scale; an array gives every column its own, and "ard" does so from gamma's.
    constant_value, noise_level : float, default=1.0
        Start of the prior variance of f, and of the variance of the noise (0: no noise but alpha).
    length_scale_bounds, constant_value_bounds, noise_level_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to look; "fixed" keeps the value given.
    alpha : float or array-like of shape (n_samples,), default=1e-10
        Added to the diagonal of the covariance of the targets, and not to predictive variances.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        How the marginal likelihood is maximised; None keeps the values given. A callable is
        ``optimizer(objective, theta, bounds) -> theta, value`` as in scikit-learn, the objective to be minimised.
    n_restarts_optimizer : int, default=0
        Further starts, drawn log-uniformly from the bounds.
    normalize_y : bool, default=False
        Whether to work on targets of mean 0 and variance 1.
    density : "auto" or Density, default="auto"
        Where the laws of the gaps come from; it must give Gaussian laws. "auto" is one `Gaussian`, fitted by EM;
        `JointGaussian` with categories in the table; `FactorAnalysis` for more than 64 columns with fewer than 10 rows
        for each.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, truth values), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap. A category shares one length scale among its
        codes.
    indicator : bool or Missingness, default=False
        Whether it counts which values are missing: a kernel on the gaps multiplies the covariance of the process. Its
        width is that of the `Missingness` given, and not searched for.
    unlabelled : bool, default=False
        Whether rows with a gap in y are taken as unlabelled: they inform the density only. If False they are an error.
    conformal : bool, "loo" or "split", default=False
        Calibrate `predict_interval` among rows that miss about as many cells. "split" keeps a quarter of the rows for
        it, and its intervals cover as often as they say in finite samples, whatever the data, as long as new rows are
        exchangeable with the calibration rows that miss about as many cells. "loo" (the same as True) learns from all
        rows and calibrates by leaving each out in turn at the hyperparameters and the density of all; it is the
        sharper, and covers well when leaving one row out changes little, without a guarantee.
    random_state : int, RandomState or None, default=None
        For restarts and the split. None draws anew in each fit.

    Attributes
    ----------
    constant_value_, noise_level_ : float
        The prior variance of f, and the variance of the noise.
    length_scale_ : float or ndarray of shape (n_features,)
        One length scale, or one for each column.
    log_marginal_likelihood_value_ : float
        Log density of the training targets.
    alpha_ : ndarray of shape (n_samples,)
        Dual coefficients.
    L_ : ndarray of shape (n_samples, n_samples)
        Cholesky factor of the covariance of the targets.
    rows_ : Rows
        The laws of the training rows; with ``indicator``, followed by a column of 0 and 1 for each column with gaps.
    density_ : Density
        The fitted density.
    kernel_ : AnisotropicRBF
        The correlation of the process.
    process_ : FittedProcess
        The posterior process.
    calibration_ : GapCountCalibration or None
        The scores of left-out rows, for `predict_interval`.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of str
        Names of the columns at fit, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import GaussianProcessRegressor
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((60, 2))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * random.standard_normal(60)
    >>> X[random.random(X.shape) < 0.1] = np.nan
    >>> model = GaussianProcessRegressor().fit(X, y)
    >>> mean, std = model.predict([[0.5, 0.0], [np.nan, 0.0]], return_std=True)
    >>> bool(std[1] > 2 * std[0])  # the sine of an unknown number
    True
    """

    kernel = "rbf"  # with ``gamma`` it chooses the density, and where the search for length scales begins
    _parameter_constraints: ClassVar[dict] = {
        **KernelMachine._parameter_constraints,
        "optimizer": [StrOptions({"fmin_l_bfgs_b"}), callable, None],
        "n_restarts_optimizer": [Interval(Integral, 0, None, closed="left")],
        "normalize_y": ["boolean"],
        "unlabelled": ["boolean"],
        "conformal": ["boolean", StrOptions({"loo", "split"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        gamma="scale",
        length_scale=None,
        constant_value=1.0,
        noise_level=1.0,
        length_scale_bounds=(1e-5, 1e5),
        constant_value_bounds=(1e-5, 1e5),
        noise_level_bounds=(1e-5, 1e5),
        alpha=1e-10,
        optimizer="fmin_l_bfgs_b",
        n_restarts_optimizer=0,
        normalize_y=False,
        density="auto",
        categorical_features="from_dtype",
        indicator=False,
        unlabelled=False,
        conformal=False,
        random_state=None,
    ):
        self.gamma = gamma
        self.length_scale = length_scale
        self.constant_value = constant_value
        self.noise_level = noise_level
        self.length_scale_bounds = length_scale_bounds
        self.constant_value_bounds = constant_value_bounds
        self.noise_level_bounds = noise_level_bounds
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.density = density
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.unlabelled = unlabelled
        self.conformal = conformal
        self.random_state = random_state

    def fit(self, X, y) -> GaussianProcessRegressor:
        """Fit density and process.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : GaussianProcessRegressor
        """
        return super().fit(X, y)

    def predict(self, X, return_std=False, return_cov=False):
        """Mean of each row's target, and how uncertain it is.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return standard deviations too, with the noise (and without alpha), as in scikit-learn.
        return_cov : bool, default=False
            Whether to return the covariance of the targets instead; the gaps of different rows are independent.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            If ``return_std``.
        covariance : ndarray of shape (n_samples, n_samples)
            If ``return_cov``.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        rows = self._laws(X)
        mean = self._centre + self._unit * self.process_.mean(rows)
        if return_std:
            return mean, self._unit * np.sqrt(self.process_.variance(rows))
        if return_cov:
            return mean, self._unit**2 * self.process_.covariance(rows)
        return mean

    def sample_y(self, X, n_samples=1, random_state=None) -> np.ndarray:
        """Draw targets from the posterior.

        Every draw completes the rows with gaps from their laws first, so it is from the exact law of the targets,
        which is not normal for such rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_features)
        n_samples : int, default=1
        random_state : int, RandomState or None, default=None
            None draws anew in each call.

        Returns
        -------
        targets : ndarray of shape (n_rows, n_samples)
        """
        rows, random = self._laws(X), check_random_state(random_state)
        if rows.complete.all():
            mean, covariance = self.process_.mean(rows), self.process_.covariance(rows)
            draws = random.multivariate_normal(mean, covariance, n_samples).T
        else:
            draws = np.empty((len(rows), n_samples))
            for k in range(n_samples):
                drawn = GaussianRows.certain(rows.draws(1, random)[0])
                draws[:, k] = random.multivariate_normal(self.process_.mean(drawn), self.process_.covariance(drawn))
        return self._centre + self._unit * draws

    def log_marginal_likelihood(self, theta=None, eval_gradient=False):
        """Log density of the training targets.

        Parameters
        ----------
        theta : array-like, default=None
            Logarithms of the hyperparameters that are not fixed: constant, length scales, noise. None means those
            found by `fit`.
        eval_gradient : bool, default=False

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_free,)
            If ``eval_gradient``.
        """
        check_is_fitted(self, "density_")
        evidence, parameters = self.process_.evidence, self.process_.parameters
        parameters = parameters if theta is None else parameters.at(theta)
        if eval_gradient:
            return evidence.value_and_gradient(parameters)
        try:
            return evidence.posterior(parameters).log_likelihood
        except np.linalg.LinAlgError:
            return -np.inf

    @property
    def theta_(self) -> np.ndarray:
        """Logarithms of the hyperparameters that are not fixed: constant, length scales, noise."""
        check_is_fitted(self, "density_")
        return self.process_.parameters.theta

    def leave_one_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation for each training row, from all others, at the fitted hyperparameters.

        Returns
        -------
        mean, std : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "density_")
        mean, variance = self.process_.left_out()
        return self._centre + self._unit * mean, self._unit * np.sqrt(variance)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.length_scale is not None and self.gamma != "scale":
            raise ValueError(f"Give gamma={self.gamma!r} or length_scale={self.length_scale!r}, not both.")

    def _read(self, X, y, sample_weight) -> tuple[Table, np.ndarray, None]:
        return *read_targets(self, X, y, self.unlabelled, self.categorical_features), None

    def _training(self, table: Table, y, weight: np.ndarray | None) -> ProcessTraining:
        return process_training(table, y, self.alpha, self.conformal == "split", self.random_state)

    def _solver(self, training: ProcessTraining) -> ProcessSolver:
        """The solver at the hyperparameters given, from which `_learn` moves on."""
        n_targets = np.sum(~np.isnan(training.y))
        check_fits((n_targets, n_targets), "The Gram matrix")
        start = self._start(1.0, training.table.shape[1])
        return ProcessSolver(start.constant, start.noise)

    def _fit_laws(self, table: Table, weight: np.ndarray | None = None, *, needs_gram: bool = True) -> Laws:
        return super()._fit_laws(table, weight, needs_gram=False)  # rows without a target are in no Gram matrix

    def _learn(self, training: ProcessTraining, laws: Laws, solver: Solver) -> GaussianProcessRegressor:
        if laws.rows.kind not in ("gaussian", "factor"):
            raise ValueError(
                f"A Gaussian process needs Gaussian laws, but {laws.density!r} gives {laws.rows.kind} ones. Use "
                f"density='auto', Gaussian(), FactorAnalysis() or JointGaussian()."
            )
        labelled = np.flatnonzero(~np.isnan(training.y))
        (density, kernel, rows), columns, gap_columns, gap_scale = laws, laws.density.columns_, None, None
        if self.indicator:
            if kernel.indicator.rule != "product":
                raise ValueError("indicator: a Gaussian process takes Missingness(rule='product') only.")
            gap_columns, gap_scale = kernel.columns, (2.0 * kernel.indicator.gamma) ** -0.5
            kernel, columns = kernel.kernel, np.append(columns, np.full(gap_columns.sum(), -1))
        rows = _with_gaps(rows.take(labelled), gap_columns)
        centre, unit = location_and_unit(training.y[labelled], self.normalize_y)
        targets = (training.y[labelled] - centre) / unit
        evidence = Evidence(rows, targets, training.alpha[labelled], columns, gap_scale)
        start = self._start((2.0 * kernel.gamma) ** -0.5, training.table.shape[1])
        process = self._fitted_process(evidence, start, training.random)
        missing = training.table.missing[labelled]
        if self.conformal == "split":
            held_out = _with_gaps(self._condition(density, training.held_out), gap_columns)
            missing, targets = training.held_out.missing, (training.held_out_y - centre) / unit
            calibration = _calibrated(missing, targets, process.mean(held_out), process.variance(held_out))
        else:
            calibration = _calibrated(missing, targets, *process.left_out()) if self.conformal else None

        parameters, scales = process.parameters, process.parameters.length_scale
        weights = unit * parameters.constant * process.posterior.weights
        in_units = replace(process.posterior, weights=weights, intercept=np.array([centre]))
        self._keep(training, Laws(density, process.kernel, rows), in_units)
        self.process_, self.calibration_, self._gap_columns = process, calibration, gap_columns
        self._centre, self._unit = centre, unit
        self.constant_value_, self.noise_level_ = parameters.constant, parameters.noise
        self.length_scale_ = float(scales[0]) if len(scales) == 1 else scales
        self.log_marginal_likelihood_value_ = process.posterior.log_likelihood
        self.L_, self.alpha_ = process.posterior.factor, process.posterior.coefficients
        return self

    def _laws(self, X) -> Rows:
        return _with_gaps(super()._laws(X), self._gap_columns)

    def _centre_and_unit(self, X) -> tuple[np.ndarray, np.ndarray]:
        return self.predict(X, return_std=True)

    def _uncalibrated(self, coverage: float) -> float:
        return norm.ppf(0.5 + 0.5 * coverage)

    def _start(self, scale: float, n_columns: int) -> Hyperparameters:
        """Where the search begins; ``scale`` is the length scale that gamma stands for."""
        bounds = self.constant_value_bounds, self.length_scale_bounds, self.noise_level_bounds
        length_scale = length_scales(self.length_scale, scale, n_columns)
        return hyperparameters(self.constant_value, length_scale, self.noise_level, bounds)

    def _fitted_process(self, evidence: Evidence, start: Hyperparameters, random) -> FittedProcess:
        """The process at the hyperparameters of the highest likelihood that was found."""
        if self.optimizer is not None and len(start.theta):
            if np.ptp(evidence.targets) == 0:
                warnings.warn(
                    "y is constant, which says nothing about the hyperparameters: they stay as given. "
                    "Set optimizer=None to keep them without this warning.",
                    UserWarning,
                    stacklevel=5,
                )
            else:
                start = start.at(self._optimum(evidence, start, random))
                start.warn_at_bounds()
        try:
            return FittedProcess(evidence, start, evidence.posterior(start))
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(
                f"The covariance of the targets is singular: rows are repeated or nearly so. Raise alpha (now "
                f"{self.alpha}) or noise_level (now {start.noise:.3g})."
            ) from error

    def _optimum(self, evidence: Evidence, start: Hyperparameters, random) -> np.ndarray:
        bounds = start.bounds[start.free]
        if self.n_restarts_optimizer and not np.isfinite(bounds).all():
            raise ValueError("n_restarts_optimizer > 0 needs finite bounds to draw from.")
        starts = [start.theta] + [random.uniform(*bounds.T) for _ in range(self.n_restarts_optimizer)]

        def objective(theta):
            return evidence.value_and_gradient(start.at(theta))

        return maximise(objective, starts, bounds, self.optimizer if callable(self.optimizer) else lbfgs)


def _with_gaps(rows: Rows, gap_columns: np.ndarray | None) -> Rows:
    """Laws followed by 0/1 columns of their gaps, because the RBF kernel on these is the kernel on the gaps."""
    return rows if gap_columns is None else rows.rows.beside(rows.missing[:, gap_columns])


def _calibrated(missing, targets, mean, variance) -> GapCountCalibration:
    """The scores |y - mean| / deviation of rows that were left out, by their numbers of gaps."""
    away, std = np.abs(targets - mean), np.sqrt(variance)
    # a deviation of 0 that is right scores 0, one that is wrong infinity
    scores = np.divide(away, std, out=np.where(away > 0, np.inf, 0.0), where=std > 0)
    return GapCountCalibration(missing.sum(axis=1), scores)
