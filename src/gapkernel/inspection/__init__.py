"""Inspect fitted models: do intervals cover, what pushed a prediction, what is worth measuring, did the gaps change?"""

from gapkernel.inspection.coverage import Coverage, coverage
from gapkernel.inspection.gap_drift import Change, Changes, GapDrift, gap_drift, holm as holm
from gapkernel.inspection.shapley import ShapleyValues, shapley
from gapkernel.inspection.tipping_points import TippingPoints, tipping_points
from gapkernel.inspection.value_of_information import ValueOfInformation, value_of_information

__all__ = [
    "Change",
    "Changes",
    "Coverage",
    "GapDrift",
    "ShapleyValues",
    "TippingPoints",
    "ValueOfInformation",
    "coverage",
    "gap_drift",
    "shapley",
    "tipping_points",
    "value_of_information",
]
