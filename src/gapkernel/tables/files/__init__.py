"""Tables from files, as the command line reads them: formats, types, gap marks, targets. Needs pandas."""

from gapkernel.tables.files.formats import AS_IT_IS, Reading, frame_of, read_raw, write_csv
from gapkernel.tables.files.labelled import Labelled, at_most, findings, labelled, read_labelled_file
from gapkernel.tables.files.typed_columns import known_columns, known_types, read_frame, read_known, typed_frame

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
