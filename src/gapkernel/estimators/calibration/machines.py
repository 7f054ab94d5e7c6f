"""Intervals of kernel machines, whose solver leaves rows out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapkernel.compute.runtime.config import get_config
from gapkernel.estimators.base import Laws, Training
from gapkernel.estimators.calibration.base import Calibration, check_enough
from gapkernel.estimators.calibration.intervals import ConformalIntervals
from gapkernel.estimators.calibration.masks import MaskCalibration
from gapkernel.kernels import Kernel
from gapkernel.rows import Rows
from gapkernel.solvers.base import LeftOut, Solver
from gapkernel.tables import Table


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
            y, missing = training.y, training.table.missing
            if self.conformal == "mask":
                solutions = solver.without(gram, y, training.weight, training.folds)
                values = solutions.values(gram, np.arange(len(y))).reshape(y.shape)
                left_out = LeftOutRows(laws.rows, y, solutions)
            else:
                values = solver.left_out(gram, y, training.weight, training.folds)
            calibration = MaskCalibration(training.table, missing, np.abs(y - values)).as_asked(self.conformal)
        self.calibration_, self._left_out = calibration, left_out  # now: a fit that fails leaves nothing behind

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        assert self._left_out is not None, "conformal is 'mask'"
        rows, y, solutions = self._left_out.rows, self._left_out.y, self._left_out.solutions
        scores = np.empty((len(places), *y.shape[1:]))
        step = max(1, get_config().memory_budget // (8 * 4 * len(rows)))
        for k in range(0, len(places), step):
            some = slice(k, k + step)
            cross = self.kernel_.cross(self._laws(table[some]), rows)
            values = solutions.values(cross, places[some]).reshape(scores[some].shape)
            scores[some] = np.abs(y[places[some]] - values)
        return scores
