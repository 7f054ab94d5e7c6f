"""Kernels: how alike two laws are."""

from gapkernel.kernels.anisotropic_rbf import AnisotropicRBF
from gapkernel.kernels.base import Kernel, OnColumns, Product, Scaled, Sum
from gapkernel.kernels.expected_linear import ExpectedLinear
from gapkernel.kernels.expected_rbf import ExpectedRBF
from gapkernel.kernels.genrbf import GenRBF
from gapkernel.kernels.heterogeneous_kernel import HeterogeneousKernel
from gapkernel.kernels.missingness import Masked as Masked, Missingness
from gapkernel.kernels.monte_carlo import MonteCarlo
from gapkernel.kernels.names import KERNELS, make_kernel
from gapkernel.kernels.on_vectors import CompleteKernel as CompleteKernel
from gapkernel.kernels.univariate import OfTable as OfTable
from gapkernel.kernels.width import (
    POSITIVE as POSITIVE,
    median_rows as median_rows,
    scale_gamma as scale_gamma,
)

__all__ = [
    "KERNELS",
    "AnisotropicRBF",
    "ExpectedLinear",
    "ExpectedRBF",
    "GenRBF",
    "HeterogeneousKernel",
    "Kernel",
    "Missingness",
    "MonteCarlo",
    "OnColumns",
    "Product",
    "Scaled",
    "Sum",
    "make_kernel",
]
