"""The usual ways to prepare gaps before an estimator: fill them, or leave them in for one that takes NaN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from gapkernel.tables import read_table
from gapkernel.tables.takes_gaps import TakesGaps

BASELINES = ("mean", "zero", "rbf1", "rbf2", "mean_indicator", "iterative", "knn")


def baseline(name, estimator=None, *, categorical_features="from_dtype", scale=True, random_state=None) -> Pipeline:
    """A pipeline that fills gaps, encodes categories, and ends with an estimator.

    Parameters
    ----------
    name : {"mean", "zero", "rbf1", "rbf2", "mean_indicator", "iterative", "knn"}
        How numeric and categorical columns are treated:

        - "mean": the mean; the mode. Text counts by the place of each level, codes as the numbers they are.
        - "zero": zero everywhere; text and codes as in "mean".
        - "rbf1": the mean; the mode, then one column for each category.
        - "rbf2": zero and an indicator column; one column for each category and one for "missing".
        - "mean_indicator": the mean and an indicator column; categories as in "rbf2".
        - "iterative", "knn": scikit-learn's IterativeImputer or KNNImputer; categories as in "rbf1".

        "rbf1" and "rbf2" are those of Nebot-Troyano and Belanche, who used them with an RBF kernel.
    estimator : estimator, default=None
        The last step; None leaves a transformer.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so (category, text, booleans); none; or their
        names, numbers or a mask.
    scale : bool, default=True
        Whether to standardise the numeric columns: after the filling for "zero", before it for all others (so that the
        zero of "rbf2" is the mean).
    random_state : int, RandomState or None, default=None
        Seed of the IterativeImputer.

    Returns
    -------
    pipeline : Pipeline

    See Also
    --------
    gapkernel.papers.microbiology.CategoricalNaiveBayes : The baseline for categories, which leaves gaps out.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.imputation import baseline
    >>> X = np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, np.nan]])
    >>> baseline("rbf2", categorical_features=[1], scale=False).fit_transform(X)
    array([[1., 0., 0., 1., 0.],
           [0., 1., 0., 0., 1.],
           [0., 0., 1., 3., 0.]])
    """
    filler = GapFiller(name=name, categorical_features=categorical_features, scale=scale, random_state=random_state)
    filler._validate_params()
    return make_pipeline(filler) if estimator is None else make_pipeline(filler, estimator)


@dataclass(eq=False, repr=False, kw_only=True)
class GapFiller(TakesGaps, TransformerMixin, BaseEstimator):
    """The first step of a `baseline`: gaps filled and categories encoded; categories come first.

    Parameters
    ----------
    name, categorical_features, scale, random_state
        Those of `baseline`.

    Attributes
    ----------
    schema_ : Schema
        What the columns held in `fit`: numbers, or categories and their levels.
    columns_ : ColumnTransformer
        What fills and encodes the columns.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.imputation import GapFiller
    >>> GapFiller(name="mean", scale=False).fit_transform(np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, np.nan]]))
    array([[1. , 0. ],
           [2. , 1. ],
           [3. , 0.5]])
    """

    name: str = "mean"
    categorical_features: Any = "from_dtype"
    scale: bool = True
    random_state: Any = None

    _parameter_constraints: ClassVar[dict] = {
        "name": [StrOptions(set(BASELINES))],
        "scale": ["boolean"],
    }

    def fit(self, X, y=None) -> GapFiller:
        """Learn what the gaps are filled with.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : None
            Ignored.

        Returns
        -------
        self : GapFiller
        """
        self._validate_params()
        table = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        fill = _numeric_step(self.name, self.random_state)
        steps = [fill]
        if self.scale:
            steps = [fill, StandardScaler()] if self.name == "zero" else [StandardScaler(), fill]
        self.columns_ = ColumnTransformer(
            [("categorical", _category_steps(self.name), np.flatnonzero(table.schema.categorical))],
            remainder=make_pipeline(*steps),
            sparse_threshold=0.0,
        ).fit(table.as_numbers())
        self.schema_ = table.schema
        return self

    def transform(self, X) -> np.ndarray:
        """Fill the gaps of rows and encode their categories.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap; a level unknown at fit is one too.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        return self.columns_.transform(read_table(self, X, reset=False, schema=self.schema_).as_numbers())

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of the table; None takes those of `fit`.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return self.columns_.get_feature_names_out(_check_feature_names_in(self, input_features))


def _imputer(strategy: str, add_indicator: bool = False) -> SimpleImputer:
    return SimpleImputer(strategy=strategy, fill_value=0.0, keep_empty_features=True, add_indicator=add_indicator)


def _numeric_step(name: str, random_state):
    if name == "knn":
        return KNNImputer(keep_empty_features=True)
    if name == "iterative":
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (slow, and allows the next line)
        from sklearn.impute import IterativeImputer

        return IterativeImputer(keep_empty_features=True, random_state=random_state)
    return _imputer("constant" if name in ("zero", "rbf2") else "mean", name in ("rbf2", "mean_indicator"))


def _category_steps(name: str):
    fill = _imputer("constant" if name == "zero" else "most_frequent")
    if name in ("mean", "zero"):
        return fill
    unary = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    if name in ("rbf2", "mean_indicator"):
        return unary  # NaN is one more category to it: the indicator column
    return make_pipeline(fill, unary)


@dataclass(eq=False, repr=False, kw_only=True)
class OneHotWithGaps(TakesGaps, TransformerMixin, BaseEstimator):
    """Numbers as they are, a 0/1 column for each level of a category, NaN in the gaps; columns empty at fit left out.

    Parameters
    ----------
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The columns that hold categories: those whose type says so; none; or their names, numbers or a mask.

    Attributes
    ----------
    schema_ : Schema
        What the columns held in `fit`.
    columns_ : list of int
        The coded columns that have a value.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, where all are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from gapkernel.imputation import OneHotWithGaps
    >>> X = pd.DataFrame({"size": [1.0, None, 3.0], "kind": ["u", "v", None]})
    >>> OneHotWithGaps().fit_transform(X)
    array([[ 1.,  1.,  0.],
           [nan,  0.,  1.],
           [ 3., nan, nan]])
    """

    categorical_features: Any = "from_dtype"

    def fit(self, X, y=None) -> OneHotWithGaps:
        """Learn the levels.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : OneHotWithGaps
        """
        self._validate_params()
        table = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        self.schema_ = table.schema
        self.columns_ = np.flatnonzero(~np.isnan(table.one_hot()).all(axis=0)).tolist()
        return self

    def transform(self, X) -> np.ndarray:
        """Code rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            A level unknown at fit is a gap.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        return read_table(self, X, reset=False, schema=self.schema_).one_hot()[:, self.columns_]
