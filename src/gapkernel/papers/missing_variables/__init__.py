"""Smola, Vishwanathan and Hofmann, *Kernel methods for missing variables*."""

from gapkernel.papers.missing_variables.cccp_classifier import CCCPClassifier

__all__ = ["CCCPClassifier"]
