"""Looking into fitted machines: do intervals cover, and what would be worth measuring."""

from gapkernel.inspection.cell_information import ValueOfInformation, value_of_information
from gapkernel.inspection.interval_coverage import Coverage, coverage

__all__ = ["Coverage", "ValueOfInformation", "coverage", "value_of_information"]
