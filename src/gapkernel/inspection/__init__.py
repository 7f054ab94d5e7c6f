"""Inspect fitted models: do intervals cover, what pushed a prediction, what is worth measuring, did the gaps change?"""

from gapkernel.inspection.coverage import coverage
from gapkernel.inspection.gap_drift import gap_drift, holm as holm
from gapkernel.inspection.shapley import shapley
from gapkernel.inspection.tipping_points import tipping_points
from gapkernel.inspection.value_of_information import value_of_information

__all__ = ["coverage", "gap_drift", "shapley", "tipping_points", "value_of_information"]
