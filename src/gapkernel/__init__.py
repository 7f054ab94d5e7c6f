"""Kernel machines that learn from data with gaps, at fit and at predict, without an imputation step."""

from gapkernel import datasets, density, experiments, imputation, kernels, missingness, persistence, plots
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
from gapkernel.missingness import ampute

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
    "ampute",
    "config_context",
    "datasets",
    "density",
    "experiments",
    "get_config",
    "imputation",
    "kernels",
    "missingness",
    "persistence",
    "plots",
    "set_config",
]
