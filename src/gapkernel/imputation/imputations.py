"""The m completed tables of any imputer: one that gives them all, or one that draws them one at a time."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from gapkernel.imputation.chained_equations import ChainedEquations
from gapkernel.tables import Table, names_of


class Imputations:
    """Fitted imputations that can be repeated on new rows.

    `ChainedEquations` gives its own number of completions. Any other imputer is fitted ``n_imputations`` times with
    different seeds, for example scikit-learn's ``IterativeImputer(sample_posterior=True)``. It sees numbers only: a
    category is its 0/1 codes, and its completion is the level with the largest one.

    Parameters
    ----------
    imputer : imputer
    n_imputations : int
    random_state : int, RandomState or None
        Seed of an imputer that has none.
    """

    def __init__(self, imputer, n_imputations: int, random_state):
        self._chained = isinstance(imputer, ChainedEquations)
        if self._chained or "random_state" not in imputer.get_params():
            n_imputations = 1  # all at once, or the same every time
        random = check_random_state(random_state)
        self._imputers = [_seeded(imputer, random) for _ in range(n_imputations)]

    def fit_complete(self, X, table: Table, y) -> np.ndarray:
        """Fit, and complete the training rows in the columns of `Table.one_hot`, (n_imputations, n_samples, n_codes).

        ``X`` is the table as the caller passed it: a frame of numbers keeps its names on the way to the imputer.
        """
        if self._chained:
            return np.stack([completed.one_hot() for completed in self._imputers[0].fit_transform_all(table, y)])
        source = _source(X, table)
        return _stacked((imputer.fit_transform(source, y) for imputer in self._imputers), table)

    def complete(self, X, table: Table) -> np.ndarray:
        """Complete new rows in the columns of `Table.one_hot`, (n_imputations, n_samples, n_codes)."""
        if self._chained:
            return np.stack([completed.one_hot() for completed in self._imputers[0].transform_all(table)])
        source = _source(X, table)
        # a copy keeps the imputer's own generator where it was, so that the same call gives the same draws
        return _stacked((deepcopy(imputer).transform(source) for imputer in self._imputers), table)


def _seeded(imputer, random):
    """A clone with a seed of its own, where it has none."""
    imputer = clone(imputer)
    if imputer.get_params().get("random_state", 0) is None:
        imputer.set_params(random_state=int(random.randint(np.iinfo(np.int32).max)))
    return imputer


def _source(X, table: Table):
    """What an imputer of numbers is given: a frame of numbers as it is, for its column names; else an array."""
    return table.one_hot() if names_of(X) is None or table.schema.categorical.any() else X


def _stacked(completions, table: Table) -> np.ndarray:
    arrays = [np.asarray(completed, dtype=np.float64) for completed in completions]
    if table.schema.categorical.any():
        arrays = [Table.from_one_hot(array, table.schema).one_hot() for array in arrays]
    return np.stack(arrays)
