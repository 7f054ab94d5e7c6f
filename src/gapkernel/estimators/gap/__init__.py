"""`GapClassifier` and `GapRegressor`: they try many members and combine the good ones."""

from gapkernel.estimators.gap.estimators import GapClassifier, GapRegressor

__all__ = ["GapClassifier", "GapRegressor"]
