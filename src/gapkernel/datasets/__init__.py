"""Data sets of the papers, and the reader of your own files."""

from gapkernel.datasets.loading import Dataset, available, load, read_xy
from gapkernel.datasets.source_tracking import make_source_tracking

__all__ = ["Dataset", "available", "load", "make_source_tracking", "read_xy"]
