"""Support vector machines with a margin of their own for rows with gaps."""

from gapkernel.estimators.margins.geometric import GeometricMarginSVC
from gapkernel.estimators.margins.robust import RobustSVC

__all__ = ["GeometricMarginSVC", "RobustSVC"]
