"""Densities: where the law of a gap comes from."""

from gapkernel.density.gaussian import Gaussian, NormalInverseWishart

__all__ = ["Gaussian", "NormalInverseWishart"]
