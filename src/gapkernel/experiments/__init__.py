"""Studies over data sets, gaps and methods: tasks, a store, statistics, and the papers' experiments."""

from gapkernel.experiments.grid import PAPER_GRID, QUICK_GRID, Grid, table_grid
from gapkernel.experiments.method import Method
from gapkernel.experiments.methods import METHODS, Choice, choose
from gapkernel.experiments.papers import PAPERS, Paper, reproduce
from gapkernel.experiments.protocol import NestedCV, Protocol, folds, nested
from gapkernel.experiments.report import Report, ReportTable
from gapkernel.experiments.running import run
from gapkernel.experiments.statistics import AllPairs, PairedTest, all_pairs, cell_tests, paired_test
from gapkernel.experiments.store import Store
from gapkernel.experiments.tasks import Study, Task, rounds_of, tasks_of
from gapkernel.inspection.ranks import FriedmanNemenyi, friedman_nemenyi

__all__ = [
    "METHODS",
    "PAPERS",
    "PAPER_GRID",
    "QUICK_GRID",
    "AllPairs",
    "Choice",
    "FriedmanNemenyi",
    "Grid",
    "Method",
    "NestedCV",
    "PairedTest",
    "Paper",
    "Protocol",
    "Report",
    "ReportTable",
    "Store",
    "Study",
    "Task",
    "all_pairs",
    "cell_tests",
    "choose",
    "folds",
    "friedman_nemenyi",
    "nested",
    "paired_test",
    "reproduce",
    "rounds_of",
    "run",
    "table_grid",
    "tasks_of",
]
