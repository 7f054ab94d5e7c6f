"""Intervals around a regressor's predictions and sets of classes, and how kernel machines are calibrated for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from gapkernel.compute.runtime.config import get_config
from gapkernel.estimators.base import Laws, Training
from gapkernel.estimators.calibration.base import Calibration, Conformal, Limits, check_enough
from gapkernel.estimators.calibration.masks import MaskCalibration
from gapkernel.kernels import Kernel
from gapkernel.rows import Rows
from gapkernel.solvers.base import LeftOut, Solver
from gapkernel.tables import Table


class ConformalIntervals(Conformal):
    """Gives intervals to a regressor with parameter ``conformal``."""

    _promises = "intervals"
    predict: Callable[..., np.ndarray]

    def predict_interval(self, X, coverage=0.9) -> np.ndarray:
        """An interval for the target of each row.

        The prediction plus and minus a quantile of the errors on left-out rows (a Gaussian process takes the quantile
        in units of its deviation). The parameter ``conformal`` of the fit says which rows these are: with "count" those
        that miss about as many cells, with "mask" rows with the same cells hidden as the new row misses.
        `conformal_rules` says it for each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            The probability that an interval holds the target.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
            Lower and upper ends, of each target by itself. Infinite if there are too few rows for the coverage.

        Notes
        -----
        With "count": if rows that miss about as many cells are exchangeable, and leaving some out changes the estimator
        little, the interval covers about as often as it promises among such rows. With "mask" it does so among the rows
        that miss the same cells, if gaps come about without regard to the values of the row and its target; for rows
        served by the rule "same" in any case. There is no guarantee in finite samples: the estimator that predicts has
        learned from all rows, and left-out rows have still taken part in the density and in chosen settings.

        Examples
        --------
        >>> import numpy as np
        >>> from gapkernel import KernelRidge
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((200, 2))
        >>> y = X.sum(axis=1)
        >>> X[:100, 0] = np.nan
        >>> model = KernelRidge(kernel="rbf", alpha=0.1, conformal="count").fit(X, y)
        >>> known, unknown = np.diff(model.predict_interval([[0.5, 0.0], [np.nan, 0.0]]))
        >>> bool(unknown > 10 * known)
        True
        """
        return self._promised(X, coverage)

    def _promise(self, table: Table, limits: Limits) -> np.ndarray:
        centre, unit = self._centre_and_unit(table)
        half = unit * limits.highest
        intervals = np.stack([centre - half, centre + half], axis=1)
        if len(limits.nested):
            intervals[limits.nested] = self._nested_intervals(table, limits)
        return intervals

    def _nested_intervals(self, table: Table, limits: Limits) -> np.ndarray:
        """The ends beyond which too many left-out rows score lower under the masks that they share with a row."""
        n_rows, k, _ = limits.masks.shape
        centre, unit = (np.asarray(part) for part in self._centre_and_unit(limits.hidden(table)))
        half = (unit if unit.ndim == 0 else unit.reshape(n_rows, k)) * limits.scores
        centre = centre.reshape(half.shape)
        low, high = np.sort(centre - half, axis=1), np.sort(centre + half, axis=1)
        return np.stack([low[:, k - limits.rank], high[:, limits.rank - 1]], axis=1)

    def _centre_and_unit(self, table: Table) -> tuple[np.ndarray, Any]:
        """The middle of each interval, and the unit of its half-width."""
        return self.predict(table), 1.0


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """The laws of the training rows, their targets, and the solutions that have not learned from each."""

    rows: Rows
    y: np.ndarray
    solutions: LeftOut


class MachineIntervals(ConformalIntervals):
    """Gives intervals to a `KernelMachine`, by the errors of its solver on left-out rows, all rows counting alike."""

    kernel_: Kernel
    _laws: Callable[..., Rows]
    _left_out: LeftOutRows | None

    def _calibrate(self, training: Training, laws: Laws, solver: Solver, gram: np.ndarray) -> None:
        calibration: Calibration | None = None
        left_out = None
        if self.conformal:
            check_enough(len(gram))
            y, table = training.y, training.table
            if self.conformal == "mask":
                solutions = solver.without(gram, y, training.weight, training.folds)
                values = solutions.values(gram, np.arange(len(y))).reshape(y.shape)
                left_out = LeftOutRows(laws.rows, y, solutions)
            else:
                values = solver.left_out(gram, y, training.weight, training.folds)
            calibration = MaskCalibration(table, table.missing, np.abs(y - values)).as_asked(self.conformal)
        self.calibration_, self._left_out = calibration, left_out  # now: a fit that fails leaves nothing behind

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        assert self._left_out is not None, "conformal is 'mask'"
        rows, y, solutions = self._left_out.rows, self._left_out.y, self._left_out.solutions
        values = np.empty((len(places), solutions.weights.shape[2]))
        for some in gen_batches(len(places), max(1, get_config().memory_budget // (32 * len(rows)))):
            values[some] = solutions.values(self.kernel_.cross(self._laws(table[some]), rows), places[some])
        return np.abs(y[places] - values.reshape(-1, *y.shape[1:]))


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
