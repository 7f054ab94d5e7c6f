"""Smieja, Struski and Tabor, *Generalized RBF kernel for incomplete data*; its kernel is `GenRBF`."""

from gapkernel.papers.genrbf.geometric_margin import GeometricMarginSVC
from gapkernel.papers.genrbf.karma import Karma

__all__ = ["GeometricMarginSVC", "Karma"]
