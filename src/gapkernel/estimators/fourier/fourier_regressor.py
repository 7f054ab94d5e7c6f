"""Regression on random Fourier features: kernel ridge regression for any number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from gapkernel.estimators.calibration import NO, ConformalIntervals, GapCountCalibration, check_enough
from gapkernel.estimators.fourier.features import FourierFeatures
from gapkernel.estimators.fourier.model import FourierModel, labelled_rows
from gapkernel.estimators.sampled_density import sample_rows
from gapkernel.solvers.normal_equations import Sums, inverse, leave_one_out, ridge
from gapkernel.tables import read_target
from gapkernel.tables.table_in_parts import HeldTable, Part, TableInParts

CALIBRATION_ROWS = 100_000
"""Most rows that intervals are calibrated by: enough for any quantile, few enough to be held in memory."""


def _adds_rows(model: FourierRegressor) -> bool:
    """Whether the model has `partial_fit`."""
    if model.conformal:  # earlier rows are gone, and what was left of them has changed
        raise AttributeError("partial_fit cannot calibrate: set conformal=False, or fit all rows at once.")
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class FourierRegressor(ConformalIntervals, MultiOutputMixin, RegressorMixin, FourierModel):
    """Kernel ridge regression for any number of rows with gaps: `FourierFeatures` and ridge regression in one pass.

    Time grows linearly with the rows, and memory does not grow with them: the features are made part by part, and only
    sums over rows are kept. So the rows may come from an array, a memory map, files (`batches`) or a dask collection;
    the model is the same up to rounding. With more features it approaches `KernelRidge`, except for the intercept that
    it adds.

    Parameters
    ----------
    n_components : int, default=512
        Number of features.
    alpha : float, default=1.0
        Penalty: sum of squares + ``alpha |coefficients|^2``, as in `KernelRidge`.
    kernel : {"genrbf", "rbf"} or GenRBF or ExpectedRBF, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`.
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
        Seed of the frequencies and of the rows drawn for density and intervals. None draws anew in each fit.
    conformal : {False, "count"}, default=False
        Whether to calibrate `predict_interval` among rows that miss about as many cells, by the error on each row when
        it is left out, in closed form, at the density of all rows. Of more than 100,000 rows, 100,000 are drawn.
        Rows count alike there, whatever their weights.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components)
        Coefficients of the features.
    intercept_ : float or ndarray of shape (n_targets,)
        The value where all features are 0.
    features_ : FourierFeatures
        The fitted features.
    calibration_ : GapCountCalibration or None
        The errors on left-out rows, for `predict_interval`.
    density_ : Density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of str
        Names of the columns at fit, where they had any.

    See Also
    --------
    KernelRidge : The exact kernel, for up to some ten thousand rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import FourierRegressor
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> model = FourierRegressor(64, gamma=0.1, alpha=0.01, random_state=0).fit(X, [0.0, 1.0, 2.0, 3.0])
    >>> model.predict([[2.0, np.nan]]).round(0)
    array([2.])
    """

    conformal: bool | str = False

    _parameter_constraints: ClassVar[dict] = {"conformal": [NO, StrOptions({"count"})]}
    _check_targets = partial(read_target, multi_output=True, y_numeric=True)
    _sums_of = Sums.of_values

    @available_if(_adds_rows)
    def partial_fit(self, X, y, sample_weight=None) -> FourierRegressor:
        """Add rows to the fit.

        The density and the features are those of the first call (or of `fit`); later rows add to the normal equations.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : FourierRegressor
        """
        return self._solve(*self._more_sums(X, y, sample_weight))

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._values(X)

    def _solve(self, features: FourierFeatures, sums: Sums, parts: TableInParts | None = None) -> FourierRegressor:
        coefficients, calibration = ridge(sums, self.alpha), None
        if self.conformal and parts is not None:
            calibration = self._calibrated(parts, features, inverse(sums, self.alpha), coefficients)
        self.calibration_ = calibration
        return self._keep_model(features, sums, coefficients)

    def _calibrated(self, parts: TableInParts, features: FourierFeatures, inverse, coefficients) -> GapCountCalibration:
        """The errors on rows left out one by one, by their numbers of gaps."""
        check_enough(parts.n_rows)
        rows = sample_rows(parts.n_rows, CALIBRATION_ROWS, check_random_state(self.random_state))
        left_out = partial(_left_out, features, inverse, coefficients)
        pieces = HeldTable(parts.take(rows)).sum(left_out, "Calibrating")
        counts, errors = (np.concatenate(piece) for piece in zip(*pieces, strict=True))
        check_enough(len(counts))  # rows of weight zero do not count
        return GapCountCalibration(counts, np.abs(errors))


def _left_out(features: FourierFeatures, inverse, coefficients, part: Part) -> list:
    """Numbers of gaps, and errors, of the rows of a part that count: one pair, in a list so that parts can be added."""
    table, y, weight = labelled_rows(FourierRegressor, features, part)
    errors = leave_one_out(inverse, coefficients, features._features(table), y, weight)
    return [(table.missing.sum(axis=1), errors)]
