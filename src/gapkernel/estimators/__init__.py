"""The scikit-learn face: estimator = density + kernel + solver."""

from gapkernel.estimators.gram import Gram
from gapkernel.estimators.ridge import KernelRidge
from gapkernel.estimators.svm import SVC, SVR, OneClassSVM

__all__ = ["SVC", "SVR", "Gram", "KernelRidge", "OneClassSVM"]
