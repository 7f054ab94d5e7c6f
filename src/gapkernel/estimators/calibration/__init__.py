"""Intervals and sets that cover as often as they promise, by the scores of rows that were left out."""

from gapkernel.estimators.calibration.base import (
    Calibration,
    Limits,
    NotCalibratedError,
    check_enough,
    checked_coverage,
)
from gapkernel.estimators.calibration.gap_counts import GapCountCalibration
from gapkernel.estimators.calibration.intervals import ConformalIntervals
from gapkernel.estimators.calibration.machines import MachineIntervals
from gapkernel.estimators.calibration.masks import MaskCalibration
from gapkernel.estimators.calibration.sets import ConformalSets

__all__ = [
    "Calibration",
    "ConformalIntervals",
    "ConformalSets",
    "GapCountCalibration",
    "Limits",
    "MachineIntervals",
    "MaskCalibration",
    "NotCalibratedError",
    "check_enough",
    "checked_coverage",
]
