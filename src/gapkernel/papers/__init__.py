"""A room for each of five papers: the systems that only this paper has, and its experiment."""

from gapkernel.papers import expected_kernel, genrbf, kernel_extension, microbiology, missing_variables
from gapkernel.papers.study.reproduction import PAPERS, Paper, reproduce

__all__ = [
    "PAPERS",
    "Paper",
    "expected_kernel",
    "genrbf",
    "kernel_extension",
    "microbiology",
    "missing_variables",
    "reproduce",
]
