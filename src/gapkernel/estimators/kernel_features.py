"""Features for other estimators: the kernel values with all training rows, or with some landmarks (Nystroem)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from gapkernel.compute.runtime.config import check_fits
from gapkernel.estimators.base import KernelEstimator
from gapkernel.estimators.sampled_density import SampledDensity, sample_rows
from gapkernel.kernels import Kernel
from gapkernel.rows import Rows
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


CANDIDATES_PER_LANDMARK = 10
"""Rows among which the pivoted choice looks for each landmark."""


@dataclass(eq=False, repr=False)
class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SampledDensity):
    """Features of rows with gaps from their kernel with a few landmark rows.

    With L the landmarks, the features of a row are K(L, L)^(-1/2) k(L, row): their scalar products are the best
    approximation of the kernel by functions of the landmarks. It works for every kernel of the library. On complete
    data it equals `sklearn.kernel_approximation.Nystroem` with the same landmarks.

    Parameters
    ----------
    n_components : int, default=100
        Number of landmarks; no more than there are rows.
    kernel : {"genrbf", "rbf", "linear", "ehk"} or Kernel, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`, "linear" `ExpectedLinear`, "ehk" `HeterogeneousKernel`.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or Density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits kernel and table: `Marginals` for "ehk"; for the
        others one `Gaussian`, fitted by EM, or `JointGaussian` with categories in the table, or `FactorAnalysis` for
        wide tables on which a full covariance would be slow.
    density_samples : int or None, default=100_000
        Most rows that the density is fitted to, and that landmarks are chosen from. With more, this number is drawn at
        random, without replacement; None is all rows.
    landmarks : {"uniform", "pivoted"}, default="uniform"
        How landmarks are chosen: uniformly, or by randomly pivoted Cholesky, where a row is the likelier the worse the
        landmarks before it represent it, among ten times as many rows drawn uniformly.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one.
    random_state : int, RandomState or None, default=None
        Seed of the rows drawn for the density and of the landmarks. None draws anew in each fit.

    Attributes
    ----------
    rows_ : Rows
        The laws of the landmarks.
    normalization_ : ndarray of shape (n_components, n_components)
        K(L, L)^(-1/2), a generalised inverse where landmarks repeat each other.
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
    >>> from gapkernel import Nystroem
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> Nystroem(3, random_state=0).fit_transform(X).shape
    (4, 3)
    """

    n_components: int = 100
    _: KW_ONLY
    landmarks: str = "uniform"

    _parameter_constraints: ClassVar[dict] = {"landmarks": [StrOptions({"uniform", "pivoted"})]}

    def fit(self, X, y=None, sample_weight=None) -> Nystroem:
        """Fit density and kernel, and choose the landmarks.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`
            NaN, None and pd.NA mark a gap.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the density; `batches` already contain the weights.

        Returns
        -------
        self : Nystroem
        """
        self._validate_params()
        random = check_random_state(self.random_state)
        parts = self._parts(X, None, sample_weight)
        density, kernel, rows = self._fit_sample(parts, random)
        n_rows = min(parts.n_rows, self.density_samples or parts.n_rows)
        n = min(self.n_components, n_rows)
        candidates = sample_rows(n_rows, n if self.landmarks == "uniform" else CANDIDATES_PER_LANDMARK * n, random)
        here = len(rows) == n_rows  # else the density was fitted to all rows of a table in parts
        rows = rows.take(candidates) if here else self._condition(density, parts.take(candidates).X)
        landmarks = rows if self.landmarks == "uniform" else rows.take(pivots(kernel, rows, n, random))
        # independent rows: scalar products of features are then those of the laws' mean embeddings, as in `cross`
        left, values, right = np.linalg.svd(kernel.cross(landmarks, landmarks))
        small = values <= 1e-12 * values[0]
        self.normalization_ = (left / np.sqrt(np.where(small, np.inf, values))) @ right
        self.density_, self.kernel_, self.rows_ = density, kernel, landmarks
        self._n_features_out = len(landmarks)
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
        rows = self._laws(X)
        check_fits((len(rows), self._n_features_out), "The feature matrix")
        return self.kernel_.dot(rows, self.rows_, self.normalization_.T)


def pivots(kernel: Kernel, rows: Rows, n: int, random) -> np.ndarray:
    """Landmarks by randomly pivoted Cholesky of the kernel between independent rows (Chen, Epperly, Tropp, Webber).

    Taking the largest pivot instead of a random one would choose outliers.
    """
    left = kernel.self_cross(rows)  # what the landmarks so far do not explain of each row
    enough = 1e-12 * left.max(initial=0.0)
    factor = np.empty((len(rows), n))
    chosen: list[int] = []
    for k in range(n):
        left[left <= enough] = 0.0
        if not left.any():
            break  # the others are combinations of these
        pivot = int(random.choice(len(rows), p=left / left.sum()))
        column = kernel.cross(rows, rows.take([pivot]))[:, 0] - factor[:, :k] @ factor[pivot, :k]
        factor[:, k] = column / np.sqrt(left[pivot])
        left = np.maximum(left - factor[:, k] ** 2, 0.0)
        left[pivot] = 0.0
        chosen.append(pivot)
    return np.sort(chosen)
