"""Kernel ridge regression for rows with gaps."""

from __future__ import annotations

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from gapkernel.estimators.base import KernelMachine, Laws, Training
from gapkernel.estimators.conformal import ConformalIntervals, calibrated
from gapkernel.solvers.ridge import leave_one_out, machine, solve
from gapkernel.tables import read_labelled


class KernelRidge(ConformalIntervals, MultiOutputMixin, RegressorMixin, KernelMachine):
    """Kernel ridge regression on rows with gaps, at fit and at predict.

    On complete data it equals `sklearn.kernel_ridge.KernelRidge`. With kernel "rbf" a row with gaps gets a
    ridge of its own on top of alpha, the larger the less is known about it.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        Regularisation.
    kernel : {"genrbf", "rbf", "linear", "ehk", "karma"} or Kernel, default="rbf"
    gamma : float, "scale" or "median", default="scale"
    density : "auto" or density, default="auto"
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
    indicator : bool or Missingness, default=False
    conformal : bool, default=False
        Whether to calibrate `predict_interval` among rows that miss about as many cells, by the error on each row when
        it is left out, in closed form, at the density of all rows.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
    rows_ : GaussianRows
        The laws of the training rows.
    density_, kernel_
        As in `SVC`.
    calibration_ : GapCountCalibration or None
        The errors on left-out rows, for `predict_interval`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import KernelRidge
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> KernelRidge(kernel="linear", alpha=0.01).fit(X, [0.0, 1.0, 2.0, 3.0]).predict([[2.0, np.nan]]).round(1)
    array([2.])
    """

    def __init__(
        self,
        *,
        alpha=1.0,
        kernel="rbf",
        gamma="scale",
        density="auto",
        categorical_features="from_dtype",
        indicator=False,
        conformal=False,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.density = density
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.conformal = conformal

    def fit(self, X, y, sample_weight=None) -> KernelRidge:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        self : KernelRidge
        """
        training = self._training(X, y, sample_weight)
        return self._train(training, self._fit_laws(training.table, training.weight))

    def _training(self, X, y, sample_weight) -> Training:
        self._check_conformal()
        X, y = read_labelled(
            self, X, y, categorical_features=self.categorical_features, multi_output=True, y_numeric=True
        )
        self._solver()  # complains of a wrong parameter
        return Training(X, y, self._weights_of(X, sample_weight), np.arange(len(X)))

    def _solver(self):
        return machine(self.alpha)

    def _train(self, training: Training, laws: Laws) -> KernelRidge:
        gram = laws.kernel.gram(laws.rows)
        coefficients = solve(self._solver(), gram, training.y, training.weight)
        self.calibration_ = calibrated(self, training, gram, leave_one_out)
        self.dual_coef_ = coefficients
        self.density_, self.kernel_, self.rows_ = laws
        return self

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        rows = self._laws(X)
        coefficients = self.dual_coef_.reshape(len(self.rows_), -1)
        return self.kernel_.dot(rows, self.rows_, coefficients).reshape(len(rows), *self.dual_coef_.shape[1:])
