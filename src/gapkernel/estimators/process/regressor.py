"""Gaussian process regression for rows with gaps: predictions that say how sure they are."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import norm
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.runtime.config import check_fits
from gapkernel.density import make_density
from gapkernel.estimators.base import KernelMachine
from gapkernel.estimators.calibration import ConformalIntervals, GapCountCalibration
from gapkernel.estimators.process.evidence import Evidence, FittedProcess
from gapkernel.estimators.process.hyperparameters import Hyperparameters, hyperparameters
from gapkernel.estimators.process.targets import checked_alpha, location_and_unit, read_targets
from gapkernel.kernels import AnisotropicRBF, ExpectedRBF
from gapkernel.rows import GaussianRows
from gapkernel.solvers.process import lbfgs, maximise

HELD_OUT = 0.25
"""Share of the rows that split conformal calibration keeps for itself."""


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
    density : "auto" or density, default="auto"
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        As in `KernelRidge`; a category shares one length scale among its codes.
    unlabelled : bool, default=False
        Whether rows with a gap in y are taken as unlabelled: they inform the density only. If False they are an error.
    conformal : bool, "loo" or "split", default=False
        Calibrate `predict_interval` among rows that miss about as many cells. "split" keeps a quarter of the rows for
        it, and its intervals cover as often as they say in finite samples, whatever the data, as long as new rows are
        exchangeable with the calibration rows that miss about as many cells. "loo" (the same as True) learns from all
        rows and calibrates by leaving each out in turn at the hyperparameters and the density of all; it is the
        sharper, and covers well when leaving one row out changes little, without a guarantee.
    random_state : int, RandomState or None, default=None
        For restarts and the split.

    Attributes
    ----------
    constant_value_, noise_level_ : float
    length_scale_ : float or ndarray of shape (n_features,)
    log_marginal_likelihood_value_ : float
    alpha_ : ndarray of shape (n_samples,)
        Dual coefficients.
    L_ : ndarray of shape (n_samples, n_samples)
        Cholesky factor of the covariance of the targets.
    rows_ : GaussianRows
        The laws of the training rows.
    density_, kernel_
        As in `SVC`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

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
        table, y, labelled = read_targets(self, X, y, self.unlabelled, self.categorical_features)
        alpha = checked_alpha(self.alpha, len(y))
        self._check_parameters()
        random = check_random_state(self.random_state)
        train, held_out = labelled, labelled[:0]
        if self.conformal == "split":
            if len(labelled) * HELD_OUT < 1:
                raise ValueError(
                    f"conformal='split' needs at least {int(1 / HELD_OUT)} rows with a target, got {len(labelled)}: "
                    f"use conformal='loo'."
                )
            shuffled = random.permutation(labelled)
            held_out, train = np.split(shuffled, [int(HELD_OUT * len(labelled))])
        inputs = np.sort(np.concatenate([train, np.flatnonzero(np.isnan(y))]))
        check_fits((len(train), len(train)), "The Gram matrix")

        density = make_density(self.density, AnisotropicRBF(), table.schema, len(table)).fit(table[inputs])
        rows = density.condition(table[train])
        if rows.kind != "gaussian":
            raise ValueError(f"A Gaussian process needs Gaussian laws, but {density!r} gives {rows.kind} ones.")
        centre, unit = location_and_unit(y[train], self.normalize_y)
        columns = density.columns_  # a category has several codes
        targets = (y - centre) / unit
        evidence = Evidence(rows, targets[train], alpha[train], columns)
        process = self._fitted_process(evidence, self._start(evidence, density, table.shape[1]), random)
        calibration = self._calibrated(table, targets, density, process, train, held_out)

        self.density_, self.rows_, self.kernel_, self.process_ = density, rows, process.kernel, process
        self._centre, self._unit = centre, unit
        parameters, scales = process.parameters, process.parameters.length_scale
        self.constant_value_, self.noise_level_ = parameters.constant, parameters.noise
        self.length_scale_ = float(scales[0]) if len(scales) == 1 else scales
        self.log_marginal_likelihood_value_ = process.posterior.log_likelihood
        self.L_, self.alpha_ = process.posterior.factor, process.posterior.coefficients
        self.calibration_ = calibration
        return self

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

    def _centre_and_unit(self, X) -> tuple[np.ndarray, np.ndarray]:
        return self.predict(X, return_std=True)

    def _uncalibrated(self, coverage: float) -> float:
        return float(norm.ppf(0.5 + 0.5 * coverage))

    def sample_y(self, X, n_samples=1, random_state=0) -> np.ndarray:
        """Draw targets from the posterior.

        Every draw completes the rows with gaps from their laws first, so it is from the exact law of the targets,
        which is not normal for such rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_features)
        n_samples : int, default=1
        random_state : int, RandomState or None, default=0

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
        if self.optimizer is not None and self.optimizer != "fmin_l_bfgs_b" and not callable(self.optimizer):
            raise ValueError(f"optimizer must be 'fmin_l_bfgs_b', a callable or None, got {self.optimizer!r}.")
        if not isinstance(self.n_restarts_optimizer, int | np.integer) or self.n_restarts_optimizer < 0:
            raise ValueError(f"n_restarts_optimizer must be 0 or more, got {self.n_restarts_optimizer!r}.")
        if self.conformal not in (False, True, "loo", "split"):
            raise ValueError(f"conformal must be False, True, 'loo' or 'split', got {self.conformal!r}.")
        if self.length_scale is not None and self.gamma != "scale":
            raise ValueError(f"Give gamma={self.gamma!r} or length_scale={self.length_scale!r}, not both.")

    def _start(self, evidence, density, n_columns) -> Hyperparameters:
        """Where the search begins."""
        length_scale = self.length_scale
        if length_scale is None or isinstance(length_scale, str):
            if length_scale not in (None, "ard"):
                raise ValueError(f"length_scale must be None, 'ard', a number or an array, got {length_scale!r}.")
            gamma = ExpectedRBF(self.gamma).resolve(density, evidence.rows).gamma
            length_scale = np.full(1 if length_scale is None else n_columns, (2.0 * gamma) ** -0.5)
        elif np.ndim(length_scale) and np.shape(length_scale) != (n_columns,):
            raise ValueError(f"length_scale must be one number or {n_columns}, got shape {np.shape(length_scale)}.")
        bounds = self.constant_value_bounds, self.length_scale_bounds, self.noise_level_bounds
        return hyperparameters(self.constant_value, length_scale, self.noise_level, bounds)

    def _fitted_process(self, evidence: Evidence, start: Hyperparameters, random) -> FittedProcess:
        """The process at the hyperparameters of the highest likelihood that was found."""
        if self.optimizer is not None and len(start.theta):
            if np.ptp(evidence.targets) == 0:
                warnings.warn(
                    "y is constant, which says nothing about the hyperparameters: they stay as given. "
                    "Set optimizer=None to say so.",
                    UserWarning,
                    stacklevel=3,
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

    def _calibrated(self, table, targets, density, process, train, held_out) -> GapCountCalibration | None:
        if not self.conformal:
            return None
        if self.conformal == "split":
            rows, laws = held_out, density.condition(table[held_out])
            mean, variance = process.mean(laws), process.variance(laws)
        else:
            rows, (mean, variance) = train, process.left_out()
        away, std = np.abs(targets[rows] - mean), np.sqrt(variance)
        # a deviation of 0 that is right scores 0, one that is wrong infinity
        scores = np.divide(away, std, out=np.where(away > 0, np.inf, 0.0), where=std > 0)
        return GapCountCalibration(table.missing[rows].sum(axis=1), scores)
