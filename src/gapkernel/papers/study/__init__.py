"""What the rooms of the five papers share: sizes, claims, tables and figures, and cone programs."""

from gapkernel.papers.study.cone_programs import solved as solved, stacked as stacked
from gapkernel.papers.study.report import (
    Claim as Claim,
    Report as Report,
    ReportTable as ReportTable,
    beside_the_paper as beside_the_paper,
    curves as curves,
    percent as percent,
    points_of as points_of,
    with_error as with_error,
)
from gapkernel.papers.study.reproduction import Size as Size
