"""The scikit-learn face: estimator = density + kernel + solver."""

from gapkernel.estimators.base import KernelMachine
from gapkernel.estimators.cccp import CCCPClassifier
from gapkernel.estimators.fourier import FourierClassifier, FourierFeatures, FourierRegressor
from gapkernel.estimators.gap import GapClassifier, GapRegressor
from gapkernel.estimators.geometric import GeometricMarginSVC
from gapkernel.estimators.gram import Gram
from gapkernel.estimators.naive_bayes import CategoricalNaiveBayes
from gapkernel.estimators.nystroem import Nystroem
from gapkernel.estimators.one_class import OneClassSVM
from gapkernel.estimators.pooled import MultipleImputationClassifier, MultipleImputationRegressor
from gapkernel.estimators.process import GaussianProcessClassifier, GaussianProcessRegressor
from gapkernel.estimators.ridge import KernelRidge
from gapkernel.estimators.ridge_cv import KernelRidgeCV
from gapkernel.estimators.robust import RobustSVC
from gapkernel.estimators.svm import SVC, SVR
from gapkernel.estimators.svm_cv import SVCCV, SVRCV

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "CCCPClassifier",
    "CategoricalNaiveBayes",
    "FourierClassifier",
    "FourierFeatures",
    "FourierRegressor",
    "GapClassifier",
    "GapRegressor",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "GeometricMarginSVC",
    "Gram",
    "KernelMachine",
    "KernelRidge",
    "KernelRidgeCV",
    "MultipleImputationClassifier",
    "MultipleImputationRegressor",
    "Nystroem",
    "OneClassSVM",
    "RobustSVC",
]
