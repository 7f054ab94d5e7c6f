"""Smola, Vishwanathan and Hofmann, *Kernel methods for missing variables*."""

from gapkernel.papers.missing_variables.atomic_density import AtomicDensity
from gapkernel.papers.missing_variables.cccp_classifier import CCCPClassifier
from gapkernel.papers.missing_variables.completion_features import KernelBasis
from gapkernel.papers.missing_variables.minimisers import CCCP, LBFGS, SGD
from gapkernel.papers.missing_variables.objective import Transduction

__all__ = ["CCCP", "LBFGS", "SGD", "AtomicDensity", "CCCPClassifier", "KernelBasis", "Transduction"]
