"""Rows with gaps as probability laws."""

from gapkernel.rows.atom_rows import AtomRows
from gapkernel.rows.base import (
    ALL_KINDS as ALL_KINDS,
    GAUSSIAN as GAUSSIAN,
    MIXTURES as MIXTURES,
    Moments,
    Rows,
    UnsupportedLaws,
)
from gapkernel.rows.column_law import Atoms, Law, Normal, UniformWindows
from gapkernel.rows.factor_rows import FactorRows
from gapkernel.rows.gaussian_rows import GaussianRows, MappedRows
from gapkernel.rows.marginal_rows import Feature, MarginalRows
from gapkernel.rows.masked_rows import MaskedRows
from gapkernel.rows.mixture_rows import MixtureRows
from gapkernel.rows.pattern_rows import Patterns

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
