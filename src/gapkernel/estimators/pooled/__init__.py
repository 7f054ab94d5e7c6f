"""One predictor from several completed tables."""

from gapkernel.estimators.pooled.predictors import MultipleImputationClassifier, MultipleImputationRegressor

__all__ = ["MultipleImputationClassifier", "MultipleImputationRegressor"]
