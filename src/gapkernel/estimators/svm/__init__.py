"""Support vector machines: classification, regression, novelty detection, and their searches."""

from gapkernel.estimators.svm.one_class import OneClassSVM
from gapkernel.estimators.svm.svm import SVC, SVR
from gapkernel.estimators.svm.svm_cv import SVCCV, SVRCV

__all__ = ["SVC", "SVCCV", "SVR", "SVRCV", "OneClassSVM"]
