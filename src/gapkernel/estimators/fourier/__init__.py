"""Random Fourier features of rows with gaps, and linear models on them."""

from gapkernel.estimators.fourier.classifier import FourierClassifier
from gapkernel.estimators.fourier.features import FourierFeatures
from gapkernel.estimators.fourier.regressor import FourierRegressor

__all__ = ["FourierClassifier", "FourierFeatures", "FourierRegressor"]
