"""Anderson and Gupta, *Expected kernel for missing features in support vector machines*."""

from gapkernel.papers.expected_kernel.robust import RobustSVC
from gapkernel.papers.expected_kernel.unscaled import UnscaledExpectedRBF

__all__ = ["RobustSVC", "UnscaledExpectedRBF"]
