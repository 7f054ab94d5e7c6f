"""One predictor from many completed tables."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter

from gapkernel.estimators.pooled.mean_gram import MeanGram
from gapkernel.imputation import ChainedEquations
from gapkernel.imputation.imputations import Imputations
from gapkernel.tables import numbers_of, read_labelled, read_table
from gapkernel.tables.part_by_part import AnswersInParts


class _MultipleImputation(MetaEstimatorMixin, AnswersInParts, BaseEstimator):
    _poolings: tuple[str, ...]

    def _fit_pool(self, X, table, y, sample_weight) -> None:
        """Complete the training rows, and fit one machine or one for each completion."""
        if self.pooling not in self._poolings:
            raise ValueError(f"pooling must be one of {self._poolings}, got {self.pooling!r}.")
        if not isinstance(self.n_imputations, Integral) or self.n_imputations < 1:
            raise ValueError(f"n_imputations must be a whole number from 1 up, got {self.n_imputations!r}.")
        imputer = ChainedEquations() if self.imputer is None else self.imputer
        imputations = Imputations(imputer, int(self.n_imputations), self.random_state)
        completed = imputations.fit_complete(_source(X, table), y)
        if not np.isnan(table).any():
            completed = completed[:1]  # a table without gaps has one completion
        machine, inputs, mean_gram = self.estimator, list(completed), None
        if self.pooling == "kernel":
            counted = slice(None) if sample_weight is None else np.flatnonzero(sample_weight)
            # libsvm drops rows of weight 0 by itself, and would then pair the others with the wrong columns
            y, sample_weight = y[counted], None if sample_weight is None else sample_weight[counted]
            mean_gram = MeanGram.of(self.estimator, completed[:, counted])
            machine, inputs = mean_gram.machine, [mean_gram.gram()]
        elif self.pooling == "stack":
            copies = len(inputs)
            inputs, y = [np.concatenate(inputs)], np.concatenate([y] * copies)
            sample_weight = self._stacked_weight(sample_weight, copies, len(table))
        fits = (delayed(_fitted)(machine, part, y, sample_weight) for part in inputs)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(fits)
        self.imputations_, self._mean_gram = imputations, mean_gram

    def _stacked_weight(self, sample_weight, copies: int, n: int):
        """Each copy of a row counts 1/m, so that a row counts once whatever the number of imputations."""
        if copies == 1 or not has_fit_parameter(self.estimator, "sample_weight"):
            return sample_weight if sample_weight is None else np.tile(sample_weight, copies)
        weight = np.ones(n) if sample_weight is None else sample_weight
        return np.tile(weight / copies, copies)

    def _inputs(self, X) -> list[np.ndarray]:
        """What the machines are asked about: the completions of new rows, or their kernels."""
        check_is_fitted(self)
        table = numbers_of(read_table(self, X, reset=False), self)
        completed = self.imputations_.complete(_source(X, table))
        return list(completed) if self._mean_gram is None else self._mean_gram.crosses(completed)

    def _answers(self, X, method: str) -> np.ndarray:
        """The answer of each machine to its completion, (n_imputations, n_samples, ...)."""
        inputs = self._inputs(X)
        machines = self.estimators_ * len(inputs) if len(self.estimators_) == 1 else self.estimators_
        return np.stack([getattr(machine, method)(part) for machine, part in zip(machines, inputs, strict=True)])

    def _mean_kernel_answer(self, X, method: str) -> np.ndarray:
        return getattr(self.estimators_[0], method)(np.mean(self._inputs(X), axis=0))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class MultipleImputationClassifier(ClassifierMixin, _MultipleImputation):
    """A classifier fitted to, and asked about, several completions of rows with gaps.

    Parameters
    ----------
    estimator : classifier
        Any classifier for complete rows.
    imputer : imputer, default=None
        `ChainedEquations`, or any imputer that draws at random, such as
        ``IterativeImputer(sample_posterior=True)``, which is then fitted ``n_imputations`` times. None is
        ``ChainedEquations()``. An imputer without a seed of its own gets one from ``random_state``.
    pooling : {"stack", "average", "vote", "kernel"}, default="stack"
        "stack": one machine on all completions put below each other (1MI), asked about each completion of a
        new row, the answers averaged. "average": one machine for each completion, their probabilities or
        decision values averaged, each machine being asked about its own completion of the new row (2MI).
        "vote": the same machines, the majority of their classes; a tie goes to the class that comes first.
        "kernel": one machine on the mean of the completions' Gram matrices; ``estimator`` must be an SVM or
        another machine with a parameter ``kernel``.
    n_imputations : int, default=10
        Number of completions of an imputer that gives one at a time; `ChainedEquations` has its own.
    n_jobs : int, default=None
        Machines fitted at the same time.
    random_state : int, RandomState or None, default=None
        Seed of an imputer that has none.

    Attributes
    ----------
    classes_ : ndarray
    estimators_ : list
        The fitted machine, or machines.
    imputations_ : Imputations
        The fitted imputer, or imputers.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    With "stack" every copy of a row weighs 1/m if the estimator takes sample weights, so a row counts once, and
    C and the like mean what they mean for one table. A table without gaps has one completion; every pooling then
    is the plain estimator. A new row without gaps is asked about as it is.

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

    _poolings = ("stack", "average", "vote", "kernel")

    def __init__(self, estimator, imputer=None, *, pooling="stack", n_imputations=10, n_jobs=None, random_state=None):
        self.estimator = estimator
        self.imputer = imputer
        self.pooling = pooling
        self.n_imputations = n_imputations
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None) -> MultipleImputationClassifier:
        """Impute the training rows and fit the machines.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks a gap.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Passed to the estimator; the imputer does not see it.

        Returns
        -------
        self : MultipleImputationClassifier
        """
        table, y = read_labelled(self, X, y, categorical_features=None)
        table = table.values
        check_classification_targets(y)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, table)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(f"y holds one class only, {classes[0]!r}. A classifier needs at least two classes.")
        self._fit_pool(X, table, y, weight)
        self.classes_ = classes
        return self

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.pooling == "kernel":
            return self._mean_kernel_answer(X, "predict")
        answers = self._answers(X, "predict")
        pooled = self.classes_[self._pooled_choice(X, answers)]
        return np.where(
            (answers == answers[0]).all(axis=0), answers[0], pooled
        )  # the machines' own word, if they agree

    def _pooled_choice(self, X, answers) -> np.ndarray:
        if self.pooling == "vote" or not (
            _machine_has(self, "predict_proba") or _machine_has(self, "decision_function")
        ):
            return self._vote_shares(answers).argmax(axis=1)
        if _machine_has(self, "predict_proba"):
            return self.predict_proba(X).argmax(axis=1)
        values = self.decision_function(X)
        return (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)

    def _vote_shares(self, answers) -> np.ndarray:
        return (answers[:, :, None] == self.classes_).mean(axis=0)

    @available_if(lambda self: self.pooling == "vote" or _machine_has(self, "predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Mean probability of each class; with "vote", its share of the votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        if self.pooling == "vote":
            return self._vote_shares(self._answers(X, "predict"))
        if self.pooling == "kernel":
            return self._mean_kernel_answer(X, "predict_proba")
        return self._answers(X, "predict_proba").mean(axis=0)

    @available_if(lambda self: self.pooling != "vote" and _machine_has(self, "decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Mean decision value.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray, shaped as the estimator's
        """
        check_is_fitted(self)
        if self.pooling == "kernel":
            return self._mean_kernel_answer(X, "decision_function")
        return self._answers(X, "decision_function").mean(axis=0)

    def between_variance(self, X) -> np.ndarray:
        """How much the answer varies over the imputations: what the gaps leave open.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        variance : ndarray
            Variance, with divisor m - 1, of the probabilities if the estimator has them, else of the decision
            values, else of the votes for each class; 0 for one imputation.
        """
        check_is_fitted(self)
        if self.pooling != "vote":
            for method in ("predict_proba", "decision_function"):
                if _machine_has(self, method):
                    return _between(self._answers(X, method))
        return _between((self._answers(X, "predict")[:, :, None] == self.classes_).astype(float))


class MultipleImputationRegressor(RegressorMixin, _MultipleImputation):
    """A regressor fitted to, and asked about, several completions of rows with gaps.

    Parameters
    ----------
    estimator : regressor
        Any regressor for complete rows.
    imputer : imputer, default=None
    pooling : {"stack", "average", "kernel"}, default="stack"
    n_imputations : int, default=10
    n_jobs : int, default=None
    random_state : int, RandomState or None, default=None
        All as in `MultipleImputationClassifier`; it is the predictions that are averaged.

    Attributes
    ----------
    estimators_, imputations_
        As in `MultipleImputationClassifier`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

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

    _poolings = ("stack", "average", "kernel")

    def __init__(self, estimator, imputer=None, *, pooling="stack", n_imputations=10, n_jobs=None, random_state=None):
        self.estimator = estimator
        self.imputer = imputer
        self.pooling = pooling
        self.n_imputations = n_imputations
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None) -> MultipleImputationRegressor:
        """Impute the training rows and fit the machines.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks a gap.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Passed to the estimator; the imputer does not see it.

        Returns
        -------
        self : MultipleImputationRegressor
        """
        table, y = read_labelled(self, X, y, categorical_features=None, y_numeric=True)
        table = table.values
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, table)
        self._fit_pool(X, table, y, weight)
        return self

    def predict(self, X) -> np.ndarray:
        """The mean prediction over the imputations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.pooling == "kernel":
            return self._mean_kernel_answer(X, "predict")
        return self._answers(X, "predict").mean(axis=0)

    def between_variance(self, X) -> np.ndarray:
        """How much the prediction varies over the imputations: what the gaps leave open.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        variance : ndarray of shape (n_samples,)
            With divisor m - 1; 0 for one imputation.
        """
        return _between(self._answers(X, "predict"))


def _source(X, table: np.ndarray):
    """What the imputer is given: frames as they are, for their column names, all else as checked."""
    return X if hasattr(X, "columns") else table


def _fitted(machine, X, y, sample_weight):
    if sample_weight is None:
        return clone(machine).fit(X, y)
    return clone(machine).fit(X, y, sample_weight=sample_weight)


def _machine_has(pool, method: str) -> bool:
    return hasattr(pool.estimators_[0] if hasattr(pool, "estimators_") else pool.estimator, method)


def _between(answers: np.ndarray) -> np.ndarray:
    return answers.var(axis=0, ddof=1) if len(answers) > 1 else np.zeros(answers.shape[1:])
