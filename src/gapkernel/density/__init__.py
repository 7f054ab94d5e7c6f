"""Densities: where the law of a gap comes from."""

from gapkernel.density.bandwidth import sheather_jones
from gapkernel.density.gaussian import Gaussian, NormalInverseWishart
from gapkernel.density.marginal import Marginals

__all__ = ["Gaussian", "Marginals", "NormalInverseWishart", "sheather_jones"]
