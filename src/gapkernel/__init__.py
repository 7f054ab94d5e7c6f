"""Kernel machines that learn from data with gaps, at fit and at predict, without an imputation step."""

from importlib import import_module

from gapkernel import datasets, density, imputation, inspection, kernels, missingness, persistence
from gapkernel.compute.runtime.config import config_context, get_config, set_config
from gapkernel.estimators import (
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    FourierClassifier,
    FourierFeatures,
    FourierRegressor,
    GapClassifier,
    GapRegressor,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    Gram,
    KernelRidge,
    KernelRidgeCV,
    MultipleImputationClassifier,
    MultipleImputationRegressor,
    Nystroem,
    OneClassSVM,
    TableModel,
)
from gapkernel.imputation import ChainedEquations
from gapkernel.missingness import ampute
from gapkernel.tables.batches import batches

__version__ = "0.1.0"

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "ChainedEquations",
    "FourierClassifier",
    "FourierFeatures",
    "FourierRegressor",
    "GapClassifier",
    "GapRegressor",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "Gram",
    "KernelRidge",
    "KernelRidgeCV",
    "MultipleImputationClassifier",
    "MultipleImputationRegressor",
    "Nystroem",
    "OneClassSVM",
    "TableModel",
    "ampute",
    "batches",
    "config_context",
    "datasets",
    "density",
    "get_config",
    "imputation",
    "inspection",
    "kernels",
    "missingness",
    "papers",
    "persistence",
    "plots",
    "set_config",
    "studies",
]


def __getattr__(name):
    """Load the rooms that few programs need when they are asked for."""
    if name in ("papers", "plots", "studies"):
        return import_module(f"gapkernel.{name}")
    raise AttributeError(f"module 'gapkernel' has no attribute {name!r}")
