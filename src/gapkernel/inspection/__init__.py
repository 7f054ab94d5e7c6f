"""Looking into fitted machines: do intervals cover, and what would be worth measuring."""

from gapkernel.inspection.coverage import Coverage, coverage
from gapkernel.inspection.value_of_information import ValueOfInformation, value_of_information

__all__ = ["Coverage", "ValueOfInformation", "coverage", "value_of_information"]
