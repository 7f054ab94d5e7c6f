"""What the rooms of the five papers share: sizes, claims, tables and figures, and cone programs."""

from gapkernel.papers.study.cone_programs import solved, stacked
from gapkernel.papers.study.figures import bars, curves, points_of, points_on_lines
from gapkernel.papers.study.report import Claim, Report, ReportTable, beside_the_paper

__all__ = [
    "Claim",
    "Report",
    "ReportTable",
    "bars",
    "beside_the_paper",
    "curves",
    "points_of",
    "points_on_lines",
    "solved",
    "stacked",
]
