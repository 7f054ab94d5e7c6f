"""Kernel machines that learn from data with gaps, at fit and at predict, without an imputation step."""

from gapkernel import density, kernels
from gapkernel.compute.config import config_context, get_config, set_config
from gapkernel.estimators import SVC, SVR, GeometricMarginSVC, Gram, KernelRidge, OneClassSVM, RobustSVC

__version__ = "0.1.0"

__all__ = [
    "SVC",
    "SVR",
    "GeometricMarginSVC",
    "Gram",
    "KernelRidge",
    "OneClassSVM",
    "RobustSVC",
    "config_context",
    "density",
    "get_config",
    "kernels",
    "set_config",
]
