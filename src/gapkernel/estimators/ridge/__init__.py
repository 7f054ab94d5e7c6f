"""Kernel ridge regression, and its search."""

from gapkernel.estimators.ridge.kernel_ridge import KernelRidge
from gapkernel.estimators.ridge.kernel_ridge_cv import KernelRidgeCV

__all__ = ["KernelRidge", "KernelRidgeCV"]
