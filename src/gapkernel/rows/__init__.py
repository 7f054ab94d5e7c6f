"""Rows with gaps as probability laws."""

from gapkernel.rows.atoms import AtomRows
from gapkernel.rows.base import Moments, Rows, UnsupportedLaws
from gapkernel.rows.column_law import Atoms, Law, Normal, UniformWindows
from gapkernel.rows.factor import FactorRows
from gapkernel.rows.gaussian import GaussianRows, MappedRows
from gapkernel.rows.marginal import Feature, MarginalRows
from gapkernel.rows.masked import MaskedRows
from gapkernel.rows.mixture import MixtureRows
from gapkernel.rows.patterns import Patterns

__all__ = [
    "AtomRows",
    "Atoms",
    "FactorRows",
    "Feature",
    "GaussianRows",
    "Law",
    "MappedRows",
    "MarginalRows",
    "MaskedRows",
    "MixtureRows",
    "Moments",
    "Normal",
    "Patterns",
    "Rows",
    "UniformWindows",
    "UnsupportedLaws",
]
