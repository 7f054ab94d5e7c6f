"""The RBF kernels, the table of the engines that compute them, and their random features."""

from gapkernel.kernels.rbf.anisotropic_rbf import AnisotropicRBF
from gapkernel.kernels.rbf.expected_rbf import ExpectedRBF
from gapkernel.kernels.rbf.genrbf import GenRBF

__all__ = ["AnisotropicRBF", "ExpectedRBF", "GenRBF"]
