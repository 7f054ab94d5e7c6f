"""The data sets of the papers, and their synthetic problems."""

from gapkernel.datasets.loading import Dataset, available, load, local_folder
from gapkernel.datasets.synthetic import ehk_laws, make_ehk_synthetic, make_source_tracking

__all__ = ["Dataset", "available", "ehk_laws", "load", "local_folder", "make_ehk_synthetic", "make_source_tracking"]
