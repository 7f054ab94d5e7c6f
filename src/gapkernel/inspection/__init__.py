"""Inspect fitted models: do intervals cover, what pushed a prediction, what is worth measuring, did the gaps change?"""

from gapkernel.inspection.coverage import Coverage, coverage
from gapkernel.inspection.ranks import FriedmanNemenyi, friedman_nemenyi
from gapkernel.inspection.shapley import ShapleyValues, shapley
from gapkernel.inspection.value_of_information import ValueOfInformation, value_of_information

__all__ = [
    "Coverage",
    "FriedmanNemenyi",
    "ShapleyValues",
    "ValueOfInformation",
    "coverage",
    "friedman_nemenyi",
    "shapley",
    "value_of_information",
]
