"""The scikit-learn face: estimator = density + kernel + solver."""

from gapkernel.estimators.cccp import CCCPClassifier
from gapkernel.estimators.geometric import GeometricMarginSVC
from gapkernel.estimators.gram import Gram
from gapkernel.estimators.imputation_pool import MultipleImputationClassifier, MultipleImputationRegressor
from gapkernel.estimators.naive_bayes import CategoricalNaiveBayes
from gapkernel.estimators.ridge import KernelRidge
from gapkernel.estimators.robust import RobustSVC
from gapkernel.estimators.svm import SVC, SVR, OneClassSVM

__all__ = [
    "SVC",
    "SVR",
    "CCCPClassifier",
    "CategoricalNaiveBayes",
    "GeometricMarginSVC",
    "Gram",
    "KernelRidge",
    "MultipleImputationClassifier",
    "MultipleImputationRegressor",
    "OneClassSVM",
    "RobustSVC",
]
