"""Intervals and sets that cover as often as they promise, by the scores of rows that were left out."""

from gapkernel.estimators.calibration.base import (
    NO,
    Calibration,
    NotCalibratedError,
    check_enough,
    checked_coverage,
)
from gapkernel.estimators.calibration.intervals_and_sets import ConformalIntervals, ConformalSets, MachineIntervals
from gapkernel.estimators.calibration.masks import GapCountCalibration, MaskCalibration

__all__ = [
    "NO",
    "Calibration",
    "ConformalIntervals",
    "ConformalSets",
    "GapCountCalibration",
    "MachineIntervals",
    "MaskCalibration",
    "NotCalibratedError",
    "check_enough",
    "checked_coverage",
]
