"""Kernels: how alike two laws are."""

from gapkernel.kernels.algebra import OnColumns, Product, Scaled, Sum
from gapkernel.kernels.anisotropic_rbf import AnisotropicRBF
from gapkernel.kernels.base import Kernel
from gapkernel.kernels.completion_kernel import CompletionKernel
from gapkernel.kernels.expected_linear import ExpectedLinear
from gapkernel.kernels.expected_rbf import ExpectedRBF, UnscaledExpectedRBF
from gapkernel.kernels.genrbf import GenRBF
from gapkernel.kernels.heterogeneous_kernel import HeterogeneousKernel
from gapkernel.kernels.karma import Karma
from gapkernel.kernels.missingness import Missingness
from gapkernel.kernels.monte_carlo import MonteCarlo

__all__ = [
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
]
