"""The kernel as a transformer, for every estimator that takes a precomputed kernel."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gapkernel.compute.runtime.config import check_fits
from gapkernel.estimators.base import KernelEstimator
from gapkernel.tables import read_table, read_weight


class Gram(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Kernel matrix of rows with gaps.

    Put it before any estimator with ``kernel="precomputed"``: KernelPCA, SpectralClustering, NuSVC, and so on.

    ``fit_transform`` is the Gram matrix of the training rows, where an uncertain row meets itself in the same
    draw. ``transform`` is the kernel between new rows and the training rows, all independent, even if they are
    the same rows. The two differ on the diagonal for rows with gaps (never for "genrbf").

    Parameters
    ----------
    kernel : {"genrbf", "rbf", "linear", "ehk"} or Kernel, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`, "linear" `ExpectedLinear`, "ehk" `HeterogeneousKernel`.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or Density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits kernel and table: `Marginals` for "ehk"; for the
        others one `Gaussian`, fitted by EM, or `JointGaussian` with categories in the table, or `FactorAnalysis` for
        wide tables on which a full covariance would be slow.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one.

    Attributes
    ----------
    rows_ : Rows
        The laws of the training rows.
    density_ : Density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of str
        Names of the columns at fit, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import KernelPCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from gapkernel import Gram
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> make_pipeline(Gram(), KernelPCA(2, kernel="precomputed")).fit_transform(X).shape
    (4, 2)
    """

    def fit(self, X, y=None, sample_weight=None) -> Gram:
        """Fit density and kernel, and keep the laws of the rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the density.

        Returns
        -------
        self : Gram
        """
        self._validate_params()
        table = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        check_fits((len(table), len(table)), "The Gram matrix")  # before the density takes its time
        self.density_, self.kernel_, self.rows_ = self._fit_laws(table, read_weight(sample_weight, table))
        return self

    def fit_transform(self, X, y=None, sample_weight=None) -> np.ndarray:
        """The Gram matrix of the training rows, a row meeting itself in the same draw.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the density.

        Returns
        -------
        gram : ndarray of shape (n_samples, n_samples)
        """
        self.fit(X, sample_weight=sample_weight)
        return self.kernel_.gram(self.rows_)

    def transform(self, X) -> np.ndarray:
        """The kernel between new rows and the training rows, always independent.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        cross : ndarray of shape (n_samples, n_training_samples)
        """
        rows = self._laws(X)
        return self.kernel_.cross(rows, self.rows_)

    @property
    def _n_features_out(self) -> int:
        return len(self.rows_)
