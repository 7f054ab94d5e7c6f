"""Plots in scikit-learn's display form; they need matplotlib (``pip install gapkernel[plots]``)."""

from gapkernel.plots.certainty import CoverageDisplay, PredictionBandDisplay
from gapkernel.plots.chains import ChainDisplay
from gapkernel.plots.critical_difference import CriticalDifferenceDisplay
from gapkernel.plots.drawing import PALETTE as PALETTE, pyplot as pyplot
from gapkernel.plots.explanations import BeeswarmDisplay, WaterfallDisplay
from gapkernel.plots.one_row import TiltDisplay, ValueOfInformationDisplay
from gapkernel.plots.tiles import PatternDisplay

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
