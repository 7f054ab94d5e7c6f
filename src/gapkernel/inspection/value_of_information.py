"""Which gap of a row, if it were measured, would tell most about its target?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import entr
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.doors import as_floats
from gapkernel.density import Density
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.inspection.answers import inside_of, last_step
from gapkernel.tables import Schema, Table, named_like_fit, one_row, read_table


@dataclass(frozen=True, eq=False)
class ValueOfInformation:
    """What measuring each missing cell of a row would be worth; see `value_of_information`."""

    columns: np.ndarray
    names: list[str]
    reduction: np.ndarray
    uncertainty: float
    measure: str
    costs: np.ndarray

    @property
    def best(self) -> str:
        """Name of the cell with the largest reduction for its cost; ValueError if the row has no gap."""
        if not self.names:
            raise ValueError("The row has no gap, so there is nothing to measure.")
        return self.names[int(np.argmax(self.worth))]

    @property
    def priced(self) -> bool:
        """Whether a cell costs other than 1."""
        return bool(np.any(self.costs != 1.0))

    @property
    def worth(self) -> np.ndarray:
        """The reduction for each unit of cost, (n_missing,)."""
        return self.reduction / self.costs


def value_of_information(estimator, row, *, density=None, costs=None, n_nodes=64) -> ValueOfInformation:
    """Expected fall of a row's uncertainty for each of its missing cells, were it measured.

    The cell is integrated over its law given what is observed, by Gauss-Hermite quadrature (a category: over its
    levels). For a regressor the expected fall of the predictive variance is, by the law of total variance, the
    variance of the prediction over the cell's law. For a classifier it is the entropy of ``predict_proba`` less its
    expectation after the measurement.

    Parameters
    ----------
    estimator : fitted regressor or classifier with ``predict_proba``, or a pipeline that ends in one
        Its predictive variance, or the entropy of its probabilities, is the uncertainty.
    row : array-like or frame of one row
        The row with gaps.
    density : fitted density, default=None
        Where the cells' laws come from; None is the estimator's own. In a pipeline it is the density of what reaches
        the last step.
    costs : dict or array-like of shape (n_features,), default=None
        What measuring a column costs: positive, by the names (or numbers) of the columns or one for each, of what
        reaches the last step of a pipeline. ``best`` is then the cell with the largest reduction for its cost. None is
        the same for all.
    n_nodes : int, default=64
        Nodes of the quadrature.

    Returns
    -------
    result : ValueOfInformation
        Its attributes:

        columns : ndarray of shape (n_missing,)
            The missing cells; behind a pipeline, of what reaches its last step.
        names : list of str
            Their names, as the last step's columns are named.
        reduction : ndarray of shape (n_missing,)
            By how much the uncertainty is expected to fall if the cell is measured.
        uncertainty : float
            Of the row as it is: the predictive variance, or the entropy of the class probabilities in nats. NaN for a
            regressor without predictive variances.
        measure : {"variance", "entropy"}
            What ``uncertainty`` and ``reduction`` are.
        costs : ndarray of shape (n_missing,)
            What measuring each cell costs.
        worth : ndarray of shape (n_missing,)
            The reduction for each unit of cost.
        best : str
            Name of the cell that is worth most; ValueError if the row has no gap.
        priced : bool
            Whether a cell costs other than 1.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import GaussianProcessRegressor
    >>> from gapkernel.inspection import value_of_information
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((100, 3))
    >>> y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1]
    >>> model = GaussianProcessRegressor(noise_level=0.01, noise_level_bounds="fixed").fit(X, y)
    >>> result = value_of_information(model, [np.nan, np.nan, 0.5])
    >>> result.best, result.reduction.round(1)
    ('column 0', array([0.5, 0.1]))
    >>> value_of_information(model, [np.nan, np.nan, 0.5], costs=[20.0, 1.0, 1.0]).best  # most for its cost
    'column 1'
    """
    names = getattr(estimator, "feature_names_in_", None)
    estimator, row, names = last_step(estimator, one_row(row, estimator), names)
    check_is_fitted(estimator)
    laws = inside_of(estimator) if density is None else density
    if not isinstance(laws, Density | Inspectable):
        raise ValueError(
            f"{type(estimator).__name__} has no density_: pass density=, for example "
            f"gapkernel.density.Gaussian().fit(X_train)."
        )
    check_is_fitted(laws)
    if isinstance(laws, Inspectable):
        table = laws.table_of(row)
    else:
        table = read_table(estimator, row, reset=False, schema=laws.schema_)
    if len(table) != 1:
        raise ValueError(f"row must be one row, got {len(table)}.")
    columns = np.flatnonzero(table.missing[0])
    if is_classifier(estimator) and not hasattr(estimator, "predict_proba"):
        raise ValueError(f"{type(estimator).__name__} has no predict_proba: wrap it in CalibratedClassifierCV.")
    measure, doubt = ("entropy", _entropy) if is_classifier(estimator) else ("variance", _variance)
    uncertainty, reduction = doubt(estimator, _form(table, estimator)), np.empty(len(columns))
    for k, column in enumerate(columns.tolist()):
        values, weights = laws.cell_nodes(table, column, n_nodes)
        filled = np.repeat(table.values, len(values), axis=0)
        filled[:, column] = values
        measured = _form(Table(filled, table.schema), estimator)
        if measure == "entropy":
            reduction[k] = uncertainty[0] - weights @ _entropy(estimator, measured)
        else:
            means = estimator.predict(measured)
            reduction[k] = weights @ (means - weights @ means) ** 2
    labels = [str(names[j]) if names is not None else f"column {j}" for j in columns]
    prices = _prices(costs, table, names)[columns]
    return ValueOfInformation(columns, labels, reduction, float(uncertainty[0]), measure, prices)


def _prices(costs, table: Table, names) -> np.ndarray:
    """What each column costs; columns that a dict leaves out cost NaN, and are refused where they are missing."""
    n_columns = table.shape[1]
    prices = np.ones(n_columns)
    if isinstance(costs, Mapping):
        prices = np.full(n_columns, np.nan)
        schema = Schema.of_numbers(n_columns, None if names is None else tuple(map(str, names)))
        prices[schema.places(list(costs), "costs")] = as_floats(list(costs.values()), "costs")
    elif costs is not None:
        prices = as_floats(costs, "costs")
        if prices.shape != (n_columns,):
            raise ValueError(f"costs must have one entry for each of {n_columns} columns, got shape {prices.shape}.")
    wrong = np.flatnonzero(table.missing[0] & ~((prices > 0) & np.isfinite(prices)))
    if len(wrong):
        label = names[wrong[0]] if names is not None else wrong[0]
        raise ValueError(f"costs must say a positive cost for column {label!r}, which is missing in the row.")
    return prices


def _form(table: Table, estimator):
    """The table as ``estimator`` was given one: ours take it as it is, others an array or a frame of numbers."""
    if isinstance(estimator, Inspectable) or table.schema.categorical.any():
        return table
    return named_like_fit(table.values, estimator)


def _entropy(classifier, rows) -> np.ndarray:
    return entr(classifier.predict_proba(rows)).sum(axis=1)


def _variance(regressor, rows) -> np.ndarray:
    try:
        return regressor.predict(rows, return_std=True)[1] ** 2
    except TypeError:
        return np.array([np.nan])
