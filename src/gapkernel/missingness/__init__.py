"""Describe the gaps of a table, and make gaps in one."""

from gapkernel.missingness.ampute import ampute
from gapkernel.missingness.summary import Flux, GapPatterns, GapSummary, Pairs, flux, pairs, patterns, summary

__all__ = ["Flux", "GapPatterns", "GapSummary", "Pairs", "ampute", "flux", "pairs", "patterns", "summary"]
