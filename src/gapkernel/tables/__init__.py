"""The one door for data: arrays, frames, files, and tables too large for memory."""

from gapkernel.tables.part_by_part import AnswersInParts
from gapkernel.tables.reading import (
    numbers_of,
    read_classes,
    read_labelled,
    read_splits,
    read_table,
    read_target,
    read_weight,
    read_weights,
)
from gapkernel.tables.table import Schema, Table, Tilt
from gapkernel.tables.takes_gaps import TakesGaps, set_or_forget
from gapkernel.tables.user_tables import (
    fill_gaps,
    floats_of,
    gaps_of,
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

__all__ = [
    "AnswersInParts",
    "Schema",
    "Table",
    "TakesGaps",
    "Tilt",
    "fill_gaps",
    "floats_of",
    "gaps_of",
    "labels_of",
    "missing_in",
    "named_like_fit",
    "names_of",
    "numbers_of",
    "one_row",
    "read_classes",
    "read_labelled",
    "read_splits",
    "read_table",
    "read_target",
    "read_weight",
    "read_weights",
    "schema_of",
    "set_or_forget",
    "take_columns",
    "take_rows",
    "with_gaps",
]
