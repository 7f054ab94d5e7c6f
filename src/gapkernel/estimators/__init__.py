"""The scikit-learn face: estimator = density + kernel + solver."""

from gapkernel.estimators.base import KernelEstimator, KernelMachine, Laws, Training, class_weighted, part_of
from gapkernel.estimators.fourier import FourierClassifier, FourierFeatures, FourierRegressor, OneAgainstRest
from gapkernel.estimators.gap import GapClassifier, GapRegressor
from gapkernel.estimators.inspectable import Inspectable, TrainingSummary
from gapkernel.estimators.kernel_features import Gram, Nystroem
from gapkernel.estimators.kernel_ridge import KernelRidge, KernelRidgeCV
from gapkernel.estimators.multiple_imputation import MultipleImputationClassifier, MultipleImputationRegressor
from gapkernel.estimators.one_class_svm import OneClassSVM
from gapkernel.estimators.process import GaussianProcessClassifier, GaussianProcessRegressor
from gapkernel.estimators.search import Search
from gapkernel.estimators.search_cv import SVCCV, SVRCV
from gapkernel.estimators.svm import SVC, SVR
from gapkernel.estimators.table_model import TableModel

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "FourierClassifier",
    "FourierFeatures",
    "FourierRegressor",
    "GapClassifier",
    "GapRegressor",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "Gram",
    "Inspectable",
    "KernelEstimator",
    "KernelMachine",
    "KernelRidge",
    "KernelRidgeCV",
    "Laws",
    "MultipleImputationClassifier",
    "MultipleImputationRegressor",
    "Nystroem",
    "OneAgainstRest",
    "OneClassSVM",
    "Search",
    "TableModel",
    "Training",
    "TrainingSummary",
    "class_weighted",
    "part_of",
]
