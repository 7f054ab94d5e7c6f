"""`GapClassifier` and `GapRegressor`: they try many members and combine the good ones."""

from gapkernel.estimators.gap.gap_classifier import GapClassifier
from gapkernel.estimators.gap.gap_regressor import GapRegressor

__all__ = ["GapClassifier", "GapRegressor"]
