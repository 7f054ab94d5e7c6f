"""Novelty detection for rows with gaps."""

from __future__ import annotations

import numpy as np
from sklearn.base import OutlierMixin

from gapkernel.estimators.support import SupportVectorMachine
from gapkernel.solvers.libsvm import machine, solve
from gapkernel.tables import read_table


class OneClassSVM(OutlierMixin, SupportVectorMachine):
    """Novelty detection on rows with gaps, at fit and at predict.

    On complete data it equals `sklearn.svm.OneClassSVM`. See `SVC` for the kernel, the density and the attributes.

    Parameters
    ----------
    nu : float, default=0.5
        Bound on the share of training rows outside.
    kernel : {"genrbf", "rbf", "linear", "ehk", "karma"} or Kernel, default="genrbf"
    gamma : float, "scale" or "median", default="scale"
    density : "auto" or density, default="auto"
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
    indicator : bool or Missingness, default=False
    shrinking, tol, cache_size, verbose, max_iter
        As in `sklearn.svm.OneClassSVM`.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        ``decision_function = score_samples - offset_``.
    density_, kernel_, rows_, support_, n_support_, dual_coef_, intercept_, fit_status_, n_iter_
        As in `SVC`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import OneClassSVM
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [np.nan, 0.3], [0.1, 0.2]])
    >>> OneClassSVM(gamma=0.5).fit(X).predict([[5.0, np.nan]])
    array([-1])
    """

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="genrbf",
        gamma="scale",
        density="auto",
        categorical_features="from_dtype",
        indicator=False,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.density = density
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X, y=None, sample_weight=None) -> OneClassSVM:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : OneClassSVM
        """
        X = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        kept, weight = self._weighted_rows(X, sample_weight)
        solver = machine("OneClassSVM", **self._libsvm("nu"))
        laws = self._fit_laws(X[kept], weight)
        self._keep(laws, solve(solver, laws.kernel.gram(laws.rows), None, weight), kept)
        self.offset_ = -self.intercept_
        return self

    def score_samples(self, X) -> np.ndarray:
        """Raw score of each row: higher is more ordinary."""
        return self.decision_function(X) + self.offset_

    def decision_function(self, X) -> np.ndarray:
        """Signed distance from the boundary, positive inside."""
        return self._decision_values(X).ravel()

    def predict(self, X) -> np.ndarray:
        """1 for rows inside, -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
