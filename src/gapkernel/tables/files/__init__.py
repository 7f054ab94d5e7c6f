"""Tables from files, as the command line reads them: formats, types, gap marks, targets. Needs pandas."""

from gapkernel.tables.files.findings import findings
from gapkernel.tables.files.known_columns import known_columns
from gapkernel.tables.files.targets import Labelled, at_most, labelled, read_labelled_file
from gapkernel.tables.files.typed_frame import (
    AS_IT_IS,
    Reading,
    frame_of,
    known_types,
    read_frame,
    read_known,
    read_raw,
    typed_frame,
    write_csv,
)

__all__ = [
    "AS_IT_IS",
    "Labelled",
    "Reading",
    "at_most",
    "findings",
    "frame_of",
    "known_columns",
    "known_types",
    "labelled",
    "read_frame",
    "read_known",
    "read_labelled_file",
    "read_raw",
    "typed_frame",
    "write_csv",
]
