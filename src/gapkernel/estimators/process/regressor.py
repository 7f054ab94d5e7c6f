"""Gaussian process regression for rows with gaps: predictions that say how sure they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.stats import norm
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.base import Laws
from gapkernel.estimators.calibration import (
    NO,
    Calibration,
    ConformalIntervals,
    GapCountCalibration,
    MaskCalibration,
)
from gapkernel.estimators.class_weights import part_of
from gapkernel.estimators.process.base import GaussianProcess, with_gaps
from gapkernel.estimators.process.evidence import FittedProcess, NumberEvidence
from gapkernel.estimators.process.training import ProcessTraining, location_and_unit, process_training, read_targets
from gapkernel.rows import GaussianRows, Rows
from gapkernel.solvers.base import Solver
from gapkernel.solvers.process import ProcessSolver
from gapkernel.tables import Table, read_weight


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianProcessRegressor(ConformalIntervals, RegressorMixin, GaussianProcess):
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
    length_scale : None, float, array-like of shape (n_features,), "ard" or "shrunk", default=None
        Start of the length scale; an array gives every column its own, and "ard" does so from gamma's. "shrunk" gives
        every column its own under a log-normal prior that draws them to a common one, from the best common one: with
        few rows, "ard" follows the noise.
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
    n_landmarks : int, "auto" or None, default="auto"
        The deviation of a row with gaps is a sum over all pairs of training rows. With many of them, points stand for
        the training rows: so many, or, with "auto" and more than 100 training rows, as many as give deviations that
        are right to one percent on rows that are tried. None is always the exact sum. ``process_.landmarks`` holds
        the points, and the error that was found.
    normalize_y : bool, default=False
        Whether to work on targets of mean 0 and variance 1.
    density : "auto" or Density, default="auto"
        Where the laws of the gaps come from; it must give Gaussian laws. "auto" is one `Gaussian`, fitted by EM;
        `JointGaussian` with categories in the table; `FactorAnalysis` for wide tables on which a full covariance would
        be slow.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap. A category shares one length scale among its
        codes.
    indicator : bool or Missingness, default=False
        Whether it counts which values are missing: a kernel on the gaps multiplies the covariance of the process. Its
        width is that of the `Missingness` given, and not searched for.
    unlabelled : bool, default=False
        Whether rows with a gap in y are taken as unlabelled: they inform the density only. If False they are an error.
    conformal : {False, "count", "mask", "split"}, default=False
        Calibrate `predict_interval`. "count" learns from all rows and calibrates by leaving each out
        in turn at the hyperparameters and the density of all, among rows that miss about as many cells as a new row; it
        is the sharper, and covers well when leaving one row out changes little, without a guarantee. "mask" does the
        same among left-out rows with the same cells hidden (see `predict_interval`). "split" keeps a quarter of the
        rows for it, and its intervals cover as often as they say in finite samples, whatever the data, as long as new
        rows are exchangeable with the calibration rows that miss about as many cells.
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
    calibration_ : Calibration or None
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

    noise_level: float = 1.0
    noise_level_bounds: Any = (1e-5, 1e5)
    alpha: Any = 1e-10
    normalize_y: bool = False
    unlabelled: bool = False
    conformal: bool | str = False

    _held: ClassVar[dict] = {"process_": FittedProcess, "_centre": float, "_unit": float}
    _parameter_constraints: ClassVar[dict] = {
        "normalize_y": ["boolean"],
        "unlabelled": ["boolean"],
        "conformal": [NO, StrOptions({"count", "mask", "split"})],
    }

    def fit(self, X, y=None, sample_weight=None) -> GaussianProcessRegressor:
        """Fit density and process.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A target of weight w has the noise of the mean of w targets, ``noise_level / w``. Where the noise is found
            by `fit`, only the ratios of weights count in the predicted means, but deviations are those of a target of
            weight 1: divide weights by their mean if they are no numbers of targets. A weight of zero leaves a row out.
            The density is weighted too, and ``alpha`` is not.

        Returns
        -------
        self : GaussianProcessRegressor
        """
        return super().fit(X, y, sample_weight)

    def predict(self, X, return_std=False, return_cov=False) -> Any:
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

    def log_marginal_likelihood(self, theta=None, eval_gradient=False) -> Any:
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

    def _read(self, X, y, sample_weight) -> tuple[Table, np.ndarray, np.ndarray | None]:
        table, y = read_targets(self, X, y, self.unlabelled, self.categorical_features)
        return table, y, read_weight(sample_weight, table)

    def _training(self, table: Table, y, weight: np.ndarray | None) -> ProcessTraining:
        return process_training(table, y, weight, self.alpha, self.conformal == "split", self.random_state)

    def _solver(self, training: ProcessTraining) -> ProcessSolver:  # type: ignore[override]
        """The solver at the hyperparameters given, from which `_learn` moves on."""
        start = self._check_start(np.sum(~np.isnan(training.y)), training.table.shape[1])
        return ProcessSolver(start.constant, start.noise)

    def _learn(  # type: ignore[override]
        self, training: ProcessTraining, laws: Laws, solver: Solver
    ) -> GaussianProcessRegressor:
        labelled = np.flatnonzero(~np.isnan(training.y))
        rows, scaling, scale, gap_columns = self._process_rows(laws, labelled)
        weight = part_of(training.weight, labelled)
        centre, unit = location_and_unit(training.y[labelled], weight) if self.normalize_y else (0.0, 1.0)
        targets = (training.y[labelled] - centre) / unit
        evidence = NumberEvidence(rows, targets, **scaling, alpha=training.alpha[labelled], weight=weight)
        try:
            process = self._fitted_process(evidence, scale, training.table.shape[1], training.random)
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(
                f"The covariance of the targets is singular: rows are repeated or nearly so. Raise alpha (now "
                f"{self.alpha}) or noise_level (now {self.noise_level:.3g})."
            ) from error
        calibration: Calibration | None = None
        if self.conformal == "split":
            held_out = with_gaps(self._condition(laws.density, training.held_out), gap_columns)
            missing, left = training.held_out.missing, (training.held_out_y - centre) / unit
            variance = process.variance(held_out) + process.parameters.noise * (1.0 / training.held_out_weight - 1.0)
            scores = _scores(left, process.mean(held_out), variance)
            calibration = GapCountCalibration(missing.sum(axis=1), scores)
        elif self.conformal:
            table, scores = training.table[labelled], _left_out_scores(process)
            calibration = MaskCalibration(table, table.missing, scores).as_asked(self.conformal)

        parameters, scales = process.parameters, process.parameters.length_scale
        weights = unit * parameters.constant * process.posterior.weights
        in_units = replace(process.posterior, weights=weights, intercept=np.array([centre]))
        self._keep(training, Laws(laws.density, process.kernel, rows), in_units)
        self.process_, self.calibration_, self._gap_columns = process, calibration, gap_columns
        self._centre, self._unit = centre, unit
        self.constant_value_, self.noise_level_ = parameters.constant, parameters.noise
        self.length_scale_ = float(scales[0]) if len(scales) == 1 else scales
        self.log_marginal_likelihood_value_ = process.posterior.log_likelihood
        self.L_, self.alpha_ = process.posterior.factor, process.posterior.coefficients
        return self

    def _centre_and_unit(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        return self.predict(table, return_std=True)

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        return _left_out_scores(self.process_, self._laws(table), places)

    def _uncalibrated(self, coverage: float) -> float:
        return norm.ppf(0.5 + 0.5 * coverage)


def _left_out_scores(process: FittedProcess, rows: Rows | None = None, places: Any = slice(None)) -> np.ndarray:
    """The scores of training rows by all others, each with the noise of its own weight."""
    mean, variance = process.left_out(rows, places)
    targets, shares = process.evidence.targets, process.evidence.noise_shares
    own = process.parameters.noise * (np.broadcast_to(shares, targets.shape)[places] - 1.0)
    return _scores(targets[places], mean, np.maximum(variance + own, 0.0))


def _scores(targets, mean, variance) -> np.ndarray:
    """|y - mean| / deviation of rows that were left out."""
    away, std = np.abs(targets - mean), np.sqrt(variance)
    # a deviation of 0 that is right scores 0, one that is wrong infinity
    return np.divide(away, std, out=np.where(away > 0, np.inf, 0.0), where=std > 0)
