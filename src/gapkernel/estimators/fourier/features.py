"""Random Fourier features of rows with gaps, as a transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from gapkernel.compute.runtime.config import check_fits
from gapkernel.compute.runtime.threads import run_tasks
from gapkernel.estimators.sampled_density import SampledDensity
from gapkernel.kernels.fourier_map import FourierMap
from gapkernel.tables import Table
from gapkernel.tables.table_in_parts import PART_ROWS, TableInParts


@dataclass(eq=False, repr=False, kw_only=True)
class FourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SampledDensity):
    """Expected random Fourier features of rows with gaps.

    Scalar products of the features approach the "genrbf" or "rbf" kernel between rows, with an error that falls as
    1 / sqrt(n_components). So a linear model on the features does what a kernel machine does, in time that grows
    linearly with the rows. This is not imputation followed by a feature map: what is missing damps the waves.

    Parameters
    ----------
    n_components : int, default=512
        Number of features; each frequency gives a cosine and a sine.
    kernel : {"genrbf", "rbf"} or GenRBF or ExpectedRBF, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`. For "rbf" the features of a row give E k(x, x') for an
        independent copy with itself: its norm is below 1.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or Density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits the table: one `Gaussian`, fitted by EM;
        `JointGaussian` with categories in the table; `FactorAnalysis` for wide tables on which a full covariance would
        be slow.
    density_samples : int or None, default=100_000
        Most rows that the density is fitted to. With more, this number is drawn at random, without replacement; None
        is all rows.
    orthogonal : bool, default=True
        Whether frequencies are orthogonal in blocks, which keeps the features unbiased and makes their error smaller.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level that is not among the rows drawn for the density is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one. A
        `Missingness` must have ``rule="product"``.
    random_state : int, RandomState or None, default=None
        Seed of the frequencies and of the rows drawn for the density. None draws anew in each fit.

    Attributes
    ----------
    density_ : Density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    map_ : FourierMap
        Rows to features; ``map_.frequencies`` and ``map_.standard_error(left, right)``, the closed form of the error.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of str
        Names of the columns at fit, where they had any.

    See Also
    --------
    FourierClassifier, FourierRegressor : Features and a linear model in one, without holding the features.
    Nystroem : Features for any kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import FourierFeatures, Gram
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> Z = FourierFeatures(20_000, gamma=0.1, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Gram(gamma=0.1).fit_transform(X)).max() < 0.02)
    True
    """

    orthogonal: bool = True

    _parameter_constraints: ClassVar[dict] = {"orthogonal": ["boolean"]}

    def fit(self, X, y=None, sample_weight=None) -> FourierFeatures:
        """Fit the density, and draw the frequencies.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`
            NaN, None and pd.NA mark a gap.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the density; `batches` already contain the weights.

        Returns
        -------
        self : FourierFeatures
        """
        self._validate_params()
        return self._fit_parts(self._parts(X, None, sample_weight))

    def _fit_parts(self, parts: TableInParts) -> FourierFeatures:
        random = check_random_state(self.random_state)
        density, kernel, _ = self._fit_sample(parts, random)
        check_fits((self.n_components, len(density.columns_)), "The matrix of frequencies")
        waves = FourierMap.draw(kernel, self.n_components, density.moments().mean, self.orthogonal, random)
        self.density_, self.kernel_, self.map_ = density, kernel, waves
        self._n_features_out = self.n_components
        return self

    def transform(self, X) -> np.ndarray:
        """The features of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or dask collection

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
        """
        table = self.table_of(X)
        check_fits((len(table), self.n_components), "The feature matrix")
        out = np.empty((len(table), self.n_components))

        def fill(start):
            out[start : start + PART_ROWS] = self._features(table[start : start + PART_ROWS])

        run_tasks(fill, range(0, len(table), PART_ROWS), "features")
        return out

    def _features(self, X) -> np.ndarray:
        """The features of a few rows."""
        return self.map_(self._laws(X))

    def _dot(self, table: Table, coefficients: np.ndarray) -> np.ndarray:
        """``features @ coefficients`` without holding the features."""
        starts = range(0, len(table), PART_ROWS)
        parts = run_tasks(lambda i: self._features(table[i : i + PART_ROWS]) @ coefficients, starts, "prediction")
        return np.concatenate(parts)
