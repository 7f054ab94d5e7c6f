"""The estimators nobody has to choose: they try many members and combine the good ones."""

from gapkernel.estimators.gap.classifier import GapClassifier
from gapkernel.estimators.gap.regressor import GapRegressor

__all__ = ["GapClassifier", "GapRegressor"]
