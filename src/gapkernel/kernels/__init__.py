"""Kernels: how alike two laws are."""

from gapkernel.kernels.base import Kernel, OnColumns, Product, Scaled, Sum
from gapkernel.kernels.completion_kernel import CompletionKernel
from gapkernel.kernels.expected_linear import ExpectedLinear
from gapkernel.kernels.heterogeneous_kernel import HeterogeneousKernel
from gapkernel.kernels.karma import Karma
from gapkernel.kernels.missingness import Missingness
from gapkernel.kernels.monte_carlo import MonteCarlo
from gapkernel.kernels.names import KERNELS, make_kernel
from gapkernel.kernels.rbf import AnisotropicRBF, ExpectedRBF, GenRBF, UnscaledExpectedRBF

__all__ = [
    "KERNELS",
    "AnisotropicRBF",
    "CompletionKernel",
    "ExpectedLinear",
    "ExpectedRBF",
    "GenRBF",
    "HeterogeneousKernel",
    "Karma",
    "Kernel",
    "Missingness",
    "MonteCarlo",
    "OnColumns",
    "Product",
    "Scaled",
    "Sum",
    "UnscaledExpectedRBF",
    "make_kernel",
]
