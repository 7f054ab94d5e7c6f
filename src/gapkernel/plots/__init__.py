"""Plots in scikit-learn's display form; they need matplotlib (``pip install gapkernel[plots]``)."""

from gapkernel.plots.chains import ChainDisplay

__all__ = ["ChainDisplay"]
