"""Plots in scikit-learn's display form; they need matplotlib (``pip install gapkernel[plots]``)."""

from gapkernel.plots.chains import ChainDisplay
from gapkernel.plots.patterns import PatternDisplay
from gapkernel.plots.ranks import CriticalDifferenceDisplay

__all__ = ["ChainDisplay", "CriticalDifferenceDisplay", "PatternDisplay"]
