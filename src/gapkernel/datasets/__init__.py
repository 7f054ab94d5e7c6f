"""Data sets of the papers, and the reader of your own files."""

from gapkernel.datasets.loading import Dataset, available, load, local_folder
from gapkernel.datasets.reading import read_xy
from gapkernel.datasets.synthetic import make_source_tracking

__all__ = [
    "Dataset",
    "available",
    "load",
    "local_folder",
    "make_source_tracking",
    "read_xy",
]
