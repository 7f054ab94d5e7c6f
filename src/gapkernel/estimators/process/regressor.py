"""Gaussian process regression for rows with gaps: predictions that say how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.stats import norm
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.base import Training
from gapkernel.estimators.calibration.intervals_and_sets import ConformalIntervals
from gapkernel.estimators.process.base import GaussianProcess
from gapkernel.estimators.process.evidence import NumberEvidence
from gapkernel.estimators.process.prediction import FittedProcess
from gapkernel.rows import GaussianRows, Rows
from gapkernel.tables import Table, read_labelled, read_weight


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianProcessRegressor(ConformalIntervals, RegressorMixin, GaussianProcess):
    """Gaussian process regression on rows with gaps, at fit and at predict.

    The prior is a process f of covariance ``constant_value * exp(-1/2 sum_k (x_k - z_k)^2 / l_k^2)``, seen with noise.
    A training row with gaps tells about the average of f over its law, with an extra noise of its own that grows with
    what is missing. A new row with gaps gets the exact mean and variance of f over both the posterior and its law, so
    the less is known of a row, the wider its interval. On complete data everything equals scikit-learn's
    `GaussianProcessRegressor` with ``ConstantKernel() * RBF() + WhiteKernel()``, whose parameter names are used here.

    A target of weight w has the noise of the mean of w targets, ``noise_level / w``; ``alpha`` has no weights. Where
    the noise is found by `fit`, only the ratios of weights count in the predicted means, but deviations are those of a
    target of weight 1: divide weights by their mean if they are no numbers of targets.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Start of a single length scale 1 / sqrt(2 gamma), when ``length_scale`` is None.
    length_scale : None, float, array-like of shape (n_features,), "ard" or "shrunk", default=None
        Start of the length scale; an array gives every column its own, and "ard" does so from gamma's. "shrunk" starts
        from the best common length scale and gives every column its own under a log-normal prior that draws them to a
        common one: with few rows, "ard" follows the noise.
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
        How many points stand for the training rows in the deviation of a row with gaps, which is a sum over all pairs
        of them. "auto" takes none up to 100 training rows, and beyond that enough points for deviations that are right
        to one percent on some training rows; None is always the exact sum. ``process_.landmarks`` holds the points and
        the error that was found.
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
    conformal : {False, "count", "mask"}, default=False
        Whether to calibrate `predict_interval` by leaving each row out in turn, at the hyperparameters and the density
        of all. "count" goes by left-out rows that miss about as many cells as a new row, "mask" by left-out rows with
        the same cells hidden. With False an interval is that of the normal law of mean and deviation.
    random_state : int, RandomState or None, default=None
        For restarts. None draws anew in each fit.

    Attributes
    ----------
    constant_value_, noise_level_ : float
        The prior variance of f, and the variance of the noise.
    length_scale_ : float or ndarray of shape (n_features,)
        One length scale, or one for each column.
    log_marginal_likelihood_value_ : float
        Log density of the training targets.
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

    _parameter_constraints: ClassVar[dict] = {
        "noise_level": [Interval(Real, 0, np.inf, closed="left")],
        "normalize_y": ["boolean"],
    }

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
        centre, unit = self.process_.evidence.units
        mean = centre + unit * self.process_.mean(rows)
        if return_std:
            return mean, unit * np.sqrt(self.process_.variance(rows))
        if return_cov:
            return mean, unit**2 * self.process_.covariance(rows)
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
        centre, unit = self.process_.evidence.units
        if rows.complete.all():
            mean, covariance = self.process_.mean(rows), self.process_.covariance(rows)
            draws = random.multivariate_normal(mean, covariance, n_samples).T
        else:
            draws = np.empty((len(rows), n_samples))
            for k in range(n_samples):
                drawn = GaussianRows.certain(rows.draws(1, random)[0])
                draws[:, k] = random.multivariate_normal(self.process_.mean(drawn), self.process_.covariance(drawn))
        return centre + unit * draws

    @property
    def process_(self) -> FittedProcess:
        """The posterior process."""
        return self.processes_[0]

    @property
    def theta_(self) -> np.ndarray:
        """Logarithms of the hyperparameters that are not fixed: constant, length scales, noise."""
        return self.process_.parameters.theta

    def leave_one_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation for each training row, from all others, at the fitted hyperparameters.

        Returns
        -------
        mean, std : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "density_")
        mean, variance = self.process_.left_out()
        centre, unit = self.process_.evidence.units
        return centre + unit * mean, unit * np.sqrt(variance)

    def _training(self, X, y, sample_weight) -> Training:
        table, y = read_labelled(self, X, y, categorical_features=self.categorical_features, y_numeric=True)
        _check_alpha(self.alpha, len(y))
        return Training.of(table, y.astype(np.float64), read_weight(sample_weight, table), classes=False)

    def _evidences(self, rows: Rows, training: Training) -> list[NumberEvidence]:
        y, weight, alpha = training.y, training.weight, np.asarray(self.alpha, dtype=np.float64)
        alpha = np.broadcast_to(alpha if alpha.ndim == 0 else alpha[training.kept], y.shape)
        units = location_and_unit(y, weight) if self.normalize_y else (0.0, 1.0)
        targets = (y - units[0]) / units[1]
        return [NumberEvidence(rows=rows, targets=targets, weight=weight, alpha=alpha, units=units)]

    def _scores(self, processes, rows=None, places=slice(None)) -> np.ndarray:
        (process,) = processes
        mean, variance = process.left_out(rows, places)
        own = process.parameters.noise * (process.evidence.noise_shares[places] - 1.0)  # the noise of its own weight
        away, std = np.abs(process.evidence.targets[places] - mean), np.sqrt(np.maximum(variance + own, 0.0))
        # a deviation of 0 that is right scores 0, one that is wrong infinity
        return np.divide(away, std, out=np.where(away > 0, np.inf, 0.0), where=std > 0)

    def _keep(self, training: Training) -> None:
        parameters = self.process_.parameters
        scales = parameters.length_scale
        self.constant_value_, self.noise_level_ = parameters.constant, parameters.noise
        self.length_scale_ = float(scales[0]) if len(scales) == 1 else scales

    def _centre_and_unit(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        return self.predict(table, return_std=True)

    def _uncalibrated(self, coverage: float) -> float:
        return norm.ppf(0.5 + 0.5 * coverage)


def location_and_unit(y: np.ndarray, weight: np.ndarray | None) -> tuple[float, float]:
    """Mean and deviation of the targets; a constant target has unit 1."""
    mean = float(np.average(y, weights=weight))
    unit = float(np.sqrt(np.average((y - mean) ** 2, weights=weight)))
    return mean, unit if unit > 10 * np.finfo(float).eps * np.abs(y).max() else 1.0


def _check_alpha(alpha, n_rows: int) -> None:
    """Refuse anything but a positive number, or one for each row."""
    values = np.asarray(alpha)
    if values.dtype.kind not in "fiu" or not (np.all(values > 0) and np.isfinite(values).all()):
        raise ValueError(f"alpha must be positive, got {alpha!r}. Raise it; 1e-10 is the default.")
    if values.shape not in ((), (n_rows,)):
        raise ValueError(f"alpha must be a number or have one entry for each of {n_rows} rows, got {values.shape}.")
