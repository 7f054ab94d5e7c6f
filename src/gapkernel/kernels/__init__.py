"""Kernels: how alike two laws are."""

from gapkernel.kernels.base import Kernel, OnColumns, Product, Scaled, Sum
from gapkernel.kernels.columns.averaged import OfTable, product_of
from gapkernel.kernels.expected_linear import ExpectedLinear
from gapkernel.kernels.heterogeneous_kernel import HeterogeneousKernel
from gapkernel.kernels.kinds import ALL_KINDS
from gapkernel.kernels.missingness import Masked, Missingness
from gapkernel.kernels.monte_carlo import MonteCarlo
from gapkernel.kernels.names import KERNELS, make_kernel
from gapkernel.kernels.on_vectors import CompleteKernel, complete_kernel
from gapkernel.kernels.rbf import AnisotropicRBF, ExpectedRBF, GenRBF
from gapkernel.kernels.width import POSITIVE, WIDTH, gamma_of_spread, median_rows, resolved, scale_gamma

__all__ = [
    "ALL_KINDS",
    "KERNELS",
    "POSITIVE",
    "WIDTH",
    "AnisotropicRBF",
    "CompleteKernel",
    "ExpectedLinear",
    "ExpectedRBF",
    "GenRBF",
    "HeterogeneousKernel",
    "Kernel",
    "Masked",
    "Missingness",
    "MonteCarlo",
    "OfTable",
    "OnColumns",
    "Product",
    "Scaled",
    "Sum",
    "complete_kernel",
    "gamma_of_spread",
    "make_kernel",
    "median_rows",
    "product_of",
    "resolved",
    "scale_gamma",
]
