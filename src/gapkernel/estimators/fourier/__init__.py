"""Random Fourier features of rows with gaps, and linear models on them."""

from gapkernel.estimators.fourier.features import FourierFeatures
from gapkernel.estimators.fourier.models import FourierClassifier, FourierRegressor, OneAgainstRest

__all__ = ["FourierClassifier", "FourierFeatures", "FourierRegressor", "OneAgainstRest"]
