"""The scikit-learn face: estimator = density + kernel + solver."""

from gapkernel.estimators.base import KernelMachine
from gapkernel.estimators.cccp import CCCPClassifier
from gapkernel.estimators.fourier import FourierClassifier, FourierFeatures, FourierRegressor
from gapkernel.estimators.gap import GapClassifier, GapRegressor
from gapkernel.estimators.gram import Gram
from gapkernel.estimators.margins import GeometricMarginSVC, RobustSVC
from gapkernel.estimators.naive_bayes import CategoricalNaiveBayes
from gapkernel.estimators.nystroem import Nystroem
from gapkernel.estimators.pooled import MultipleImputationClassifier, MultipleImputationRegressor
from gapkernel.estimators.process import GaussianProcessClassifier, GaussianProcessRegressor
from gapkernel.estimators.ridge import KernelRidge, KernelRidgeCV
from gapkernel.estimators.svm import SVC, SVCCV, SVR, SVRCV, OneClassSVM
from gapkernel.estimators.table_model import TableModel

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
    "TableModel",
]
