"""The usual ways to fill gaps before an estimator for complete rows, ready to compare with."""

from __future__ import annotations

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from gapkernel.tables import schema_of

BASELINES = ("mean", "zero", "rbf1", "rbf2", "mean_indicator", "iterative", "knn")


def baseline(name, estimator=None, *, categorical_features="from_dtype", scale=True, random_state=None) -> Pipeline:
    """A pipeline that fills gaps, encodes categories, and ends with an estimator.

    Parameters
    ----------
    name : {"mean", "zero", "rbf1", "rbf2", "mean_indicator", "iterative", "knn"}
        How numeric and categorical columns are treated:

        - "mean": the mean; the mode, categories left as the numbers they are.
        - "zero": zero, everywhere.
        - "rbf1": the mean; the mode, then one column for each category.
        - "rbf2": zero and an indicator column; one column for each category and one for "missing".
        - "mean_indicator": the mean and an indicator column; categories as in "rbf2".
        - "iterative", "knn": scikit-learn's IterativeImputer or KNNImputer; categories as in "rbf1".

        "rbf1" and "rbf2" are those of Nebot-Troyano and Belanche, who used them with an RBF kernel.
    estimator : estimator, default=None
        The last step; None leaves a transformer.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, truth values), none, or names or
        numbers of columns.
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
    gapkernel.estimators.CategoricalNaiveBayes : The baseline for categories, which leaves gaps out.

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
    if name not in BASELINES:
        raise ValueError(f"name must be one of {BASELINES}, got {name!r}.")
    fill = {
        "zero": SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True),
        "rbf2": SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True, add_indicator=True),
        "mean_indicator": SimpleImputer(keep_empty_features=True, add_indicator=True),
        "iterative": _iterative_imputer(random_state) if name == "iterative" else None,
        "knn": KNNImputer(keep_empty_features=True),
    }.get(name, SimpleImputer(keep_empty_features=True))
    steps = [fill]
    if scale:
        steps = [fill, StandardScaler()] if name == "zero" else [StandardScaler(), fill]
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    categorical = columns_of_categories if by_type else [] if categorical_features is None else categorical_features
    columns = ColumnTransformer(
        [("categorical", _category_steps(name), categorical)],
        remainder=make_pipeline(*steps),
        sparse_threshold=0.0,
    )
    return make_pipeline(columns) if estimator is None else make_pipeline(columns, estimator)


def columns_of_categories(X) -> list[int]:
    """The columns whose type says that they hold categories."""
    return np.flatnonzero(schema_of(X).categorical).tolist()


def _iterative_imputer(random_state):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (slow, and allows the next line)
    from sklearn.impute import IterativeImputer

    return IterativeImputer(keep_empty_features=True, random_state=random_state)


def _category_steps(name: str):
    mode = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    if name == "mean":
        return mode
    if name == "zero":
        return SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True)
    unary = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    if name in ("rbf2", "mean_indicator"):
        return unary  # NaN is one more category to it: the indicator column
    return make_pipeline(mode, unary)
