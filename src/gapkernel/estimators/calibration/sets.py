"""Sets of classes that hold the right one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gapkernel.estimators.calibration.base import Conformal, Limits
from gapkernel.tables import Table


class ConformalSets(Conformal):
    """Gives sets of classes to a classifier with parameter ``conformal``."""

    _promises = "sets"
    classes_: np.ndarray
    predict_proba: Callable[..., np.ndarray]

    def predict_set(self, X, coverage=0.9) -> np.ndarray:
        """A set of classes for each row that holds the right one with a given probability.

        It holds the classes that are no more unusual than those of left-out rows were; `conformal_rules` says which
        rows these are.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            The probability that a set holds the class.

        Returns
        -------
        sets : ndarray of shape (n_samples, n_classes), bool
            In the order of ``classes_``. The most probable class is always in.
        """
        return self._promised(X, coverage)

    def _promise(self, table: Table, limits: Limits) -> np.ndarray:
        chances = self.predict_proba(table)
        sets = self._class_scores(chances) <= limits.highest[:, None]
        if len(limits.nested):
            n_rows, k, _ = limits.masks.shape
            scores = self._class_scores(self.predict_proba(limits.hidden(table))).reshape(n_rows, k, -1)
            exceeded = (scores > limits.scores[:, :, None]).sum(axis=1)
            sets[limits.nested] = exceeded < limits.rank
        sets[np.arange(len(sets)), chances.argmax(axis=1)] = True  # an empty set would say nothing
        return sets

    def _scores_of(self, chances: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """How unusual the class of each row, given by its place, is by its probabilities."""
        return self._class_scores(chances)[np.arange(len(chances)), classes]

    def _class_scores(self, chances: np.ndarray) -> np.ndarray:
        """How unusual each class is."""
        return adaptive_scores(chances)


def adaptive_scores(chances: np.ndarray) -> np.ndarray:
    """The probability of all classes that are more probable than each class: 0 for the most probable one.

    The sets of classes up to a limit are adaptive prediction sets (Romano, Sesia, Candes 2020) without their random
    part, and never empty.
    """
    more = chances[:, None, :] > chances[:, :, None]
    return np.einsum("ijk,ik->ij", more, chances)
