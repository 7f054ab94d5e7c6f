"""The one door for data: arrays, frames, files, and tables too large for memory."""

from gapkernel.tables.reading import numbers_of, read_classes, read_labelled, read_table, read_weight
from gapkernel.tables.table import Schema, Table

__all__ = ["Schema", "Table", "numbers_of", "read_classes", "read_labelled", "read_table", "read_weight"]
