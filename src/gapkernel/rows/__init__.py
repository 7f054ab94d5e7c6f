"""Rows with gaps as probability laws."""

from gapkernel.rows.gaussian import GaussianRows
from gapkernel.rows.marginal import Feature, MarginalRows
from gapkernel.rows.masked import MaskedRows
from gapkernel.rows.patterns import Patterns

__all__ = ["Feature", "GaussianRows", "MarginalRows", "MaskedRows", "Patterns"]
