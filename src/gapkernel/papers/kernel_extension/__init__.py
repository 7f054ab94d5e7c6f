"""Nebot-Troyano and Belanche, *A kernel extension to handle missing data*; its kernel is `HeterogeneousKernel`."""

from gapkernel.papers.kernel_extension.synthetic import ehk_laws, make_ehk_synthetic

__all__ = ["ehk_laws", "make_ehk_synthetic"]
