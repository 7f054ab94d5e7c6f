"""Kernel ridge regression for rows with gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from gapkernel.estimators.base import KernelMachine, Laws, Training
from gapkernel.estimators.calibration import MachineIntervals
from gapkernel.kernels import Kernel
from gapkernel.solvers.base import Solution
from gapkernel.solvers.ridge import Ridge


@dataclass(eq=False, repr=False, kw_only=True)
class KernelRidge(MachineIntervals, MultiOutputMixin, RegressorMixin, KernelMachine):
    """Kernel ridge regression on rows with gaps, at fit and at predict.

    A density is fitted to the training rows, each row becomes its law given what was observed of it, and ridge
    regression is solved on the kernel between laws. On complete data it equals `sklearn.kernel_ridge.KernelRidge`. With
    kernel "rbf" a row with gaps gets a ridge of its own on top of alpha, the larger the less is known about it.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        What is added to the diagonal of the Gram matrix; several targets may have one each.
    kernel : {"genrbf", "rbf", "linear", "ehk", "precomputed"}, Kernel or callable, default="rbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`, "linear" `ExpectedLinear`, "ehk" `HeterogeneousKernel`.
        A function k(X, Y) of two arrays is for complete rows; `MonteCarlo` averages it over gaps.
        With "precomputed" ``X`` is a kernel matrix without gaps: square in `fit`, (n_new, n_training) afterwards.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits kernel and table: `Marginals` for "ehk"; for the
        others one `Gaussian`, fitted by EM, or a `JointGaussian` over numbers and codes with categories in the table,
        or `FactorAnalysis` for wide tables on which a full covariance would be slow. ``density_`` is what was chosen.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one.
    conformal : bool, "count" or "mask", default=False
        Whether to calibrate `predict_interval` by the error on each row when it is left out, in closed form, at the
        density of all rows. True or "count" goes by left-out rows that miss about as many cells as a new row, "mask" by
        left-out rows with the same cells hidden (see `predict_interval`); it keeps n^2 coefficients for n rows.
        Rows count alike there, whatever their weights.

    Attributes
    ----------
    density_ : density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    rows_ : Rows
        The laws of the training rows, except those of weight zero.
    dual_coef_ : ndarray of shape (n_rows,) or (n_rows, n_targets)
        Coefficients of these rows.
    calibration_ : Calibration or None
        The errors on left-out rows, for `predict_interval`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had them.

    See Also
    --------
    KernelRidgeCV : With alpha and gamma chosen by cross-validation.
    GaussianProcessRegressor : With a deviation for each prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import KernelRidge
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> KernelRidge(kernel="linear", alpha=0.01).fit(X, [0.0, 1.0, 2.0, 3.0]).predict([[2.0, np.nan]]).round(1)
    array([2.])
    """

    alpha: Any = 1.0
    kernel: str | Kernel = "rbf"
    conformal: bool | str = False

    _target = "numbers"

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        values = self._values(X)
        return values.reshape(len(values), *self.dual_coef_.shape[1:])

    def _solver(self, training: Training) -> Ridge:
        return Ridge(self.alpha)

    def _keep(self, training: Training, laws: Laws, solution: Solution) -> Self:
        self.dual_coef_ = solution.weights.reshape(training.y.shape)
        return super()._keep(training, laws, solution)
