"""Kernel ridge regression for rows with gaps."""

from __future__ import annotations

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from gapkernel.estimators.base import KernelMachine, Laws, Training
from gapkernel.solvers.ridge import machine, solve
from gapkernel.table import labelled_mixed_table


class KernelRidge(MultiOutputMixin, RegressorMixin, KernelMachine):
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

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
    rows_ : GaussianRows
        The laws of the training rows.
    density_, kernel_
        As in `SVC`.
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
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.density = density
        self.categorical_features = categorical_features
        self.indicator = indicator

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
        X, y = labelled_mixed_table(
            self, X, y, categorical_features=self.categorical_features, multi_output=True, y_numeric=True
        )
        self._solver()  # complains of a wrong parameter
        return Training(X, y, self._weights_of(X, sample_weight), np.arange(len(X)))

    def _solver(self):
        return machine(self.alpha)

    def _train(self, training: Training, laws: Laws) -> KernelRidge:
        self.dual_coef_ = solve(self._solver(), laws.kernel.gram(laws.rows), training.y, training.weight)
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
