"""What the rooms of the five papers share: sizes, claims, tables and figures, and cone programs."""

from gapkernel.papers.study.cone_programs import solved, stacked
from gapkernel.papers.study.report import (
    Claim,
    Report,
    ReportTable,
    beside_the_paper,
    curves,
    percent,
    points_of,
    with_error,
)
from gapkernel.papers.study.reproduction import Size

__all__ = [
    "Claim",
    "Report",
    "ReportTable",
    "Size",
    "beside_the_paper",
    "curves",
    "percent",
    "points_of",
    "solved",
    "stacked",
    "with_error",
]
