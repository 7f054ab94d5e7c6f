"""What the command line prints when input cannot be used: one line, and exit status 2."""

from gapkernel.tables.input_errors import InputError as Complaint
from gapkernel.tables.input_errors import UnusableColumn, unknown_column

__all__ = ["Complaint", "UnusableColumn", "unknown_column"]
