"""The data sets of the papers, their synthetic problems, and files of one's own."""

from gapkernel.datasets.loading import Dataset, available, load, local_folder
from gapkernel.datasets.reading import read_xy
from gapkernel.datasets.synthetic import ehk_laws, make_ehk_synthetic, make_source_tracking

__all__ = [
    "Dataset",
    "available",
    "ehk_laws",
    "load",
    "local_folder",
    "make_ehk_synthetic",
    "make_source_tracking",
    "read_xy",
]
