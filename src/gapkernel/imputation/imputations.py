"""The m completed tables of any imputer: one that gives them all, or one that draws them one at a time."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state


class Imputations:
    """Fitted imputations that can be repeated on new rows.

    An imputer with ``fit_transform_all`` and ``transform_all`` (such as `ChainedEquations`) gives its own number
    of completions. Any other one is fitted ``n_imputations`` times with different seeds, for example scikit-learn's
    ``IterativeImputer(sample_posterior=True)``.
    """

    def __init__(self, imputer, n_imputations: int, random_state):
        self._at_once = hasattr(imputer, "transform_all")
        if self._at_once:
            self._imputers = [_seeded(imputer, random_state)]
            return
        random = check_random_state(random_state)
        if "random_state" not in imputer.get_params():
            n_imputations = 1  # it would do the same every time
        self._imputers = [_seeded(imputer, random) for _ in range(n_imputations)]

    def fit_complete(self, X, y) -> np.ndarray:
        """Fit, and complete the training rows, (n_imputations, n_samples, n_features)."""
        if self._at_once:
            return self._imputers[0].fit_transform_all(X, y)
        return _stacked(imputer.fit_transform(X, y) for imputer in self._imputers)

    def complete(self, X) -> np.ndarray:
        """Complete new rows, (n_imputations, n_samples, n_features)."""
        if self._at_once:
            return self._imputers[0].transform_all(X)
        # a copy keeps the imputer's own generator where it was, so that the same call gives the same draws
        return _stacked(deepcopy(imputer).transform(X) for imputer in self._imputers)


def _seeded(imputer, random_state):
    """A clone with a seed of its own, where it has none."""
    imputer = clone(imputer)
    if imputer.get_params().get("random_state", 0) is None:
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        imputer.set_params(random_state=int(seed))
    return imputer


def _stacked(tables) -> np.ndarray:
    return np.stack([np.asarray(table, dtype=np.float64) for table in tables])
