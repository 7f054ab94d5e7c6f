"""Gaussian processes on rows with gaps."""

from gapkernel.estimators.process.regressor import GaussianProcessRegressor

__all__ = ["GaussianProcessRegressor"]
