"""One predictor from many completed tables."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone, is_classifier
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from gapkernel.compute.runtime.progress import tracked
from gapkernel.imputation import ChainedEquations
from gapkernel.imputation.imputations import Imputations
from gapkernel.tables import read_classes, read_labelled, read_table, read_weight
from gapkernel.tables.part_by_part import AnswersInParts
from gapkernel.tables.takes_gaps import TakesGaps


@dataclass(eq=False, repr=False)
class _MultipleImputation(MetaEstimatorMixin, AnswersInParts, TakesGaps, BaseEstimator):
    """What the pooled classifier and the pooled regressor share: parameters, `fit`, and the answers of each fit."""

    estimator: Any
    imputer: Any = None
    _: KW_ONLY
    pooling: str = "stack"
    n_imputations: int = 10
    categorical_features: Any = "from_dtype"
    indicator: bool = False
    n_jobs: int | None = None
    verbose: bool | int = False
    random_state: Any = None

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "imputer": [HasMethods(["fit", "transform"]), None],
        "pooling": [StrOptions({"stack", "average", "vote"})],
        "n_imputations": [Interval(Integral, 1, None, closed="left")],
        "indicator": ["boolean"],
    }

    def fit(self, X, y, sample_weight=None) -> Self:
        """Impute the training rows and fit the estimator to the completions.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
            Classes or values.
        sample_weight : array-like of shape (n_samples,), default=None
            Passed to the estimator; the imputer does not see it.

        Returns
        -------
        self : object
        """
        self._validate_params()
        options = {"categorical_features": self.categorical_features, "y_numeric": not is_classifier(self)}
        table, y = read_labelled(self, X, y, **options)
        weight, classes = read_weight(sample_weight, table), read_classes(y)[0] if is_classifier(self) else None
        imputer = ChainedEquations() if self.imputer is None else self.imputer
        imputations = Imputations(imputer, self.n_imputations, self.random_state)
        completed = table.with_indicator(imputations.fit_complete(X, table, y), self.indicator)
        if not table.missing.any():
            completed = completed[:1]  # a table without gaps has one completion
        inputs = list(completed)
        if self.pooling == "stack":
            weight = self._stacked_weight(weight, len(inputs), len(table))
            y, inputs = np.tile(y, len(inputs)), [np.concatenate(inputs)]
        fits = (delayed(_fitted)(self.estimator, part, y, weight) for part in inputs)
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator")
        self.estimators_ = list(tracked(parallel(fits), len(inputs), "fits", self.verbose))
        self.imputations_, self.schema_ = imputations, table.schema
        if classes is not None:
            self.classes_ = classes
        return self

    def between_variance(self, X) -> np.ndarray:
        """How much the answer varies over the imputations: what the gaps leave open.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        variance : ndarray
            Variance, with divisor m - 1, of a regressor's predictions; of a classifier's probabilities if the estimator
            has them, else of its decision values, else of the votes for each class. 0 for one imputation.
        """
        answers = self._varying(self._inputs(X))
        return answers.var(axis=0, ddof=1) if len(answers) > 1 else np.zeros(answers.shape[1:])

    def _varying(self, inputs: list[np.ndarray]) -> np.ndarray:
        """The answers over the imputations."""
        return self._answers(inputs, "predict")

    def _stacked_weight(self, sample_weight, copies: int, n: int):
        """Each copy of a row counts 1/m, so that a row counts once whatever the number of imputations."""
        if copies == 1 or not has_fit_parameter(self.estimator, "sample_weight"):
            return sample_weight if sample_weight is None else np.tile(sample_weight, copies)
        weight = np.ones(n) if sample_weight is None else sample_weight
        return np.tile(weight / copies, copies)

    def _inputs(self, X) -> list[np.ndarray]:
        """What the fitted estimators see of new rows: their completions."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False, schema=self.schema_)
        return list(table.with_indicator(self.imputations_.complete(X, table), self.indicator))

    def _answers(self, inputs: list[np.ndarray], method: str) -> np.ndarray:
        """The answer of each fitted estimator to its completion, (n_imputations, n_samples, ...)."""
        fitted = self.estimators_ * len(inputs) if len(self.estimators_) == 1 else self.estimators_
        return np.stack([getattr(one, method)(part) for one, part in zip(fitted, inputs, strict=True)])


class MultipleImputationClassifier(ClassifierMixin, _MultipleImputation):
    """A classifier fitted to several completions of rows with gaps, and applied to several of each new row.

    Parameters
    ----------
    estimator : classifier
        Any classifier for complete rows.
    imputer : imputer, default=None
        `ChainedEquations`, or any imputer that draws at random, such as
        ``IterativeImputer(sample_posterior=True)``, which is then fitted ``n_imputations`` times. None is
        ``ChainedEquations()``. An imputer without a seed of its own gets one from ``random_state``.
    pooling : {"stack", "average", "vote"}, default="stack"
        "stack": one fit to all completions put below each other (1MI), applied to each completion of a new row; the
        answers are averaged. "average": one fit to each completion, applied to the same imputer's completion of the
        new row; probabilities or decision values are averaged (2MI). "vote": the same fits, and the majority of
        their classes; a tie goes to the class that comes first.
    n_imputations : int, default=10
        Number of completions of an imputer that gives one at a time; `ChainedEquations` has its own.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. The estimator sees a 0/1 column for each level. A level unknown at fit is a gap.
    indicator : bool, default=False
        Whether the model also uses which values are missing: the estimator sees a further 0/1 column for each column,
        1 in its gaps.
    n_jobs : int, default=None
        Fits at the same time. None is 1 unless in a `joblib.parallel_config`, -1 is all processors. The number never
        changes a result.
    verbose : bool or int, default=False
        Whether to show progress.
    random_state : int, RandomState or None, default=None
        Seed of an imputer that has none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    estimators_ : list
        The fitted estimator, or estimators.
    imputations_ : Imputations
        The fitted imputer, or imputers.
    schema_ : Schema
        What the columns held in `fit`: numbers, or categories and their levels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they have names.

    Notes
    -----
    With "stack" every copy of a row weighs 1/m if the estimator takes sample weights, so a row counts once, and
    C and the like mean what they mean for one table. A table without gaps has one completion; every pooling then
    is the plain estimator. A new row without gaps has one completion, itself.

    The label is used to impute the training rows only if the imputer does so (``ChainedEquations(use_target=True)``),
    and never those of new rows.

    References
    ----------
    V. Kobayashi, T. Aluja, L. Belanche (2013). Handling missing values in kernel methods with application to
    microbiology data. ESANN. (1MI and 2MI.)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from gapkernel import ChainedEquations, MultipleImputationClassifier
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [0.1, 0.3], [np.nan, 1.9], [2.1, 2.0], [1.8, 2.2]])
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> imputer = ChainedEquations(n_imputations=5, random_state=0)
    >>> MultipleImputationClassifier(SVC(), imputer, pooling="average").fit(X, y).predict([[0.1, np.nan], [2.0, 1.9]])
    array([0, 1])
    """

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        inputs = self._inputs(X)
        answers = self._answers(inputs, "predict")
        pooled = self._varying(inputs, answers).mean(axis=0)
        choice = (pooled > 0).astype(int) if pooled.ndim == 1 else pooled.argmax(axis=1)
        same = (answers == answers[0]).all(axis=0)
        return np.where(same, answers[0], self.classes_[choice])  # where all fits agree, their class

    @available_if(lambda self: self.pooling == "vote" or _offers(self, "predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Mean probability of each class; with "vote", its share of the votes.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return self._varying(self._inputs(X)).mean(axis=0)

    @available_if(lambda self: self.pooling != "vote" and _offers(self, "decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Mean decision value.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        values : ndarray, shaped as the estimator's
        """
        return self._answers(self._inputs(X), "decision_function").mean(axis=0)

    def _varying(self, inputs: list[np.ndarray], classes: np.ndarray | None = None) -> np.ndarray:
        """Probabilities, else decision values, else votes for each class; ``classes`` are what the fits predict."""
        if self.pooling != "vote":
            for method in ("predict_proba", "decision_function"):
                if _offers(self, method):
                    return self._answers(inputs, method)
        classes = self._answers(inputs, "predict") if classes is None else classes
        return (classes[:, :, None] == self.classes_).astype(float)


class MultipleImputationRegressor(RegressorMixin, _MultipleImputation):
    """A regressor fitted to several completions of rows with gaps, and applied to several of each new row.

    Parameters
    ----------
    estimator : regressor
        Any regressor for complete rows.
    imputer : imputer, default=None
        `ChainedEquations`, or any imputer that draws at random, such as
        ``IterativeImputer(sample_posterior=True)``, which is then fitted ``n_imputations`` times. None is
        ``ChainedEquations()``. An imputer without a seed of its own gets one from ``random_state``.
    pooling : {"stack", "average"}, default="stack"
        "stack": one fit to all completions put below each other (1MI), applied to each completion of a new row; the
        predictions are averaged. "average": one fit to each completion, applied to the same imputer's completion of
        the new row; the predictions are averaged (2MI).
    n_imputations : int, default=10
        Number of completions of an imputer that gives one at a time; `ChainedEquations` has its own.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. The estimator sees a 0/1 column for each level. A level unknown at fit is a gap.
    indicator : bool, default=False
        Whether the model also uses which values are missing: the estimator sees a further 0/1 column for each column,
        1 in its gaps.
    n_jobs : int, default=None
        Fits at the same time. None is 1 unless in a `joblib.parallel_config`, -1 is all processors. The number never
        changes a result.
    verbose : bool or int, default=False
        Whether to show progress.
    random_state : int, RandomState or None, default=None
        Seed of an imputer that has none.

    Attributes
    ----------
    estimators_ : list
        The fitted estimator, or estimators.
    imputations_ : Imputations
        The fitted imputer, or imputers.
    schema_ : Schema
        What the columns held in `fit`: numbers, or categories and their levels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they have names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from gapkernel import ChainedEquations, MultipleImputationRegressor
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [2.0, 2.1], [3.0, 2.9], [np.nan, 4.1]])
    >>> model = MultipleImputationRegressor(Ridge(0.01), ChainedEquations(random_state=0))
    >>> model.fit(X, [0.0, 1.0, 2.0, 3.0, 4.0]).predict([[1.5, 1.5]]).round(1)
    array([1.5])
    """

    _parameter_constraints: ClassVar[dict] = {"pooling": [StrOptions({"stack", "average"})]}

    def predict(self, X) -> np.ndarray:
        """The mean prediction over the imputations.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._varying(self._inputs(X)).mean(axis=0)


def _fitted(estimator, X, y, sample_weight):
    if sample_weight is None:
        return clone(estimator).fit(X, y)
    return clone(estimator).fit(X, y, sample_weight=sample_weight)


def _offers(pool, method: str) -> bool:
    """Whether the estimator that is pooled has a method."""
    return hasattr(pool.estimators_[0] if hasattr(pool, "estimators_") else pool.estimator, method)
