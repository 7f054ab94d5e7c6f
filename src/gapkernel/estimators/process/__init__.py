"""Gaussian processes for rows with gaps."""

from gapkernel.estimators.process.classifier import GaussianProcessClassifier
from gapkernel.estimators.process.regressor import GaussianProcessRegressor

__all__ = ["GaussianProcessClassifier", "GaussianProcessRegressor"]
