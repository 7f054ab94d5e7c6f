"""`GapClassifier` and `GapRegressor`: what members answer about classes and about numbers, and how it is combined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from gapkernel.estimators.calibration.intervals_and_sets import ConformalIntervals, ConformalSets, adaptive_scores
from gapkernel.estimators.calibration.masks import MaskCalibration
from gapkernel.estimators.gap.base import GapEstimator
from gapkernel.estimators.gap.combined import (
    SMALLEST,
    ToProbabilities,
    as_scores,
    combined_weights,
    mean_weights,
    mixture_weights,
    sigmoid,
    tempered,
)
from gapkernel.estimators.gap.shared_data import SharedData, Targets, targets_of_classes
from gapkernel.estimators.process.regressor import location_and_unit
from gapkernel.tables import Table, read_classes


@dataclass(eq=False, repr=False, kw_only=True)
class GapClassifier(ClassifierMixin, GapEstimator, ConformalSets):
    """Classification of rows with gaps: tries many members, averages the good ones, and calibrates.

    The table is read once: numbers are standardised, and each column is taken for a number or a category
    (``columns_``). On shared folds every member is tuned: Gaussian processes, support vector machines on several
    kernels between laws, some of them with a kernel on the gaps, with gaps of categories as levels, or with the offsets
    of gap patterns taken out, boosted trees and a forest. Their out-of-fold probabilities give the weights of the
    members, the probabilities, the prediction sets and ``cv_score_`` without further fits.

    Parameters
    ----------
    members : "auto" or list, default="auto"
        Names of members and classifiers of scikit-learn that take NaN, which see standardised numbers and one-hot codes
        of categories. The names are "process", "genrbf", "ehk", "rbf", "linear", "fourier", "trees", "trees, small" and
        "forest"; and with additions "process, shrunk", "process, offsets", "process, shrunk, offsets", "genrbf,
        indicator", "rbf, levels", "ehk, levels", "genrbf, offsets", "rbf, offsets", "linear, offsets" and "fourier,
        rbf". Those that do not suit the table are not tried.
    scoring : str or callable, default="log_loss"
        What the settings of members are chosen by: "log_loss", or a name or scorer of scikit-learn. A quarter of
        the members' weights goes by the likelihood; the rest treats the families of members alike.
    cv : int or splitter, default=5
        Number of shuffled stratified folds, or a splitter that tests every row once.
    n_exact : int, default=2000
        Rows up to which kernels are exact. With more, members work on random Fourier features ("fourier"), and
        ``members_`` says so.
    time_limit : float, default=None
        Seconds after which no further member is tried; those tried until then are combined. None is no limit.
    class_weight : dict, "balanced" or None, default=None
        How many rows each row of a class counts for; "balanced" is by the inverse of the class's share.
    conformal : {False, "count", "mask"}, default="count"
        Whether to calibrate `predict_set` by the out-of-fold probabilities. "count" goes by rows that miss
        about as many cells as a new row. "mask" goes by rows with the same cells hidden (see `predict_set`): the
        members that are used are fitted once more to each fold and kept, which takes the time and the memory of ``cv``
        fits of them. Its sets are adaptive: a class is in if the classes that are more probable are not too
        probable together. Other sets hold every class that is not less probable than right classes usually are, and
        always the most probable one.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. Numbers that may be codes of a category are tried both ways.
    n_jobs : int, default=None
        Tasks at the same time, in threads. None is 1 unless in a `joblib.parallel_config`, -1 is all processors. The
        number never changes a result.
    verbose : bool or int, default=False
        Whether to show a progress bar of the members.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of everything drawn. None draws anew in each fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    members_ : Members
        A line for each member that was tried, the best first: member, settings, score, weight, seconds.
    weights_ : ndarray of shape (n_used,)
        The weights of the members that are used.
    fitted_ : list of FittedMember
        These members.
    cv_score_ : float
        The score of the combined out-of-fold probabilities; slightly optimistic, because settings and weights were
        chosen by them.
    columns_ : tuple of ColumnUse
        What each column was taken for, and why.
    calibration_ : Calibration or None
        What `predict_set` goes by.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had them.

    See Also
    --------
    GapRegressor : For numbers.
    GaussianProcessClassifier : One member by itself.
    SVCCV : Another.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import GapClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((60, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    >>> X[random.random(X.shape) < 0.2] = np.nan
    >>> model = GapClassifier(members=["process", "genrbf"], random_state=0).fit(X, y)
    >>> model.predict([[2.0, np.nan, 0.0]])
    array(['yes'], dtype='<U3')
    >>> model.predict_set([[2.0, np.nan, 0.0]], coverage=0.9).shape
    (1, 2)
    """

    scoring: str | Callable = "log_loss"
    class_weight: dict | str | None = None

    def _targets(self, y: np.ndarray, weight: np.ndarray | None) -> Targets:
        labels, codes = read_classes(y)
        counts = np.bincount(codes)
        if len(labels) == 2 and counts.min() < 2:
            rare = labels.tolist()[counts.argmin()]
            raise ValueError(
                f"Class {rare!r} has 1 row. GapClassifier leaves rows out in turn, so of two classes each needs 2 rows "
                f"or more."
            )
        return targets_of_classes(labels, y, self.class_weight)

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        chances = self._average(X)
        return self.classes_[chances.argmax(axis=1)]

    def predict_proba(self, X) -> np.ndarray:
        """The probability of each class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._average(X)

    def _answers(self, raw: np.ndarray, method: str, data: SharedData) -> tuple[np.ndarray, ToProbabilities]:
        scores = as_scores(raw, method)
        fitted = (tempered if method == "predict_proba" else sigmoid)(scores, data.y, data.weight)
        return fitted(scores), fitted

    def _weights(self, answers: list[np.ndarray], families: list[str], data: SharedData) -> np.ndarray:
        chances = np.column_stack([answer[np.arange(len(answer)), data.y] for answer in answers])
        losses = -np.log(np.maximum(chances, SMALLEST))
        weight = data.weight
        return combined_weights(losses, weight, families, lambda k: mixture_weights(chances[:, k], weight))

    def _row_scores(self, answers: np.ndarray, y: np.ndarray, by_mask: bool) -> np.ndarray:
        return _set_scores(answers, by_mask)[np.arange(len(y)), y]

    def _class_scores(self, chances: np.ndarray) -> np.ndarray:
        by_mask = isinstance(self.calibration_, MaskCalibration)  # `conformal` may have been set since the fit
        return _set_scores(chances, by_mask)


def _set_scores(chances: np.ndarray, by_mask: bool) -> np.ndarray:
    """How unusual each class is, (n_rows, n_classes)."""
    return adaptive_scores(chances) if by_mask else 1.0 - chances


@dataclass(eq=False, repr=False, kw_only=True)
class GapRegressor(RegressorMixin, GapEstimator, ConformalIntervals):
    """Regression on rows with gaps: tries many members, averages the good ones, and calibrates.

    The table is read once: numbers are standardised, and each column is taken for a number or a category
    (``columns_``). On shared folds every member is tuned: Gaussian processes, kernel ridge regression on several
    kernels between laws, some of them with a kernel on the gaps, with gaps of categories as levels, or with the offsets
    of gap patterns taken out, boosted trees and a forest. Their out-of-fold predictions give the weights of the
    members, the intervals and ``cv_score_`` without further fits.

    Parameters
    ----------
    members : "auto" or list, default="auto"
        Names of members and regressors of scikit-learn that take NaN, which see standardised numbers and one-hot codes
        of categories. The names are "process", "genrbf", "ehk", "rbf", "linear", "fourier", "trees", "trees, small" and
        "forest"; and with additions "process, shrunk", "process, offsets", "process, shrunk, offsets", "genrbf,
        indicator", "rbf, levels", "ehk, levels", "genrbf, offsets", "rbf, offsets", "linear, offsets" and "fourier,
        rbf". Those that do not suit the table are not tried.
    scoring : str or callable, default="neg_root_mean_squared_error"
        What the settings of members are chosen by: a name or scorer of scikit-learn. A quarter of the members' weights
        goes by the squared error; the rest treats the families of members alike.
    cv : int or splitter, default=5
        Number of shuffled folds, or a splitter that tests every row once.
    n_exact : int, default=2000
        Rows up to which kernels are exact. With more, members work on random Fourier features ("fourier"), and
        ``members_`` says so.
    time_limit : float, default=None
        Seconds after which no further member is tried; those tried until then are combined. None is no limit.
    conformal : {False, "count", "mask"}, default="count"
        Whether to calibrate `predict_interval` by the out-of-fold predictions. "count" goes by rows that miss
        about as many cells as a new row. "mask" goes by rows with the same cells hidden (see `predict_interval`): the
        members that are used are fitted once more to each fold and kept, which takes the time and the memory of ``cv``
        fits of them.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. Numbers that may be codes of a category are tried both ways.
    n_jobs : int, default=None
        Tasks at the same time, in threads. None is 1 unless in a `joblib.parallel_config`, -1 is all processors. The
        number never changes a result.
    verbose : bool or int, default=False
        Whether to show a progress bar of the members.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of everything drawn. None draws anew in each fit.

    Attributes
    ----------
    members_ : Members
        A line for each member that was tried, the best first: member, settings, score, weight, seconds.
    weights_ : ndarray of shape (n_used,)
        The weights of the members that are used.
    fitted_ : list of FittedMember
        These members.
    cv_score_ : float
        The score of the combined out-of-fold predictions; slightly optimistic, because settings and weights were
        chosen by them.
    columns_ : tuple of ColumnUse
        What each column was taken for, and why.
    calibration_ : Calibration or None
        What `predict_interval` goes by.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had them.

    See Also
    --------
    GapClassifier : For classes.
    GaussianProcessRegressor : One member by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import GapRegressor
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((80, 3))
    >>> y = X[:, 0] + X[:, 1] ** 2
    >>> X[random.random(X.shape) < 0.1] = np.nan
    >>> model = GapRegressor(members=["process", "genrbf"], random_state=0).fit(X, y)
    >>> low, high = model.predict_interval([[1.0, 0.0, 0.0]], coverage=0.9)[0]
    >>> bool(low < 1.0 < high)
    True
    """

    scoring: str | Callable = "neg_root_mean_squared_error"

    def _targets(self, y: np.ndarray, weight: np.ndarray | None) -> Targets:
        return Targets(units=location_and_unit(y, weight))

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        values = self._average(X)
        centre, unit = self._units
        return centre + unit * values

    def _centre_and_unit(self, table: Table) -> tuple[np.ndarray, float]:
        return self.predict(table), self._units[1]

    def _answers(self, raw: np.ndarray, method: str, data: SharedData) -> tuple[np.ndarray, None]:
        return raw.reshape(len(raw)), None

    def _weights(self, answers: list[np.ndarray], families: list[str], data: SharedData) -> np.ndarray:
        values, y, weight = np.column_stack(answers), data.y, data.weight
        losses = (values - y[:, None]) ** 2
        return combined_weights(losses, weight, families, lambda k: mean_weights(values[:, k], y, weight))

    def _row_scores(self, answers: np.ndarray, y: np.ndarray, by_mask: bool) -> np.ndarray:
        return np.abs(y - answers)
