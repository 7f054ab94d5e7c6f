"""Novelty detection for rows with gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import OutlierMixin

from gapkernel.estimators.base import Laws, Training
from gapkernel.estimators.svm import SupportVectorMachine
from gapkernel.solvers import libsvm


@dataclass(eq=False, repr=False, kw_only=True)
class OneClassSVM(OutlierMixin, SupportVectorMachine):
    """Novelty detection on rows with gaps, at fit and at predict.

    A density is fitted to the training rows, each row becomes its law given what was observed of it, and an
    SVM finds where most of the laws lie. On complete data it equals `sklearn.svm.OneClassSVM`.

    Parameters
    ----------
    nu : float, default=0.5
        Bound on the share of training rows outside.
    kernel : {"genrbf", "rbf", "linear", "ehk", "precomputed"}, Kernel or callable, default="genrbf"
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
    shrinking : bool, default=True
        Whether libsvm leaves settled rows aside while it iterates.
    tol : float, default=1e-3
        Tolerance at which libsvm stops.
    cache_size : float, default=200
        Memory of libsvm's cache, in MB.
    verbose : bool, default=False
        Whether libsvm prints its progress.
    max_iter : int, default=10_000_000
        Iterations of libsvm, which stops there with a warning; -1 is no limit, as in scikit-learn.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        ``decision_function = score_samples - offset_``.
    density_ : density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    rows_ : Rows
        The laws of the support rows.
    support_vectors_ : ndarray of shape (n_support, n_features)
        The support rows, with the expected values in the gaps.
    support_ : ndarray of shape (n_support,)
        Places of the support rows among the training rows.
    n_support_ : ndarray
        Number of support rows.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support rows, as in scikit-learn.
    intercept_ : ndarray of shape (1,)
        The constant of the decision function.
    coef_ : ndarray of shape (1, n_features)
        The weight of each column, for ``kernel="linear"`` only.
    fit_status_ : int
        0 if libsvm converged, 1 if it stopped at ``max_iter``.
    n_iter_ : int
        Iterations of libsvm.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had them.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import OneClassSVM
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [np.nan, 0.3], [0.1, 0.2]])
    >>> OneClassSVM(gamma=0.5).fit(X).predict([[5.0, np.nan]])
    array([-1])
    """

    nu: float = 0.5

    def score_samples(self, X) -> np.ndarray:
        """How ordinary each row is; higher is more ordinary.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self.decision_function(X) + self.offset_

    def decision_function(self, X) -> np.ndarray:
        """Signed distance from the boundary, positive inside.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._values(X).ravel()

    def predict(self, X) -> np.ndarray:
        """1 for rows inside, -1 for outliers.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        sides : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _solver(self, training: Training) -> libsvm.Novelty:
        return libsvm.Novelty(**self._libsvm("nu"))

    def _keep(self, training: Training, laws: Laws, solution: libsvm.SupportVectors) -> Self:  # type: ignore[override]
        self.offset_ = -solution.intercept
        return super()._keep(training, laws, solution)
