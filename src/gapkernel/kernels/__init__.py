"""Kernels: how alike two laws are."""

from gapkernel.kernels.algebra import OnColumns, Product, Scaled, Sum
from gapkernel.kernels.anisotropic import AnisotropicRBF
from gapkernel.kernels.base import Kernel
from gapkernel.kernels.completion import CompletionKernel
from gapkernel.kernels.genrbf import GenRBF
from gapkernel.kernels.heterogeneous import HeterogeneousKernel
from gapkernel.kernels.karma import Karma
from gapkernel.kernels.linear import ExpectedLinear
from gapkernel.kernels.missingness import Missingness
from gapkernel.kernels.monte_carlo import MonteCarlo
from gapkernel.kernels.rbf import ExpectedRBF, UnscaledExpectedRBF

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
