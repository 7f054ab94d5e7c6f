"""Densities: where the law of a gap comes from."""

from gapkernel.density.bandwidth import sheather_jones
from gapkernel.density.choice import BestDensity, density_for
from gapkernel.density.factor import FactorAnalysis
from gapkernel.density.gaussian import Gaussian, NormalInverseWishart
from gapkernel.density.marginal import Marginals
from gapkernel.density.mixed import JointGaussian
from gapkernel.density.mixture import GaussianMixture

__all__ = [
    "BestDensity",
    "FactorAnalysis",
    "Gaussian",
    "GaussianMixture",
    "JointGaussian",
    "Marginals",
    "NormalInverseWishart",
    "density_for",
    "sheather_jones",
]
