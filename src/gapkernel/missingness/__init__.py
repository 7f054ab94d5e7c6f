"""Gaps: what they look like, and how to make them."""

from gapkernel.missingness.ampute import ampute
from gapkernel.missingness.summary import Flux, GapPatterns, GapSummary, Pairs, flux, pairs, patterns, summary

__all__ = ["Flux", "GapPatterns", "GapSummary", "Pairs", "ampute", "flux", "pairs", "patterns", "summary"]
