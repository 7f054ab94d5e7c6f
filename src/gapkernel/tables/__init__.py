"""The one door for data: arrays, frames, files, and tables too large for memory."""

from gapkernel.tables.frames import (
    fill_gaps,
    floats_of,
    gaps_of,
    join_rows,
    labels_of,
    missing_in,
    named_like_fit,
    names_of,
    one_row,
    schema_of,
    take_columns,
    take_rows,
    with_gaps,
)
from gapkernel.tables.reading import (
    numbers_of,
    read_classes,
    read_labelled,
    read_table,
    read_target,
    read_weight,
    read_weights,
)
from gapkernel.tables.table import Schema, Table, Tilt

__all__ = [
    "Schema",
    "Table",
    "Tilt",
    "fill_gaps",
    "floats_of",
    "gaps_of",
    "join_rows",
    "labels_of",
    "missing_in",
    "named_like_fit",
    "names_of",
    "numbers_of",
    "one_row",
    "read_classes",
    "read_labelled",
    "read_table",
    "read_target",
    "read_weight",
    "read_weights",
    "schema_of",
    "take_columns",
    "take_rows",
    "with_gaps",
]
