"""Random Fourier features of rows with gaps, and linear models on them."""

from gapkernel.estimators.fourier.estimators import FourierClassifier, FourierRegressor
from gapkernel.estimators.fourier.features import FourierFeatures

__all__ = ["FourierClassifier", "FourierFeatures", "FourierRegressor"]
