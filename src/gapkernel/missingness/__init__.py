"""Describe the gaps of a table, and make gaps in one."""

from gapkernel.missingness.ampute import ampute
from gapkernel.missingness.summary import flux, pairs, patterns, summary

__all__ = ["ampute", "flux", "pairs", "patterns", "summary"]
