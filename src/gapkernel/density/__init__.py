"""Densities: where the law of a gap comes from."""

from gapkernel.density.bandwidth import sheather_jones
from gapkernel.density.base import Density, seed_of as seed_of
from gapkernel.density.density_choice import BestDensity, density_for as density_for, make_density as make_density
from gapkernel.density.factor_analysis import FactorAnalysis
from gapkernel.density.gaussian import Gaussian
from gapkernel.density.gaussian_mixture import GaussianMixture
from gapkernel.density.joint_gaussian import JointGaussian
from gapkernel.density.marginals import Marginals
from gapkernel.density.neighbours import Neighbours

__all__ = [
    "BestDensity",
    "Density",
    "FactorAnalysis",
    "Gaussian",
    "GaussianMixture",
    "JointGaussian",
    "Marginals",
    "Neighbours",
    "sheather_jones",
]
