"""Plots in scikit-learn's display form; they need matplotlib (``pip install gapkernel[plots]``)."""

from gapkernel.plots.bands import PredictionBandDisplay
from gapkernel.plots.chains import ChainDisplay
from gapkernel.plots.coverage import CoverageDisplay
from gapkernel.plots.drawing import PALETTE as PALETTE, pyplot as pyplot
from gapkernel.plots.information import ValueOfInformationDisplay
from gapkernel.plots.patterns import PatternDisplay
from gapkernel.plots.ranks import CriticalDifferenceDisplay
from gapkernel.plots.shapley import BeeswarmDisplay, WaterfallDisplay
from gapkernel.plots.tilt import TiltDisplay

__all__ = [
    "BeeswarmDisplay",
    "ChainDisplay",
    "CoverageDisplay",
    "CriticalDifferenceDisplay",
    "PatternDisplay",
    "PredictionBandDisplay",
    "TiltDisplay",
    "ValueOfInformationDisplay",
    "WaterfallDisplay",
]
