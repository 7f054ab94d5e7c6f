"""Random Fourier features of rows with gaps, and linear models on them."""

from gapkernel.estimators.fourier.features import FourierFeatures
from gapkernel.estimators.fourier.fourier_classifier import FourierClassifier, OneAgainstRest
from gapkernel.estimators.fourier.fourier_regressor import FourierRegressor

__all__ = ["FourierClassifier", "FourierFeatures", "FourierRegressor", "OneAgainstRest"]
