"""Inspect fitted models: do intervals cover, which gap is worth measuring, and which methods differ?"""

from gapkernel.inspection.coverage import Coverage, coverage
from gapkernel.inspection.ranks import FriedmanNemenyi, friedman_nemenyi
from gapkernel.inspection.value_of_information import ValueOfInformation, value_of_information

__all__ = [
    "Coverage",
    "FriedmanNemenyi",
    "ValueOfInformation",
    "coverage",
    "friedman_nemenyi",
    "value_of_information",
]
