"""Kernel machines that learn from data with gaps, at fit and at predict, without an imputation step."""

from gapkernel import density, imputation, kernels, missingness, plots
from gapkernel.compute.config import config_context, get_config, set_config
from gapkernel.estimators import (
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    CCCPClassifier,
    GeometricMarginSVC,
    Gram,
    KernelRidge,
    KernelRidgeCV,
    MultipleImputationClassifier,
    MultipleImputationRegressor,
    OneClassSVM,
    RobustSVC,
)
from gapkernel.imputation import ChainedEquations

__version__ = "0.1.0"

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "CCCPClassifier",
    "ChainedEquations",
    "GeometricMarginSVC",
    "Gram",
    "KernelRidge",
    "KernelRidgeCV",
    "MultipleImputationClassifier",
    "MultipleImputationRegressor",
    "OneClassSVM",
    "RobustSVC",
    "config_context",
    "density",
    "get_config",
    "imputation",
    "kernels",
    "missingness",
    "plots",
    "set_config",
]
